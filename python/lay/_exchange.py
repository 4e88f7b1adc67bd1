"""Arrays of a framework that is known by DLPack's C exchange API alone (DLPack 1.3): where they
lie, its current stream, and its allocator."""

import ctypes

from . import _arrays
from ._devices import Other, Placed, integers

_Tensor = _arrays._DLTensor


_set_error = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
# With Python's lock: what a function raises is raised by its call.
allocate_function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Tensor),
                                      ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, _set_error)
to_object_function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                                       ctypes.POINTER(ctypes.c_void_p))
describe_function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Tensor))
stream_function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32,
                                    ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    """DLPackExchangeAPI. Functions may be null; they return 0, or fail with an exception."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", allocate_function),
        ("from_object", ctypes.c_void_p),
        ("to_object", to_object_function),
        ("describe", describe_function),
        ("stream", stream_function),
    ]


def table_of(kind):
    """The table of a type in the version that is known here; None where it has none."""
    capsule = getattr(kind, "__dlpack_c_exchange_api__", None)
    if type(capsule).__name__ != "PyCapsule":
        return None
    at = _arrays.pointer_of(capsule, b"dlpack_exchange_api")
    while at:
        table = Table.from_address(at)
        if table.major == 1:
            return table
        at = table.previous
    return None


class Exchanging(Other):
    """Arrays of a type with such a table, on its current stream and by its allocator, which makes
    row-major ones."""

    def __init__(self, kind, table):
        self.kind, self.table = kind, table

    def placed(self, array, stream):
        if not self.table.describe or type(array) is not self.kind:
            return super().placed(array, stream)
        tensor = _Tensor()
        _must(self.table.describe(array, tensor), "the description of an array")
        return Placed(*_arrays.of_tensor(tensor), array)

    def stream(self, device):
        if not self.table.stream:
            return super().stream(device)
        stream = ctypes.c_void_p()
        _must(self.table.stream(_cuda, device, stream), "the current stream")
        return stream.value or 0

    def empty(self, element, shape, strides, device):
        if not self._makes(element):
            return super().empty(element, shape, strides, device)
        if tuple(strides) != _arrays.row_major(shape):
            raise TypeError("the framework's allocator makes row-major arrays, and this output is "
                            "none: give it as out=")
        code, bits = _arrays.dlpack_of[element]
        like = _Tensor(device_type=_cuda, device_id=device, ndim=len(shape), code=code, bits=bits,
                       lanes=1)
        like.shape, like.strides = integers(shape), integers(strides)
        failed, managed, made = [], ctypes.c_void_p(), ctypes.c_void_p()
        report = _set_error(lambda _, kind, why: failed.append((why or kind or b"").decode()))
        if self.table.allocate(like, managed, None, report) != 0 or not managed.value:
            raise MemoryError(failed[0] if failed else "the framework's allocator failed")
        _must(self.table.to_object(managed, made), "an array of the framework's allocator")
        array = ctypes.cast(made, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(array))  # the reference that `made` was
        return array

    def maker(self, element, shape, strides, device):
        if not self._makes(element):
            return None
        shape, strides = tuple(shape), tuple(strides)
        return lambda: self.empty(element, shape, strides, device)

    def memory_maker(self, count, device):
        return self.maker("u8", (count,), (1,), device)

    def bytes(self, count, device):
        made = self.empty("u8", (count,), (1,), device)
        return made, self.placed(made, self.stream(device)).address

    def _makes(self, element):
        return element in _arrays.dlpack_of and self.table.allocate and self.table.to_object


_cuda = 2


def _must(status, what):
    if status != 0:
        raise RuntimeError(f"{what} failed with status {status}")
