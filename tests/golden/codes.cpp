// The registry of error codes against the sources that name codes, the pages and the programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "backend/interpret/interpret.h"
#include "frontend/source/error_codes.h"
#include "runtime/commands/help/help.h"
#include "runtime/gpu/launch_check.h"
#include "tests/golden/golden.h"

using namespace lay::test;

namespace {

namespace fs = std::filesystem;

// Kinds of notes stand where codes stand.
const std::set<std::string> kinds_of_notes = {"at", "help", "works"};

// code -> the source that names it, as every stage names codes: refusals and diagnostics of the
// frontend, problems of the planner (`problem(`, `wrong(`, `problems.push_back({`) and of the
// emitter (`Problem{`).
std::map<std::string, std::string> codes_in_sources() {
  const std::regex named(
      R"rx((?:\b(?:DiagnosticError|fail|refusal|refuse|complain|error|report|problem|wrong)\(\s*|\bproblems_?\.push_back\(\s*\{\s*|\b(?:Diagnostic|Problem)\{\s*|\bcode = )"([a-z]+(?:-[a-z0-9]+)*)"\s*[,;])rx");
  std::map<std::string, std::string> codes;
  for (const char* folder : {"frontend", "backend", "runtime", "liblay"})
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      const std::string path = fs::relative(entry.path(), source_root()).string();
      const bool of_tiles = path.rfind("backend/tile/", 0) == 0 &&
                            entry.path().filename().string().rfind("verify", 0) == 0;
      const bool of_verifier = of_tiles || path.rfind("backend/ir/verify/", 0) == 0;
      if (of_verifier) continue;  // reported as `internal`
      const std::string text = slurp(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), named), end; it != end; ++it)
        if (kinds_of_notes.count((*it)[1]) == 0) codes[(*it)[1]] = path;
    }
  for (int fault = 0; fault <= static_cast<int>(lay::interpret::FaultCode::stopped); ++fault) {
    const auto name = lay::interpret::fault_name(static_cast<lay::interpret::FaultCode>(fault));
    codes[std::string(name)] = "backend/interpret/interpret.cpp";
  }
  using lay::runtime::Status;
  for (int status = 1; status <= static_cast<int>(Status::device_failed); ++status)
    codes[std::string(lay::runtime::status_name(static_cast<Status>(status)))] =
        "runtime/gpu/launch_check.cpp";
  return codes;
}

// Programs of tests/errors by code.
std::set<std::string> codes_with_program() {
  std::set<std::string> codes;
  for (const char* folder : {"tests/errors", "tests/errors/syntax"})
    for (const auto& file : files_in(folder, ".lay")) {
      const std::string name = file.stem().string();
      codes.insert(name.substr(0, name.find('.')));
    }
  return codes;
}

bool mentions(const std::string& text, std::string code) {
  if (text.find(code) != std::string::npos) return true;
  std::replace(code.begin(), code.end(), '-', '_');  // an enumerator
  return text.find(code) != std::string::npos;
}

}  // namespace

TEST_CASE("every code that a source names is registered") {
  const auto codes = codes_in_sources();
  CHECK(codes.size() >= 140);
  for (const char* planner : {"schedule-cover", "schedule-copy", "schedule-shared", "unroll-limit"})
    CHECK(codes.count(planner) == 1);
  for (const auto& [code, where] : codes) {
    INFO(where << " names the code " << code << ", which frontend/source/error_codes.cpp lacks");
    CHECK(lay::find_error_code(code) != nullptr);
  }
}

TEST_CASE("every registered code is named once, used by a source, and has a page") {
  std::string sources;
  for (const char* folder : {"frontend", "backend", "runtime", "liblay"})
    for (const auto& entry : fs::recursive_directory_iterator(source_root() / folder))
      if (entry.path().extension() == ".cpp" && entry.path().filename() != "error_codes.cpp")
        sources += slurp(entry.path());
  std::set<std::string_view> seen;
  for (const lay::ErrorCode& each : lay::error_codes()) {
    const std::string code(each.code);
    INFO(code);
    CHECK(seen.insert(each.code).second);
    CHECK(sources.find('"' + code + '"') != std::string::npos);
    CHECK(lay::runtime::error_page(code));
  }
}

TEST_CASE("every registered code has a program that fails with it, or a test that shows it") {
  const auto shown = codes_with_program();
  for (const lay::ErrorCode& each : lay::error_codes()) {
    const std::string code(each.code), elsewhere(each.shown_elsewhere);
    INFO(code << ": tests/errors/" << code << ".lay, or " << elsewhere);
    CHECK((shown.count(code) == 1) == elsewhere.empty());
    if (elsewhere.rfind("tests/", 0) == 0) CHECK(mentions(slurp(source_root() / elsewhere), code));
  }
}

TEST_CASE(
    "every page and every program of docs/errors.md and tests/errors is of a registered code") {
  for (const std::string& code : codes_with_program()) {
    INFO("tests/errors/" << code << ".lay");
    CHECK(lay::find_error_code(code) != nullptr);
  }
  for (const std::string& line : lines_of(slurp(source_root() / "docs/errors.md"))) {
    if (line.rfind("## ", 0) != 0) continue;
    INFO("docs/errors.md: " << line);
    CHECK(lay::find_error_code(line.substr(3)) != nullptr);
  }
}
