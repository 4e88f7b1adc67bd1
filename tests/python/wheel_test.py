"""The wheel of a build: wheel_test.py BUILD. It has what it says, the same twice, is small, is
imported quickly from wherever it lies, and passes the tests of the package."""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "python"))
sys.dont_write_bytecode = True
import wheel  # noqa: E402


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        cls.file = wheel.write(BUILD, root / "wheels")
        cls.again = wheel.write(BUILD, root / "again")
        cls.unpacked = root / "my packages"
        with zipfile.ZipFile(cls.file) as archive:
            archive.extractall(cls.unpacked)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def python(self, *arguments, **more):
        """Runs Python with the package and without whatever else says where a library lies."""
        keep = ("PATH", "HOME", "LANG", "LD_PRELOAD", "ASAN_OPTIONS")
        variables = {name: os.environ[name] for name in keep if name in os.environ}
        variables.update(PYTHONPATH=str(self.unpacked), PYTHONDONTWRITEBYTECODE="1",
                         LAY_POLICIES="/nonexistent", LAY_TARGETS="/nonexistent", **more)
        return subprocess.run([sys.executable, *arguments], env=variables, capture_output=True,
                              text=True)

    def test_two_wheels_are_the_same(self):
        self.assertEqual(self.file.name, self.again.name)
        self.assertEqual(self.file.read_bytes(), self.again.read_bytes())

    def test_it_is_small(self):
        self.assertLess(self.file.stat().st_size, 8 << 20)

    def test_its_record_is_right(self):
        with zipfile.ZipFile(self.file) as archive:
            names = archive.namelist()
            record = next(name for name in names if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(names))
            for name, digest, size in rows:
                if name == record:
                    self.assertEqual((digest, size), ("", ""))
                    continue
                data = archive.read(name)
                sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, size), ("sha256=" + sha, str(len(data))))

    def test_it_is_imported_in_50_ms(self):
        code = "import time; t = time.perf_counter(); import lay; print(time.perf_counter() - t)"
        seconds = []
        for _ in range(5):
            ran = self.python("-c", code)
            self.assertEqual(ran.stderr, "")
            seconds.append(float(ran.stdout))
        self.assertLess(min(seconds), 0.05)

    def test_the_package_passes_its_tests(self):
        for test in ("test_lay.py", "native_test.py", "exchange_test.py"):
            ran = self.python(str(SOURCE / "tests/python" / test))
            self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_a_launch_is_waited_for_in_a_thread_without_a_context(self):
        fakes = BUILD / "tests/fake"
        if not fakes.exists():
            self.skipTest("the build has no fake driver")
        code = """import sys, types; sys.modules["jax"] = types.ModuleType("jax")
import lay._devices; lay._devices.Jax().finish(0, 0)
try: lay._devices.Jax().finish(0, 7)
except RuntimeError as error: print(error)"""
        ran = self.python("-c", code, LD_LIBRARY_PATH=str(fakes))
        self.assertEqual(ran.stderr, "")
        self.assertRegex(ran.stdout, "^cuDeviceGet failed with status [0-9]+\n$")

    def test_the_package_works_without_its_module(self):
        module = self.unpacked / "lay/_native.abi3.so"
        if not module.exists():
            self.skipTest("the build had no headers of Python")
        away = module.rename(module.with_suffix(".away"))
        try:
            ran = self.python(str(SOURCE / "tests/python/test_lay.py"))
        finally:
            away.rename(module)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_the_module_asks_for_the_stable_interface_alone(self):
        module = self.unpacked / "lay/_native.abi3.so"
        if not module.exists():
            self.skipTest("the build had no headers of Python")
        dynamic = subprocess.run(["readelf", "-d", module], capture_output=True, text=True).stdout
        self.assertEqual(re.findall(r"NEEDED.*\[(.*)\]", dynamic), ["libc.so.6"])
        shown = subprocess.run(["nm", "-D", "--defined-only", module], capture_output=True,
                               text=True).stdout
        self.assertEqual([line.split()[2] for line in shown.splitlines()], ["PyInit__native"])


if __name__ == "__main__":
    unittest.main()
