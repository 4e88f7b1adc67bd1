// Bundles in programs: compiled as strictly as a user may, twice in one program, by CMake, from
// Python, and on a machine without a driver.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "generated/tests/paths.h"
#include "tests/embed/built.h"

namespace {

using lay::test::install;
using lay::test::is_found;
using lay::test::Ran;
using lay::test::require_runs;
using lay::test::require_runs_on_fake;
using lay::test::shell;
using lay::test::snippet;
using lay::test::TemporaryFolder;
using lay::test::with_fakes;

// A caller in C, which is C++ too: a guard, an answer about workspace, and a launch that finds no
// driver.
constexpr const char* kCaller = R"(#include "kernels.h"

#include <stdio.h>

int main(void) {
  static char x[4096], y[4096];
  lay_message why;
  int64_t bytes = -1;
  eighths_args args = {sizeof(eighths_args), 4, 12, 12, x, y};
  printf("%d %s\n", (int)eighths_check(&args, &why), why.text);
  args.N = 8;
  printf("%d %s\n", (int)eighths_check(&args, &why), why.text);
  printf("%d ", (int)eighths_workspace(&args, &bytes, NULL));
  printf("%d\n", (int)bytes);
  printf("%d\n", (int)eighths_launch(&args, NULL, 0, NULL, &why));
  printf("%s %d\n", eighths_describe()->name, (int)eighths_describe()->guard_count);
  return 0;
}
)";
constexpr const char* kSaid =
    "4 eighths: the guard `N % 8 == 0` does not hold: N = 12\n0 \n0 0\n20\neighths 2\n";

}  // namespace

TEST_CASE("a bundle compiles under strict warnings, its header as C and C++") {
  const TemporaryFolder folder;
  lay::test::build_bundle(folder.path().string());
  lay::test::put(folder / "caller.c", kCaller);
  lay::test::put(folder / "caller.cpp", kCaller);
  const std::string in = "cd " + folder.path().string() + " && ";
  const std::string strict = " -Wall -Wextra -Wpedantic -Werror -fsyntax-only ";
  for (const std::string compiler : {"gcc", "clang"}) {
    if (!is_found(compiler)) continue;
    for (const char* standard : {"c99", "c11", "c17", "gnu99"})
      require_runs(in + compiler + " -std=" + standard + strict + "kernels.c caller.c", "");
  }
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!is_found(compiler)) continue;
    for (const char* standard : {"c++11", "c++14", "c++17", "c++20"})
      require_runs(in + compiler + " -std=" + standard + strict + "caller.cpp", "");
  }
}

TEST_CASE("a program checks and asks without a driver, and a launch says what is missing") {
  const TemporaryFolder folder;
  lay::test::build_bundle(folder.path().string());
  lay::test::put(folder / "caller.c", kCaller);
  const std::string in = "cd " + folder.path().string() + " && ";
  require_runs(in + "cc caller.c kernels.c -o caller -pthread -ldl", "");
  require_runs(in + "./caller", kSaid);
}

TEST_CASE("bundles are the same byte for byte, and two of them live in one program") {
  const TemporaryFolder folder;
  const std::string first = folder / "first", again = folder / "again", second = folder / "second";
  lay::test::build_bundle(first);
  lay::test::build_bundle(again);
  lay::test::build_bundle(second, "my_");
  require_runs("diff -r " + first + " " + again, "");
  lay::test::put(folder / "both.c", R"(#include "first/kernels.h"
#include "second/kernels.h"

#include <stdio.h>

int main(void) {
  printf("%s %s\n", rows_describe()->name, my_rows_describe()->name);
  return rows_check(NULL, NULL) == LAY_WRONG_STRUCT && my_rows_check(NULL, NULL) == 1 ? 0 : 1;
}
)");
  const std::string in = "cd " + folder.path().string() + " && ";
  require_runs(in + "cc both.c first/kernels.c second/kernels.c -o both -pthread -ldl && ./both",
               "rows my_rows\n");
}

TEST_CASE("an object of another ABI does not link") {
  const TemporaryFolder folder;
  lay::test::build_bundle(folder.path().string());
  lay::test::put(folder / "caller.c", kCaller);
  const std::string in = "cd " + folder.path().string() + " && ";
  require_runs(in + "cc -c kernels.c && sed -i s/_lay2/_lay3/ kernels.h && cc -c caller.c", "");
  const Ran linked = shell(in + "cc caller.o kernels.o -pthread -ldl");
  CHECK(linked.code != 0);
  CHECK(linked.out.find("undefined reference to `eighths_check_lay3'") != std::string::npos);
}

TEST_CASE("find_package finds a bundle") {
  const TemporaryFolder folder;
  lay::test::build_bundle(folder / "kernels");
  lay::test::put(folder / "caller.c", kCaller);
  lay::test::put(folder / "CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.18)
project(caller LANGUAGES C)
find_package(kernels CONFIG REQUIRED PATHS ${CMAKE_SOURCE_DIR}/kernels)
add_executable(caller caller.c)
target_link_libraries(caller lay::kernels)
)");
  const Ran made =
      shell("cd " + folder.path().string() + " && cmake -B build . && cmake --build build");
  INFO(made.out);
  REQUIRE(made.code == 0);
  require_runs(folder / "build/caller", kSaid);
}

TEST_CASE("pkg-config finds a bundle whose library is made, wherever it lies") {
  if (!is_found("pkg-config")) {
    WARN("skipped: there is no pkg-config");
    return;
  }
  const TemporaryFolder folder;
  lay::test::build_bundle(folder / "made");
  lay::test::put(folder / "caller.c", kCaller);
  require_runs("cd " + folder.path().string() +
                   " && (cd made && cc -c kernels.c && ar rc libkernels.a kernels.o)"
                   " && mv made moved && export PKG_CONFIG_PATH=$PWD/moved"
                   " && cc caller.c $(pkg-config --cflags --libs kernels) -o caller && ./caller",
               kSaid);
}

TEST_CASE("an installed Lay, moved, makes libraries of scripts in CMake") {
  const TemporaryFolder folder;
  const std::string in = with_fakes(folder);
  install(folder, "first");
  std::filesystem::rename(folder.path() / "first", folder.path() / "moved");
  CHECK(lay::test::slurp(folder / "moved/share/lay/lay-manifest-5.schema.json") ==
        lay::test::slurp(LAY_SOURCE_DIR "/runtime/build/lay-manifest-5.schema.json"));
  std::filesystem::create_directory(folder.path() / "my app");
  const std::string app = folder / "my app/";
  lay::test::put(app + "my-rows.lay", R"(use "layers.lay"
kernel rows<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (M,N):(N,1) where N % step == 0
{ Y[m,n] = X[m,n] }
)");
  lay::test::put(app + "layers.lay", "let step = 8\n");
  lay::test::put(app + "app.c", R"(#include <stdio.h>

#include "my_rows.h"

int main(void) {
  static char x[4096], y[4096];
  lay_message why;
  acme_rows_args args = {sizeof(acme_rows_args), 4, 12, x, y};
  printf("%d %s\n", (int)acme_rows_check(&args, &why), why.text);
  return 0;
}
)");
  lay::test::put(app + "CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
find_package(Lay 0.1 REQUIRED)
lay_add_library(layers SOURCES my-rows.lay ARCHS 80 sm_90a PREFIX acme_)
add_executable(app app.c)
target_link_libraries(app PRIVATE layers)
)");
  for (const std::string generator : {"Ninja", "Unix Makefiles"}) {
    if (!is_found(generator == "Ninja" ? "ninja" : "make")) continue;
    INFO(generator);
    lay::test::put(app + "layers.lay", "let step = 8\n");
    const std::string build = "cmake --build 'out of " + generator + "'";
    const Ran made = shell(in + "cmake -G '" + generator + "' -S 'my app' -B 'out of " + generator +
                           "' -DCMAKE_PREFIX_PATH=$PWD/moved && " + build);
    INFO(made.out);
    REQUIRE(made.code == 0);
    const std::string run = in + "'out of " + generator + "/app'";
    require_runs(run, "4 acme_rows: the guard `N % 8 == 0` does not hold: N = 12\n");
    // A file that the script uses changes: what was made of it is made anew, and only then.
    const Ran again = shell(in + build);
    CHECK(again.code == 0);
    CHECK(again.out.find("Building the kernels") == std::string::npos);
    lay::test::put(app + "layers.lay", "let step = 4\n");
    const Ran anew = shell(in + build);
    INFO(anew.out);
    CHECK(anew.code == 0);
    CHECK(anew.out.find("Building the kernels of my_rows") != std::string::npos);
    require_runs(run, "0 \n");
    // A script with an error fails the build, and says where.
    lay::test::put(app + "layers.lay", "let step = \n");
    const Ran broken = shell(in + build);
    CHECK(broken.code != 0);
    CHECK(broken.out.find("layers.lay:1:") != std::string::npos);
  }
}

TEST_CASE("sub-directories that find Lay each make libraries of scripts") {
  const TemporaryFolder folder;
  install(folder, "lay");
  lay::test::put(folder / "CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
add_subdirectory(one)
add_subdirectory(other)
add_executable(app app.c)
target_link_libraries(app PRIVATE one other)
)");
  for (const std::string name : {"one", "other"}) {
    std::filesystem::create_directory(folder.path() / name);
    lay::test::put(folder / (name + "/" + name + ".lay"),
                   "kernel rows<N>(X: f32 N) -> Y: f32 N { Y[n] = X[n] }\n");
    lay::test::put(folder / (name + "/CMakeLists.txt"),
                   "find_package(Lay REQUIRED)\nlay_add_library(" + name + " SOURCES " + name +
                       ".lay ARCHS 80 PREFIX " + (name == "one" ? "N" : "other_") + ")\n");
  }
  lay::test::put(folder / "app.c", R"(#include <stdio.h>

#include "one.h"
#include "other.h"

int main(void) {
  printf("%s %s\n", Nrows_describe()->name, other_rows_describe()->name);
  return 0;
}
)");
  const std::string in = with_fakes(folder);
  const Ran made =
      shell(in + "cmake -B build . -DCMAKE_PREFIX_PATH=$PWD/lay && cmake --build build");
  INFO(made.out);
  REQUIRE(made.code == 0);
  require_runs(folder / "build/app", "Nrows other_rows\n");
}

TEST_CASE("lay_add_library says what is wrong with its arguments") {
  const TemporaryFolder folder;
  const std::string in = "cd " + folder.path().string() + " && ";
  install(folder, "lay");
  const std::pair<const char*, const char*> cases[] = {
      {"lay_add_library(x)", "SOURCES is missing: at least one script"},
      {"lay_add_library(x CUDA SOURCES a.lay)", "unknown arguments: CUDA"},
      {"lay_add_library(x SOURCES a.lay b/a.lay)", "two scripts make a.h; rename one"},
      {"lay_add_library(x SOURCES a.lay PREFIX)", "PREFIX: expected a value, got none"},
  };
  for (const auto& [call, says] : cases) {
    lay::test::put(folder / "CMakeLists.txt",
                   "cmake_minimum_required(VERSION 3.20)\nproject(app LANGUAGES C)\n"
                   "find_package(Lay REQUIRED PATHS ${CMAKE_SOURCE_DIR}/lay)\n" +
                       std::string(call) + "\n");
    const Ran refused = shell(in + "cmake -B build .");
    INFO(refused.out);
    CHECK(refused.code != 0);
    // CMake breaks lines where it likes.
    std::string text;
    for (const char c : refused.out) text += c == '\n' ? ' ' : c;
    while (text.find("  ") != std::string::npos) text.erase(text.find("  "), 1);
    CHECK(text.find(says) != std::string::npos);
  }
}

TEST_CASE("Python calls a bundle by ctypes") {
  const TemporaryFolder folder;
  lay::test::build_bundle(folder.path().string());
  lay::test::put(folder / "caller.py", R"(import kernels

def refused(**arguments):
    try:
        kernels.eighths.check(**arguments)
    except kernels.LayError as error:
        return error.status, str(error)

print(refused(M=4, N=12, lda=12, X=0x1000, Y=0x2000))
print(refused(M=4, N=8, lda=12, X=0x1000, Y=0x2000))
print(kernels.linear.workspace(M=64, N=64, K=64, X=0x10000, W=0x20000, b=0x30000, Y=0x40000) >= 0)
try:
    kernels.turned.check(alpha=2, M=1, N=1, X=1, y=2)
except TypeError as error:
    print(error)
)");
  const std::string in = "cd " + folder.path().string() + " && ";
  require_runs(
      in + "cc -shared -fPIC kernels.c -o libkernels.so -pthread -ldl && python3 caller.py",
      "(4, 'eighths: the guard `N % 8 == 0` does not hold: N = 12')\nNone\nTrue\n"
      "turned takes M, N, alpha, X, Y; missing or unknown: Y, y\n");
}

TEST_CASE("the snippets of docs/embedding.md do what the page says") {
  const TemporaryFolder folder;
  lay::test::put(folder / "linear.lay", snippet("lay"));
  lay::test::build_bundle(folder / "kernels", "", folder / "linear.lay");
  lay::test::put(folder / "app.c", snippet("c", 0, 2));
  lay::test::put(folder / "CMakeLists.txt",
                 "cmake_minimum_required(VERSION 3.18)\nproject(app LANGUAGES C)\n"
                 "add_executable(app app.c)\n" +
                     snippet("cmake", 0, 3));
  const std::string in = "cd " + folder.path().string() + " && ";
  const Ran made = shell(in + "cmake -B build . && cmake --build build");
  INFO(made.out);
  REQUIRE(made.code == 0);
  require_runs(folder / "build/app", snippet("text", 0, 4));
  lay::test::put(folder / "CMakeLists.txt", snippet("cmake", 1, 3));
  install(folder, "lay");
  const Ran whole = shell(with_fakes(folder) +
                          "cmake -B whole . -DCMAKE_PREFIX_PATH=$PWD/lay && cmake --build whole");
  INFO(whole.out);
  REQUIRE(whole.code == 0);
  require_runs(folder / "whole/app", snippet("text", 0, 4));
  lay::test::put(folder / "app.py", snippet("python", 0, 2));
  lay::test::put(folder / "module.py", snippet("python", 1, 2));
  require_runs(in + "python3 -m py_compile app.py module.py kernels/linear.py", "");
}

// One launch in a context of the fake driver, which refuses to run it where it is told to.
constexpr const char* kOneLaunch = R"(#include "fake.h"

int fake_run(void* kernel, const unsigned* launch, void** values) {
  (void)kernel, (void)launch, (void)values;
  return 0;
}

int main(void) {
  static char x[4096], y[4096];
  lay_message why;
  rows_args args = {sizeof(rows_args), 4, 8, x, y};
  enter();
  printf("%d ", (int)rows_launch(&args, NULL, 0, NULL, &why));
  printf("%s\n", why.text);
  return 0;
}
)";

TEST_CASE("a launch says what the driver or the device refuses") {
  const TemporaryFolder folder;
  const auto require_said = [&](const std::string& name, const std::string& arch,
                                const std::string& change, const std::string& said) {
    lay::test::build_bundle(folder / name, "", "", arch);
    lay::test::put((folder / name) + "/one.c", kOneLaunch);
    require_runs("cd " + (folder / name) + " && " + change, "");
    require_runs_on_fake(folder / name, "one.c", "", said);
  };
  require_said("run", "", "true", "40 cuLaunchKernelEx: CUDA_ERROR_FAKE (719)\n");
  // Without the first bytes of an ELF file, which lie in the words' low halves.
  require_said("corrupt", "", "sed -i s/0x[0-9a-f]*464c457f/0x0/ kernels.c",
               "40 cuLibraryLoadData: CUDA_ERROR_FAKE (200)\n");
  require_said("older", "sm_80", "true",
               "22 rows: no image runs on compute capability 9.0 of device 0; build with --arch "
               "for it\n");
}

// Eight threads prepare and launch at once, with wrong arguments between, and unload at the end.
constexpr const char* kThreads = R"(#include <pthread.h>

#include "fake.h"

/* Reads every size behind the two pointers, as a kernel's launch copies them. */
int fake_run(void* kernel, const unsigned* launch, void** values) {
  (void)kernel;
  return launch[0] > 0 && *(const int*)values[2] > 0;
}

static int failures[8];

static void* work(void* at) {
  static char x[4096], y[4096];
  int i, *failed = at;
  lay_message why;
  rows_args args = {sizeof(rows_args), 4, 8, x, y};
  enter();
  for (i = 0; i < 200; ++i) {
    args.M = 4 + i % 7;
    if (rows_launch(&args, NULL, 0, NULL, &why) != LAY_OK) {
      ++*failed;
      fprintf(stderr, "%s\n", why.text);
    }
    if (rows_launch(NULL, NULL, 0, NULL, NULL) != LAY_WRONG_STRUCT) ++*failed;
    if (rows_prepare(0, NULL) != LAY_OK) ++*failed;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  int i, failed = 0;
  for (i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, work, &failures[i]);
  for (i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < 8; ++i) failed += failures[i];
  rows_unload();
  printf("%d failed\n", failed);
  return failed;
}
)";

TEST_CASE("the launcher is clean under sanitizers, with eight threads") {
  const TemporaryFolder folder;
  lay::test::put(
      folder / "kernels.lay",
      "kernel rows<M, N>(X: f32 (M,N)) -> Y: f32 (M,N) { Y[m,n] = softmax[n](X[m,n]) }\n");
  lay::test::build_bundle(folder.path().string(), "", folder / "kernels.lay");
  lay::test::put(folder / "threads.c", kThreads);
  lay::test::put(folder / "empty.c", "int main(void) { return 0; }\n");
  for (const std::string sanitizer : {"address,undefined", "thread"}) {
    const std::string flags = "-g -O1 -fsanitize=" + sanitizer + " -fno-sanitize-recover=all";
    if (shell("cd " + folder.path().string() + " && cc " + flags + " empty.c -o empty && ./empty")
            .code != 0) {
      WARN("skipped: programs with -fsanitize=" << sanitizer << " do not run here");
      continue;
    }
    require_runs_on_fake(folder.path().string(), "threads.c", flags, "0 failed\n");
  }
}
