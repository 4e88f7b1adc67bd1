// The kernel cache: entries are whole or not there, whatever happens to the folder.
#include "runtime/compile/cache.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "runtime/compile/sha256.h"
#include "tests/runtime/temporary.h"

namespace {

namespace fs = std::filesystem;
using lay::runtime::Cache;
using lay::test::TemporaryFolder;

std::string key_of(const std::string& text) {
  return lay::runtime::hex(lay::runtime::sha256(text));
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("sha256 of the standard's examples") {
  CHECK(key_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(key_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(key_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(key_of(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("what is stored is found, and only under its key") {
  const TemporaryFolder folder;
  const Cache cache(folder.path() / "made");
  REQUIRE(cache.usable());
  std::string payload = "any bytes\0at all";
  CHECK(!cache.find(key_of("a")));
  CHECK(cache.store(key_of("a"), payload));
  CHECK(cache.find(key_of("a")) == payload);
  CHECK(!cache.find(key_of("b")));
  CHECK(cache.store(key_of("a"), payload));  // again: the same
  CHECK(!cache.store("../a", payload));
  CHECK(!cache.find("../../etc/passwd"));
  CHECK((fs::status(folder.path() / "made").permissions() & fs::perms::all) ==
        fs::perms::owner_all);
}

TEST_CASE("a damaged entry is never used and moved aside") {
  const TemporaryFolder folder;
  const Cache cache(folder.path());
  const std::string key = key_of("k"), payload = "a small image";
  REQUIRE(cache.store(key, payload));
  const fs::path file = folder.path() / (key + ".layc");
  const std::string good = contents(file);
  const auto check_refused = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    std::string warning;
    CHECK(!cache.find(key, &warning));
    CHECK(!warning.empty());
    CHECK(!fs::exists(file));
  };
  for (std::size_t size = 0; size < good.size(); ++size) check_refused(good.substr(0, size));
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      check_refused(flipped);
    }
  check_refused(good + "x");
  std::ofstream(file, std::ios::binary) << good;
  CHECK(cache.find(key) == payload);
}

TEST_CASE("folders that cannot be trusted are not used") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "open");
  fs::permissions(folder.path() / "open", fs::perms::all);
  const Cache open(folder.path() / "open");
  CHECK(!open.usable());
  CHECK(open.why_not().find("written by others") != std::string::npos);
  fs::create_directory_symlink(folder.path(), folder.path() / "link");
  CHECK(!Cache(folder.path() / "link").usable());
  std::ofstream(folder.path() / "file") << "x";
  CHECK(!Cache(folder.path() / "file").usable());
  CHECK(!Cache("").usable());
  CHECK(!open.store(key_of("a"), "x"));
  CHECK(!open.find(key_of("a")));
  // An entry that is a link or a folder is not followed.
  const Cache cache(folder.path());
  fs::create_symlink("/etc/passwd", folder.path() / (key_of("l") + ".layc"));
  CHECK(!cache.find(key_of("l")));
  fs::create_directory(folder.path() / (key_of("d") + ".layc"));
  CHECK(!cache.find(key_of("d")));
}

TEST_CASE("the entries used longest ago go first") {
  const TemporaryFolder folder;
  const Cache cache(folder.path(), 10000);
  const std::string payload(3000, 'p');
  for (const char* name : {"a", "b", "c"}) {
    REQUIRE(cache.store(key_of(name), payload));
    usleep(20000);
  }
  REQUIRE(cache.find(key_of("a")));
  usleep(20000);
  REQUIRE(cache.store(key_of("d"), payload));
  CHECK(cache.find(key_of("a")));
  CHECK(!cache.find(key_of("b")));
  CHECK(cache.find(key_of("c")));
  CHECK(cache.find(key_of("d")));
}

TEST_CASE("files of others in the folder are neither counted nor removed") {
  const TemporaryFolder folder;
  const Cache cache(folder.path(), 1000);
  const std::string letter = folder / "letter.txt", like = folder / "mine.layc";
  lay::test::put(letter, std::string(5000, 'x'));
  lay::test::put(like, std::string(5000, 'x'));
  REQUIRE(cache.store(key_of("a"), std::string(900, 'p')));
  usleep(20000);
  REQUIRE(cache.store(key_of("b"), std::string(900, 'p')));
  CHECK(!cache.find(key_of("a")));
  CHECK(cache.find(key_of("b")));
  // A damaged entry and a draft are the cache's.
  lay::test::put(folder / (key_of("c") + ".layc"), "no entry");
  CHECK(!cache.find(key_of("c")));
  lay::test::put(folder / (key_of("d") + ".0123.tmp"), "half");
  const Cache::Contents held = cache.contents();
  CHECK((held.entries == 1 && held.damaged == 1 && held.drafts == 1));
  CHECK(held.bytes > 900);
  const Cache::Contents removed = cache.clear();
  CHECK((removed.entries == 1 && removed.damaged == 1 && removed.drafts == 1));
  CHECK(removed.bytes == held.bytes);
  CHECK(cache.contents().bytes == 0);
  CHECK(fs::exists(letter));
  CHECK(fs::exists(like));
  CHECK(cache.store(key_of("e"), "again"));
}

TEST_CASE("a writer that is killed leaves whole entries or none") {
  const TemporaryFolder folder;
  const std::string payload(200000, 'p');
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Cache cache(folder.path());
      for (int i = 0;; ++i) cache.store(key_of(std::to_string(i % 3)), payload);
    }
    usleep(static_cast<useconds_t>(1000 + 700 * round));
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, nullptr, 0) == child);
    const Cache cache(folder.path());
    std::string warning;
    for (int i = 0; i < 3; ++i)
      if (const auto found = cache.find(key_of(std::to_string(i)), &warning))
        CHECK((*found == payload));
    CHECK(warning.empty());
  }
}

TEST_CASE("an entry that cannot be written whole is not there") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit{1000, 1000};  // bytes of a file: what lies beyond fails as on a full disk
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const Cache cache(folder.path());
    const bool right = !cache.store(key_of("large"), std::string(5000, 'l')) &&
                       cache.store(key_of("small"), "s") && !cache.find(key_of("large")) &&
                       cache.find(key_of("small")) == "s";
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  for (const auto& entry : fs::directory_iterator(folder.path()))
    CHECK(entry.path().extension() != ".tmp");
}

// Without rights to write there nothing is kept, what is there is read only from a folder of one's
// own, and nobody notices but by the time that it takes.
TEST_CASE("a folder that is read-only, or another user's, is not written") {
  const TemporaryFolder folder;
  const fs::path own = folder.path() / "own", theirs = folder.path() / "theirs";
  for (const fs::path& each : {own, theirs}) {
    fs::create_directory(each);
    REQUIRE(Cache(each).store(key_of("there"), "payload"));
  }
  const auto files_in = [](const fs::path& where) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(where)) names.insert(entry.path().filename());
    return names;
  };
  const std::map<fs::path, std::set<std::string>> before = {{own, files_in(own)},
                                                            {theirs, files_in(theirs)}};
  const bool is_root = geteuid() == 0;
  constexpr uid_t nobody = 65534;
  if (is_root) {
    // What root may write it could not lack the rights for: somebody else tries.
    REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
    REQUIRE(chmod(theirs.c_str(), 0755) == 0);
    REQUIRE(chown(own.c_str(), nobody, nobody) == 0);
    REQUIRE(chown((own / (key_of("there") + ".layc")).c_str(), nobody, nobody) == 0);
  }
  REQUIRE(chmod(own.c_str(), 0555) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (is_root && setuid(nobody) != 0) _exit(2);  // as in a container without that user
    const Cache read_only(own);
    bool right = !read_only.store(key_of("new"), "x") && !read_only.find(key_of("new")) &&
                 read_only.find(key_of("there")).value_or("payload") == "payload";
    read_only.clear();
    if (is_root) {
      const Cache other(theirs);
      right = right && !other.usable() && !other.why_not().empty() &&
              !other.store(key_of("new"), "x") && !other.find(key_of("there"));
    }
    _exit(right ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  for (const fs::path& each : {own, theirs}) {
    CHECK(files_in(each) == before.at(each));
    chmod(each.c_str(), 0755);
  }
}

TEST_CASE("fifty processes, one cold cache: every reader sees a whole entry or none") {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int process = 0; process < 50; ++process) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const Cache cache(folder.path());
      bool right = cache.usable();
      for (int round = 0; round < 40; ++round) {
        const std::string name = "kernel " + std::to_string(round % 7),
                          payload = std::string(5000, name.back()) + name;
        std::string warning;
        const auto found = cache.find(key_of(name), &warning);
        right = right && warning.empty() && (!found || *found == payload);
        if (!found || round % 3 == 0) cache.store(key_of(name), payload);
      }
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  for (const auto& entry : fs::directory_iterator(folder.path()))
    CHECK(entry.path().extension() != ".tmp");
}
