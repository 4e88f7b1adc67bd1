// The files of the repository as text, for the tests that read them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lay::test {

struct TextFile {
  std::string path;  // from the root of the repository
  std::vector<std::string> lines;
};

std::filesystem::path repository();

// Returns the paths of all files below `folder` ("" for the whole repository), sorted; without
// build folders and what begins with a dot.
std::vector<std::string> paths_in(const std::string& folder = "");

// Returns the files below the folders whose names end in one of `endings`.
std::vector<TextFile> files_in(const std::vector<std::string>& folders,
                               const std::vector<std::string>& endings);

TextFile read_file(const std::string& path);

// Returns the number of characters, of which UTF-8 may need several bytes each.
std::size_t columns(const std::string& line);

}  // namespace lay::test
