"""Tensors of a framework that is none, as DLPack's C exchange API describes them; no GPU is needed
for what is only said of one."""

import ctypes

from lay import _exchange


class Tensor:
    """A tensor of a device: bf16 unless the type is given as (code, bits)."""

    def __init__(self, shape, address, strides=None, kind=(4, 16), device=(2, 0), offset=0):
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.address, self.kind, self.device, self.offset = address, kind, device, offset


@_exchange.describe_function
def describe(tensor, made):
    made = made[0]
    made.data, made.byte_offset = tensor.address, tensor.offset
    made.device_type, made.device_id = tensor.device
    made.ndim, (made.code, made.bits), made.lanes = len(tensor.shape), tensor.kind, 1
    made.shape = tensor.shape
    made.strides = tensor.strides or ctypes.POINTER(ctypes.c_int64)()
    return 0


def capsule(table):
    """What a type with that table has as `__dlpack_c_exchange_api__`; the table has to live on."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                   ctypes.c_void_p]
    return new(ctypes.addressof(table), b"dlpack_exchange_api", None)
