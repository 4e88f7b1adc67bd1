"""The package `lay` as its users call it; run by wheel_test.py on an unpacked wheel."""

import array
import contextlib
import doctest
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import lay
from lay import _devices

try:
    import numpy
except ImportError:
    numpy = None

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent

# The first example of a page in Python, and what it prints.
EXAMPLE = r"```python3\n(.*?)```\n\n```text\n(.*?)```"

with_numpy = unittest.skipIf(numpy is None, "NumPy is not installed")

SCALE = """kernel scale<M, N, ld>(X: f32 (M,N):(ld,1), s: f32) -> Y: f32 (M,N)
  where N % 4 == 0 and ld >= N
{ Y[m,n] = X[m,n] * s }
"""
PRODUCT = """kernel product<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }
"""


class Values(unittest.TestCase):
    def test_plain_values_are_those_of_python(self):
        self.assertEqual(lay.evaluate("7 * 6"), 42)
        self.assertEqual(lay.evaluate("(1,(2,3))"), (1, (2, 3)))
        self.assertIs(lay.evaluate("1 < 2"), True)
        self.assertEqual(lay.evaluate("0.5"), 0.5)
        self.assertEqual(lay.evaluate('"two words"'), "two words")

    def test_values_of_python_stand_for_names(self):
        self.assertEqual(lay.evaluate("a + b", a=2, b=3), 5)
        self.assertEqual(lay.evaluate("size(s)", s=(4, (2, 3))), 24)
        self.assertEqual(lay.evaluate("s", s="say \"it\""), 'say "it"')
        self.assertIs(lay.evaluate("not t", t=True), False)
        self.assertEqual(str(lay.evaluate("s:d", s=(4, 2), d=(1, 4))), "(4,2):(1,4)")
        self.assertEqual(lay.evaluate("x", x=(1,)), (1,))
        self.assertEqual(lay.evaluate("x", x=-(2**63)), -(2**63))
        with self.assertRaises(OverflowError):
            lay.evaluate("x", x=2**63)
        with self.assertRaisesRegex(TypeError, "no value for Python's dict"):
            lay.evaluate("x", x={})
        with self.assertRaises(ValueError):
            lay.evaluate("x\0", x=1)

    def test_sizes_that_are_not_known_keep_their_guards(self):
        program = lay.Program()
        program.run("dim M, N\nassume M % 8 == 0")
        m = program.evaluate("M")
        self.assertEqual(str(2 * m + 1), "2*M + 1")
        self.assertEqual(repr(m // 8), "Value('M/8')")
        self.assertEqual(program.evaluate("m % 8", m=m), 0)
        self.assertIs(m == m, True)
        tile = program.evaluate("(N,8):(8,1) o (4,2):(2,1)")
        self.assertEqual(tile.guards, ["8 <= N"])
        self.assertEqual(program.evaluate("t o 2:1", t=tile).guards, ["8 <= N"])
        self.assertEqual(m.guards, [])

    def test_values_of_two_programs_do_not_mix(self):
        one, other = lay.Program(), lay.Program()
        with self.assertRaisesRegex(ValueError, "another program"):
            other.evaluate("a", a=one.evaluate("4:1"))


class Layouts(unittest.TestCase):
    def test_a_layout_is_called_composed_and_taken_apart(self):
        a = lay.layout("(4,(2,3)):(6,(1,2))")
        self.assertEqual((a(1, 3), a(5), a.size, a.cosize, a.rank), (9, 7, 24, 24, 2))
        self.assertEqual((a.shape, a.stride), ((4, (2, 3)), (6, (1, 2))))
        self.assertEqual(repr(a[1]), "Layout('(2,3):(1,2)')")
        self.assertEqual(repr(a[1, 0]), "Layout('2:1')")
        self.assertEqual(str(a @ lay.layout("4:1")), "4:6")
        self.assertIs(a == lay.layout("(4,(2,3)):(6,(1,2))"), True)
        self.assertIs(a != lay.layout("4:1"), True)
        self.assertEqual(len({a, a}), 1)
        self.assertEqual(a.kind, "layout")
        self.assertEqual(a.data["stride"], [6, [1, 2]])
        self.assertEqual(lay.layout("Sw<3,4,3>")(129), lay.evaluate("Sw<3,4,3>(129)"))
        with self.assertRaises(TypeError):
            lay.layout("4")

    def test_a_layout_has_a_picture(self):
        a = lay.layout("(4,2):(2,1)")
        self.assertTrue(a.svg().startswith("<svg"))
        self.assertEqual(a._repr_html_(), a.svg())
        self.assertIn("4:2", a.text())
        self.assertIn("tikzpicture", lay.show("a", "tex", a=a))
        with self.assertRaisesRegex(ValueError, "form"):
            lay.show("a", "gif", a=a)

    @with_numpy
    def test_a_layout_is_an_array_of_offsets(self):
        a = lay.layout("(4,(2,3)):(6,(1,2))")
        offsets = a.numpy()
        self.assertEqual(offsets.shape, (4, 6))
        for i in range(4):
            for j in range(6):
                self.assertEqual(offsets[i, j], a(i, j))
        program = lay.Program()
        program.run("dim M")
        with self.assertRaisesRegex(ValueError, "not known"):
            program.evaluate("M:1").numpy()

    def test_claims_have_verdicts(self):
        proved = lay.prove("injective(a)", a=lay.layout("(4,2):(1,4)"))
        self.assertEqual((proved.verdict, bool(proved), proved.text), ("proved", True, ""))
        refuted = lay.prove("injective((4,2):(1,1))")
        self.assertFalse(refuted)
        self.assertEqual(refuted.verdict, "refuted")
        self.assertEqual(refuted.witness["coordinate"], [0, 1])
        self.assertIn("error[refuted]", refuted.text)
        with self.assertRaises(lay.LayError):
            lay.prove("nobody == 1")


class Notebooks(unittest.TestCase):
    def test_cells_share_names_and_show_their_last_value(self):
        magics = {}

        class Shell:
            def register_magic_function(self, function, kind, name):
                magics[name] = function

        lay.load_ipython_extension(Shell())
        run = magics["lay"]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertIsNone(run("", "let a = (4,2):(1,4)\nprint 1 + 1"))
            composed = run("", "a o 2:4\n")
            self.assertIsNone(run("", "let b = nobody"))
        self.assertEqual(repr(composed), "Layout('2:4')")
        self.assertTrue(composed._repr_html_().startswith("<svg"))
        self.assertTrue(said.getvalue().startswith("2\nerror[unknown-name]"))
        self.assertEqual(run("size(a)"), 8)
        self.assertEqual(run("", "size(a)"), 8)
        self.assertEqual(run("", "dim M\n2 * M").kind, "int")
        run("-r")
        with self.assertRaises(lay.LayError):
            run("a")


class Errors(unittest.TestCase):
    def test_an_error_has_its_diagnostics(self):
        program = lay.Program()
        with self.assertRaises(lay.LayError) as raised:
            program.run("let a = 1\nlet r = (6,2):(1,7) o (3,2):(2,3)\nlet b = 2", "mine.lay")
        error = raised.exception
        self.assertEqual(error.code, "composition-carry")
        self.assertTrue(str(error).startswith("error[composition-carry]"))
        (found,) = error.diagnostics
        self.assertEqual((found.file, found.line, found.column), ("mine.lay", 2, 9))
        self.assertEqual((found.severity, found.data["code"]), ("error", "composition-carry"))
        self.assertEqual(program.evaluate("a + b"), 3)
        self.assertEqual([s["ok"] for s in program.statements()], [True, False, True])

    def test_limits_end_a_call(self):
        long = "sum([size((i+1,2):(1,i)) for i in 0..300000])"
        program = lay.Program(seconds=0.05)
        start = time.perf_counter()
        with self.assertRaises(lay.Cancelled):
            program.evaluate(long)
        self.assertLess(time.perf_counter() - start, 2)
        small = lay.Program(array_bytes=1000)
        with self.assertRaises(lay.LayError) as raised:
            small.evaluate("x", x=array.array("d", range(126)))
        self.assertEqual(raised.exception.code, "limit")

    def test_another_thread_cancels(self):
        program = lay.Program()
        ended = threading.Event()

        def cancel():
            while not ended.wait(0.005):
                program.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        with self.assertRaises(lay.Cancelled):
            program.evaluate("sum([size((i+1,2):(1,i)) for i in 0..300000])")
        ended.set()
        thread.join()

    def test_files_are_reached_where_a_folder_is_given(self):
        with self.assertRaises(lay.LayError) as raised:
            lay.Program().run('use "x.lay"')
        self.assertEqual(raised.exception.code, "unavailable")
        with self.assertRaises(ValueError):
            lay.Program(on="moon")

    def test_prints_go_to_the_callback(self):
        said = []
        lay.Program(print=said.append).run('print "one"\nprint 2:1')
        self.assertEqual(said, ["one", "2:1"])


class Kernels(unittest.TestCase):
    def test_a_kernel_runs_on_what_has_a_buffer(self):
        scale = lay.kernel(SCALE)
        x = memoryview(array.array("f", range(8))).cast("B").cast("f", (2, 4))
        for y in (scale(x, 0.5), scale(s=0.5, X=x), scale(x, 0.5, ld=6)):
            rows = y.tolist()
            self.assertEqual(rows, [[0.0, 0.5, 1.0, 1.5], [2.0, 2.5, 3.0, 3.5]])
        self.assertEqual(scale.guards[0], "N % 4 == 0")
        self.assertEqual(repr(scale), "<lay.Kernel scale(X, s)>")

    def test_a_call_says_what_is_wrong(self):
        scale = lay.kernel(SCALE)
        x = memoryview(array.array("f", range(6))).cast("B").cast("f", (2, 3))
        with self.assertRaises(lay.LayError) as raised:
            scale(x, 1.0)
        self.assertEqual(raised.exception.code, "guard")
        self.assertIn("N = 3", str(raised.exception))
        for arguments, named in (((x,), {}), ((x, 1.0, 2), {}), ((x, 1.0), {"q": 1}),
                                 ((x, 1.0), {"X": x})):
            with self.assertRaises(TypeError):
                scale(*arguments, **named)

    def test_several_outputs_and_types_that_python_lacks(self):
        both = lay.kernel("kernel both<N>(X: f32 N) -> (Y: f32 N, Z: bf16 N)\n"
                          "{ Y[n] = X[n] + 1\n  Z[n] = X[n] }")
        y, z = both(array.array("f", [1, 2]))
        self.assertEqual(y.tolist(), [2.0, 3.0])
        back = lay.kernel("kernel back<N>(X: bf16 N) -> Y: f32 N { Y[n] = X[n] }")
        self.assertEqual(back(z).tolist(), [1.0, 2.0])
        if not isinstance(z, lay.Array):  # the package ml_dtypes gives NumPy such a type
            self.assertEqual((str(z.dtype), z.tolist()), ("bfloat16", [1.0, 2.0]))
            z = lay.Array("bf16", (2,), z.tobytes())
        self.assertEqual((z.element, z.shape, z.bits().tolist()), ("bf16", (2,), [0x3F80, 0x4000]))
        self.assertEqual(back(z).tolist(), [1.0, 2.0])
        with self.assertRaises(TypeError):
            z.tolist()

    def test_bytes_stand_for_integers_of_4_bits(self):
        product = lay.kernel("kernel product<N>(X: s4 N, U: u4 N) -> Y: s32 N\n"
                             "{ Y[n] = X[n] * U[n] }")
        u = array.array("B", [15, 2, 0])
        self.assertEqual(product(array.array("b", [-8, 7, 3]), u).tolist(), [-120, 14, 0])
        with self.assertRaises(lay.LayError) as raised:
            product(array.array("b", [8, 0, 0]), u)
        self.assertEqual(raised.exception.code, "argument-kind")

    @with_numpy
    def test_numpy_arrays_go_in_and_come_out(self):
        x = numpy.arange(24, dtype=numpy.float32).reshape(4, 6).T[:, ::2]  # no row-major one
        turn = lay.kernel("kernel turn<M, N>(X: f32 (M,N)) -> Y: f32 (N,M) { Y[n,m] = X[m,n] }")
        y = turn(x)
        self.assertIsInstance(y, numpy.ndarray)
        numpy.testing.assert_array_equal(y, x.T)
        y[0, 0] = 9  # the caller's own
        for name in ("int8", "int32", "int64", "uint8", "uint16", "float16", "float64", "bool"):
            values = numpy.array([0, 1, 1], name)
            numpy.testing.assert_array_equal(lay.evaluate("x", x=values), values)
            self.assertEqual(lay.evaluate("x", x=values).dtype, values.dtype)
        self.assertEqual(lay.evaluate("x", x=numpy.float32(2.5)), 2.5)
        with self.assertRaises(TypeError):
            lay.evaluate("x", x=numpy.array(["text"]))

    @with_numpy
    def test_anything_with_dlpack_goes_in(self):
        class Other:
            def __init__(self, held, device=(1, 0)):
                self.held, self.device = held, device

            def __dlpack_device__(self):
                return self.device

            def __dlpack__(self, stream=None):
                return self.held.__dlpack__()

        x = numpy.arange(24, dtype=numpy.int32).reshape(4, 6)
        for view in (x, x.T, x[1:3, ::2], x[:0]):
            numpy.testing.assert_array_equal(lay.evaluate("x", x=Other(view)), view)
        with self.assertRaisesRegex(TypeError, "lies on a device"):
            lay.evaluate("x", x=Other(x, (2, 0)))

    def test_threads_share_a_program(self):
        program = lay.Program()
        program.run(SCALE)
        scale = program.kernel()
        failed = []

        def work():
            try:
                for _ in range(5):
                    x = memoryview(array.array("f", range(8))).cast("B").cast("f", (2, 4))
                    assert scale(x, 2.0).tolist()[1][3] == 14.0
            except BaseException as error:  # noqa: B902, it is shown
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


class Plans(unittest.TestCase):
    def test_a_plan_chooses_forecasts_and_emits(self):
        program = lay.Program()
        program.run(SCALE + PRODUCT)
        self.assertEqual(program.kernels(), ["scale", "product"])
        with self.assertRaises(lay.LayError):
            program.kernel()
        plan = program.kernel("product").plan("h200")
        variant = plan.choose(M=4096, N=4096, K=4096)
        self.assertIn(variant, plan.variants)
        seconds, bound = plan.forecast(M=4096, N=4096, K=4096)
        self.assertTrue(1e-5 < seconds < 1e-2)
        self.assertTrue(bound)
        self.assertIn("__global__", plan.source(variant)[-1])
        self.assertIn("schedule product for sm90", str(plan))
        self.assertEqual((plan.variant, plan.seconds, plan.bound), (None, None, None))
        sized = program.kernel("product").plan("h200", M=4096, N=4096, K=4096)
        self.assertEqual((sized.variant, sized.seconds, sized.bound), (variant, seconds, bound))
        with self.assertRaises(lay.LayError):
            program.kernel("product").plan("h200", M=4096)
        with self.assertRaises(lay.LayError):
            program.kernel("scale").plan("abacus")

    def test_what_was_measured_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "mine.lay"), "w") as file:
                file.write("let measured = (\n")
            with self.assertWarnsRegex(UserWarning, "mine.lay"):
                lay.Program().read_measured(policies="", targets=folder)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                lay.Program().read_measured(policies=folder, targets="")

    def test_a_tuning_needs_numbers_and_a_gpu(self):
        lines = []
        program = lay.Program(log=lines.append)
        program.run(SCALE + PRODUCT)
        product = program.kernel("product")
        before = str(product.plan("h200"))
        for wrong in ({"device": -1}, {"device": 1 << 32}, {"rounds": 1 << 31},
                      {"candidates": -1}, {"milliseconds": -1}, {"milliseconds": float("nan")}):
            with self.assertRaises(ValueError):
                product.tune(M=64, N=64, K=64, **wrong)
        # No machine has so many.
        with self.assertRaises(lay.Unavailable):
            product.tune(M=64, N=64, K=64, device=4096)
        self.assertEqual(str(product.plan("h200")), before)

    def test_a_tuning_says_what_it_found(self):
        rows = [{"schedule": "", "variant": "simt", "microseconds": 30.0},
                {"schedule": "simt:  tile = (64,64,8)", "variant": "simt", "microseconds": 20.0}]
        data = {"kernel": "k", "device": "a", "sizes": {}, "why": "", "timed": rows,
                "is_faster": True, "schedules": "schedule k for simt { tile = (64,64,8) }"}
        found = lay.Tuning(data)
        self.assertEqual((found.gain, repr(found)),
                         (1.5, "<lay.Tuning of k: 20.0 us, 1.50 times as fast as the default>"))
        self.assertEqual(repr(lay.Tuning({**data, "is_faster": False})),
                         "<lay.Tuning of k: the default stays>")
        self.assertEqual(lay.Tuning({**data, "is_faster": False}).gain, 1.0)
        self.assertEqual(repr(lay.Tuning({**data, "why": "no", "timed": []})),
                         "<lay.Tuning of k: no>")

    def test_a_build_has_files(self):
        program = lay.Program()
        program.run(SCALE)
        files = program.build(script="layer.lay", archs=["sm_80"], source_only=True)
        self.assertIn("manifest.json", files)
        self.assertTrue(any(name.startswith("scale.") and name.endswith(".cu") for name in files))
        self.assertIn(b'"layer.lay"', files["manifest.json"])


class Frameworks(unittest.TestCase):
    """What of arrays on a GPU needs none: which framework an array is of, and what is refused."""

    class Array:
        def __init__(self, name):
            self.dtype = type("dtype", (), {"name": name})

        def block_until_ready(self):
            return self

    def jax(self, made):
        """JAX's part of the package, over a stand-in that makes arrays of that type."""
        asked = []

        class Jax:
            class numpy:
                @staticmethod
                def empty(shape, name):
                    asked.append((shape, name))
                    return self.Array(made or name)

            @staticmethod
            def devices(kind):
                return [f"{kind}:0", f"{kind}:1"]

            @staticmethod
            @contextlib.contextmanager
            def default_device(device):
                asked.append(device)
                yield

        before = sys.modules.get("jax")
        sys.modules["jax"] = Jax
        try:
            return _devices.Jax(), asked
        finally:
            del sys.modules["jax"]
            if before is not None:
                sys.modules["jax"] = before

    def test_outputs_of_jax_are_new_and_row_major(self):
        jax, asked = self.jax(None)
        for element, name in (("f32", "float32"), ("bf16", "bfloat16"), ("e4m3", "float8_e4m3fn")):
            self.assertEqual(jax.empty(element, (2, 3), (3, 1), 1).dtype.name, name)
            self.assertEqual(asked[-2:], ["cuda:1", ((2, 3), name)])
        with self.assertRaisesRegex(TypeError, "row-major"):
            jax.empty("f32", (2, 3), (1, 2), 0)
        with self.assertRaisesRegex(TypeError, "no element type for e8m0"):
            jax.empty("e8m0", (2,), (1,), 0)
        with self.assertRaisesRegex(TypeError, "never change"):
            jax.check_outputs([1])
        narrow, _ = self.jax("float32")
        with self.assertRaisesRegex(TypeError, "no arrays of float64 without jax_enable_x64"):
            narrow.empty("f64", (2,), (1,), 0)
        self.assertIsNone(jax.maker("f32", (2,), (1,), 0))

    def test_an_array_without_a_framework_has_no_outputs_made(self):
        other = _devices.framework_of(object())
        self.assertIs(type(other), _devices.Other)
        other.check_outputs([1])
        other.finish(0, 0)
        for make in (lambda: other.empty("f32", (2,), (1,), 0), lambda: other.bytes(8, 0)):
            with self.assertRaises(TypeError):
                make()


class Pages(unittest.TestCase):
    def test_the_examples_in_the_code_are_right(self):
        from lay import _kernels, _objects

        for module in (lay, _objects, _kernels):
            if numpy is None and module is not lay:
                continue
            names = {"lay": lay, "layout": lay.layout, "kernel": lay.kernel, "numpy": numpy,
                     "Program": lay.Program}
            self.assertEqual(doctest.testmod(module, extraglobs=names).failed, 0)

    def test_the_pages_say_what_is_printed(self):
        for file in ("python/README.md", "docs/embedding.md"):
            page = (SOURCE / file).read_text()
            code, said = re.search(EXAMPLE, page, re.S).groups()
            ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            self.assertEqual((ran.stdout, ran.stderr), (said, ""))


if __name__ == "__main__":
    unittest.main()
