"""Kernels as operators of PyTorch.

>>> import lay, lay.torch
>>> k = lay.kernel("kernel twice<N>(X: f32 N) -> Y: f32 N { Y[n] = X[n] * 2 }")
>>> twice = lay.torch.register(k)
>>> twice(torch.ones(3))
tensor([2., 2., 2.])

An operator works under torch.compile and in CUDA graphs: Lay knows the shape of its outputs from
those of its arguments, also where they are symbolic. Tensors of the host run in the interpreter.
"""

import re

import torch

from . import _arrays, _devices
from ._objects import LayError


def register(kernel, name=None):
    """The kernel as `torch.ops.lay.NAME`, its own name without one; returns torch's CustomOpDef,
    whose `register_autograd` gives it a derivative.

    Arguments come in the kernel's order. Every size must be an axis of an argument, or the stride
    of one.
    """
    shapes = _Shapes(kernel)
    name = name or kernel.name
    operator = torch.library.custom_op(
        "lay::" + name,
        lambda *arguments: _called(kernel, arguments),
        mutates_args=tuple(n for n in kernel._parameters if kernel._access.get(n) == "inout"),
        schema=_schema(kernel),
    )
    operator.register_fake(shapes.fake)
    return operator


_real = {"f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2"}


def _schema(kernel):
    """"(Tensor X, Tensor W, float s) -> Tensor"."""
    words = []
    real = {s["name"]: s["type"] in _real for s in kernel.signature["scalars"]}
    for name in kernel._parameters:
        if name in kernel._access:
            mutated = kernel._access[name] == "inout"
            words.append(f"Tensor({'a' + str(len(words)) + '!' if mutated else ''}) {name}"
                         .replace("()", ""))
        else:
            words.append(f"{'float' if real[name] else 'SymInt'} {name}")
    made = sum(1 for access in kernel._access.values() if access == "output")
    result = "Tensor" if made == 1 else "(" + ", ".join(["Tensor"] * made) + ")"
    return f"({', '.join(words)}) -> {result}"


def _called(kernel, arguments):
    """Runs the kernel where its arguments lie; an inout is written in place and not returned."""
    made = kernel(*arguments)
    results = dict(zip(kernel._results, made if isinstance(made, tuple) else (made,)))
    given = dict(zip(kernel._parameters, arguments))
    tensors = [value for name, value in given.items() if name in kernel._access]
    on_host = all(_devices.device_of(tensor) is None for tensor in tensors)
    outputs = []
    for name, result in results.items():
        if on_host:
            result = _of_host(result)
            if kernel._access[name] == "inout":
                given[name].copy_(result)
        if kernel._access[name] == "output":
            outputs.append(result)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _of_host(array):
    """An array of the interpreter as a tensor."""
    if not isinstance(array, _arrays.Array):
        element = _arrays.extended.get(array.dtype.name)
        if element is None:
            return torch.from_numpy(array)
        # Of ml_dtypes, whose types PyTorch takes as bits alone.
        bits = torch.from_numpy(array.view(f"i{array.dtype.itemsize}"))
        return bits.view(_devices.Torch().dtype_of[element])
    dtype = _devices.Torch().dtype_of[array.element]
    if not array.data:
        return torch.empty(array.shape, dtype=dtype)
    return torch.frombuffer(bytearray(array.data), dtype=dtype).reshape(array.shape)


def _ceil_div(a, b):
    return (a + b - 1) // b


class _Shapes:
    """How the outputs lie, from how the arguments do; sizes may be symbolic."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.tensors = {each["name"]: each for each in kernel.signature["tensors"]}
        known, self.found = set(), []
        for part in ("shape", "stride"):
            for name in kernel._parameters:
                for axis, mode in enumerate(self._modes(name, part)):
                    if self._is_halved(name, part, axis):
                        continue
                    if isinstance(mode, str) and mode.isidentifier() and mode not in known:
                        known.add(mode)
                        self.found.append((mode, kernel._parameters.index(name), part, axis))
        open_sizes = [size for size in kernel.signature["sizes"] if size not in known]
        if open_sizes:
            raise LayError(f"{kernel.name}: {', '.join(open_sizes)} is no axis of an argument and "
                           "no stride of one, so that an operator cannot know its outputs' shape")
        self.dtype_of = _devices.Torch().dtype_of

    def _modes(self, name, part):
        """The extents or strides of a tensor's axes, as the signature has them."""
        if name not in self.tensors:
            return []
        modes = self.tensors[name][part]
        return modes if isinstance(modes, list) else [modes]

    def _is_halved(self, name, part, axis):
        """Whether bytes of two elements of 4 bits, which lie on a GPU, say half of it."""
        if name not in self.tensors or self.tensors[name]["element"] not in ("s4", "u4"):
            return False
        return part == "stride" or self._modes(name, "stride")[axis] in (1, "1")

    def fake(self, *arguments):
        sizes = {}
        for size, argument, part, axis in self.found:
            tensor = arguments[argument]
            sizes[size] = tensor.shape[axis] if part == "shape" else tensor.stride(axis)
        some = next(a for a in arguments if isinstance(a, torch.Tensor))
        outputs = []
        for name, access in self.kernel._access.items():
            if access == "output":
                shape = [self._product(mode, sizes) for mode in self._modes(name, "shape")]
                strides = [self._first(mode, sizes) for mode in self._modes(name, "stride")]
                dtype = self.dtype_of[self.tensors[name]["element"]]
                outputs.append(some.new_empty_strided(shape, strides, dtype=dtype))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _product(self, mode, sizes):
        if not isinstance(mode, list):
            return self._number(mode, sizes)
        product = 1
        for each in mode:
            product = product * self._product(each, sizes)
        return product

    def _first(self, mode, sizes):
        """The stride of an axis of several modes is that of the first."""
        while isinstance(mode, list):
            mode = mode[0]
        return self._number(mode, sizes)

    @staticmethod
    def _number(text, sizes):
        """An expression of Lay in the sizes: an exact quotient is a/b there."""
        if isinstance(text, int):
            return text
        words = dict(sizes, ceil_div=_ceil_div, min=torch.sym_min, max=torch.sym_max)
        return eval(re.sub(r"(?<!/)/(?!/)", "//", text), {"__builtins__": {}}, words)
