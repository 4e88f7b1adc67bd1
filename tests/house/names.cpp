// Names that comments and pages mention exist: files and folders as paths from the root or as the
// end of such a path, and the identifiers of our own that stand in backticks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/house/source_text.h"
#include "tests/house/tree.h"

using namespace lay::test;

namespace {

// A line of prose: of a page outside of its blocks of code, or of a comment.
struct Prose {
  std::string where;  // "docs/tour.md:12"
  std::string text;
};

void add_page(const TextFile& page, std::vector<Prose>& all) {
  bool is_code = false;
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    if (page.lines[i].starts_with("```")) is_code = !is_code;
    if (!is_code) all.push_back({page.path + ":" + std::to_string(i + 1), page.lines[i]});
  }
}

std::vector<Prose> prose() {
  std::vector<Prose> all;
  for (const TextFile& file :
       files_in({"frontend", "backend", "runtime", "liblay", "tests"}, {".h", ".cpp"}))
    for (const SourceLine& line : source_lines(file))
      if (!line.comment.empty())
        all.push_back({file.path + ":" + std::to_string(line.number), line.comment});
  for (const TextFile& file : files_in({""}, {"CMakeLists.txt", ".cmake", ".sh"}))
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (file.lines[i].starts_with("#"))
        all.push_back({file.path + ":" + std::to_string(i + 1), file.lines[i]});
  for (const TextFile& page : files_in({""}, {".md"})) add_page(page, all);
  return all;
}

// Words of a path: what may stand in one, in runs.
std::vector<std::string> path_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    const bool belongs = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' ||
                         c == '/' || c == '-' || c == '*' || c == '<' || c == '$' || c == '{' ||
                         c == '~';
    if (belongs) {
      word += c;
    } else if (!word.empty()) {
      while (!word.empty() && (word.back() == '.' || word.back() == '/')) word.pop_back();
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

// Returns true if a word names a file or folder of this repository: a path that begins at one of
// our folders, or the ending of a source or a page. Patterns (*.lay), placeholders in capitals
// (CODE.lay) and paths of other machines (/usr/..., ~/..., build/...) do not.
bool names_a_path(const std::string& word) {
  static const std::set<std::string> endings = {".h", ".cpp", ".md", ".cmake", ".sh", ".g4"};
  static const std::set<std::string> roots = {"frontend", "backend", "runtime", "liblay",
                                              "tests",    "docs",    "stdlib",  "cmake",
                                              "grammar",  "examples"};
  if (word.find_first_of("*<${~") != std::string::npos || word.front() == '/' ||
      word.front() == '.' || word.front() == '-')
    return false;
  const std::size_t slash = word.find('/'), dot = word.rfind('.');
  const std::string name =
      word.substr(word.rfind('/') == std::string::npos ? 0 : word.rfind('/') + 1);
  const bool placeholder = std::all_of(name.begin(), name.begin() + name.find_first_of("."),
                                       [](unsigned char c) { return std::islower(c) == 0; });
  if (name.empty() || (name.find('.') != std::string::npos && placeholder && name != "README.md"))
    return false;
  if (slash != std::string::npos && roots.count(word.substr(0, slash)) == 1) return true;
  return dot != std::string::npos && dot > 0 && endings.count(word.substr(dot)) == 1;
}

class Tree {
 public:
  Tree() {
    for (const std::string& path : paths_in()) add(path);
    for (const char* made : {"tests/run.sh", ".ci/run"}) add(made);
  }
  // Returns true if the name is a path from the root, or the end of one.
  bool has(const std::string& name) const { return endings_.count(name) == 1; }

 private:
  void add(const std::string& path) {
    for (std::string part = path; !part.empty();) {
      add_endings(part);
      const std::size_t slash = part.rfind('/');
      part = slash == std::string::npos ? "" : part.substr(0, slash);
    }
  }
  void add_endings(const std::string& path) {
    endings_.insert(path);
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1))
      endings_.insert(path.substr(slash + 1));
  }

  std::set<std::string> endings_;
};

// Headers of CUDA, and those that the build generates.
bool is_no_file_of_ours(const std::string& word) {
  static const std::set<std::string> names = {
      "cublasLt.h",
      "library_types.h",
      "cuda.h",
      "frontend/sema/stdlib.h",
      "runtime/commands/help_files.h",
      "linear-config.cmake",  // of a bundle
      "stddef.h",
      "stdint.h",
  };
  return names.count(word) == 1;
}

// The identifiers that code, scripts and build files hold.
std::set<std::string> words_of_code() {
  std::set<std::string> words;
  const auto add = [&](const std::string& text) {
    for (std::string& word : words_of(text)) words.insert(std::move(word));
  };
  for (const TextFile& file :
       files_in({"frontend", "backend", "runtime", "liblay", "tests"}, {".h", ".cpp"}))
    if (file.path != "tests/house/names.cpp")
      for (const SourceLine& line : source_lines(file)) add(line.code);
  for (const TextFile& file : files_in(
           {""}, {"CMakeLists.txt", ".c", ".cmake", ".sh", ".g4", ".py", ".json", ".ir", ".cu"}))
    for (const std::string& line : file.lines) add(line);
  for (const TextFile& file : files_in({""}, {".lay"}))
    for (const std::string& line : file.lines) add(line.substr(0, line.find("//")));
  for (const std::string& path : paths_in()) {
    add(path);
    if (path.starts_with("tests/"))  // targets of CMake: test_house
      words.insert("test_" + path.substr(6, path.find('/', 6) - 6));
  }
  // The functions of a bundle, as docs/embedding.md has them.
  for (const char* function : {"check", "workspace", "prepare", "launch", "describe", "unload"})
    words.insert(std::string("linear_") + function);
  return words;
}

// The identifiers in backticks of a line that can only be names of code: with `_` inside or `::`.
std::vector<std::string> names_in_backticks(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t open = text.find('`'); open != std::string::npos;) {
    const std::size_t close = text.find('`', open + 1);
    if (close == std::string::npos) break;
    const std::string quoted = text.substr(open + 1, close - open - 1);
    const bool scoped = quoted.find("::") != std::string::npos;
    for (const std::string& word : words_of(quoted)) {
      const bool pattern = word.back() == '_';  // `draw_*`
      if (!pattern && (scoped || word.find('_', 1) != std::string::npos)) names.push_back(word);
    }
    open = text.find('`', close + 1);
  }
  return names;
}

}  // namespace

TEST_CASE("files and folders that comments and pages name exist") {
  const Tree tree;
  int seen = 0;
  for (const Prose& line : prose())
    for (const std::string& word : path_words(line.text)) {
      if (word.empty() || !names_a_path(word) || is_no_file_of_ours(word)) continue;
      ++seen;
      if (!tree.has(word)) FAIL_CHECK(line.where << " names " << word << ", which does not exist");
    }
  CHECK(seen > 300);
}

TEST_CASE("names of code that stand in backticks exist") {
  const std::set<std::string> known = words_of_code();
  int seen = 0;
  for (const Prose& line : prose()) {
    // Measurements keep the names of their time.
    if (line.where.starts_with("tests/bench/")) continue;
    for (const std::string& name : names_in_backticks(line.text)) {
      ++seen;
      if (known.count(name) == 0)
        FAIL_CHECK(line.where << " names `" << name << "`, which no source has");
    }
  }
  CHECK(seen > 300);
}

TEST_CASE("a name that does not exist is found") {
  const Tree tree;
  for (const char* name : {"tests/house/tree.h", "house/tree.h", "tree.h", "tests/house"})
    CHECK(tree.has(name));
  for (const char* name : {"tests/house/trees.h", "ree.h", "house/trees"}) CHECK(!tree.has(name));
  CHECK(path_words("see trace.h:13, `docs/tour.md` and frontend/sema.") ==
        std::vector<std::string>{"see", "trace.h", "13", "docs/tour.md", "and", "frontend/sema"});
  for (const char* word : {"trace.h", "frontend/algebra", "docs/tour.md", "README.md"})
    CHECK(names_a_path(word));
  for (const char* word : {"CODE.lay", "*.lay", "e.g", "0.5", "and/or", "/usr/include/cuda.h"})
    CHECK(!names_a_path(word));
  CHECK(names_in_backticks("a `made_up`, `x`, `ir::lower_all`, `draw_*`") ==
        std::vector<std::string>{"made_up", "ir", "lower_all"});
}
