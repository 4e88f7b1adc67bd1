#include "tests/house/tree.h"

#include <algorithm>
#include <fstream>

#include "generated/tests/paths.h"

namespace lay::test {
namespace {

namespace fs = std::filesystem;

void collect(const fs::path& folder, std::vector<std::string>& paths) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(".")) continue;
    if (entry.is_directory() && fs::exists(entry.path() / "CMakeCache.txt")) continue;  // a build
    if (entry.is_directory())
      collect(entry.path(), paths);
    else if (entry.is_regular_file())
      paths.push_back(fs::relative(entry.path(), repository()).generic_string());
  }
}

}  // namespace

fs::path repository() {
  return LAY_SOURCE_DIR;
}

std::vector<std::string> paths_in(const std::string& folder) {
  std::vector<std::string> paths;
  collect(repository() / folder, paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<TextFile> files_in(const std::vector<std::string>& folders,
                               const std::vector<std::string>& endings) {
  std::vector<TextFile> files;
  for (const std::string& folder : folders) {
    for (const std::string& path : paths_in(folder)) {
      const auto ends = [&](const std::string& ending) { return path.ends_with(ending); };
      if (std::any_of(endings.begin(), endings.end(), ends)) files.push_back(read_file(path));
    }
  }
  return files;
}

TextFile read_file(const std::string& path) {
  TextFile file{path, {}};
  std::ifstream in(repository() / path);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace lay::test
