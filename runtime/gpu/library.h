// A shared library that may or may not be on this machine, loaded when it is first needed and never
// unloaded.
#pragma once

#include <string>
#include <vector>

namespace lay::runtime {

// A shared library that is loaded while the program runs.
class Library {
 public:
  Library() = default;

  // The first of the names that can be loaded: by the loader's own search, then in the folders
  // where CUDA's libraries are kept ($CUDA_HOME, /usr/local/cuda, the packages of Python).
  static Library find(const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }  // where it was found, as far as is known
  const std::string& why() const { return why_; }    // why nothing was loaded

  // The function of that name as a pointer of the type of `function`; false if there is none.
  template <class F>
  bool get(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
    return function != nullptr;
  }

 private:
  void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string path_, why_;
};

// Folders of a CUDA toolkit on this machine: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda; those that
// exist.
std::vector<std::string> toolkit_folders();

}  // namespace lay::runtime
