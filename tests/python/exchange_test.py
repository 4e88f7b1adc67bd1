"""Arrays of a framework that has DLPack's C exchange API alone: exchange_test.py, the package on
PYTHONPATH. The framework is a stand-in whose arrays are memory of the host that they say is a
GPU's; tests/embed/gpu/package.py launches kernels on such arrays."""

import ctypes
import unittest

from lay import _devices, _exchange
from stand_in import Tensor, capsule, describe


class Array(Tensor):
    def __init__(self, shape, kind=(4, 16), strides=None, device=0, offset=0):
        self.memory = ctypes.create_string_buffer(64)
        super().__init__(shape, ctypes.addressof(self.memory), strides, kind, (2, device), offset)

    def __dlpack_device__(self):
        return self.device


@_exchange.stream_function
def stream(kind, device, to):
    to[0] = {0: 0x57, 1: None}.get(device)
    return 0 if device < 2 else 7


asked, pending = [], {}


@_exchange.allocate_function
def allocate(like, managed, context, set_error):
    like = like[0]
    shape = tuple(like.shape[: like.ndim])
    asked.append((shape, tuple(like.strides[: like.ndim]), like.device_type, like.device_id))
    if shape == (13,):
        set_error(context, b"MemoryError", b"no memory for 13")
        return -1
    made = Array(shape, (like.code, like.bits), device=like.device_id)
    managed[0], pending[id(made)] = id(made), made
    return 0


@_exchange.to_object_function
def to_object(managed, to):
    made = pending.pop(managed)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    to[0] = id(made)
    return 0


FULL = _exchange.Table(1, 3, None, allocate, None, to_object, describe, stream)
NEWER = _exchange.Table(2, 0, ctypes.addressof(FULL))
FOREIGN = _exchange.Table(2, 0)
EMPTY = _exchange.Table(1, 3)
Array.__dlpack_c_exchange_api__ = capsule(FULL)


class Exchanging(unittest.TestCase):
    def setUp(self):
        self.framework = _devices.framework_of(Array((1,)))
        asked.clear()

    def test_a_type_has_a_framework_of_its_own(self):
        class Plain:
            pass

        class Odd:
            __dlpack_c_exchange_api__ = 12

        self.assertIs(type(self.framework), _exchange.Exchanging)
        self.assertIs(_devices.framework_of(Array((2,))), self.framework)
        for other in (Plain(), Odd()):
            self.assertIs(type(_devices.framework_of(other)), _devices.Other)

    def test_the_table_of_the_version_that_is_known_is_taken(self):
        for table, found in ((FULL, FULL), (NEWER, FULL), (FOREIGN, None)):
            kind = type("Kind", (), {"__dlpack_c_exchange_api__": capsule(table)})
            is_at = _exchange.table_of(kind)
            self.assertEqual(is_at and ctypes.addressof(is_at), found and ctypes.addressof(found))

    def test_an_array_is_where_it_says(self):
        array = Array((4, 6), (2, 32), (8, 1), offset=16)
        placed = self.framework.placed(array, 0)
        self.assertEqual((placed.element, placed.shape, placed.strides, placed.device),
                         ("f32", (4, 6), (8, 1), 0))
        self.assertEqual(placed.address, ctypes.addressof(array.memory) + 16)
        self.assertEqual(self.framework.placed(Array((4, 6)), 0).strides, (6, 1))
        with self.assertRaisesRegex(TypeError, "no element type for DLPack's 5 of 128 bits"):
            self.framework.placed(Array((2,), (5, 128)), 0)

    def test_the_stream_is_the_framework_s(self):
        self.assertEqual([self.framework.stream(device) for device in (0, 1)], [0x57, 0])
        with self.assertRaisesRegex(RuntimeError, "current stream failed with status 7"):
            self.framework.stream(2)

    def test_arrays_are_made_by_the_framework_s_allocator(self):
        made = self.framework.empty("bf16", (2, 3), (3, 1), 1)
        self.assertIs(type(made), Array)
        self.assertEqual(asked, [((2, 3), (3, 1), 2, 1)])
        self.assertEqual((tuple(made.shape), made.kind, made.device), ((2, 3), (4, 16), (2, 1)))
        again = self.framework.maker("bf16", (2, 3), (3, 1), 1)
        self.assertIsNot(again(), again())
        memory, address = self.framework.bytes(48, 0)
        self.assertEqual(asked[-1], ((48,), (1,), 2, 0))
        self.assertEqual(address, ctypes.addressof(memory.memory))
        self.assertEqual(tuple(self.framework.memory_maker(5, 0)().shape), (5,))

    def test_an_array_that_cannot_be_made_is_refused(self):
        with self.assertRaisesRegex(MemoryError, "^no memory for 13$"):
            self.framework.empty("f32", (13,), (1,), 0)
        with self.assertRaisesRegex(TypeError, "row-major"):
            self.framework.empty("f32", (2, 3), (1, 2), 0)
        self.assertIsNone(self.framework.maker("e8m0", (2,), (1,), 0))

    def test_arrays_that_are_made_are_kept_by_nobody(self):
        import gc
        import weakref

        made = self.framework.empty("f32", (2,), (1,), 0)
        gone = weakref.ref(made)
        del made
        gc.collect()
        self.assertIsNone(gone())

    def test_a_table_without_functions_is_as_none(self):
        kind = type("Kind", (Array,), {"__dlpack_c_exchange_api__": capsule(EMPTY)})
        framework = _devices.framework_of(kind((2,)))
        self.assertIs(type(framework), _exchange.Exchanging)
        self.assertEqual(framework.stream(0), 0)
        self.assertIsNone(framework.maker("f32", (2,), (1,), 0))
        with self.assertRaisesRegex(TypeError, "give the output as out="):
            framework.empty("f32", (2,), (1,), 0)
        with self.assertRaises(AttributeError):  # it has no __dlpack__ either
            framework.placed(kind((2,)), 0)


if __name__ == "__main__":
    unittest.main()
