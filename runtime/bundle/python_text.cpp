#include "runtime/bundle/bundle.h"
#include "runtime/bundle/c_text.h"

namespace lay::runtime {
namespace {

constexpr const char* kHead = R"(
import ctypes
import os
import threading


class LayError(Exception):
    """A status that is not LAY_OK, and its sentence."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class _Message(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 512)]


_local = threading.local()  # .why: the thread's message


class _Kernel:
    """One kernel. Arguments are given by name: sizes and scalars as numbers, tensors as addresses
    in the device's memory (torch: `x.data_ptr()`)."""

    def __init__(self, name, fields):
        self._name = name
        self._args = type(
            name + "_args",
            (ctypes.Structure,),
            {"_fields_": [("size", ctypes.c_uint32)] + fields},
        )
        self._fields = [field for field, _ in fields]
        self._functions = {}

    def _arguments(self, given):
        try:
            values = [given[field] for field in self._fields]
        except KeyError:
            values = []
        if len(values) != len(given) or len(values) != len(self._fields):
            wrong = ", ".join(sorted(set(given) ^ set(self._fields)))
            raise TypeError(
                f"{self._name} takes {', '.join(self._fields)}; missing or unknown: {wrong}"
            )
        return self._args(ctypes.sizeof(self._args), *values)

    def _function(self, name):
        found = getattr(_library(), f"{self._name}_{name}_lay2")
        address, pointer, count = ctypes.POINTER(self._args), ctypes.c_void_p, ctypes.c_int64
        found.argtypes = {
            "check": [address],
            "workspace": [address, ctypes.POINTER(count)],
            "prepare": [ctypes.c_int],
            "launch": [address, pointer, count, pointer],
        }[name] + [ctypes.POINTER(_Message)]
        self._functions[name] = found
        return found

    def _call(self, name, *arguments):
        function = self._functions.get(name) or self._function(name)
        why = getattr(_local, "why", None)
        if why is None:
            why = _local.why = _Message()
        status = function(*arguments, why)
        if status != 0:
            raise LayError(status, why.text.decode())

    def check(self, **arguments):
        """Raises LayError where sizes, guards or addresses are wrong; needs no GPU."""
        self._call("check", self._arguments(arguments))

    def workspace(self, **arguments):
        """The bytes of workspace that a launch needs."""
        size = ctypes.c_int64()
        self._call("workspace", self._arguments(arguments), size)
        return size.value

    def prepare(self, device=0):
        """Loads the kernel for a device, as is needed before a stream is captured."""
        self._call("prepare", device)

    def launch(self, *, workspace=0, workspace_bytes=0, stream=0, **arguments):
        """Launches on the device of the current CUDA context and returns before it is done."""
        self._call("launch", self._arguments(arguments), workspace, workspace_bytes, stream)
)";

std::string library_text(const std::string& stem) {
  return R"(

_loaded = None


def _library():
    """The shared library beside this file, or the one that LAY_BUNDLE_)" +
         stem + R"( names."""
    global _loaded
    if _loaded is None:
        beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib)" +
         stem + R"(.so")
        _loaded = ctypes.CDLL(os.environ.get("LAY_BUNDLE_)" +
         stem + R"(", beside))
    return _loaded

)";
}

std::string field(const std::string& name, const std::string& type) {
  return "(\"" + name + "\", ctypes." + type + "), ";
}

}  // namespace

std::string bundle_python(const BundleNames& names, const std::vector<BuiltKernel>& kernels) {
  const std::string& stem = names.stem;
  std::string text = "\"\"\"The kernels of " + names.script + ", compiled by Lay " + LAY_VERSION +
                     ".\n\nNeeds the launcher as a shared library:\n\n    cc -O2 -shared -fPIC " +
                     stem + ".c -o lib" + stem + ".so -pthread -ldl\n\"\"\"\n" + kHead +
                     library_text(stem);
  for (const auto& built : kernels) {
    const sema::Kernel& kernel = *built.kernel;
    const ArgumentNames members(kernel);
    std::string fields;
    for (const auto& dim : kernel.dims)
      fields += field(members.of(*dim.symbol.dim_id()), "c_int64");
    for (const auto& scalar : kernel.scalars) {
      std::string type = c_scalar_type(scalar.type);
      if (const auto end = type.rfind("_t"); end != std::string::npos && end + 2 == type.size())
        type.resize(end);
      fields += field(members.of(scalar.name), "c_" + type);
    }
    for (const auto& tensor : kernel.tensors) fields += field(members.of(tensor.name), "c_void_p");
    const std::string name = names.prefix + kernel.name;
    text += "\n" + name + " = _Kernel(\"" + name + "\", [" + fields.substr(0, fields.size() - 2) +
            "])\n";
  }
  return text;
}

}  // namespace lay::runtime
