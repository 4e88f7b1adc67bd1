"""Arrays between Python and Lay: NumPy's, anything with __dlpack__ on the host, and a type of our
own where NumPy lacks the element type."""

import ctypes
import struct
import sys

from . import _library as c


def found_numpy():
    """NumPy, or None where it is not installed: everything but arrays works without it. It is
    imported when it is first needed, for that takes longer than all of this package."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


# Lay's element types that NumPy has, by NumPy's names.
elements = {
    "bool": "pred",
    "int8": "s8",
    "int16": "s16",
    "int32": "s32",
    "int64": "s64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
}
# The same by the letters of the module struct, which memoryviews have.
_formats = {
    "pred": "?",
    "s8": "b",
    "s16": "h",
    "s32": "i",
    "s64": "q",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "f16": "e",
    "f32": "f",
    "f64": "d",
}
_letters = {letter: element for element, letter in _formats.items()} | {"l": "s64", "L": "u64"}
dtypes = {element: dtype for dtype, element in elements.items()}
# Those that only the package ml_dtypes has.
extended = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}

# DLPack's type codes with their bits: what __dlpack__ hands over.
_dlpack = {
    (0, 8): "s8",
    (0, 16): "s16",
    (0, 32): "s32",
    (0, 64): "s64",
    (1, 8): "u8",
    (1, 16): "u16",
    (1, 32): "u32",
    (1, 64): "u64",
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (6, 8): "pred",
    (10, 8): "e4m3",
    (12, 8): "e5m2",
}
dlpack_of = {element: code for code, element in _dlpack.items()}
_sizes = {element: bits // 8 for (_, bits), element in _dlpack.items()}  # in bytes
_host = (1, 3)  # DLPack's devices of the host: its memory, and memory that CUDA has pinned


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Array:
    """An array of Lay where NumPy is not installed, or has no type for its elements, as bf16. The
    bytes are row-major."""

    def __init__(self, element, shape, data):
        self.element, self.shape, self.data = element, tuple(shape), data

    def bits(self):
        """The elements' bits as a memoryview of unsigned integers, in the shape."""
        size = len(self.data) // max(1, _count(self.shape))
        flat = memoryview(self.data).cast({1: "B", 2: "H", 4: "I", 8: "Q"}.get(size, "B"))
        return flat.cast("B").cast(flat.format, self.shape) if self.shape else flat

    def tolist(self):
        """The elements as nested lists, of types that Python's module struct has."""
        if self.element not in _formats:
            raise TypeError(f"Python has no numbers of {self.element}: bits() gives their bits")
        flat = struct.unpack(f"={_count(self.shape)}{_formats[self.element]}", self.data)
        return _nested(list(flat), self.shape) if self.shape else flat[0]

    def __repr__(self):
        return f"<lay.Array {self.element} {self.shape}>"


def _nested(flat, shape):
    if len(shape) == 1:
        return flat
    step = _count(shape[1:])
    return [_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def _count(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def is_array(value):
    return (
        isinstance(value, Array)
        or hasattr(value, "__array_interface__")
        or hasattr(value, "__dlpack__")
        or _view(value) is not None
    )


def _view(value):
    """The memory of what has Python's buffer protocol, None for anything else."""
    if isinstance(value, (bytes, bytearray)):
        return None  # no numbers
    try:
        return memoryview(value)
    except TypeError:
        return None


def parts(value):
    """Element type, shape and the bytes in row-major order, which the result keeps alive."""
    if isinstance(value, Array):
        return value.element, value.shape, value.data
    numpy = sys.modules.get("numpy")  # without it nobody has one of its arrays
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        value = numpy.asarray(value)
        name = value.dtype.name
        element = elements.get(name) or extended.get(name)
        if element is None or not value.dtype.isnative:
            raise TypeError(f"Lay has no element type for NumPy's {value.dtype}")
        return element, value.shape, value.tobytes()
    if hasattr(value, "__dlpack__"):
        return _of_dlpack(value)
    view = _view(value)
    if view is not None and view.format.lstrip("@=<") in _letters:
        return _letters[view.format.lstrip("@=<")], view.shape, view.tobytes()
    numpy = found_numpy()
    if numpy is None:
        raise TypeError(f"Lay has no array for {type(value).__name__}, and NumPy is not installed")
    return parts(numpy.asarray(value))


def described(capsule):
    """What DLPack says in a capsule, which keeps it alive: element type, shape, strides in
    elements, address, number of the device."""
    return of_tensor(_DLTensor.from_address(pointer_of(capsule, b"dltensor")))


def pointer_of(capsule, name):
    """The address that a capsule of this name has."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name)


def of_tensor(tensor):
    """The same of DLPack's struct."""
    element = _dlpack.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if element is None:
        raise TypeError(f"Lay has no element type for DLPack's {tensor.code} of {tensor.bits} bits")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else row_major(shape)
    return element, shape, strides, (tensor.data or 0) + tensor.byte_offset, tensor.device_id


def row_major(shape):
    """The strides of an array without gaps whose last index runs fastest."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


def _of_dlpack(value):
    device, _ = value.__dlpack_device__()
    if device not in _host:
        raise TypeError("the array lies on a device, and an expression needs it on the host")
    if getattr(value, "requires_grad", False):
        value = value.detach()
    capsule = value.__dlpack__()
    element, shape, strides, at, _ = described(capsule)
    size, count = _sizes[element], _count(shape)
    if strides == row_major(shape) or count == 0:
        return element, shape, ctypes.string_at(at, count * size) if count else b""
    numpy = found_numpy()
    if any(stride < 0 for stride in strides) or numpy is None:
        raise TypeError("the array's strides are no row-major ones")
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
    memory = numpy.frombuffer(ctypes.string_at(at, span * size), f"V{size}")
    view = numpy.lib.stride_tricks.as_strided(memory, shape, [s * size for s in strides])
    return element, shape, view.tobytes()


def to_python(element, shape, data):
    """NumPy's array of the bytes, a copy; an Array where there is none."""
    numpy = found_numpy()
    if numpy is not None:
        if element in dtypes:
            return numpy.frombuffer(data, dtypes[element]).reshape(shape).copy()
        try:
            import ml_dtypes  # noqa: F401, it tells NumPy of its types
        except ImportError:
            pass
        else:
            for name, ours in extended.items():
                if ours == element:
                    return numpy.frombuffer(data, getattr(ml_dtypes, name)).reshape(shape).copy()
    return Array(element, shape, data)


def of_value(handle):
    """The array of a value of the library."""
    array = c.Array()
    if c.library.lay_value_to_array(handle, array) != c.OK:
        return None
    shape = tuple(array.shape[i] for i in range(array.rank))
    data = ctypes.string_at(array.data, array.bytes) if array.bytes else b""
    return to_python(array.element.decode(), shape, data)
