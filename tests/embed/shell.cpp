#include "tests/embed/shell.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "generated/tests/paths.h"

namespace lay::test {

Ran shell(const std::string& command) {
  Ran ran;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 4096> part{};
  while (const auto read = std::fread(part.data(), 1, part.size(), pipe))
    ran.out.append(part.data(), read);
  ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}

std::string said_by(const std::string& command) {
  const Ran ran = shell(command);
  INFO(command << "\n" << ran.out);
  REQUIRE(ran.code == 0);
  return ran.out;
}

void require_runs(const std::string& command, const std::string& out) {
  const Ran ran = shell(command);
  INFO(command << "\n" << ran.out);
  CHECK(ran.code == 0);
  CHECK(ran.out == out);
}

void require_expected(const std::string& file, const std::string& out) {
  const std::string path = LAY_SOURCE_DIR "/" + file;
  const char* bless = std::getenv("LAY_BLESS");
  if (bless && *bless && *bless != '0') put(path, out);
  INFO(path << " (LAY_BLESS=1 rewrites it)");
  CHECK(out == slurp(path));
}

std::string with_fakes(const TemporaryFolder& folder) {
  return "export LD_LIBRARY_PATH=" LAY_BINARY_DIR "/tests/fake && cd " + folder.path().string() +
         " && ";
}

void install(const TemporaryFolder& folder, const std::string& prefix) {
  const Ran installed = shell("cmake --install " LAY_BINARY_DIR " --prefix " + (folder / prefix));
  INFO(installed.out);
  REQUIRE(installed.code == 0);
}

void unpack_package(const TemporaryFolder& folder) {
  said_by("cd " + folder.path().string() +
          " && python3 " LAY_SOURCE_DIR "/python/wheel.py " LAY_BINARY_DIR
          " wheels && python3 -m zipfile -e wheels/*.whl package");
}

std::string python_with(const std::string& modules) {
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (shell(python + " -c 'import " + modules + "'").code == 0) return python;
  return {};
}

bool is_found(const std::string& command) {
  return shell("command -v " + command).code == 0;
}

std::string snippet(const std::string& language, int number, int count) {
  const std::string page = slurp(LAY_SOURCE_DIR "/docs/embedding.md"),
                    fence = "```" + language + "\n";
  std::vector<std::size_t> places;
  for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1))
    places.push_back(at);
  REQUIRE(places.size() == static_cast<std::size_t>(count));
  const auto text = places[static_cast<std::size_t>(number)] + fence.size();
  return page.substr(text, page.find("```", text) - text);
}

}  // namespace lay::test
