"""As much of Triton as runtime/bench/triton/candidate.py asks for, for tests: a kernel that
"compiles" is one whose text Python takes, and its code is a mark that the fake driver takes.
STUB_TRITON says what goes wrong."""

import collections
import os
import time

__version__ = os.environ.get("STUB_TRITON_VERSION", "3.6.0")

Metadata = collections.namedtuple(
    "Metadata", "name num_warps num_ctas shared global_scratch_size profile_scratch_size")
Compiled = collections.namedtuple("Compiled", "metadata asm")


def jit(function):
    return function


def compile(source, target, options):
    wrong = os.environ.get("STUB_TRITON", "")
    if wrong == "hangs":
        time.sleep(600)
    if wrong == "crashes":
        os._exit(139)
    if wrong == "refuses":
        raise RuntimeError("out of resources\nat some line")
    names = source.fn.__code__.co_varnames[:source.fn.__code__.co_argcount]
    assert set(names) == set(source.signature), (names, source.signature)
    kept = [name for name in names if source.signature[name] != "constexpr"]
    assert set(source.constexprs) == set(names) - set(kept)
    for (position,), (hint,) in source.attrs.items():
        assert hint == ["tt.divisibility", 16] and source.signature[names[position]] != "constexpr"
    # Two pointers behind the kernel's own parameters, as Triton 3.6 adds them.
    ptx = ".visible .entry stated(%s)\n" % ",\n".join(
        ".param .u64 stated_param_%d" % i for i in range(len(kept) + 2))
    metadata = Metadata("stated", options["num_warps"], 1, 1024, 64, 0)
    return Compiled(metadata, {"cubin": b"\x7fELF" + b"\0" * 60, "ptx": ptx})
