#include "runtime/io/user_dirs.h"

#include <sys/stat.h>

#include <cstdlib>

namespace lay::runtime {

std::string user_dir(const char* own, const char* shared, const std::string& under_home) {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value && value[0] == '/' ? value : "");
  };
  if (std::string folder = absolute(own); !folder.empty()) return folder;
  if (std::string folder = absolute(shared); !folder.empty()) return folder + "/lay";
  if (const std::string home = absolute("HOME"); !home.empty())
    return home + "/" + under_home + "/lay";
  return "";
}

void make_dirs(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

}  // namespace lay::runtime
