"""Lay: layouts and the GPU kernels that they make.

>>> import lay
>>> a = lay.layout("(4,2):(1,4)")
>>> a @ lay.layout("2:4")
Layout('2:4')
>>> bool(lay.prove("injective((4,2):(1,4))"))
True

Layouts and expressions of these functions share one program; `Program` makes others. Docs:
docs/embedding.md.
"""

import threading

from . import _library
from ._arrays import Array
from ._kernels import Kernel, Plan, Tuning
from ._objects import (
    Cancelled,
    Diagnostic,
    Layout,
    LayError,
    Program,
    Unavailable,
    Value,
    Verdict,
)

__version__ = _library.library.lay_version().decode()
__all__ = [
    "Array",
    "Cancelled",
    "Diagnostic",
    "Kernel",
    "LayError",
    "Layout",
    "Plan",
    "Program",
    "Tuning",
    "Unavailable",
    "Value",
    "Verdict",
    "evaluate",
    "kernel",
    "layout",
    "prove",
    "show",
]


def load_ipython_extension(ipython):
    """`%load_ext lay`: cells that begin with `%%lay`."""
    from . import _notebook

    _notebook.load_ipython_extension(ipython)


_program = None
_first = threading.Lock()


def _shared():
    """The program of this module's functions."""
    global _program
    with _first:
        if _program is None:
            _program = Program()
        return _program


def evaluate(expression, **names):
    """The value of an expression: lay.evaluate("size(a)", a=layout)."""
    return _shared().evaluate(expression, **names)


def layout(text):
    """The layout that the text means: lay.layout("(4,2):(1,4)")."""
    value = _shared().evaluate(text)
    if not isinstance(value, Layout):
        raise TypeError(f"{text!r} is no layout, but {value!r}")
    return value


def prove(claim, **names):
    """The verdict on a claim: lay.prove("injective(a)", a=layout)."""
    return _shared().prove(claim, **names)


def show(expression, form="text", **names):
    """The picture of an expression, in the form "text", "svg", "html", "tex" or "png"."""
    return _shared().show(expression, form, **names)


def kernel(text, name=None, **options):
    """The kernel of a script, or that of the name where it has several. Options are those of
    Program."""
    program = Program(**options)
    program.run(text)
    return program.kernel(name)
