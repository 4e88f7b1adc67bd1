// The C library as it is installed: programs in C and C++ that a user builds from a prefix, shared
// and static, and the names that it shows.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "generated/tests/paths.h"
#include "tests/embed/shell.h"

namespace {

using lay::test::install;
using lay::test::is_found;
using lay::test::Ran;
using lay::test::require_runs;
using lay::test::shell;
using lay::test::slurp;
using lay::test::snippet;
using lay::test::TemporaryFolder;

// C99, and C++ too.
constexpr const char* kCaller = R"(#include <lay/lay.h>

#include <stdio.h>

int main(void) {
  lay_context* context = lay_context_new(NULL);
  lay_program* program = NULL;
  lay_value* value = NULL;
  lay_program_new(context, NULL, &program);
  if (lay_program_evaluate(program, "(4,2):(1,4) o 2:4", NULL, 0, &value) == LAY_RESULT_OK)
    puts(lay_value_text(value));
  lay_value_free(value);
  if (lay_program_evaluate(program, "nobody", NULL, 0, &value) == LAY_RESULT_ERROR)
    puts(lay_diagnostics_json(context));
  lay_program_free(program);
  lay_context_free(context);
  return lay_api_version() == LAY_API_VERSION ? 0 : 1;
}
)";
constexpr const char* kObjects = R"(#include <lay/lay.hpp>

#include <iostream>

int main() {
  const lay::Program program{lay::Context()};
  std::cout << program.evaluate("(4,2):(1,4) o 2:4").text() << '\n';
  try {
    program.evaluate("nobody");
  } catch (const lay::Error& error) {
    std::cout << '[' << error.diagnostics().at(0).json << "]\n";
  }
}
)";

// What both print.
constexpr const char* kSaid =
    "2:4\n[{\"kind\":\"error\",\"code\":\"unknown-name\",\"message\":\"nothing is called nobody\","
    "\"file\":\"<expression>\",\"line\":1,\"column\":1,\"end_line\":1,\"end_column\":7,"
    "\"labels\":[],\"notes\":[],\"witness\":{}}]\n";

// The functions that the header declares, a line each, sorted.
std::string declared_functions() {
  const std::string header = slurp(LAY_SOURCE_DIR "/liblay/include/lay/lay.h");
  static const std::regex function("LAY_API[^;(]*\\b(lay_\\w+)\\(");
  std::set<std::string> names;
  for (std::sregex_iterator at(header.begin(), header.end(), function), end; at != end; ++at)
    names.insert((*at)[1]);
  std::string lines;
  for (const std::string& name : names) lines += name + "\n";
  return lines;
}

}  // namespace

TEST_CASE("the header of the C library compiles as C and C++ under strict warnings") {
  const TemporaryFolder folder;
  lay::test::put(folder / "caller.c", kCaller);
  lay::test::put(folder / "caller.cpp", kCaller);
  lay::test::put(folder / "objects.cpp", kObjects);
  const std::string in = "cd " + folder.path().string() + " && ";
  const std::string strict =
      " -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I" LAY_SOURCE_DIR "/liblay/include ";
  for (const std::string compiler : {"gcc", "clang"}) {
    if (!is_found(compiler)) continue;
    for (const char* standard : {"c99", "c11", "c17"})
      require_runs(in + compiler + " -std=" + standard + strict + "caller.c", "");
  }
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!is_found(compiler)) continue;
    for (const char* standard : {"c++11", "c++14", "c++17", "c++20"})
      require_runs(in + compiler + " -std=" + standard + strict + "caller.cpp", "");
    for (const char* standard : {"c++17", "c++20"})
      require_runs(in + compiler + " -std=" + standard + strict + "objects.cpp", "");
  }
}

TEST_CASE("programs in C and C++ are built from an installed Lay, shared and static, and moved") {
  const TemporaryFolder folder;
  install(folder, "first");
  std::filesystem::rename(folder.path() / "first", folder.path() / "moved");
  lay::test::put(folder / "caller.c", kCaller);
  lay::test::put(folder / "objects.cpp", kObjects);
  lay::test::put(folder / "CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(Lay 0.1 REQUIRED)
foreach(form liblay liblay-static)
  add_executable(caller-${form} caller.c)
  add_executable(objects-${form} objects.cpp)
  target_link_libraries(caller-${form} PRIVATE Lay::${form})
  target_link_libraries(objects-${form} PRIVATE Lay::${form})
endforeach()
)");
  const std::string in = "cd " + folder.path().string() + " && ";
  const Ran made =
      shell(in + "cmake -B build . -DCMAKE_PREFIX_PATH=$PWD/moved && cmake --build build");
  INFO(made.out);
  REQUIRE(made.code == 0);
  for (const char* program :
       {"caller-liblay", "objects-liblay", "caller-liblay-static", "objects-liblay-static"})
    require_runs(folder / ("build/" + std::string(program)), kSaid);
}

TEST_CASE("pkg-config finds the C library, and a project in C alone links the static one") {
  const TemporaryFolder folder;
  install(folder, "lay");
  lay::test::put(folder / "caller.c", kCaller);
  const std::string in = "cd " + folder.path().string() + " && ";
  if (is_found("pkg-config"))
    require_runs(in + "export PKG_CONFIG_PATH=$(dirname $(find lay -name lay.pc)) && "
                      "cc caller.c $(pkg-config --cflags --libs lay) -o caller && "
                      "LD_LIBRARY_PATH=$(pkg-config --variable=libdir lay) ./caller",
                 kSaid);
  lay::test::put(folder / "CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
find_package(Lay REQUIRED)
add_executable(caller caller.c)
target_link_libraries(caller Lay::liblay-static)
)");
  const Ran made =
      shell(in + "cmake -B build . -DCMAKE_PREFIX_PATH=$PWD/lay && cmake --build build");
  INFO(made.out);
  REQUIRE(made.code == 0);
  require_runs(folder / "build/caller", kSaid);
}

TEST_CASE("the C library shows the functions of its header and nothing else") {
  const std::string declared = declared_functions();
  CHECK(declared == slurp(LAY_SOURCE_DIR "/tests/embed/liblay.symbols"));
  const std::string names =
      " " LAY_BINARY_DIR
      "/liblay.FORM | awk 'NF > 2 && $3 != \"LAY_1\" {print $3}' | sed 's/@.*//'"
      " | LC_ALL=C sort";
  for (const auto& [form, options] :
       std::map<std::string, std::string>{{"so", "-D"}, {"a", "--extern-only"}}) {
    std::string command = "nm --defined-only " + options + names;
    command.replace(command.find("FORM"), 4, form);
    require_runs(command, declared);
  }
  // A linker must find what is missing: a name that is weak may stay 0.
  require_runs("nm --undefined-only " LAY_BINARY_DIR "/liblay.a | awk '$1 == \"w\" && $2 ~ /^_Z/'",
               "");
}

TEST_CASE("the snippets of docs/embedding.md about the C library do what the page says") {
  const TemporaryFolder folder;
  install(folder, "lay");
  lay::test::put(folder / "layouts.c", snippet("c", 1, 2));
  lay::test::put(folder / "explore.cpp", snippet("cpp"));
  lay::test::put(folder / "CMakeLists.txt", snippet("cmake", 2, 3) +
                                                "enable_language(C)\n"
                                                "add_executable(layouts layouts.c)\n"
                                                "target_link_libraries(layouts Lay::liblay)\n");
  const Ran made =
      shell("cd " + folder.path().string() +
            " && cmake -B build . -DCMAKE_PREFIX_PATH=$PWD/lay && cmake --build build");
  INFO(made.out);
  REQUIRE(made.code == 0);
  require_runs(folder / "build/layouts", snippet("text", 1, 4));
  require_runs(folder / "build/explore", snippet("text", 2, 4));
}
