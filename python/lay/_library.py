"""The functions of lay/lay.h, by ctypes. Nothing here knows of Python's objects."""

import ctypes
import glob
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
)

API_VERSION = 1

OK, ERROR, MISUSE, CANCELLED, TIME_LIMIT, OUT_OF_MEMORY, UNAVAILABLE, INTERNAL = range(8)
MACHINES = {"any": 0, "host": 1, "gpu": 2}
SEVERITIES = ("error", "warning", "note")

Read = CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p)
Say = CFUNCTYPE(None, c_void_p, c_char_p)


class Sized(Structure):
    """A struct whose first member is its size."""

    def __init__(self, **members):
        super().__init__(size=ctypes.sizeof(self), **members)


class Options(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("machine", c_int32),
        ("seconds", c_double),
        ("array_bytes", c_int64),
        ("folder", c_char_p),
        ("user", c_void_p),
        ("read", Read),
        ("print", Say),
        ("log", Say),
    ]


class Diagnostic(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("severity", c_int),
        ("code", c_char_p),
        ("message", c_char_p),
        ("file", c_char_p),
        ("line", c_int32),
        ("column", c_int32),
        ("end_line", c_int32),
        ("end_column", c_int32),
        ("text", c_char_p),
        ("json", c_char_p),
    ]


class Size(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class ProgramOptions(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("check", c_int32),
        ("sizes", POINTER(Size)),
        ("size_count", c_size_t),
    ]


class Binding(Structure):
    _fields_ = [("name", c_char_p), ("value", c_void_p)]


class Array(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("rank", c_int32),
        ("element", c_char_p),
        ("shape", POINTER(c_int64)),
        ("data", c_void_p),
        ("bytes", c_int64),
    ]


class Tensor(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("rank", c_int32),
        ("element", c_char_p),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("address", c_void_p),
    ]


class TuneOptions(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("device", c_int32),
        ("candidates", c_int32),
        ("rounds", c_int32),
        ("milliseconds", c_double),
    ]


class BuildOptions(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("bundle", c_int32),
        ("prefix", c_char_p),
        ("script", c_char_p),
        ("archs", POINTER(c_char_p)),
        ("arch_count", c_size_t),
        ("kernel", c_char_p),
        ("most", c_size_t),
        ("source_only", c_int32),
    ]


_out = POINTER(c_void_p)
_text = POINTER(c_char_p)
_count = POINTER(c_size_t)

# Name -> result and arguments, as the header declares them.
_functions = {
    "api_version": (c_uint32, []),
    "version": (c_char_p, []),
    "sink_write": (None, [c_void_p, c_char_p, c_size_t]),
    "context_new": (c_void_p, [POINTER(Options)]),
    "context_free": (None, [c_void_p]),
    "cancel": (None, [c_void_p]),
    "diagnostic_count": (c_size_t, [c_void_p]),
    "diagnostic_get": (c_int, [c_void_p, c_size_t, POINTER(Diagnostic)]),
    "diagnostics_text": (c_char_p, [c_void_p]),
    "diagnostics_json": (c_char_p, [c_void_p]),
    "program_new": (c_int, [c_void_p, POINTER(ProgramOptions), _out]),
    "program_free": (None, [c_void_p]),
    "program_run": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t]),
    "program_statements_json": (c_char_p, [c_void_p]),
    "program_evaluate": (c_int, [c_void_p, c_char_p, POINTER(Binding), c_size_t, _out]),
    "program_prove": (c_int, [c_void_p, c_char_p, POINTER(Binding), c_size_t, _text]),
    "program_show": (
        c_int,
        [c_void_p, c_char_p, POINTER(Binding), c_size_t, c_char_p, _out, _count],
    ),
    "program_define": (c_int, [c_void_p, c_char_p, c_void_p]),
    "program_answer": (c_int, [c_void_p, c_char_p, c_int32, _text]),
    "value_free": (None, [c_void_p]),
    "value_kind": (c_char_p, [c_void_p]),
    "value_text": (c_char_p, [c_void_p]),
    "value_json": (c_char_p, [c_void_p]),
    "value_to_integer": (c_int, [c_void_p, POINTER(c_int64)]),
    "value_to_real": (c_int, [c_void_p, POINTER(c_double)]),
    "value_of_integer": (c_int, [c_void_p, c_int64, _out]),
    "value_of_real": (c_int, [c_void_p, c_double, _out]),
    "value_of_string": (c_int, [c_void_p, c_char_p, _out]),
    "value_of_array": (c_int, [c_void_p, POINTER(Array), _out]),
    "value_to_array": (c_int, [c_void_p, POINTER(Array)]),
    "kernel_count": (c_size_t, [c_void_p]),
    "kernel_name": (c_char_p, [c_void_p, c_size_t]),
    "kernel_new": (c_int, [c_void_p, c_char_p, _out]),
    "kernel_free": (None, [c_void_p]),
    "kernel_json": (c_char_p, [c_void_p]),
    "kernel_run": (
        c_int,
        [c_void_p, _out, c_size_t, POINTER(Size), c_size_t, _out, c_size_t],
    ),
    "kernel_tune": (
        c_int,
        [c_void_p, POINTER(TuneOptions), POINTER(Size), c_size_t, _text],
    ),
    "plan_new": (c_int, [c_void_p, c_char_p, _out]),
    "plan_free": (None, [c_void_p]),
    "plan_text": (c_char_p, [c_void_p]),
    "plan_variant_count": (c_size_t, [c_void_p]),
    "plan_variant_name": (c_char_p, [c_void_p, c_size_t]),
    "plan_choose": (c_int, [c_void_p, POINTER(Size), c_size_t, _count]),
    "plan_forecast": (
        c_int,
        [c_void_p, c_size_t, POINTER(Size), c_size_t, POINTER(c_double), _text],
    ),
    "plan_launch_count": (c_int, [c_void_p, c_size_t, _count]),
    "plan_source": (c_int, [c_void_p, c_size_t, c_size_t, _text]),
    "plan_image": (c_int, [c_void_p, c_size_t, c_size_t, _out, _count]),
    "launcher_new": (c_int, [c_void_p, c_int32, _out]),
    "launcher_free": (None, [c_void_p]),
    "launcher_prepare": (
        c_int,
        [c_void_p, POINTER(Tensor), c_size_t, POINTER(Size), c_size_t, POINTER(c_int64)],
    ),
    "launcher_launch": (
        c_int,
        [c_void_p, POINTER(Tensor), c_size_t, POINTER(Size), c_size_t, _out, c_size_t, c_void_p,
         c_int64, c_void_p],
    ),
    "launcher_variant": (c_char_p, [c_void_p]),
    "read_measured": (c_int, [c_void_p, c_char_p, c_char_p]),
    "build_new": (c_int, [c_void_p, POINTER(BuildOptions), _out]),
    "build_free": (None, [c_void_p]),
    "build_file_count": (c_size_t, [c_void_p]),
    "build_file_name": (c_char_p, [c_void_p, c_size_t]),
    "build_file_data": (c_void_p, [c_void_p, c_size_t, _count]),
}


def _load():
    """The library of the package, else $LAY_LIBRARY, else that of the system."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "liblay.so.1")
    name = os.environ.get("LAY_LIBRARY") or (beside if os.path.exists(beside) else "liblay.so.1")
    try:
        if name == beside:
            # What the library needs lies beside it, too, and is found because it is loaded.
            folder = glob.escape(os.path.dirname(beside))
            for runtime in glob.glob(os.path.join(folder, "libantlr4*")):
                ctypes.CDLL(runtime)
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"Lay's library cannot be loaded: {error}; install the wheel, or set LAY_LIBRARY to "
            "the liblay.so of an installed Lay"
        ) from None
    for function, (result, arguments) in _functions.items():
        loaded = getattr(library, "lay_" + function)
        loaded.restype = result
        loaded.argtypes = arguments
    if library.lay_api_version() != API_VERSION:
        raise ImportError(
            f"{name}: expected version {API_VERSION} of the interface, got "
            f"{library.lay_api_version()}"
        )
    return library


library = _load()


class Handle:
    """An object of the library, freed with this one."""

    def __init__(self, pointer, free):
        self.pointer, self._free = pointer, free

    def __del__(self):
        self._free(self.pointer)


def utf8(text):
    """The text as C takes it; a NUL would end it early."""
    data = text.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise ValueError("a text for Lay has no NUL in it")
    return data


def sizes(numbers):
    """{"M": 4096} as lay_size, and how many."""
    return (Size * len(numbers))(*((utf8(k), int(v)) for k, v in numbers.items())), len(numbers)


__all__ = ["Handle", "byref", "library", "sizes", "utf8"]
