"""A bundle on the GPU at hand, from Python: right, in a graph, from threads, on streams; and what a
launch costs the host, beside PyTorch and Triton. tests/bench/bundle.sh runs it in the bundle's
folder."""

import ctypes
import statistics
import sys
import threading
import time

import torch

import layer

SIZES = [(256, 256, 256), (1, 4096, 4096), (512, 1000, 264), (37, 129, 77), (4096, 4096, 4096)]


class Call:
    """Tensors of one call, and its arguments by name."""

    def __init__(self, m, n, k, seed=0):
        torch.manual_seed(seed)
        make = lambda *shape: torch.randint(-2, 3, shape, device="cuda").to(torch.bfloat16)
        self.x, self.w, self.b = make(m, k), make(n, k), make(n)
        self.y = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
        self.arguments = dict(
            M=m, N=n, K=k, X=self.x.data_ptr(), W=self.w.data_ptr(), b=self.b.data_ptr(),
            Y=self.y.data_ptr()
        )
        size = layer.dense.workspace(**self.arguments)
        self.space = torch.empty(max(1, size), device="cuda", dtype=torch.uint8)
        self.size = size

    def launch(self):
        layer.dense.launch(
            workspace=self.space.data_ptr(), workspace_bytes=self.size,
            stream=torch.cuda.current_stream().cuda_stream, **self.arguments
        )

    def expected(self):
        sums = self.x.double() @ self.w.double().T + self.b.double()
        return torch.nn.functional.silu(sums)

    def require_right(self, what):
        wanted = self.expected()
        # The sums are exact; silu in 32 bits and one rounding to bf16 remain.
        wrong = (self.y.double() - wanted).abs() > wanted.abs() * 2.0**-8 + 1e-5
        if bool(wrong.any()) or bool(self.y.isnan().any()):
            sys.exit(f"{what}: {int(wrong.sum())} of {wrong.numel()} elements are wrong")
        print(f"right       {what}")


def check():
    layer.dense.prepare(torch.cuda.current_device())
    for m, n, k in SIZES:
        call = Call(m, n, k)
        call.launch()
        call.require_right(f"M={m} N={n} K={k}")

    call = Call(512, 512, 512)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call.launch()
    for _ in range(100):
        call.y.fill_(float("nan"))
        graph.replay()
    call.require_right("captured, replayed 100 times")

    calls = [Call(256 + 8 * i, 384, 320, seed=i) for i in range(8)]
    failed = []

    def run(own):
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for _ in range(200):
                    own.launch()
                torch.cuda.current_stream().synchronize()
        except Exception as error:
            failed.append(error)

    torch.cuda.synchronize()
    threads = [threading.Thread(target=run, args=(own,)) for own in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        sys.exit(f"threads: {failed[0]}")
    for i, own in enumerate(calls):
        own.require_right(f"thread {i} of 8, 200 launches on its stream")


def host_seconds(launch, count=200, rounds=31):
    """The median of the seconds that a call takes the host; the device idles before each round."""
    launch()
    found = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(count):
            launch()
        found.append((time.perf_counter() - begin) / count)
    torch.cuda.synchronize()
    return statistics.median(found)


def triton_launch():
    import triton
    import triton.language as tl

    @triton.jit
    def nothing(a, b, c, d, m, n, k):
        pass

    x = torch.empty(8, device="cuda")
    return lambda: nothing[(1,)](x, x, x, x, 256, 256, 256)


def times():
    library = ctypes.CDLL("./libtime.so")
    call = Call(256, 256, 256)
    fields = layer.dense._arguments(call.arguments)
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def in_c(name, rounds=31):
        function = getattr(library, name)
        function.restype = ctypes.c_double
        found = []
        for _ in range(rounds):
            torch.cuda.synchronize()
            found.append(function(ctypes.byref(fields), ctypes.c_void_p(call.space.data_ptr()),
                                  ctypes.c_int64(call.size), stream, ctypes.c_int(200)))
        torch.cuda.synchronize()
        return statistics.median(found)

    in_c("dense_seconds", 3)
    rows = [
        ("dense_launch in C", in_c("dense_seconds")),
        ("  of which cuLaunchKernelEx", in_c("dense_driver_seconds")),
        ("dense.launch of layer.py", host_seconds(call.launch)),
        ("torch.mm", host_seconds(lambda: torch.mm(call.x, call.w.T))),
        ("torch linear and silu", host_seconds(
            lambda: torch.nn.functional.silu(torch.nn.functional.linear(call.x, call.w, call.b)))),
    ]
    try:
        rows.append(("Triton, an empty kernel", host_seconds(triton_launch())))
    except Exception as error:
        print(f"Triton: {error}")
    for name, seconds in rows:
        print(f"{name:<30} {1e6 * seconds:6.2f} us")


print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
check()
times()
