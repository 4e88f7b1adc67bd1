"""A product that the package `lay` plans, compiles and launches: package.py SCRIPT. What it answers
without a GPU, and on one right in a graph, on streams and from threads, as bundle.c and
launcher.cpp. Its arrays are memory of the driver with DLPack's C exchange API and nothing else, so
that no framework is needed, but NumPy for what the host computes. tests/embed/gpu/run.sh runs it.
"""

import contextlib
import ctypes
import sys
import threading

import lay
import numpy
from lay import _exchange

THREADS, LAUNCHES, REPLAYS = 8, 50, 100


class Driver:
    """The functions of the CUDA driver that are called; one that fails ends the program."""

    def __init__(self):
        self.lacks = None
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError:
            self.lacks = "there is no NVIDIA driver"
            return
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        if self.library.cuInit(0) != 0 or self.library.cuDeviceGet(ctypes.byref(device), 0) != 0:
            self.lacks = "the NVIDIA driver finds no GPU"
            return
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.enter()

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            sys.exit(f"{name}: error {status}")

    def made(self, name, *arguments):
        """What the function makes and writes to its first argument."""
        to = ctypes.c_void_p()
        self(name, ctypes.byref(to), *arguments)
        return to

    def enter(self):
        """Makes the primary context current in this thread."""
        self("cuCtxSetCurrent", self.context)

    def stream(self):
        """A stream that does not wait for the default one."""
        return self.made("cuStreamCreate", 1)

    def wait(self, stream):
        self("cuStreamSynchronize", stream)


driver = Driver()
current = threading.local()


@contextlib.contextmanager
def on(stream):
    """The stream that this thread's calls are launched on."""
    before, current.stream = getattr(current, "stream", None), stream.value
    try:
        yield
    finally:
        current.stream = before


KINDS = {"bf16": (4, 16), "f32": (2, 32), "u8": (1, 8)}  # DLPack's codes and bits


class Tensor:
    """Row-major memory of the GPU, which is freed with it. NaN at first, where it is a float."""

    def __init__(self, kind, shape):
        self.kind, self.count = kind, max(1, int(numpy.prod(shape)))
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.bytes = self.count * kind[1] // 8
        self.memory = driver.made("cuMemAlloc_v2", ctypes.c_size_t(self.bytes))
        self.clear()

    def __del__(self):
        driver("cuMemFree_v2", self.memory)

    def clear(self):
        driver("cuMemsetD8_v2", self.memory, ctypes.c_ubyte(0xff), ctypes.c_size_t(self.bytes))
        driver("cuCtxSynchronize")

    def put(self, numbers):
        """Whole numbers of few bits: the upper half of a float's bits is their bf16."""
        bits = numpy.ascontiguousarray(numbers, "<f4").view("<u4") >> 16
        self("cuMemcpyHtoD_v2", self.memory, bits.astype("<u2"))
        return self

    def read(self):
        read = numpy.empty(tuple(self.shape), "<f4")
        self("cuMemcpyDtoH_v2", read, self.memory)
        return read

    def __call__(self, name, *arguments):
        given = (a.ctypes.data_as(ctypes.c_void_p) if isinstance(a, numpy.ndarray) else a
                 for a in arguments)
        driver(name, *given, ctypes.c_size_t(self.bytes))

    def __dlpack_device__(self):
        return 2, 0


@_exchange.describe_function
def describe(tensor, to):
    to = to[0]
    to.data, to.byte_offset, to.device_type, to.device_id = tensor.memory, 0, 2, 0
    to.ndim, (to.code, to.bits), to.lanes = len(tensor.shape), tensor.kind, 1
    to.shape, to.strides = tensor.shape, ctypes.POINTER(ctypes.c_int64)()  # null: row-major
    return 0


@_exchange.stream_function
def current_stream(kind, device, stream):
    stream[0] = getattr(current, "stream", None)
    return 0


made = {}  # the arrays of `allocate` that are no objects of Python yet


@_exchange.allocate_function
def allocate(like, managed, context, set_error):
    like = like[0]
    tensor = Tensor((like.code, like.bits), like.shape[: like.ndim])
    managed[0] = id(tensor)
    made[id(tensor)] = tensor
    return 0


@_exchange.to_object_function
def to_object(managed, to):
    tensor = made.pop(managed)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(tensor))
    to[0] = id(tensor)
    return 0


TABLE = _exchange.Table(1, 3, None, allocate, None, to_object, describe, current_stream)
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
Tensor.__dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLE), b"dlpack_exchange_api",
                                               None)


class Problem:
    """A product of drawn whole numbers, and what the host makes of it."""

    def __init__(self, m, n, k, seed):
        random = numpy.random.default_rng(seed)
        a, b = (random.integers(-4, 5, shape).astype("f8") for shape in ((m, k), (n, k)))
        self.expected = a @ b.T
        self.A, self.B = Tensor(KINDS["bf16"], (m, k)).put(a), Tensor(KINDS["bf16"], (n, k)).put(b)
        self.C = Tensor(KINDS["f32"], (m, n))

    def wrong(self, found):
        """The elements that are not the host's; NaN is none of them."""
        return int((~(found.read() == self.expected)).sum())


failures = 0


def report(what, wrong):
    global failures
    print(f"right       {what}" if wrong == 0 else f"wrong       {what}: {wrong}")
    failures += wrong != 0


def run_alone(product, stream):
    """New outputs, then the caller's: the second call of a shape needs no preparing."""
    for seed, (m, n, k) in enumerate(((256, 384, 320), (37, 129, 76), (1, 512, 1024),
                                      (304, 256, 1020))):
        of = Problem(m, n, k, seed)
        with on(stream):
            found = product(of.A, of.B)
            same = product(of.A, of.B, out=of.C)
            driver.wait(stream)
        report(f"M = {m}, N = {n}, K = {k}", of.wrong(found) + of.wrong(of.C) + (same is not of.C))


def run_graph(product, stream):
    """A graph of one launch: every replay writes the whole result anew."""
    of, wrong = Problem(128, 192, 160, 11), 0
    with on(stream):
        # What is first used in a capture could not be loaded any more.
        product(of.A, of.B, out=of.C)
        driver.wait(stream)
        of.C.clear()
        driver("cuStreamBeginCapture_v2", stream, 1)
        product(of.A, of.B, out=of.C)
        graph = ctypes.c_void_p()
        driver("cuStreamEndCapture", stream, ctypes.byref(graph))
    executable = driver.made("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    if of.wrong(of.C) != of.C.count:
        sys.exit("a captured launch ran at once")
    for _ in range(REPLAYS):
        of.C.clear()
        driver("cuGraphLaunch", executable, stream)
        driver.wait(stream)
        wrong += of.wrong(of.C)
    report(f"captured in a graph, replayed {REPLAYS} times", wrong)
    driver("cuGraphExecDestroy", executable)
    driver("cuGraphDestroy", graph)


def run_two_streams(product):
    streams = [driver.stream() for _ in range(2)]
    problems = [Problem(128, 192, 160, 21 + i) for i in range(2)]
    for _ in range(LAUNCHES):
        for of, stream in zip(problems, streams):
            with on(stream):
                product(of.A, of.B, out=of.C)
    wrong = 0
    for of, stream in zip(problems, streams):
        driver.wait(stream)
        wrong += of.wrong(of.C)
        driver("cuStreamDestroy_v2", stream)
    report(f"on two streams, {LAUNCHES} launches each", wrong)


def run_threads(product):
    """From threads that share the kernel."""
    results = []

    def work(seed):
        driver.enter()
        stream = driver.stream()
        of = Problem(128, 192, 160, seed)
        with on(stream):
            for _ in range(LAUNCHES):
                product(of.A, of.B, out=of.C)
        driver.wait(stream)
        results.append(of.wrong(of.C))
        driver("cuStreamDestroy_v2", stream)

    threads = [threading.Thread(target=work, args=(31 + i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(f"from {THREADS} threads with a stream each, {LAUNCHES} launches each",
           sum(results) + (len(results) != THREADS))


def ask(product):
    """What is known without a GPU: the guard that arguments break, and what an H200 would run."""
    zeros = lay.evaluate("zeros(bf16, (4,10))")
    try:
        product(zeros, zeros)
    except lay.LayError as error:
        print(f"{error.code:12}{error.diagnostics[0].message}")
    plan = product.plan("h200", M=64, N=256, K=4092)
    print(f"h200        {plan.variant}, {len(plan.source(plan.variant))} launches")


def main(script):
    with open(script, encoding="utf-8") as file:
        product = lay.kernel(file.read())
    ask(product)
    if driver.lacks:
        print(f"no GPU      {driver.lacks}")
        return 0
    stream = driver.stream()
    run_alone(product, stream)
    run_graph(product, stream)
    run_two_streams(product)
    run_threads(product)
    print("all right" if failures == 0 else f"{failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
