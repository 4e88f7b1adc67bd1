#include "runtime/commands/policies.h"

#include <cstdlib>
#include <filesystem>

#include "frontend/sema/library.h"
#include "runtime/io/file.h"
#include "runtime/io/user_dirs.h"

namespace lay::runtime {

std::string policy_folder() {
  constexpr const char* own = "LAY_POLICIES";
  const std::string folder = user_dir(own, "XDG_DATA_HOME", ".local/share");
  const char* said = std::getenv(own);
  return folder.empty() || (said && folder == said) ? folder : folder + "/policies";
}

std::string tuned_policy_path(const std::string& folder, const std::string& family) {
  return folder + "/tuned_" + family + ".lay";
}

void read_policies(const std::string& folder) {
  if (folder.empty()) return;
  for (const char* family : {"sm90", "sm80", "simt"}) {
    const std::string path = tuned_policy_path(folder, family);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
      sema::add_library(std::string("user.tuned_") + family, path, read_file(path));
  }
}

}  // namespace lay::runtime
