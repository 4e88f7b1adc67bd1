"""Calls of kernels on tensors of a GPU that were described before, without the interpreter: the
type Caller of the module `_native`, where this Python has it, else one that leaves all to
`_call`."""

import ctypes
import sys

from . import _library as c

try:
    from . import _native
except ImportError:  # Python without the stable ABI, or a package without the module
    _native = None


class Plain:
    """A Caller whose calls are `_call` always."""

    def __call__(self, *arguments, **named):
        return self._call(*arguments, **named)

    def _know(self, names, places, tensors, outputs, results):
        """What `_native.Caller` needs of a kernel's signature."""

    def _keep(self, *prepared):
        """What `_native.Caller` needs of a launch."""

    def _forget(self):
        """That none of these launches is to be made any more."""


def exchange_of(kind):
    """DLPack's C exchange API of a type, where its instances are what that says of them."""
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(kind, torch.Tensor):
        # A subclass may stand for memory that is elsewhere, or nowhere.
        if kind not in (torch.Tensor, torch.nn.Parameter):
            return None
    return getattr(kind, "__dlpack_c_exchange_api__", None)


def bind():
    """Tells the module which functions of the library it calls."""
    functions = ("launcher_launch", "value_of_integer", "value_of_real", "value_free")
    _native.bind(*(ctypes.cast(getattr(c.library, "lay_" + name), ctypes.c_void_p).value
                   for name in functions))


Caller = Plain
if _native is not None:
    Caller = _native.Caller
    bind()
    _native.describe(exchange_of)
