#include "runtime/gpu/library.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdlib>
#include <filesystem>

namespace lay::runtime {
namespace {

std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  for (const std::string& toolkit : toolkit_folders())
    for (const char* part : {"/lib64", "/targets/x86_64-linux/lib", "/lib"})
      folders.push_back(toolkit + part);
  for (const char* pattern : {"/usr/local/lib/python3*/*-packages/nvidia/*/lib",
                              "/usr/lib/python3*/*-packages/nvidia/*/lib",
                              "/opt/*/lib/python3*/site-packages/nvidia/*/lib"}) {
    glob_t found{};
    if (glob(pattern, 0, nullptr, &found) == 0)
      for (std::size_t i = 0; i < found.gl_pathc; ++i) folders.emplace_back(found.gl_pathv[i]);
    globfree(&found);
  }
  return folders;
}

}  // namespace

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); value && value[0] == '/')
      folders.emplace_back(value);
  folders.emplace_back("/usr/local/cuda");
  std::error_code ignored;
  std::erase_if(folders, [&](const std::string& folder) {
    return !std::filesystem::is_directory(folder, ignored);
  });
  return folders;
}

Library Library::find(const std::vector<std::string>& names) {
  Library library;
  const auto attempt = [&](const std::string& path) {
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library.handle_) return false;
    library.path_ = path;
    return true;
  };
  for (const std::string& name : names) {
    if (attempt(name)) return library;
    if (library.why_.empty())
      if (const char* why = dlerror()) library.why_ = why;
  }
  std::error_code ignored;
  for (const std::string& folder : library_folders())
    for (const std::string& name : names) {
      const std::string path = folder + "/" + name;
      if (std::filesystem::exists(path, ignored) && attempt(path)) return library;
    }
  return library;
}

void* Library::symbol(const char* name) const {
  return handle_ ? dlsym(handle_, name) : nullptr;
}

}  // namespace lay::runtime
