// The archive of this build: what its command needs of a system, that it runs in a root with
// nothing but glibc, and that programs are built with it wherever it is unpacked.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include "generated/tests/paths.h"
#include "tests/embed/shell.h"

// A build with sanitizers needs their libraries.
#if !defined(__SANITIZE_ADDRESS__)

namespace {

using lay::test::is_found;
using lay::test::Ran;
using lay::test::require_runs;
using lay::test::said_by;
using lay::test::shell;
using lay::test::slurp;
using lay::test::snippet;
using lay::test::TemporaryFolder;
namespace fs = std::filesystem;

// The archive, made and unpacked once, under a name that is not its own.
const std::string& unpacked() {
  static const TemporaryFolder folder;
  static const std::string path = [] {
    const std::string in = "cd " + folder.path().string() + " && umask 022 && ";
    said_by(in + "cpack -G TGZ --config " LAY_BINARY_DIR "/CPackConfig.cmake -B packages");
    CHECK(std::regex_match(said_by(in + "cd packages && echo *.tar.gz"),
                           std::regex(R"(lay-0\.1\.0-linux-\w+\.tar\.gz\n)")));
    CHECK(std::regex_match(said_by(in + "tar tzf packages/*.tar.gz | cut -d/ -f1 | sort -u"),
                           std::regex(R"(lay-0\.1\.0-linux-\w+\n)")));
    said_by(in + "tar xzf packages/*.tar.gz && mv lay-0.1.0-* 'of a user'");
    return folder / "of a user";
  }();
  return path;
}

// Returns whether this build makes an archive: one that is configured for /usr on Debian does not.
bool makes_archive() {
  const std::string configuration = slurp(LAY_BINARY_DIR "/CPackConfig.cmake");
  if (std::regex_search(configuration, std::regex(R"re(CPACK_LAY_LIBDIR "lib(64)?")re")))
    return true;
  WARN("skipped: this build's libraries are in a folder of Debian's");
  return false;
}

// "2.36" as (2,36).
std::pair<int, int> version(const std::string& text) {
  std::pair<int, int> read;
  char point = 0;
  std::istringstream(text) >> read.first >> point >> read.second;
  CHECK(point == '.');
  return read;
}

// Makes a root of the archive and the libraries that its command names, and nothing else. Returns
// false where this machine does not let a program change its root.
bool make_root(const std::string& root) {
  if (geteuid() != 0) return false;
  const std::string command = "'" + unpacked() + "/bin/lay'";
  said_by("mkdir -p " + root + " && for f in $(ldd " + command +
          " | grep -o '/[^ ]*'); do mkdir -p " + root + "$(dirname $f) && cp -L $f " + root +
          "$f; done && cp -r '" + unpacked() + "' " + root + "/lay");
  return shell("chroot " + root + " /lay/bin/lay --version").code != 125;
}

}  // namespace

TEST_CASE("the command of the archive needs glibc alone, in the version that the page says") {
  if (!makes_archive()) return;
  const std::string command = "'" + unpacked() + "/bin/lay'";
  CHECK(std::regex_match(
      said_by("readelf -d " + command + " | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p' | sort"),
      std::regex(R"((ld-linux[-\w]*\.so\.\d\n)?libc\.so\.6\nlibm\.so\.6\n)")));
  const auto asked =
      version(said_by("objdump -T " + command +
                      " | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1 | sed 's/GLIBC_//'"));
  const auto here = version(said_by("getconf GNU_LIBC_VERSION | sed 's/glibc //'"));
  CAPTURE(asked, here);
  CHECK(asked <= here);
  if (fs::exists("/etc/os-release") &&
      slurp("/etc/os-release").find("VERSION_CODENAME=bookworm") == std::string::npos)
    return;
  const std::string page = slurp(LAY_SOURCE_DIR "/docs/embedding.md"), word = "glibc 2.35";
  CHECK(page.find(word) != std::string::npos);
  CHECK(asked == version(word.substr(word.find('2'))));
}

TEST_CASE("the archive has what belongs to the command, and no shared library") {
  if (!makes_archive()) return;
  for (const char* file :
       {"bin/lay", "include/lay/lay.h", "include/lay/lay.hpp", "share/man/man1/lay.1",
        "share/bash-completion/completions/lay", "share/zsh/site-functions/_lay",
        "share/fish/vendor_completions.d/lay.fish", "share/doc/lay/LICENSE",
        "share/doc/lay/NOTICES.md", "share/doc/lay/examples/08_bias_gelu.lay"}) {
    INFO(file);
    CHECK(fs::exists(unpacked() + "/" + file));
  }
  require_runs("cd '" + unpacked() + "' && find . -name '*.so*'", "");
  require_runs("cd '" + unpacked() + "' && ! grep -rl " LAY_SOURCE_DIR " .", "");
}

TEST_CASE("the command of the archive works in a root that has nothing but glibc") {
  if (!makes_archive()) return;
  const TemporaryFolder folder;
  const std::string root = folder / "root";
  if (!make_root(root)) {
    WARN("skipped: this user may not change the root folder");
    return;
  }
  // The same words as of the build's command, on the same script.
  fs::copy(LAY_SOURCE_DIR "/examples", folder / "examples", fs::copy_options::recursive);
  fs::copy(LAY_SOURCE_DIR "/examples", root + "/examples", fs::copy_options::recursive);
  for (const char* arguments : {"--version", "explain '(4,2):(1,4) o 2:4'",
                                "run examples/01_layouts.lay", "check examples/07_hopper_gemm.lay",
                                "plan examples/08_bias_gelu.lay --size M=4096,N=4096,K=4096"})
    require_runs("chroot " + root + " /lay/bin/lay " + arguments,
                 said_by("cd " + folder.path().string() + " && " LAY_BINARY " " + arguments));
  require_runs("echo '(4,2):(1,4) o 2:4' | chroot " + root + " /lay/bin/lay eval",
               said_by("echo '(4,2):(1,4) o 2:4' | " LAY_BINARY " eval"));
}

TEST_CASE("programs are built with an unpacked archive") {
  if (!makes_archive()) return;
  const TemporaryFolder folder;
  lay::test::put(folder / "layouts.c", snippet("c", 1, 2));
  lay::test::put(folder / "rows.lay", "kernel rows<N>(X: f32 N) -> Y: f32 N { Y[n] = X[n] }\n");
  lay::test::put(folder / "rows.c", R"(#include "rows.h"

int main(void) { return rows_check(NULL, NULL) == LAY_WRONG_STRUCT ? 0 : 1; }
)");
  lay::test::put(folder / "CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
find_package(Lay 0.1 REQUIRED)
add_executable(layouts layouts.c)
target_link_libraries(layouts Lay::liblay)
lay_add_library(kernels SOURCES rows.lay ARCHS 80)
add_executable(rows rows.c)
target_link_libraries(rows kernels)
)");
  const std::string in = lay::test::with_fakes(folder);
  const Ran made = shell(in + "cmake -B build . -DCMAKE_PREFIX_PATH='" + unpacked() +
                         "' && cmake --build build");
  INFO(made.out);
  REQUIRE(made.code == 0);
  require_runs(folder / "build/layouts", snippet("text", 1, 4));
  require_runs(folder / "build/rows", "");
  if (is_found("pkg-config")) {
    fs::create_directory_symlink(unpacked(), folder.path() / "lay");
    require_runs(in + "export PKG_CONFIG_PATH=$PWD/lay/lib/pkgconfig && "
                      "cc layouts.c $(pkg-config --cflags --libs lay) -o layouts && ./layouts",
                 snippet("text", 1, 4));
  }
}

#endif
