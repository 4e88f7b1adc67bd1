"""Calls that lay._native makes: python3 tests/python/native_test.py, the package on PYTHONPATH. The
tensors and the library's functions are stand-ins, so that every call is seen and no GPU is needed;
that such calls compute what `_call` computes is seen on a GPU (gpu_test.py)."""

import ctypes
import gc
import sys
import threading
import tracemalloc
import unittest

import lay
from lay import _calls, _exchange
from lay import _library as c
from stand_in import Tensor, capsule, describe


def table(describe, major=1, previous=None):
    """A table that describes tensors and knows the current stream, and no more."""
    return _exchange.Table(major, 3, previous, _exchange.allocate_function(), None,
                           _exchange.to_object_function(), describe, _current_stream)


_streams = {0: 0x57, 1: 0x58}


@_exchange.stream_function
def _current_stream(kind, device, stream):
    stream[0] = _streams[device] if kind == 2 else None
    return 0


TABLE = table(describe)
NEWER = table(describe, 2, ctypes.addressof(TABLE))
FOREIGN = table(describe, 2)
# ctypes clears what a callback raises. This function of Python's fails as a description does: it
# returns -1 with an exception, for anything but a list.
FAILING = table(ctypes.cast(ctypes.pythonapi.PyList_Append, _exchange.describe_function))
Tensor.__dlpack_c_exchange_api__ = capsule(TABLE)


class Library:
    """The library's functions, which write down what they are called with."""

    def __init__(self):
        self.launches, self.values, self.freed, self.result = [], {}, [], 0
        self.within = self.most_within = 0
        self.functions = (
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(c.Tensor),
                             ctypes.c_size_t, ctypes.POINTER(c.Size), ctypes.c_size_t,
                             ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_void_p,
                             ctypes.c_int64, ctypes.c_void_p)(self.launch),
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64,
                             ctypes.POINTER(ctypes.c_void_p))(self.number),
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double,
                             ctypes.POINTER(ctypes.c_void_p))(self.number),
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.freed.append),
        )
        _calls._native.bind(*(ctypes.cast(f, ctypes.c_void_p).value for f in self.functions))

    def launch(self, launcher, tensors, count, sizes, size_count, scalars, scalar_count, workspace,
               workspace_bytes, stream):
        self.within += 1
        self.most_within = max(self.most_within, self.within)
        self.launches.append((launcher, [tensors[i].address for i in range(count)],
                              [self.values[scalars[i]] for i in range(scalar_count)], workspace,
                              workspace_bytes, stream))
        self.within -= 1
        return self.result

    def number(self, context, value, made):
        self.values[len(self.values) + 1] = value
        made[0] = len(self.values)
        return 0


class Lock:
    def __init__(self):
        self.lock, self.held = threading.RLock(), 0

    def acquire(self):
        self.lock.acquire()
        self.held += 1

    def release(self):
        self.held -= 1
        self.lock.release()


class Kernel(_calls.Caller):
    """y, z = kernel(x, s, w): x and w are tensors, s is a scalar, y and z are outputs."""

    def __init__(self, outputs=2):
        self.slow, self.lock, self.made = [], Lock(), []
        tensors = 2 + outputs
        self._know(("x", "s", "w"), (0, tensors, 1), tensors, tuple(range(2, tensors)),
                   tuple(range(2, tensors)))
        self.raised = []

    def _call(self, *arguments, **named):
        self.slow.append((arguments, named))
        return "slow"

    def _raise(self, result):
        self.raised.append((result, self.lock.held))
        raise ValueError(f"result {result}")

    def make(self):
        made = Tensor((4, 8), 0x100000 + 0x1000 * len(self.made))
        self.made.append(made)
        return made

    def keep(self, *tensors, workspace=0, make_memory=None):
        described = (c.Tensor * len(tensors))()
        sizes = (c.Size * 1)()
        missing = sum(1 for tensor in tensors if tensor is None)
        self._keep(tensors, 0xC0, 0xAA, ctypes.addressof(described), ctypes.addressof(sizes), 0,
                   workspace, (self.make,) * missing, make_memory, self.lock, (described, sizes))


@unittest.skipIf(_calls._native is None, "the package has no lay._native")
class Calls(unittest.TestCase):
    def setUp(self):
        self.library = Library()
        _calls._native.describe(_calls.exchange_of)
        self.x, self.w = Tensor((4, 6), 0x1000), Tensor((8, 6), 0x2000, strides=(6, 1))
        self.y, self.z = Tensor((4, 8), 0x3000), Tensor((4, 8), 0x4000)
        self.kernel = Kernel()

    def given(self):
        """A kernel that has a launch for x and w and outputs of the caller."""
        self.kernel.keep(self.x, self.w, self.y, self.z)
        return self.kernel

    def test_a_call_as_one_before_is_launched(self):
        kernel = self.given()
        out = kernel(self.x, 0.5, self.w, out=(self.y, self.z))
        self.assertEqual(out, (self.y, self.z))
        other = Tensor((4, 6), 0x7000, offset=0x100)
        kernel(other, w=self.w, s=3, out=(self.z, self.y))
        self.assertEqual(self.library.launches, [
            (0xAA, [0x1000, 0x2000, 0x3000, 0x4000], [0.5], None, 0, 0x57),
            (0xAA, [0x7100, 0x2000, 0x4000, 0x3000], [3], None, 0, 0x57),
        ])
        self.assertEqual(self.library.freed, [1, 2])
        self.assertEqual((kernel.slow, kernel.lock.held), ([], 0))

    def test_outputs_and_workspaces_are_made(self):
        memory = Tensor((64,), 0x9000)
        self.kernel.keep(self.x, self.w, None, None, workspace=64, make_memory=lambda: memory)
        y, z = self.kernel(self.x, 1.0, self.w)
        self.assertEqual([y, z], self.kernel.made)
        again = self.kernel(self.x, 1.0, self.w, out=None)
        self.assertEqual(list(again), self.kernel.made[2:])
        seen = [(at, space, size) for _, at, _, space, size, _ in self.library.launches]
        self.assertEqual(seen, [
            ([0x1000, 0x2000, 0x100000, 0x101000], 0x9000, 64),
            ([0x1000, 0x2000, 0x102000, 0x103000], 0x9000, 64),
        ])

    def test_one_output_is_no_tuple(self):
        kernel = Kernel(outputs=1)
        kernel.keep(self.x, self.w, None)
        kernel.keep(self.x, self.w, self.y)
        self.assertIs(kernel(self.x, 1.0, self.w), kernel.made[0])
        self.assertIs(kernel(self.x, 1.0, self.w, out=self.y), self.y)
        self.assertIs(kernel(self.x, 1.0, self.w, out=(self.y,)), self.y)
        self.assertEqual(kernel(self.x, 1.0, self.w, out=[self.y]), "slow")

    def test_any_other_call_is_left_to_python(self):
        kernel = self.given()
        x, w, outs = self.x, self.w, (self.y, self.z)
        for tensor in (
            Tensor((4, 7), 0x1000),
            Tensor((4, 6), 0x1010),
            Tensor((4, 6), 0x1000, strides=(6, 1)),
            Tensor((4, 6), 0x1000, kind=(2, 16)),
            Tensor((4, 6), 0x1000, device=(2, 1)),
            Tensor((4, 6), 0x1000, device=(1, 0)),
            Tensor((24,), 0x1000),
            Tensor((1,) * 400, 0x1000),
            [1, 2],
            None,
        ):
            self.assertEqual(kernel(tensor, 0.5, w, out=outs), "slow")
            self.assertEqual(kernel.slow.pop(), ((tensor, 0.5, w), {"out": outs}))
        for arguments, named in (
            ((x, 0.5), {"out": outs}),
            ((x, 0.5, w, w), {"out": outs}),
            ((x, 0.5, w), {"out": outs, "x": x}),
            ((x, 0.5, w), {"out": outs, "N": 4}),
            ((x, 0.5, w), {"out": outs[:1]}),
            ((x, 0.5, w), {"out": list(outs)}),
            ((x, 0.5, w), {"out": self.y}),
            ((x, 0.5, w), {}),
            ((x, True, w), {"out": outs}),
            ((x, "1", w), {"out": outs}),
            ((x, 1 << 70, w), {"out": outs}),
        ):
            self.assertEqual(kernel(*arguments, **named), "slow")
            self.assertEqual(kernel.slow.pop(), (arguments, named))
        self.assertEqual((self.library.launches, kernel.lock.held), ([], 0))
        self.assertEqual(len(self.library.freed), len(self.library.values))

    def test_a_tensor_that_is_not_described_is_left_to_python(self):
        kernel = self.given()

        class Failing(Tensor):
            __dlpack_c_exchange_api__ = capsule(FAILING)

        class Elsewhere(Tensor):
            __dlpack_c_exchange_api__ = capsule(FOREIGN)

        class Newer(Tensor):
            __dlpack_c_exchange_api__ = capsule(NEWER)

        class Older(Tensor):
            __dlpack_c_exchange_api__ = ctypes.addressof(TABLE)

        for kind, answer in ((Failing, "slow"), (Elsewhere, "slow"), (Older, "slow"),
                             (Newer, (self.y, self.z))):
            tensor = kind((4, 6), 0x1000)
            self.assertEqual(kernel(tensor, 0.5, self.w, out=(self.y, self.z)), answer)

    def test_the_device_of_the_tensors_is_the_stream_s(self):
        x, w = Tensor((4, 6), 0x1000, device=(2, 1)), Tensor((8, 6), 0x2000, device=(2, 1))
        y, z = (Tensor((4, 8), at, device=(2, 1)) for at in (0x3000, 0x4000))
        self.kernel.keep(x, w, y, z)
        self.kernel(x, 1, w, out=(y, z))
        self.assertEqual(self.library.launches[0][-1], 0x58)

    def test_nothing_is_kept_of_tensors_that_are_not_described(self):
        self.kernel.keep([1], self.w, self.y, self.z)
        self.kernel.keep(self.x, self.w, self.y, Tensor((1,) * 400, 0x1000))
        self.assertEqual(self.kernel([1], 0.5, self.w, out=(self.y, self.z)), "slow")

    def test_kernels_of_many_parameters_are_left_to_python(self):
        kernel = Kernel()
        names = tuple(f"a{i}" for i in range(40))
        kernel._know(names, tuple(range(40)), 40, (), (0,))
        tensors = [Tensor((4,), 0x1000 * i) for i in range(40)]
        kernel.keep(*tensors)
        self.assertEqual(kernel(*tensors), "slow")

    def test_what_the_library_refuses_is_raised_with_the_lock_held(self):
        kernel = self.given()
        self.library.result = 3
        with self.assertRaisesRegex(ValueError, "result 3"):
            kernel(self.x, 0.5, self.w, out=(self.y, self.z))
        self.assertEqual((kernel.raised, kernel.lock.held), ([(3, 1)], 0))
        kernel._raise = lambda result: None
        with self.assertRaises(RuntimeError):
            kernel(self.x, 0.5, self.w, out=(self.y, self.z))
        self.assertEqual(kernel.lock.held, 0)

    def test_exceptions_of_what_is_called_pass_through(self):
        def no_memory():
            raise MemoryError("no more")

        self.kernel.make = no_memory
        self.kernel.keep(self.x, self.w, None, None)
        with self.assertRaisesRegex(MemoryError, "no more"):
            self.kernel(self.x, 0.5, self.w)
        kernel = Kernel()
        kernel.make = lambda: "no tensor"
        kernel.keep(self.x, self.w, None, None)
        with self.assertRaisesRegex(TypeError, "DLPack does not describe"):
            kernel(self.x, 0.5, self.w)

        class Failing(Tensor):
            __dlpack_c_exchange_api__ = capsule(FAILING)

        kernel.make = lambda: Failing((4, 8), 0x3000)
        kernel.keep(self.x, self.w, self.y, None)
        kernel.keep(self.x, self.w, None, None)
        with self.assertRaises(SystemError):
            kernel(self.x, 0.5, self.w)
        kernel = Kernel()
        kernel.keep(self.x, self.w, self.y, self.z)
        kernel.lock.acquire = no_memory  # not the one that was kept

        def find(kind):
            raise LookupError("nobody knows")

        _calls._native.describe(find)
        with self.assertRaisesRegex(LookupError, "nobody knows"):
            kernel(self.x, 0.5, self.w, out=(self.y, self.z))
        self.assertEqual((self.library.launches, kernel.slow), ([], []))

    def test_what_is_forgotten_is_left_to_python(self):
        kernel = self.given()
        kernel._forget()
        self.assertEqual(kernel(self.x, 0.5, self.w, out=(self.y, self.z)), "slow")

    def test_wrong_places_are_refused(self):
        for places in ((0, 2, 99), (0, 2, -1), (0, "s", 1)):
            with self.assertRaises((ValueError, TypeError)):
                Kernel()._know(("x", "s", "w"), places, 4, (2, 3), (2, 3))
        with self.assertRaises(TypeError):
            Kernel()._keep(1, 2)

    def test_a_kernel_that_knows_nothing_is_left_to_python(self):
        class Bare(_calls.Caller):
            def _call(self, *arguments, **named):
                return arguments, named

        self.assertEqual(Bare()(1, a=2), ((1,), {"a": 2}))
        Bare()._keep((), 0, 0, 0, 0, 0, 0, (), None, Lock(), None)
        with self.assertRaises(AttributeError):
            type("Empty", (_calls.Caller,), {})()(1)

    def test_calls_keep_no_references(self):
        memory = Tensor((64,), 0x9000)
        kernel = Kernel()
        kernel.keep(self.x, self.w, None, None, workspace=64, make_memory=lambda: memory)
        kernel.keep(self.x, self.w, self.y, self.z)
        wrong = Tensor((9,), 0x1000)
        everything = (self.x, self.w, self.y, self.z, memory, wrong, kernel.lock)

        def calls():
            kernel(self.x, 0.5, self.w)
            kernel(self.x, 0.5, w=self.w, out=(self.y, self.z))
            kernel(wrong, 0.5, self.w)
            self.library.result = 1
            with self.assertRaises(ValueError):
                kernel(self.x, 0.5, self.w, out=(self.y, self.z))
            self.library.result = 0
            for kept in (kernel.made, kernel.slow, kernel.raised, self.library.launches,
                         self.library.freed):
                kept.clear()
            self.library.values.clear()

        def growth(rounds):
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(rounds):
                calls()
            gc.collect()
            return tracemalloc.get_traced_memory()[0] - before

        calls()
        before = [sys.getrefcount(each) for each in everything]
        tracemalloc.start()
        growth(10)
        # An object for each of the calls would be 16 bytes at least.
        self.assertLess(growth(1000), 16 * 1000)
        tracemalloc.stop()
        self.assertEqual([sys.getrefcount(each) for each in everything], before)

    def test_what_a_kernel_holds_goes_with_it(self):
        gone = []

        class Owner:
            def __del__(self):
                gone.append(True)

        kernel = Kernel()
        described, sizes = (c.Tensor * 4)(), (c.Size * 1)()
        kernel._keep((self.x, self.w, self.y, self.z), 1, 2, ctypes.addressof(described),
                     ctypes.addressof(sizes), 0, 0, (), None, kernel.lock, Owner())
        self.assertEqual(gone, [])
        del kernel
        gc.collect()
        self.assertEqual(gone, [True])

    def test_threads_launch_one_at_a_time(self):
        kernel = self.given()
        tensors = [Tensor((4, 6), 0x10000 * (i + 1)) for i in range(8)]

        def work(tensor):
            for _ in range(200):
                kernel(tensor, 0.5, self.w, out=(self.y, self.z))

        threads = [threading.Thread(target=work, args=(tensor,)) for tensor in tensors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        addresses = sorted(at[0] for _, at, *_ in self.library.launches)
        self.assertEqual(addresses, sorted(t.address for t in tensors for _ in range(200)))
        self.assertEqual((self.library.most_within, kernel.slow), (1, []))


class Package(unittest.TestCase):
    def test_a_subclass_of_torch_s_tensor_is_not_described(self):
        class Module:
            class Tensor:
                __dlpack_c_exchange_api__ = 1

            class nn:
                pass

        class Parameter(Module.Tensor):
            pass

        class Fake(Module.Tensor):
            pass

        Module.nn.Parameter = Parameter
        before = sys.modules.get("torch")
        sys.modules["torch"] = Module
        try:
            found = [_calls.exchange_of(kind) for kind in (Module.Tensor, Parameter, Fake, int)]
        finally:
            del sys.modules["torch"]
            if before is not None:
                sys.modules["torch"] = before
        self.assertEqual(found, [1, 1, None, None])

    def test_kernels_are_callers(self):
        self.assertTrue(issubclass(lay.Kernel, _calls.Caller))


if __name__ == "__main__":
    unittest.main()
