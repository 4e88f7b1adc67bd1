"""What a call of a kernel from Python costs the host, beside PyTorch's own product: the package
`lay` on PYTHONPATH, a GPU and PyTorch. Times are of the host alone: the stream is drained before
each round, and holds no more launches than it takes without waiting."""

import statistics
import time

import lay
import torch

PRODUCT = """kernel product<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }
"""


def host_time(call, calls=200, rounds=15):
    """Microseconds a call, the median of the rounds."""
    for _ in range(20):
        call()
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(times)


product = lay.kernel(PRODUCT)
a = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16)
b = torch.randn(64, 64, device="cuda", dtype=torch.bfloat16)
c = product(a, b)
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Lay {lay.__version__}")
for name, call in (
    ("lay, a new output", lambda: product(a, b)),
    ("lay, out=", lambda: product(a, b, out=c)),
    ("lay by ctypes, a new output", lambda: product._call(a, b)),
    ("lay by ctypes, out=", lambda: product._call(a, b, out=c)),
    ("torch.mm, a new output", lambda: torch.mm(a, b.T)),
    ("torch.mm, out=", lambda: torch.mm(a, b.T, out=c)),
    ("torch.mul, out=", lambda: torch.mul(a, b, out=c)),
    ("torch.empty", lambda: torch.empty((64, 64), dtype=torch.bfloat16, device="cuda")),
):
    print(f"{name:28} {host_time(call):6.1f} us")
