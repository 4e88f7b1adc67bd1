#include "runtime/compile/nvrtc.h"

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "runtime/gpu/library.h"

namespace lay::runtime {
namespace {

// The part of NVRTC's interface that is used here.
using NvrtcProgram = void*;
struct Api {
  Library library;
  int (*version)(int*, int*) = nullptr;
  int (*create)(NvrtcProgram*, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*destroy)(NvrtcProgram*) = nullptr;
  int (*compile)(NvrtcProgram, int, const char* const*) = nullptr;
  int (*log_size)(NvrtcProgram, std::size_t*) = nullptr;
  int (*log)(NvrtcProgram, char*) = nullptr;
  int (*cubin_size)(NvrtcProgram, std::size_t*) = nullptr;
  int (*cubin)(NvrtcProgram, char*) = nullptr;
  int (*ptx_size)(NvrtcProgram, std::size_t*) = nullptr;
  int (*ptx)(NvrtcProgram, char*) = nullptr;

  std::string version_text, why_not, identity;
};

// The file that the loader mapped for the library.
std::string mapped_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find('/');
        at != std::string::npos && line.find(name, at) != std::string::npos)
      return line.substr(at);
  // The file's own name may be longer than the one it is loaded by.
  return name;
}

Api load() {
  Api api;
  api.library = Library::find({"libnvrtc.so.13", "libnvrtc.so.12"});
  if (!api.library) {
    api.why_not =
        "libnvrtc.so.13 and libnvrtc.so.12 are not on this machine (" + api.library.why() + ")";
    return api;
  }
  const Library& from = api.library;
  const bool complete =
      from.get(api.version, "nvrtcVersion") && from.get(api.create, "nvrtcCreateProgram") &&
      from.get(api.destroy, "nvrtcDestroyProgram") &&
      from.get(api.compile, "nvrtcCompileProgram") &&
      from.get(api.log_size, "nvrtcGetProgramLogSize") && from.get(api.log, "nvrtcGetProgramLog") &&
      from.get(api.cubin_size, "nvrtcGetCUBINSize") && from.get(api.cubin, "nvrtcGetCUBIN") &&
      from.get(api.ptx_size, "nvrtcGetPTXSize") && from.get(api.ptx, "nvrtcGetPTX");
  int major = 0, minor = 0;
  if (!complete || api.version(&major, &minor) != 0) {
    api.why_not = from.path() + " is not an NVRTC that this program knows";
    return api;
  }
  api.version_text = std::to_string(major) + "." + std::to_string(minor);
  std::error_code error;
  const auto size = std::filesystem::file_size(mapped_path(from.path()), error);
  api.identity = "nvrtc " + api.version_text + " " + (error ? from.path() : std::to_string(size));
  return api;
}

const Api& api() {
  static const Api loaded = load();
  return loaded;
}

// A text that the library hands out with a size that counts the closing NUL.
template <class Size, class Get>
std::string text_of(NvrtcProgram program, Size size_of, Get get) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return "";
  std::string text(size, '\0');
  if (get(program, text.data()) != 0) return "";
  return text;
}

void strip_nul(std::string& text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
}

}  // namespace

const std::string& nvrtc_version() {
  return api().version_text;
}
const std::string& nvrtc_why_not() {
  return api().why_not;
}
const std::string& nvrtc_identity() {
  return api().identity;
}

CompilerOutput nvrtc_compile(const std::string& text, const std::string& file,
                             const std::string& target, ImageKind kind,
                             const std::vector<std::string>& options) {
  const Api& use = api();
  if (use.version_text.empty())
    throw std::logic_error("internal: compiling with an NVRTC that is not there");
  NvrtcProgram program = nullptr;
  if (use.create(&program, text.c_str(), file.c_str(), 0, nullptr, nullptr) != 0)
    return {"", "NVRTC could not be started"};
  const std::string number = target.substr(target.find('_') + 1);
  const std::string architecture =
      "-arch=" + (kind == ImageKind::ptx ? "compute_" + number : target);
  std::vector<const char*> arguments = {architecture.c_str()};
  for (const std::string& option : options) arguments.push_back(option.c_str());
  const bool compiled =
      use.compile(program, static_cast<int>(arguments.size()), arguments.data()) == 0;
  CompilerOutput output;
  output.log = text_of(program, use.log_size, use.log);
  strip_nul(output.log);
  if (compiled && kind == ImageKind::ptx) {
    output.image = text_of(program, use.ptx_size, use.ptx);
    strip_nul(output.image);
  } else if (compiled) {
    output.image = text_of(program, use.cubin_size, use.cubin);
  }
  use.destroy(&program);
  return output;
}

}  // namespace lay::runtime
