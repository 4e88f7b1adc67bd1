"""The package `lay` on a GPU, with PyTorch: python3 tests/python/gpu_test.py, the package on
PYTHONPATH. Skipped where there is neither."""

import threading
import unittest

import lay

try:
    import torch
except ImportError:
    torch = None

PRODUCT = """kernel product<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: f32 (M,N)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }
"""
LAYER = """kernel layer<M, N, K, ldx>(X: bf16 (M,K):(ldx,1), W: bf16 (N,K), b: f32 N, s: f32)
  -> Y: bf16 (M,N)
  where K % 8 == 0 and ldx >= K
{ Y[m,n] = max(sum[k](X[m,k] * W[n,k]) * s + b[n], 0) }
"""


def integers(*shape, seed=0):
    """Integers of few bits, whose products have no rounding."""
    random = torch.Generator("cuda").manual_seed(seed)
    return torch.randint(-4, 5, shape, generator=random, device="cuda").to(torch.bfloat16)


@unittest.skipIf(torch is None or not torch.cuda.is_available(), "no PyTorch with a GPU")
class Launches(unittest.TestCase):
    def test_a_product_is_right_at_many_shapes(self):
        product = lay.kernel(PRODUCT)
        for m, n, k in ((1, 1, 1), (7, 5, 3), (128, 256, 64), (1000, 24, 520), (33, 4096, 4096),
                        (4096, 512, 1024), (8, 3584, 18944)):
            a, b = integers(m, k, seed=m), integers(n, k, seed=n + 1)
            c = product(a, b)
            self.assertEqual((c.dtype, tuple(c.shape)), (torch.float32, (m, n)))
            self.assertTrue(torch.equal(c.double(), a.double() @ b.double().T), (m, n, k))

    def test_strides_scalars_and_outputs_of_the_caller(self):
        layer = lay.kernel(LAYER)
        wide = integers(96, 80)
        x, w, b = wide[:, 8:72], integers(40, 64, seed=1), torch.arange(40.0, device="cuda")
        expected = torch.relu((x.float() @ w.float().T) * 0.5 + b).to(torch.bfloat16)
        self.assertTrue(torch.equal(layer(x, w, b, 0.5), expected))
        y = torch.full((96, 40), float("nan"), dtype=torch.bfloat16, device="cuda")
        self.assertIs(layer(x, w, b=b, s=0.5, out=y), y)
        self.assertTrue(torch.equal(y, expected))
        with self.assertRaises(lay.LayError) as raised:
            layer(x, w.T.contiguous().T, b, 0.5)
        self.assertEqual(raised.exception.code, "stride-mismatch")
        with self.assertRaises(lay.LayError) as raised:
            layer(x, w, b, 0.5, out=x[:, :40])
        self.assertIn(raised.exception.code, ("overlap", "stride-mismatch"))
        with self.assertRaises(TypeError):
            layer(x, w.cpu(), b, 0.5)
        with self.assertRaises(lay.LayError) as raised:
            layer(x.float(), w, b, 0.5)
        self.assertEqual(raised.exception.code, "argument-kind")

    def test_calls_without_the_interpreter_compute_what_python_s_do(self):
        from lay import _calls

        if _calls._native is None or not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            self.skipTest("this PyTorch or this package has no such calls")
        layer = lay.kernel(LAYER)
        left = []
        inner = layer._call
        layer._call = lambda *given, **named: left.append(given) or inner(*given, **named)
        for m, n, k, wide in ((1, 1, 8, 8), (64, 40, 64, 80), (7, 300, 128, 128), (512, 64, 8, 24),
                              (0, 4, 8, 8)):
            x, w = integers(m, wide, seed=m)[:, :k], integers(n, k, seed=n)
            b, y = torch.arange(float(n), device="cuda"), torch.empty(m, n, dtype=torch.bfloat16,
                                                                      device="cuda")
            for s in (0.5, -3, 0.25):
                expected = inner(x, w, b, s)
                self.assertTrue(torch.equal(layer(x, w, b, s), expected))
                y.fill_(float("nan"))
                self.assertIs(layer(x, w, s=s, b=torch.nn.Parameter(b), out=y), y)
                self.assertTrue(torch.equal(y, expected))
            # One call of the shape, by inner, was prepared; the next one gave the output itself.
            self.assertLessEqual(len(left), 1)
            left.clear()
        # What was prepared for other memory is refused for this one: an output over an argument.
        x, w, b = integers(64, 64), integers(64, 64, seed=1), torch.zeros(64, device="cuda")
        layer(x, w, b, 1.0, out=torch.empty_like(x))
        left.clear()
        with self.assertRaises(lay.LayError) as raised:
            layer(x, w, b, 1.0, out=x)
        self.assertEqual((raised.exception.code, left), ("overlap", []))

    def test_launches_are_on_the_current_stream(self):
        product = lay.kernel(PRODUCT)
        a, b = integers(512, 512), integers(512, 512, seed=1)
        expected = a.double() @ b.double().T
        product(a, b)
        for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                late = torch.zeros_like(a)
                torch.cuda._sleep(20_000_000)
                late.copy_(a)
                c = product(late, b)
            stream.synchronize()
            self.assertTrue(torch.equal(c.double(), expected))

    def test_a_graph_replays_a_launch(self):
        product = lay.kernel(PRODUCT)
        a, b = integers(256, 128), integers(64, 128, seed=1)
        c = product(a, b)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            product(a, b, out=c)
        for seed in range(100):
            a.copy_(integers(256, 128, seed=seed))
            c.fill_(float("nan"))
            graph.replay()
            self.assertTrue(torch.equal(c.double(), a.double() @ b.double().T))

    def test_a_kernel_that_is_tuned_stays_right(self):
        lines = []
        program = lay.Program(log=lines.append)
        program.run(PRODUCT)
        product = program.kernel("product")
        a, b = integers(1000, 2048), integers(1536, 2048, seed=1)
        expected = a.double() @ b.double().T
        for _ in range(2):
            self.assertTrue(torch.equal(product(a, b).double(), expected))
        for sizes in ({"M": 1000, "N": 1536, "K": 2048}, {"M": 64, "N": 512, "K": 2048}):
            found = product.tune(sizes, candidates=4, milliseconds=5)
            self.assertEqual((found.why, found.timed[0]["schedule"]), ("", ""))
            self.assertGreaterEqual(found.gain, 1)
            for _ in range(3):
                self.assertTrue(torch.equal(product(a, b).double(), expected))
            self.assertTrue(torch.equal(product(a[:64], b[:512]).double(), expected[:64, :512]))
        self.assertTrue(any("the default, " in line for line in lines))
        other = lay.Program()
        other.run(PRODUCT + found.schedules)
        self.assertTrue(torch.equal(other.kernel("product")(a, b).double(), expected))
        with self.assertRaises(lay.LayError):
            product.tune(M=64)

    def test_threads_launch(self):
        product = lay.kernel(PRODUCT)
        failed = []

        def work(seed):
            try:
                with torch.cuda.stream(torch.cuda.Stream()):
                    for i in range(20):
                        a, b = integers(64 + seed, 96, seed=seed), integers(32, 96, seed=i)
                        torch.cuda.current_stream().synchronize()
                        c = product(a, b)
                        torch.cuda.current_stream().synchronize()
                        assert torch.equal(c.double(), a.double() @ b.double().T)
            except BaseException as error:  # noqa: B902, it is shown
                failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


class Others(unittest.TestCase):
    """Frameworks beside PyTorch, each where it is installed with a GPU."""

    SIZES = ((64, 96, 128), (33, 7, 5), (1, 512, 4096), (300, 256, 1020))
    KERNEL = PRODUCT.replace("bf16", "f16").replace("product", "product_of_others")

    def test_cupy(self):
        try:
            import cupy

            cupy.cuda.runtime.getDeviceCount()
        except Exception as missing:
            self.skipTest(f"no CuPy with a GPU: {missing}")
        product = lay.kernel(self.KERNEL)
        for m, n, k in self.SIZES:
            a = cupy.random.randint(-4, 5, (m, k)).astype("float16")
            b = cupy.random.randint(-4, 5, (n, k)).astype("float16")
            expected = a.astype("f8") @ b.astype("f8").T
            for _ in range(3):
                c = product(a, b)
                self.assertIs(type(c), cupy.ndarray)
                self.assertTrue((c == expected).all())
            out = cupy.full((m, n), float("nan"), "float32")
            self.assertIs(product(a, b, out=out), out)
            self.assertTrue((out == expected).all())
            with cupy.cuda.Stream(non_blocking=True) as stream:
                late = cupy.ascontiguousarray(a[::-1])
                d = product(late, b)
            stream.synchronize()
            self.assertTrue((d[::-1] == expected).all())

    def test_jax(self):
        try:
            import jax

            jax.devices("cuda")
        except Exception as missing:
            self.skipTest(f"no JAX with a GPU: {missing}")
        product = lay.kernel(self.KERNEL)
        for seed, (m, n, k) in enumerate(self.SIZES):
            keys = jax.random.split(jax.random.PRNGKey(seed))
            a = jax.random.randint(keys[0], (m, k), -4, 5).astype("float16")
            b = jax.random.randint(keys[1], (n, k), -4, 5).astype("float16")
            # Exact, whatever the order: sums of integers below 2^24.
            expected = jax.numpy.matmul(a.astype("float32"), b.astype("float32").T,
                                        precision="highest")
            for _ in range(3):
                c = product(a, b)
                self.assertIsInstance(c, jax.Array)
                self.assertEqual(c.dtype.name, "float32")
                self.assertTrue(bool((c == expected).all()))
            # What the kernel reads is done before, and what reads its output sees it.
            self.assertTrue(bool((product(a + a, b) - expected - c == 0).all()))
            with self.assertRaisesRegex(TypeError, "never change"):
                product(a, b, out=c)


@unittest.skipIf(torch is None, "no PyTorch")
class Operators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import lay.torch

        cls.kernel = lay.kernel(LAYER.replace("layer", "operator_layer"))
        cls.operator = lay.torch.register(cls.kernel)
        cls.device = "cuda" if torch.cuda.is_available() else "cpu"

    def arguments(self, m, n, k):
        random = torch.Generator().manual_seed(m + n + k)
        x = torch.randint(-4, 5, (m, k + 8), generator=random).to(torch.bfloat16)[:, :k]
        w = torch.randint(-4, 5, (n, k), generator=random).to(torch.bfloat16)
        b = torch.randint(-4, 5, (n,), generator=random).float()
        on = self.device
        return x.to(on), w.to(on), b.to(on), 0.5

    @staticmethod
    def expected(x, w, b, s):
        return torch.relu((x.float() @ w.float().T) * s + b).to(torch.bfloat16)

    def test_an_operator_is_right_and_passes_the_checks_of_torch(self):
        for sizes in ((1, 1, 8), (16, 24, 32), (65, 40, 16)):
            given = self.arguments(*sizes)
            self.assertTrue(torch.equal(self.operator(*given), self.expected(*given)), sizes)
            torch.library.opcheck(self.operator, given)

    def test_an_operator_is_compiled_whole_with_sizes_that_change(self):
        compiled = torch.compile(lambda *a: torch.ops.lay.operator_layer(*a) * 2, fullgraph=True,
                                 dynamic=True)
        for sizes in ((8, 24, 32), (16, 40, 64), (31, 8, 16)):
            given = self.arguments(*sizes)
            self.assertTrue(torch.equal(compiled(*given), self.expected(*given) * 2))

    def test_a_size_that_no_argument_has_is_refused(self):
        import lay.torch

        open_size = lay.kernel("kernel spread<N, M>(X: f32 N) -> Y: f32 (M,N) { Y[m,n] = X[n] }")
        with self.assertRaisesRegex(lay.LayError, "M is no axis"):
            lay.torch.register(open_size)

    def test_an_inout_is_written_in_place(self):
        import lay.torch

        add = lay.torch.register(lay.kernel(
            "kernel add_to<M, N>(X: f32 (M,N)) -> (Y: inout f32 (M,N), Z: f32 (N,M))\n"
            "{ Y[m,n] = Y[m,n] + X[m,n]\n  Z[n,m] = X[m,n] }"))
        x = torch.arange(12.0, device=self.device).reshape(3, 4)
        y = torch.ones_like(x)
        z = add(x, y)
        self.assertTrue(torch.equal(y, x + 1))
        self.assertTrue(torch.equal(z, x.T))


if __name__ == "__main__":
    unittest.main()
