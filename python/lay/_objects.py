"""Programs and values, over the functions of the library."""

import ctypes
import json
import threading
import warnings

from . import _arrays
from . import _library as c
from ._kernels import Kernel
from ._library import Handle


class Diagnostic:
    """What is wrong, or worth knowing, and where: lines and columns from 1, 0 for nowhere."""

    def __init__(self, found):
        self.severity = c.SEVERITIES[found.severity]
        self.code, self.message = found.code.decode(), found.message.decode()
        self.file = found.file.decode()
        self.line, self.column = found.line, found.column
        self.end_line, self.end_column = found.end_line, found.end_column
        self.text, self.data = found.text.decode(), json.loads(found.json)

    def __repr__(self):
        return f"<lay.Diagnostic {self.severity}[{self.code}]: {self.message}>"


class LayError(Exception):
    """A call that failed, with the diagnostics that say why."""

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)
        self.code = self.diagnostics[0].code if self.diagnostics else ""


class Cancelled(LayError):
    """The call was cancelled, or its time was over."""


class Unavailable(LayError):
    """The machine lacks what was asked for: a GPU, a CUDA compiler."""


_errors = {c.CANCELLED: Cancelled, c.TIME_LIMIT: Cancelled, c.UNAVAILABLE: Unavailable}


class Verdict:
    """The answer to a claim: "proved", "refuted" or "undecided".

    `witness` holds the smallest counterexample, `decided_by` what would decide it, `text` what the
    command prints of a refuted claim. A verdict is true where the claim is proved.
    """

    def __init__(self, data):
        self.verdict, self.claim = data["verdict"], data["claim"]
        self.witness, self.decided_by = data["witness"], data["decided_by"]
        self.text = data["text"]

    def __bool__(self):
        return self.verdict == "proved"

    def __repr__(self):
        at = ", ".join(f"{name} = {size}" for name, size in self.witness.items())
        return f"<lay.Verdict {self.verdict}: {self.claim}{' at ' + at if at else ''}>"


_read = threading.Lock()
_is_read = False


def _read_once():
    """Reads what was measured on this machine, before the process' first program plans."""
    global _is_read
    with _read:
        if _is_read:
            return
        _is_read = True
    try:
        Program().read_measured()  # a program without limits
    except LayError as error:
        warnings.warn(str(error), stacklevel=3)


class Program:
    """Texts that share their names.

    >>> program = Program()
    >>> program.run("let a = (4,2):(1,4)")
    >>> program.evaluate("a o 2:4")
    Layout('2:4')

    `check` evaluates without running, as `lay check` does. `sizes` are dims that are known.
    `seconds` and `array_bytes` are the limits of a call; `folder` is where `use`, `load` and `save`
    find files, and without one they find none. `on` says where kernels run: "any", "host", "gpu".
    """

    def __init__(self, check=False, sizes=None, seconds=0, array_bytes=0, folder=None, on="host",
                 print=None, log=None):
        if on not in c.MACHINES:
            raise ValueError(f"`on` is {on!r}: expected any, host or gpu")
        _read_once()
        self._lock = threading.RLock()
        self._says = [self._callback(print or _print), self._callback(log)]
        options = c.Options(
            machine=c.MACHINES[on],
            seconds=seconds,
            array_bytes=array_bytes,
            folder=None if folder is None else c.utf8(str(folder)),
            print=self._says[0],
            log=self._says[1],
        )
        context = c.library.lay_context_new(options)
        if not context:
            raise MemoryError("there is no memory for a context of Lay")
        self._context = Handle(context, c.library.lay_context_free)
        known, count = c.sizes(sizes or {})
        made = ctypes.c_void_p()
        self._call("program_new", context,
                   c.ProgramOptions(check=check, sizes=known, size_count=count), made)
        self._program = Handle(made.value, c.library.lay_program_free)

    @staticmethod
    def _callback(say):
        if say is None:
            return c.Say()
        return c.Say(lambda user, text: say(text.decode()))

    def _call(self, function, *arguments):
        """Calls a function of the library; what went wrong is raised."""
        with self._lock:
            result = getattr(c.library, "lay_" + function)(*arguments)
            if result != c.OK:
                raise self._error(result)

    def _error(self, result):
        found = self.diagnostics()
        text = c.library.lay_diagnostics_text(self._context.pointer).decode().rstrip("\n")
        if result == c.OUT_OF_MEMORY:
            return MemoryError("there is no memory for this call of Lay")
        if result == c.MISUSE:
            return ValueError(found[0].message if found else "the program is in use")
        return _errors.get(result, LayError)(text or f"the call failed: {result}", found)

    def diagnostics(self):
        """Those of the last call."""
        with self._lock:
            found = []
            for index in range(c.library.lay_diagnostic_count(self._context.pointer)):
                one = c.Diagnostic()
                c.library.lay_diagnostic_get(self._context.pointer, index, one)
                found.append(Diagnostic(one))
            return found

    def read_measured(self, policies=None, targets=None):
        """Has all plans from here on use what `lay tune` and `lay calibrate` keep in these folders.

        The first program reads those of the user, which the command reads too. What is wrong with a
        file is warned of, and the file ignored. An empty text reads nothing.
        """
        self._call("read_measured", self._context.pointer,
                   *(None if folder is None else c.utf8(str(folder))
                     for folder in (policies, targets)))
        for found in self.diagnostics():
            warnings.warn(found.text, stacklevel=2)

    def cancel(self):
        """Ends the call that another thread has in progress."""
        c.library.lay_cancel(self._context.pointer)

    def run(self, text, name="<python>"):
        """Evaluates a text, whose names stay in force. A statement that fails is raised when all
        were evaluated."""
        data = text.encode()
        self._call("program_run", self._program.pointer, c.utf8(name), data, len(data))

    def statements(self):
        """What the statements of the last text came to, as the data of lay/lay.h."""
        with self._lock:
            return json.loads(c.library.lay_program_statements_json(self._program.pointer))

    def evaluate(self, expression, **names):
        """The value of an expression, in which the names stand for values of Python."""
        bindings, count, kept = self._bindings(names)
        made = ctypes.c_void_p()
        self._call("program_evaluate", self._program.pointer, c.utf8(expression), bindings, count,
                   made)
        del kept
        return self._to_python(made.value)

    def show(self, expression, form="text", **names):
        """The picture of an expression: "text", "svg", "html", "tex" as str, "png" as bytes."""
        bindings, count, kept = self._bindings(names)
        picture, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._lock:
            self._call("program_show", self._program.pointer, c.utf8(expression), bindings, count,
                       c.utf8(form), picture, size)
            data = ctypes.string_at(picture.value, size.value)
        del kept
        return data if form == "png" else data.decode()

    def prove(self, claim, **names):
        """The verdict on a claim: program.prove("injective(a)", a=layout)."""
        bindings, count, kept = self._bindings(names)
        data = ctypes.c_char_p()
        with self._lock:
            self._call("program_prove", self._program.pointer, c.utf8(claim), bindings, count, data)
            verdict = Verdict(json.loads(data.value))
        del kept
        return verdict

    def define(self, name, value):
        """Gives a value of Python a name that stays in force."""
        self._call("program_define", self._program.pointer, c.utf8(name),
                   self._of_python(value).pointer)

    def kernels(self):
        """The names of the kernels, in order."""
        with self._lock:
            count = c.library.lay_kernel_count(self._program.pointer)
            return [c.library.lay_kernel_name(self._program.pointer, i).decode()
                    for i in range(count)]

    def kernel(self, name=None):
        """The kernel of that name, or the only one."""
        made = ctypes.c_void_p()
        self._call("kernel_new", self._program.pointer,
                   None if name is None else c.utf8(name), made)
        return Kernel(self, Handle(made.value, c.library.lay_kernel_free))

    def build(self, script="kernels.lay", archs=(), kernel=None, bundle=False, prefix="", most=0,
              source_only=False):
        """What `lay build` writes, as a dict of names and bytes."""
        words = [c.utf8(arch) for arch in archs]
        made, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._call("build_new", self._program.pointer, c.BuildOptions(
            bundle=bundle, prefix=c.utf8(prefix), script=c.utf8(script),
            archs=(ctypes.c_char_p * len(words))(*words), arch_count=len(words),
            kernel=None if kernel is None else c.utf8(kernel), most=most,
            source_only=source_only), made)
        build = Handle(made.value, c.library.lay_build_free)
        files = {}
        for index in range(c.library.lay_build_file_count(build.pointer)):
            data = c.library.lay_build_file_data(build.pointer, index, size)
            name = c.library.lay_build_file_name(build.pointer, index).decode()
            files[name] = ctypes.string_at(data, size.value)
        return files

    # Values of Python and of the library.

    def _made(self, function, *arguments):
        made = ctypes.c_void_p()
        self._call(function, self._context.pointer, *arguments, made)
        return Handle(made.value, c.library.lay_value_free)

    def _of_python(self, value):
        if isinstance(value, Value):
            return value._handle
        if isinstance(value, Kernel):
            raise TypeError("a kernel is no value: call it")
        if isinstance(value, bool):
            return self._evaluated("true" if value else "false")
        if isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise OverflowError(f"{value} does not fit the 64 bits of Lay's integers")
            return self._made("value_of_integer", value)
        if isinstance(value, float):
            return self._made("value_of_real", value)
        if isinstance(value, str):
            return self._made("value_of_string", c.utf8(value))
        if isinstance(value, (tuple, list)):
            names = {f"v{i}": each for i, each in enumerate(value)}
            return self._evaluated("(" + "".join(name + "," for name in names) + ")", names)
        if _arrays.is_array(value):
            element, shape, data = _arrays.parts(value)
            array = c.Array(rank=len(shape), element=element.encode(),
                            shape=(ctypes.c_int64 * len(shape))(*shape),
                            data=ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p),
                            bytes=len(data))
            return self._made("value_of_array", array)
        raise TypeError(f"Lay has no value for Python's {type(value).__name__}")

    def _evaluated(self, expression, names=None):
        bindings, count, kept = self._bindings(names or {})
        made = ctypes.c_void_p()
        self._call("program_evaluate", self._program.pointer, c.utf8(expression), bindings, count,
                   made)
        del kept
        return Handle(made.value, c.library.lay_value_free)

    def _bindings(self, names):
        """The names as the library takes them, how many, and what keeps their values alive."""
        kept = {name: self._of_python(value) for name, value in names.items()}
        bindings = (c.Binding * len(kept))(
            *((c.utf8(name), handle.pointer) for name, handle in kept.items()))
        return bindings, len(kept), kept

    def _to_python(self, pointer):
        handle = Handle(pointer, c.library.lay_value_free)
        kind = c.library.lay_value_kind(pointer).decode()
        if kind == "array":
            return _arrays.of_value(pointer)
        if kind in ("int", "bool", "real", "string", "tuple"):
            data = json.loads(c.library.lay_value_json(pointer))
            plain = _plain(kind, data["value"])
            if plain is not None and "guards" not in data:
                return plain
        cls = Layout if kind in ("layout", "composed", "swizzle") else Value
        return cls(self, handle)


def _print(text):
    print(text)


def _plain(kind, value):
    """The value of Python; None for one that is symbolic, or whose parts are."""
    if kind == "int":
        return value if isinstance(value, int) else None
    if kind == "bool":
        return value if isinstance(value, bool) else None
    if kind == "real":
        return float(value)
    if kind == "string":
        return value
    parts = [_plain("tuple" if isinstance(each, list) else "int", each) for each in value]
    return None if any(part is None for part in parts) else tuple(parts)


class Value:
    """A value that Python has no type for: a size that is not known, a function, a record.

    Operators and calls are those of the language, and the result keeps the guards.
    """

    def __init__(self, program, handle):
        self.program, self._handle = program, handle

    @property
    def kind(self):
        return c.library.lay_value_kind(self._handle.pointer).decode()

    @property
    def data(self):
        """Everything about the value, in the form of `lay eval`."""
        with self.program._lock:
            return json.loads(c.library.lay_value_json(self._handle.pointer))

    @property
    def guards(self):
        """The conditions under which the value is right; none for one that is right always."""
        return self.data.get("guards", [])

    def __str__(self):
        with self.program._lock:
            return c.library.lay_value_text(self._handle.pointer).decode()

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    def __call__(self, *arguments):
        names = {f"v{i}": each for i, each in enumerate(arguments)}
        return self.program.evaluate(f"f({', '.join(names)})", f=self, **names)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if self.kind == "record":
            return self.program.evaluate(f"r.{name}", r=self)
        raise AttributeError(f"a {self.kind} of Lay has no {name}")

    def _joined(self, operator, other, swapped=False):
        left, right = (other, self) if swapped else (self, other)
        return self.program.evaluate(f"a {operator} b", a=left, b=right)

    def __add__(self, other):
        return self._joined("+", other)

    def __radd__(self, other):
        return self._joined("+", other, True)

    def __sub__(self, other):
        return self._joined("-", other)

    def __rsub__(self, other):
        return self._joined("-", other, True)

    def __mul__(self, other):
        return self._joined("*", other)

    def __rmul__(self, other):
        return self._joined("*", other, True)

    def __floordiv__(self, other):
        return self._joined("//", other)

    def __rfloordiv__(self, other):
        return self._joined("//", other, True)

    def __mod__(self, other):
        return self._joined("%", other)

    def __rmod__(self, other):
        return self._joined("%", other, True)

    def __eq__(self, other):
        try:
            return self._joined("==", other)
        except TypeError:
            return NotImplemented

    def __ne__(self, other):
        try:
            return self._joined("!=", other)
        except TypeError:
            return NotImplemented

    __hash__ = object.__hash__


class Layout(Value):
    """A layout, composed layout or swizzle.

    >>> a = layout("(4,2):(1,4)")
    >>> a(1, 1), a(5), a[1], a.shape, a @ layout("2:4")
    (5, 5, Layout('2:4'), (4, 2), Layout('2:4'))

    `a @ b` is the composition, which the language writes `a o b`.
    """

    def __matmul__(self, other):
        return self._joined("o", other)

    def __rmatmul__(self, other):
        return self._joined("o", other, True)

    def __getitem__(self, mode):
        modes = mode if isinstance(mode, tuple) else (mode,)
        return self.program.evaluate("a[" + ",".join(str(int(m)) for m in modes) + "]", a=self)

    @property
    def shape(self):
        return self.program.evaluate("shape(a)", a=self)

    @property
    def stride(self):
        return self.program.evaluate("stride(a)", a=self)

    @property
    def size(self):
        return self.program.evaluate("size(a)", a=self)

    @property
    def cosize(self):
        return self.program.evaluate("cosize(a)", a=self)

    @property
    def rank(self):
        return self.program.evaluate("rank(a)", a=self)

    def svg(self):
        return self.program.show("a", "svg", a=self)

    def text(self):
        """The picture for a terminal."""
        return self.program.show("a", "text", a=self)

    def _repr_html_(self):
        """What a notebook shows: the picture, or the text of a layout that has none."""
        try:
            return self.svg()
        except LayError:
            return None

    def numpy(self):
        """The offsets as an array of NumPy with an axis a mode."""
        import numpy

        shape = self.shape
        extents = [_product(mode) for mode in (shape if isinstance(shape, tuple) else (shape,))]
        count = _product(tuple(extents))
        if not isinstance(count, int):
            raise ValueError(f"the size of {self} is not known")
        offsets = self.program.evaluate(f"[a(i) for i in 0..{count}]", a=self)
        return numpy.array(offsets, dtype=numpy.int64).reshape(extents, order="F")


def _product(shape):
    if not isinstance(shape, tuple):
        return shape
    product = 1
    for extent in shape:
        product = product * _product(extent)
    return product
