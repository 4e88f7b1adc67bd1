// The shape of the source tree, read from the text: which folder includes which, and where the
// heavy libraries are seen.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/house/tree.h"

namespace {

// Folder -> the folders of ours it may include, itself aside. The same table links the libraries in
// CMakeLists.txt.
const std::map<std::string, std::set<std::string>> table = {
    {"frontend/source", {}},
    {"frontend/algebra", {}},
    {"frontend/syntax", {"frontend/source"}},
    {"frontend/picture", {"frontend/source", "frontend/algebra"}},
    {"frontend/export", {"frontend/source", "frontend/algebra", "frontend/picture"}},
    {"frontend/sema",
     {"frontend/source", "frontend/syntax", "frontend/algebra", "frontend/picture",
      "frontend/export"}},
    {"backend/target", {"frontend/algebra", "frontend/sema"}},
    {"backend/notation", {"frontend/algebra"}},
    {"backend/tile",
     {"frontend/algebra", "frontend/source", "frontend/sema", "backend/target",
      "backend/notation"}},
    {"backend/plan",
     {"frontend/algebra", "frontend/source", "frontend/sema", "backend/target", "backend/tile"}},
    {"backend/ir",
     {"frontend/algebra", "frontend/sema", "backend/notation", "backend/tile", "backend/plan"}},
    {"backend/interpret", {"backend/ir", "frontend/algebra"}},
    {"backend/cuda", {"backend/ir", "frontend/algebra", "backend/target"}},
    {"runtime",
     {"frontend/source", "frontend/algebra", "frontend/syntax", "frontend/picture",
      "frontend/export", "frontend/sema", "backend/target", "backend/tile", "backend/plan",
      "backend/ir", "backend/interpret", "backend/cuda"}},
    {"runtime/bench",
     {"frontend/source", "frontend/algebra", "frontend/syntax", "frontend/sema", "backend/target",
      "backend/plan", "backend/ir", "backend/cuda", "runtime"}},
    {"liblay",
     {"frontend/source", "frontend/algebra", "frontend/picture", "frontend/sema", "backend/target",
      "backend/plan", "backend/ir", "backend/cuda", "runtime", "runtime/bench"}},
};

// The program, which is not part of its folder's library.
const std::string program = "runtime/main.cpp";

struct SourceFile {
  std::string path;    // from the root
  std::string folder;  // a row of the table
  std::vector<std::string> lines;
};

std::string folder_of(const std::string& path) {
  return path.substr(0, path.find_last_of('/'));
}

// Returns the row of the table that `path` belongs to: the longest folder in the table that holds
// it; empty where none does.
std::string row_of(const std::string& path) {
  std::string folder = folder_of(path);
  while (!folder.empty() && table.count(folder) == 0) {
    const auto slash = folder.find_last_of('/');
    folder = slash == std::string::npos ? "" : folder.substr(0, slash);
  }
  return folder;
}

std::vector<SourceFile> product_sources() {
  std::vector<SourceFile> found;
  for (lay::test::TextFile& file :
       lay::test::files_in({"frontend", "backend", "runtime", "liblay"}, {".h", ".cpp"}))
    if (file.path != program)
      found.push_back({file.path, row_of(file.path), std::move(file.lines)});
  return found;
}

// The target of `#include "x"` (quoted) or `#include <x>`; empty for another line.
std::string included(const std::string& line, char open, char close) {
  const auto hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line.compare(hash, 8, "#include") != 0) return "";
  const auto begin = line.find(open, hash), end = line.find(close, begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return line.substr(begin + 1, end - begin - 1);
}

}  // namespace

TEST_CASE("the table's folders are all the folders that hold sources") {
  for (const auto& file : product_sources()) {
    INFO(file.path);
    CHECK(!file.folder.empty());
  }
}

TEST_CASE("every folder includes only what the table allows") {
  int seen = 0;
  for (const auto& file : product_sources()) {
    for (const auto& line : file.lines) {
      const std::string target = included(line, '"', '"');
      if (target.empty()) continue;
      INFO(file.path << ": " << line);
      ++seen;
      const std::string folder = row_of(target);
      const bool generated = file.folder == "frontend/syntax" && target.rfind("grammar/", 0) == 0;
      CHECK((generated || folder == file.folder || table.at(file.folder).count(folder) == 1));
    }
  }
  CHECK(seen > 0);
}

TEST_CASE("the search for left inverses is seen through one header") {
  const std::string room = "frontend/algebra/inverse_search/";
  int seen = 0;
  for (const auto& file : product_sources()) {
    if (file.path.starts_with(room)) continue;
    for (const auto& line : file.lines) {
      const std::string target = included(line, '"', '"');
      if (!target.starts_with(room)) continue;
      INFO(file.path << ": " << line);
      ++seen;
      CHECK(target == room + "inverse_search.h");
    }
  }
  CHECK(seen > 0);
}

TEST_CASE("frontend, backend and runtime include nothing of the tests") {
  for (const auto& file : product_sources())
    for (const auto& line : file.lines) {
      INFO(file.path << ": " << line);
      CHECK(included(line, '"', '"').rfind("tests/", 0) != 0);
    }
}

TEST_CASE("only frontend/syntax sees the parser generator") {
  for (const auto& file : product_sources()) {
    if (file.folder == "frontend/syntax") continue;
    for (const auto& line : file.lines) {
      INFO(file.path << ": " << line);
      CHECK(included(line, '<', '>').find("antlr4") == std::string::npos);
      CHECK(included(line, '"', '"').find("antlr4") == std::string::npos);
    }
  }
}

TEST_CASE("the heavy headers are compiled once") {
  std::map<std::string, std::vector<std::string>> users;
  for (const auto& file : product_sources())
    for (const auto& line : file.lines) {
      const std::string target = included(line, '<', '>');
      if (target.rfind("CLI/", 0) == 0) users["CLI11"].push_back(file.path);
      if (target.rfind("nlohmann/", 0) == 0) users["nlohmann-json"].push_back(file.path);
      if (target.rfind("catch2/", 0) == 0) users["Catch2"].push_back(file.path);
    }
  for (const auto& [library, files] : users) {
    INFO(library);
    // The answers of Triton and of PyTorch are read in a file each.
    const std::size_t most = library == "Catch2" ? 0 : library == "nlohmann-json" ? 2 : 1;
    CHECK(files.size() <= most);
    for (const auto& file : files) CHECK(file.ends_with(".cpp"));
  }
}

TEST_CASE("every header is guarded") {
  for (const auto& file : product_sources()) {
    if (!file.path.ends_with(".h")) continue;
    INFO(file.path);
    // C has no such pragma: the header of the C library has a macro.
    const bool is_c = file.path == "liblay/include/lay/lay.h";
    const std::string guard = is_c ? "#ifndef LAY_LAY_H" : "#pragma once";
    CHECK(std::count(file.lines.begin(), file.lines.end(), guard) == 1);
  }
}

TEST_CASE("no source has unfinished business") {
  for (const auto& file : product_sources())
    for (const auto& line : file.lines) {
      INFO(file.path << ": " << line);
      for (const char* word : {"TODO", "FIXME", "HACK"})
        CHECK(line.find(word) == std::string::npos);
    }
}
