// Debian packages of this build: what is in them, that lintian has nothing to say where it is
// found, and that they are installed into an empty root and removed from it without a trace.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "generated/tests/paths.h"
#include "tests/embed/shell.h"

namespace {

using lay::test::is_found;
using lay::test::Ran;
using lay::test::require_runs;
using lay::test::said_by;
using lay::test::shell;
using lay::test::TemporaryFolder;

}  // namespace

TEST_CASE("packages for Debian are whole, and leave as they came") {
  if (!is_found("dpkg-deb") || !is_found("cpack")) return;
  const TemporaryFolder folder;
  const std::string in = "cd " + folder.path().string() + " && umask 022 && ";
  const Ran packed = shell(in + "cpack --config " LAY_BINARY_DIR "/CPackConfig.cmake -B packages");
  INFO(packed.out);
  REQUIRE(packed.code == 0);
  const auto names = said_by(in + "ls packages/*.deb | sed 's#.*/##; s/_.*//'");
  CHECK(names == "lay\nliblay-dev\nliblay1\n");

  const auto holds = [&](const std::string& package, const std::string& path) {
    const auto list = said_by(in + "dpkg-deb -c packages/" + package + "_*.deb");
    INFO(package << "\n" << list);
    CHECK(list.find(path) != std::string::npos);
  };
  holds("lay", "./usr/bin/lay\n");
  holds("lay", "./usr/share/man/man1/lay.1.gz\n");
  holds("lay", "./usr/share/lay/lay-manifest-5.schema.json\n");
  holds("lay", "./usr/share/doc/lay/copyright\n");
  holds("liblay1", "/liblay.so.1 -> ");
  holds("liblay-dev", "./usr/include/lay/lay.h\n");
  holds("liblay-dev", "/liblay.so -> liblay.so.1\n");
  holds("liblay-dev", "/liblay.a\n");
  holds("liblay-dev", "/cmake/Lay/LayConfig.cmake\n");
  // The library's link counts as one KiB, not as what it leads to.
  const int stated = std::stoi(said_by(in + "dpkg-deb -f packages/liblay1_*.deb Installed-Size")),
            whole = std::stoi(said_by(in + "dpkg-deb --fsys-tarfile packages/liblay1_*.deb | "
                                           "tar tv | awk '{bytes += $3} END {print bytes}'"));
  CHECK(stated >= whole / 1024);
  CHECK(stated <= whole / 1024 + 32);
  CHECK(said_by(in + "dpkg-deb -f packages/liblay-dev_*.deb Depends")
            .starts_with("lay (= 0.1.0), liblay1 (= 0.1.0)"));
  CHECK(said_by(in + "dpkg-deb -f packages/liblay1_*.deb Depends").find("libantlr4-runtime") !=
        std::string::npos);
  if (is_found("lintian"))
    // A build that is configured for /usr/local has its libraries in no folder of the machine's.
    require_runs(in + "lintian --allow-root "
                      "--suppress-tags pkg-config-unavailable-for-cross-compilation packages/*.deb",
                 "");

  if (geteuid() != 0) return;  // dpkg gives files to root
  const std::string dpkg = in + "dpkg --root=$PWD/root --force-depends --log=/dev/null ";
  shell(in +
        "mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates && "
        "touch root/var/lib/dpkg/status");
  const Ran installed = shell(dpkg + "-i packages/*.deb");
  INFO(installed.out);
  REQUIRE(installed.code == 0);
  require_runs(in + "root/usr/bin/lay --version", said_by(LAY_BINARY " --version"));
  const Ran removed = shell(dpkg + "--purge liblay-dev liblay1 lay");
  INFO(removed.out);
  CHECK(removed.code == 0);
  CHECK(said_by(in + "find root -type f -o -type l | grep -v '^root/var/lib/dpkg' | wc -l") ==
        "0\n");
}
