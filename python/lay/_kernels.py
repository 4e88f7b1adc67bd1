"""Kernels, what tuning finds, and plans, over the functions of the library."""

import ctypes
import json

from . import _calls, _devices
from . import _library as c
from ._library import Handle


class Kernel(_calls.Caller):
    """A kernel: called with arrays it runs, and it has a plan for each GPU.

    >>> twice = kernel("kernel twice<N>(X: f32 N) -> Y: f32 N { Y[n] = X[n] * 2 }")
    >>> twice(numpy.ones(3, numpy.float32))
    array([2., 2., 2.], dtype=float32)

    Arguments come in the signature's order, or by name; sizes that no array fixes by name.

    Arrays of a GPU stay there: the kernel is launched on their framework's current stream, and
    the outputs are the framework's, or those of `out`. Compiling happens in the first call of a
    shape's variant, so that a CUDA graph is captured after one call.
    """

    def __init__(self, program, handle):
        self.program, self._handle = program, handle
        with program._lock:
            self.signature = json.loads(c.library.lay_kernel_json(handle.pointer))
        self.name = self.signature["name"]
        self._access = {each["name"]: each["access"] for each in self.signature["tensors"]}
        self._outputs = sum(1 for each in self._access.values() if each != "input")
        self._parameters = [name for name in self.signature["signature"]
                            if self._access.get(name) != "output"]
        self._scalars = [each["name"] for each in self.signature["scalars"]]
        self._results = [name for name, access in self._access.items() if access != "input"]
        self._launchers, self._retired = {}, []
        self._calls = {}
        order = [*self._access, *self._scalars]
        self._know(tuple(self._parameters), tuple(map(order.index, self._parameters)),
                   len(self._access),
                   tuple(i for i, access in enumerate(self._access.values()) if access == "output"),
                   tuple(map(order.index, self._results)))

    @property
    def guards(self):
        """The conditions that a launch checks."""
        return [guard["condition"] for guard in self.signature["guards"]]

    def _call(self, *arguments, out=None, **named):
        """What a call does. A call of tensors as those of one before is `_calls.Caller`'s."""
        given, numbers = self._given(arguments, named)
        for name, value in given.items():
            if name in self._access:
                device = _devices.device_of(value)
                if device is not None:
                    return self._launched(given, numbers, device, value, out)
        if out is not None:
            raise TypeError("`out` is for arrays on a GPU")
        handles = [self.program._of_python(given[name]) for name in self._parameters]
        pointers = (ctypes.c_void_p * len(handles))(*(handle.pointer for handle in handles))
        outputs = (ctypes.c_void_p * self._outputs)()
        known, count = c.sizes(numbers)
        self.program._call("kernel_run", self._handle.pointer, pointers, len(handles), known, count,
                           outputs, self._outputs)
        results = tuple(self.program._to_python(pointer) for pointer in outputs)
        return results[0] if len(results) == 1 else results

    def _given(self, arguments, named):
        """What the parameters stand for, and the sizes that are given by name."""
        if len(arguments) > len(self._parameters):
            raise TypeError(f"{self.name} takes {len(self._parameters)} arguments "
                            f"({', '.join(self._parameters)}), got {len(arguments)}")
        given = dict(zip(self._parameters, arguments))
        numbers = {}
        for name, value in named.items():
            if name in given:
                raise TypeError(f"{self.name} got {name} twice")
            if name in self._parameters:
                given[name] = value
            elif name in self.signature["sizes"]:
                numbers[name] = value
            else:
                raise TypeError(f"{self.name} has no parameter and no size {name}")
        missing = [name for name in self._parameters if name not in given]
        if missing:
            raise TypeError(f"{self.name} misses {', '.join(missing)}")
        return given, numbers

    # Launches on a GPU.

    def _launched(self, given, numbers, device, some, out):
        """Launches on the device of `some`, one of the arrays."""
        framework = _devices.framework_of(some)
        stream = framework.stream(device)
        if out is not None:
            out = out if isinstance(out, (tuple, list)) else [out]
            outs = [name for name, access in self._access.items() if access == "output"]
            if len(out) != len(outs):
                raise TypeError(f"{self.name} has {len(outs)} outputs, got {len(out)}")
            framework.check_outputs(out)
            given.update(zip(outs, out))
        written = [given[name] for name, access in self._access.items() if access == "inout"]
        if written:
            framework.check_outputs(written)
        places = [framework.placed(given[name], stream) if name in given else None
                  for name in self._access]
        key = (device, *(place and place.key() for place in places), *numbers.items())
        call = self._calls.get(key)
        if call is None:
            call = self._call_of(key, places, numbers, device)
        if not numbers:
            self._hand_over(call, [given.get(name) for name in self._access], framework, device)
        for name, element, shape, strides in call.outputs:
            given[name] = framework.empty(element, shape, strides, device)
            places[call.index[name]] = framework.placed(given[name], stream)
        workspace, address = framework.bytes(call.workspace, device) if call.workspace else (0, 0)
        scalars = [self.program._of_python(given[name]) for name in self._scalars]
        pointers = (ctypes.c_void_p * len(scalars))(*(handle.pointer for handle in scalars))
        with self.program._lock:
            for tensor, place in zip(call.tensors, places):
                tensor.address = place.address
            self.program._call("launcher_launch", call.launcher, call.tensors, len(places),
                               call.sizes, call.size_count, pointers, len(scalars), address,
                               call.workspace, stream)
        framework.finish(stream, device)
        del workspace  # what is in use belongs to the stream's order from here on
        results = [given[name] for name in self._results]
        return results[0] if len(results) == 1 else tuple(results)

    def _call_of(self, key, places, numbers, device):
        """The call of these shapes, prepared: what it needs but for addresses."""
        for name, place in zip(self._access, places):
            if place is not None and place.device != device:
                raise TypeError(f"{name} does not lie on device {device}, where other arguments do")
        call = _Call()
        call.tensors = (c.Tensor * len(places))()
        call.sizes, call.size_count = c.sizes(numbers)
        call.index = {name: i for i, name in enumerate(self._access)}
        for tensor, place in zip(call.tensors, places):
            tensor.size = ctypes.sizeof(c.Tensor)
            if place is not None:
                call.describe(tensor, place.element, place.shape, place.strides)
                tensor.address = place.address
        size = ctypes.c_int64()
        with self.program._lock:
            call.launcher = self._launcher(device)
            self.program._call("launcher_prepare", call.launcher, call.tensors, len(places),
                               call.sizes, call.size_count, size)
            call.workspace = size.value
            call.outputs = []
            for name, tensor, place in zip(self._access, call.tensors, places):
                if place is None:
                    made = (tensor.element.decode(), tensor.shape[: tensor.rank],
                            tensor.strides[: tensor.rank])
                    call.outputs.append((name, *made))
                    call.describe(tensor, *made)
        if len(self._calls) >= 1024:
            self._calls.clear()
            self._forget()
        self._calls[key] = call
        return call

    def _hand_over(self, call, tensors, framework, device):
        """Has later calls of tensors as these made by `_calls.Caller`."""
        if call.handed:
            return
        call.handed = True
        makers = tuple(framework.maker(*made, device) for _, *made in call.outputs)
        memory = framework.memory_maker(call.workspace, device) if call.workspace else None
        if None not in makers and (memory or not call.workspace):
            self._keep(tuple(tensors), self.program._context.pointer, call.launcher,
                       ctypes.addressof(call.tensors), ctypes.addressof(call.sizes),
                       call.size_count, call.workspace, makers, memory, self.program._lock, call)

    def _raise(self, result):
        raise self.program._error(result)

    def _launcher(self, device):
        if device not in self._launchers:
            made = ctypes.c_void_p()
            self.program._call("launcher_new", self._handle.pointer, device, made)
            self._launchers[device] = Handle(made.value, c.library.lay_launcher_free)
        return self._launchers[device].pointer

    def plan(self, target=None, **sizes):
        """The plan for a GPU or an architecture, "h200", "sm_90a"; the default without.

        >>> k = lay.kernel("kernel t<N>(X: f32 N) -> Y: f32 N { Y[n] = X[n] * 2 }")
        >>> p = k.plan(N=1 << 28)
        >>> p.variant, p.bound
        ('bytes16', 'global memory')

        With sizes it has the variant that these take, its least time in seconds and what bounds it.
        """
        made = ctypes.c_void_p()
        self.program._call("plan_new", self._handle.pointer,
                           None if target is None else c.utf8(target), made)
        return Plan(self, Handle(made.value, c.library.lay_plan_free), sizes)

    def tune(self, sizes=None, *, device=0, candidates=0, rounds=0, milliseconds=0, **named):
        """Times schedules of a matrix product on a GPU at these sizes, and takes the fastest for
        sizes of their class, in calls and plans from here on.

        >>> found = k.tune(M=4096, N=4096, K=4096)  # doctest: +SKIP
        >>> found.gain  # doctest: +SKIP
        1.07

        Every size has a number. So many schedules are timed beside the default (0: 8), each so
        many times (0: 5) for so long (0: 50). `Program(log=print)` says what is timed.
        """
        numbers = {**(sizes or {}), **named}
        for number in (device, candidates, rounds):
            if not 0 <= number < 1 << 31:
                raise ValueError(f"expected a number from 0 to 2^31 - 1, got {number}")
        options = c.TuneOptions(device=device, candidates=candidates, rounds=rounds,
                                milliseconds=milliseconds)
        text = ctypes.c_char_p()
        with self.program._lock:
            self.program._call("kernel_tune", self._handle.pointer, options, *c.sizes(numbers),
                               text)
            tuning = Tuning(json.loads(text.value))
            if tuning.is_faster:
                # What is in flight keeps its code: launchers live as long as the kernel.
                self._retired += self._launchers.values()
                self._launchers = {}
                self._calls.clear()
                self._forget()
        return tuning

    def __repr__(self):
        return f"<lay.Kernel {self.name}({', '.join(self._parameters)})>"


class Tuning:
    """What a tuning found.

    `timed` holds the schedules that were timed last beside each other, the default with an empty
    `schedule`; `why` says why there are none. `gain` is how many times as fast as the default the
    fastest is, where it is taken, and 1 else. `schedules` is the text of all tunings of the kernel:
    in `linear.tuned.lay` beside `linear.lay`, `lay` plans with it.
    """

    def __init__(self, data):
        self.kernel, self.device, self.sizes = data["kernel"], data["device"], data["sizes"]
        self.timed, self.why = data["timed"], data["why"]
        self.is_faster, self.schedules = data["is_faster"], data["schedules"]
        times = {row["schedule"]: row["microseconds"] for row in self.timed}
        default = times.get("")
        self.gain = default / min(times.values()) if self.is_faster and default else 1.0

    def __repr__(self):
        if self.why:
            return f"<lay.Tuning of {self.kernel}: {self.why}>"
        if not self.is_faster:
            return f"<lay.Tuning of {self.kernel}: the default stays>"
        best = min(self.timed, key=lambda row: row["microseconds"])
        return (f"<lay.Tuning of {self.kernel}: {best['microseconds']:.1f} us, "
                f"{self.gain:.2f} times as fast as the default>")


class _Call:
    """A launch on tensors of some shapes, made ready for any addresses as aligned as these."""

    def __init__(self):
        self.kept, self.handed = [], False

    def describe(self, tensor, element, shape, strides):
        """Fills in all but the address; what the tensor points to lives with the call."""
        extents, steps = _devices.integers(shape), _devices.integers(strides)
        name = element.encode()
        self.kept.append((extents, steps, name))
        tensor.rank, tensor.element = len(shape), name
        tensor.shape, tensor.strides = extents, steps


class Plan:
    """How a GPU executes a kernel: variants, each for some sizes. Of a plan for sizes `variant` is
    the one that is launched, `seconds` its least time, and `bound` what takes that time."""

    def __init__(self, kernel, handle, sizes):
        self.kernel, self._handle = kernel, handle
        count = c.library.lay_plan_variant_count(handle.pointer)
        self.variants = [c.library.lay_plan_variant_name(handle.pointer, i).decode()
                         for i in range(count)]
        self.sizes = sizes
        self.variant = self.seconds = self.bound = None
        if sizes:
            self.variant = self.choose(**sizes)
            self.seconds, self.bound = self.forecast(**sizes)

    def __str__(self):
        with self.kernel.program._lock:
            return c.library.lay_plan_text(self._handle.pointer).decode()

    def __repr__(self):
        return f"<lay.Plan of {self.kernel.name}: {', '.join(self.variants)}>"

    def _index(self, variant):
        return self.variants.index(variant)

    def choose(self, **numbers):
        """The variant that a launch of these sizes takes where every pointer is aligned."""
        chosen = ctypes.c_size_t()
        self.kernel.program._call("plan_choose", self._handle.pointer, *c.sizes(numbers), chosen)
        return self.variants[chosen.value]

    def forecast(self, **numbers):
        """The least time of the chosen variant in seconds, and what bounds it."""
        seconds, bound = ctypes.c_double(), ctypes.c_char_p()
        with self.kernel.program._lock:
            self.kernel.program._call("plan_forecast", self._handle.pointer,
                                      self._index(self.choose(**numbers)), *c.sizes(numbers),
                                      seconds, bound)
            return seconds.value, bound.value.decode()

    def source(self, variant):
        """The CUDA C++ of the variant's launches, in order."""
        text = ctypes.c_char_p()
        return [self._launch("plan_source", variant, launch, text) or text.value.decode()
                for launch in range(self._launches(variant))]

    def images(self, variant):
        """The compiled launches of the variant: cubins, in order."""
        made = []
        for launch in range(self._launches(variant)):
            image, size = ctypes.c_void_p(), ctypes.c_size_t()
            self._launch("plan_image", variant, launch, image, size)
            made.append(ctypes.string_at(image.value, size.value))
        return made

    def _launches(self, variant):
        count = ctypes.c_size_t()
        self.kernel.program._call("plan_launch_count", self._handle.pointer, self._index(variant),
                                  count)
        return count.value

    def _launch(self, function, variant, launch, *out):
        self.kernel.program._call(function, self._handle.pointer, self._index(variant), launch,
                                  *out)
