// The five figures of style, printed by tests/house/figures.sh: comments in headers, comments in
// dense sources, columns, files in a folder, one subject a file.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/house/source_text.h"
#include "tests/house/tree.h"

using namespace lay::test;

namespace {

constexpr std::size_t most_columns = 100;
constexpr int most_files = 35;
constexpr std::size_t lines_that_ask = 600;             // whether a file is two subjects
constexpr double headers_share = 30, dense_share = 10;  // per cent of comment lines

// The dense rooms: code that follows from a formula, an instruction's definition or a proof, which
// a reader cannot see in the statements.
struct Room {
  const char* folder;
  const char* why;
};
const Room dense_rooms[] = {
    {"frontend/algebra/claims", "searches: what decides a claim, and its smallest counterexample"},
    {"frontend/algebra/composition", "address arithmetic: modes through modes, carries, tables"},
    {"frontend/algebra/integers", "searches: proofs over facts, equations in integers"},
    {"frontend/algebra/inverse_search", "searches: left inverses, radix boundary by boundary"},
    {"frontend/algebra/layouts", "address arithmetic: complements, inverses, casts, swizzles"},
    {"frontend/algebra/memory", "searches: banks, sectors, swizzles that meet no conflict"},
    {"backend/plan", "schedules: what a block, a warp and a lane hold, and in which stages"},
    {"backend/ir/expand/sm90", "lowering: schedules as loops, copies and barriers"},
};

// Files whose subject was asked about at 600 lines and found to be one, with what it is.
const std::map<std::string, std::string> one_subject = {};

struct Share {
  int comments = 0, lines = 0;  // blank lines count in neither

  void add(const TextFile& file) {
    for (const SourceLine& line : source_lines(file)) {
      if (line.is_blank()) continue;
      ++lines;
      comments += line.is_comment() ? 1 : 0;
    }
  }
  double percent() const { return lines == 0 ? 0 : 100.0 * comments / lines; }
};

Share share_of(const std::vector<std::string>& folders, const std::string& ending) {
  Share share;
  for (const TextFile& file : files_in(folders, {ending})) share.add(file);
  return share;
}

// Scripts that hold one long line because a limit on length is their case.
const std::set<std::string> long_on_purpose = {"tests/errors/depth.lay",
                                               "tests/errors/syntax/name-too-long.lay",
                                               "tests/errors/syntax/source-too-large.lay"};

// Returns the lines that are wider than they may be, as "path:line: columns". A row of a table and
// a block of code (output as it is printed) have no place to break in Markdown, and a raw string of
// a test holds text as a program printed it or a user wrote it; neither counts.
std::vector<std::string> wide_lines() {
  std::vector<std::string> wide;
  const auto look = [&](const std::string& path, std::size_t number, const std::string& line) {
    if (columns(line) > most_columns)
      wide.push_back(path + ":" + std::to_string(number) + ": " + std::to_string(columns(line)));
  };
  for (const TextFile& file :
       files_in({"frontend", "backend", "runtime", "liblay", "tests"}, {".h", ".cpp"}))
    for (const SourceLine& line : source_lines(file)) {
      const bool quoted = line.in_raw_string || line.code.find("R\"") != std::string::npos;
      if (file.path.starts_with("tests/") && quoted) continue;
      look(file.path, static_cast<std::size_t>(line.number), line.text);
    }
  for (const TextFile& file : files_in({""}, {".md"})) {
    bool is_code = false;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.starts_with("```")) is_code = !is_code;
      if (!is_code && !line.starts_with("|")) look(file.path, i + 1, line);
    }
  }
  for (const TextFile& file :
       files_in({""}, {"CMakeLists.txt", ".cmake", ".sh", ".g4", ".py", ".lay"}))
    for (std::size_t i = 0; i < file.lines.size(); ++i) look(file.path, i + 1, file.lines[i]);
  std::erase_if(wide, [](const std::string& each) {
    return long_on_purpose.count(each.substr(0, each.find(':'))) == 1;
  });
  return wide;
}

// Folder -> how many files it holds itself, where these are more than a folder may hold. Folders
// of cases, one to three files each named by its error code, kernel or picture, are looked up by
// name and never read as a whole.
std::map<std::string, int> large_folders() {
  static const std::set<std::string> folders_of_cases = {"tests/emitted", "tests/errors",
                                                         "tests/errors/syntax", "tests/language",
                                                         "tests/picture/golden"};
  std::map<std::string, int> counts;
  for (const std::string& path : paths_in())
    if (path.find('/') != std::string::npos) ++counts[path.substr(0, path.rfind('/'))];
  std::erase_if(counts, [](const auto& each) {
    return each.second <= most_files || folders_of_cases.count(each.first) == 1;
  });
  return counts;
}

std::vector<std::string> long_files() {
  std::vector<std::string> found;
  for (const TextFile& file :
       files_in({"frontend", "backend", "runtime", "liblay", "tests"}, {".h", ".cpp"}))
    if (file.lines.size() > lines_that_ask && one_subject.count(file.path) == 0)
      found.push_back(file.path + ": " + std::to_string(file.lines.size()) + " lines");
  return found;
}

void print_row(const std::string& figure, const std::string& value, const std::string& wanted) {
  std::printf("%-52s %10s   %s\n", figure.c_str(), value.c_str(), wanted.c_str());
}
std::string percent_text(double percent) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", percent);
  return text;
}
std::string wanted_share(double least) {
  return "at least " + percent_text(least);
}

}  // namespace

TEST_CASE("the five figures of style") {
  const Share headers = share_of({"frontend", "backend", "runtime", "liblay"}, ".h");
  const std::vector<std::string> wide = wide_lines(), files = long_files();
  const std::map<std::string, int> folders = large_folders();

  print_row("comment lines in headers", percent_text(headers.percent()),
            wanted_share(headers_share));
  for (const Room& room : dense_rooms) {
    const Share share = share_of({room.folder}, ".cpp");
    print_row(std::string("comment lines in ") + room.folder, percent_text(share.percent()),
              wanted_share(dense_share));
    INFO(room.folder << " (" << room.why << "): " << share.comments << " of " << share.lines
                     << " lines are comments");
    CHECK(share.lines > 0);
    CHECK(share.percent() >= dense_share);
  }
  print_row("lines over 100 columns", std::to_string(wide.size()), "0");
  print_row("folders of more than 35 files", std::to_string(folders.size()), "0");
  print_row("files over 600 lines not asked about", std::to_string(files.size()), "0");
  std::fflush(stdout);

  CHECK(headers.lines > 0);
  CHECK(headers.percent() >= headers_share);
  for (const std::string& each : wide) FAIL_CHECK("wider than 100 columns: " << each);
  for (const auto& [folder, count] : folders)
    FAIL_CHECK(folder << " holds " << count << " files: part it into sub-folders by subject");
  for (const std::string& each : files)
    FAIL_CHECK(each << ": is it two subjects? If it is one, name it in `one_subject`");
}

TEST_CASE("a source is split into code and comments") {
  const auto lines = source_lines(
      {"x.cpp",
       {"int a = 0;  // of \"one\"", "const char* url = \"http://x\";", "  // alone", "// -----",
        "auto s = R\"(// no comment", "// nor", ")\";  // yes", "int b = 1'000;  // '", ""}});
  CHECK(lines[0].comment == "// of \"one\"");
  CHECK(!lines[0].is_comment());
  CHECK(lines[1].comment.empty());
  CHECK(lines[2].is_comment());
  CHECK(!lines[3].is_comment());
  CHECK(lines[4].comment.empty());
  CHECK(lines[5].comment.empty());
  CHECK(lines[5].in_raw_string);
  CHECK(lines[6].comment == "// yes");
  CHECK(lines[7].comment == "// '");
  CHECK(lines[8].is_blank());
}
