"""What runtime/bench/torch/candidate.py uses of PyTorch, on the host: enough for sums of rows of
f32, and products of matrices. A launch takes 0.25 ms. STUB_TORCH says what does not work."""

import builtins
import itertools
import os
import struct
import sys
import types

__version__ = "2.9.stub"
float32, uint8 = "f", "B"
size_of = {"f": 4, "B": 1}


class Tensor:
    def __init__(self, storage, dtype, shape, strides):
        self.storage, self.dtype = storage, dtype
        self.shape, self.strides = tuple(shape), tuple(strides)

    def view(self, dtype):
        count = self.shape[0] * size_of[self.dtype] // size_of[dtype]
        return Tensor(self.storage, dtype, (count,), (1,))

    def as_strided(self, shape, strides):
        return Tensor(self.storage, self.dtype, shape, strides)

    def place(self, at):
        return builtins.sum(i * s for i, s in zip(at, self.strides)) * size_of[self.dtype]

    def __getitem__(self, at):
        return struct.unpack_from(self.dtype, self.storage, self.place(at))[0]

    def __setitem__(self, at, value):
        struct.pack_into(self.dtype, self.storage, self.place(at), value)

    def copy_(self, other):
        for at in itertools.product(*(range(extent) for extent in self.shape)):
            self[at] = other[at]
        if hasattr(self, "file"):
            with open(self.file, "wb") as out:
                out.write(self.storage)

    def clone(self):
        return Tensor(bytearray(self.storage), self.dtype, self.shape, self.strides)

    def cuda(self):
        return self.clone()

    def contiguous(self):
        return self

    def reshape(self, *shape):
        strides = [1]
        for extent in reversed(shape[1:]):
            strides.insert(0, strides[0] * extent)
        return Tensor(self.storage, self.dtype, shape, strides)

    @property
    def T(self):
        return Tensor(self.storage, self.dtype, self.shape[::-1], self.strides[::-1])


def full(shape, value, dtype, device):
    assert dtype == uint8 and device == "cuda"
    return Tensor(bytearray([value]) * shape[0], uint8, shape, (1,))


def from_file(path, shared, size, dtype):
    if shared:
        made = full((size,), 0, dtype, "cuda")
        made.file = path
        return made
    with open(path, "rb") as read:
        return Tensor(bytearray(read.read()), dtype, (size,), (1,))


def sum(x, dim):
    if os.environ.get("STUB_TORCH") == "raises":
        raise RuntimeError("out of memory\nof the GPU")
    cuda.launches += 1
    assert dim == (1,)
    made = full((4 * x.shape[0],), 0, uint8, "cuda").view(float32)
    for m in range(x.shape[0]):
        total = 0.0
        for n in range(x.shape[1]):
            total += x[(m, n)]
        made[(m,)] = total
    return made


def mm(a, b):
    cuda.launches += 1
    made = full((4 * a.shape[0] * b.shape[1],), 0, uint8, "cuda").view(float32)
    made = made.as_strided((a.shape[0], b.shape[1]), (b.shape[1], 1))
    for m, n in itertools.product(range(a.shape[0]), range(b.shape[1])):
        made[m, n] = builtins.sum(a[m, k] * b[k, n] for k in range(a.shape[1]))
    return made


def compile(function, dynamic, mode):
    if os.environ.get("STUB_TORCH") == "does not compile":
        raise RuntimeError("no compiler")
    return function


def set_grad_enabled(enabled):
    assert not enabled


def set_float32_matmul_precision(precision):
    assert precision == "highest"
    print("a library that writes to the standard output")


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        self.launches = cuda.launches

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 0.25 * (end.launches - self.launches)


class Stream:
    def wait_stream(self, other):
        pass


class Within:
    def __init__(self, *_, **__):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


class CUDAGraph:
    def replay(self):
        cuda.launches += self.recorded


class Recording(Within):
    def __init__(self, graph, pool, stream):
        if os.environ.get("STUB_TORCH") == "records nothing":
            raise RuntimeError("capture failed")
        self.graph = graph

    def __enter__(self):
        self.before = cuda.launches

    def __exit__(self, *_):
        self.graph.recorded = cuda.launches - self.before
        cuda.launches = self.before


sys.modules["torch.cuda"] = cuda = types.SimpleNamespace(
    launches=0, Event=Event, Stream=Stream, CUDAGraph=CUDAGraph, graph=Recording, stream=Within,
    is_available=lambda: os.environ.get("STUB_TORCH") != "no GPU", current_stream=Stream,
    synchronize=lambda: None, graph_pool_handle=lambda: 0, empty_cache=lambda: None)
compiler = types.SimpleNamespace(reset=lambda: None)
