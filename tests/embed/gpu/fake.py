"""Runs a program of Python on the fake driver of tests/driver/fake: fake.py LIBRARY PROGRAM ...

LIBRARY is fake.c as a shared library: it prints the launches when the program ends, and does them
by a loop. The package's calls of the launch function pass through it."""

import ctypes
import runpy
import sys

from lay import _calls
from lay import _library as c

_, library, *sys.argv = sys.argv
fake = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
real = c.library.lay_launcher_launch
ctypes.c_void_p.in_dll(fake, "real_launch").value = ctypes.cast(real, ctypes.c_void_p).value
fake.launch_through.argtypes, fake.launch_through.restype = real.argtypes, real.restype
c.library.lay_launcher_launch = fake.launch_through
if _calls._native is not None:
    _calls.bind()
runpy.run_path(sys.argv[0], run_name="__main__")
