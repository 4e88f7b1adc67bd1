"""Arrays on a GPU: where they lie, the stream that they are worked on, and how more are made. Each
framework that is known is a class here; none is imported before one of its arrays is seen."""

import ctypes
import functools
import sys

from . import _arrays

_cuda = (2, 13)  # DLPack's devices: CUDA's memory, and memory that CUDA manages


class Placed:
    """An array on a device: element type, shape, strides in elements, address."""

    __slots__ = ("element", "shape", "strides", "address", "device", "owner")

    def __init__(self, element, shape, strides, address, device, owner):
        self.element, self.shape, self.strides = element, shape, strides
        self.address, self.device, self.owner = address, device, owner

    def key(self):
        """What a launch depends on but for the address itself: how that is aligned."""
        return self.element, self.shape, self.strides, self.address & 255, self.device


def device_of(value):
    """The number of the CUDA device that an array lies on; None for anything else."""
    if getattr(value, "is_cuda", None) is True:  # a tensor of PyTorch
        return value.device.index
    if isinstance(value, _arrays.Array) or not hasattr(value, "__dlpack_device__"):
        return None
    kind, number = value.__dlpack_device__()
    return number if kind in _cuda else None


class Framework:
    """What a framework need not say of itself."""

    def check_outputs(self, outputs):
        """Refuses arrays of the caller's that a kernel may not write."""

    def finish(self, stream, device):
        """After a launch on the stream: nothing, where the stream is the framework's own."""


class Torch(Framework):
    """Tensors of PyTorch, on its current stream and by its allocator."""

    def __init__(self):
        self.torch = sys.modules["torch"]
        named = _arrays.elements | _arrays.extended
        pairs = [(getattr(self.torch, name, None), ours) for name, ours in named.items()]
        self.element_of = {dtype: ours for dtype, ours in pairs if dtype is not None}
        self.dtype_of = {ours: dtype for dtype, ours in self.element_of.items()}
        # The handle without an object round it, and the allocation that PyTorch's own compiler
        # emits, on the current device, where this version of PyTorch has them.
        self.raw_stream = getattr(self.torch._C, "_cuda_getCurrentRawStream", None)
        self.raw_empty = getattr(getattr(getattr(self.torch._C, "_dynamo", None), "guards", None),
                                 "_empty_strided_cuda", None)
        self.devices = {}

    def placed(self, tensor, stream):
        element = self.element_of.get(getattr(tensor, "dtype", None))
        if element is None:
            raise TypeError(f"Lay has no element type for {getattr(tensor, 'dtype', type(tensor))}")
        if not tensor.is_cuda:
            raise TypeError("some arrays lie on a GPU and some on the host")
        return Placed(element, tensor.shape, tensor.stride(), tensor.data_ptr(),
                      tensor.device.index, tensor)

    def stream(self, device):
        if self.raw_stream is not None:
            return self.raw_stream(device)
        return self.torch.cuda.current_stream(device).cuda_stream

    def device(self, number):
        if number not in self.devices:
            self.devices[number] = self.torch.device("cuda", number)
        return self.devices[number]

    def empty(self, element, shape, strides, device):
        return self.maker(element, shape, strides, device)()

    def maker(self, element, shape, strides, device):
        """What makes an array as `empty` does each time it is called; None where nothing does."""
        if self.raw_empty is not None and self.torch.cuda.device_count() == 1:
            return functools.partial(self.raw_empty, tuple(shape), tuple(strides),
                                     self.dtype_of[element])
        return functools.partial(self.torch.empty_strided, tuple(shape), tuple(strides),
                                 dtype=self.dtype_of[element], device=self.device(device))

    def bytes(self, count, device):
        made = self.memory_maker(count, device)()
        return made, made.data_ptr()

    def memory_maker(self, count, device):
        """The same for `bytes`."""
        return functools.partial(self.torch.empty, count, dtype=self.torch.uint8,
                                 device=self.device(device))


class CuPy(Framework):
    """Arrays of CuPy, on its current stream and by its memory pool."""

    def __init__(self):
        self.cupy = sys.modules["cupy"]

    def placed(self, array, stream):
        return of_dlpack(array, stream)

    def stream(self, device):
        with self.cupy.cuda.Device(device):
            return self.cupy.cuda.get_current_stream().ptr

    def empty(self, element, shape, strides, device):
        dtype = _arrays.dtypes.get(element)
        if dtype is None:
            raise TypeError(f"CuPy has no element type for {element}: give the output as out=")
        size = self.cupy.dtype(dtype).itemsize
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides) if extent)
        with self.cupy.cuda.Device(device):
            memory = self.cupy.empty(span, dtype)
        return self.cupy.lib.stride_tricks.as_strided(memory, shape, [s * size for s in strides])

    def maker(self, element, shape, strides, device):
        return functools.partial(self.empty, element, tuple(shape), tuple(strides), device)

    def bytes(self, count, device):
        made = self.memory_maker(count, device)()
        return made, made.data.ptr

    def memory_maker(self, count, device):
        return functools.partial(self._bytes, count, device)

    def _bytes(self, count, device):
        with self.cupy.cuda.Device(device):
            return self.cupy.empty(count, "uint8")


class Other(Framework):
    """Arrays of any framework that has DLPack, on the legacy default stream; it makes none."""

    def placed(self, array, stream):
        return of_dlpack(array, stream)

    def stream(self, device):
        return 0

    def empty(self, element, shape, strides, device):
        raise TypeError("Lay cannot make arrays of this framework: give the output as out=")

    def maker(self, element, shape, strides, device):
        return None

    def memory_maker(self, count, device):
        return None

    def bytes(self, count, device):
        raise TypeError("this launch needs a workspace, and Lay cannot make arrays of this "
                        "framework")


class Jax(Other):
    """Arrays of JAX. They never change: a kernel fills outputs that nobody else has yet. JAX has
    streams of its own, which do not wait for ours: a launch is done when it returns."""

    def __init__(self):
        self.jax = sys.modules["jax"]

    def empty(self, element, shape, strides, device):
        if tuple(strides) != _arrays.row_major(shape):
            raise TypeError("arrays of JAX are row-major, and this output is not")
        name = _arrays.dtypes.get(element) or _names.get(element)
        if name is None:
            raise TypeError(f"JAX has no element type for {element}")
        made = self._new(shape, name, device)
        if made.dtype.name != name:
            raise TypeError(f"JAX makes no arrays of {name} without jax_enable_x64")
        return made

    def bytes(self, count, device):
        made = self._new((count,), "uint8", device)
        return made, made.unsafe_buffer_pointer()

    def _new(self, shape, name, device):
        with self.jax.default_device(self.jax.devices("cuda")[device]):
            return self.jax.numpy.empty(tuple(shape), name).block_until_ready()

    def check_outputs(self, outputs):
        raise TypeError("arrays of JAX never change: a kernel takes none as out= and none that it "
                        "writes in place")

    def finish(self, stream, device):
        # In the device's primary context, which need not be current in this thread.
        context, handle, driver = ctypes.c_void_p(), ctypes.c_int(), ctypes.CDLL("libcuda.so.1")
        _driver_call(driver, "cuDeviceGet", ctypes.byref(handle), device)
        _driver_call(driver, "cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
        try:
            _driver_call(driver, "cuCtxPushCurrent_v2", context)
            try:
                _driver_call(driver, "cuStreamSynchronize", ctypes.c_void_p(stream))
            finally:
                driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        finally:
            driver.cuDevicePrimaryCtxRelease_v2(handle)


def _driver_call(driver, name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name} failed with status {status}")


_names = {element: name for name, element in _arrays.extended.items()}
_known = {"torch": Torch, "cupy": CuPy, "jaxlib": Jax}
_made = {}


def framework_of(value):
    """The framework of an array: one of those known by name, else what its type says of itself."""
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    # A subclass of a tensor is of its base's framework.
    if module not in _known and getattr(value, "is_cuda", None) is True:
        module = "torch"
    if module not in _known:
        return _of_type(kind)
    if module not in _made:
        _made[module] = _known[module]()
    return _made[module]


@functools.lru_cache(maxsize=64)
def _of_type(kind):
    from . import _exchange  # which builds on this module

    table = _exchange.table_of(kind)
    return _exchange.Exchanging(kind, table) if table else Other()


def of_dlpack(value, stream):
    """Where the array lies, by DLPack, whose producer is told the stream that will work on it."""
    # 0 is refused as ambiguous: 1 is the legacy default stream.
    capsule = value.__dlpack__(stream=stream or 1)
    element, shape, strides, address, device = _arrays.described(capsule)
    return Placed(element, shape, strides, address, device, (value, capsule))


def integers(values):
    return (ctypes.c_int64 * len(values))(*values)
