#include "runtime/compile/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include "runtime/compile/sha256.h"
#include "runtime/io/user_dirs.h"

namespace lay::runtime {
namespace {

constexpr std::string_view magic = "LAYC 1\n";
constexpr std::size_t digest_size = std::tuple_size_v<Digest>;
constexpr std::int64_t largest_entry = std::int64_t{64} << 20;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

bool is_key(std::string_view key) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return key.size() == 2 * digest_size && std::all_of(key.begin(), key.end(), is_digit);
}

std::string entry_name(std::string_view key) {
  return std::string(key) + ".layc";
}

std::string random_suffix() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
    bits = static_cast<std::uint64_t>(getpid());
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
  return text;
}

std::string_view digest_bytes(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<std::string> read_all(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > largest_entry)
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

Cache::Cache() : Cache(user_dir("LAY_CACHE_DIR", "XDG_CACHE_HOME", ".cache")) {}

Cache::Cache(const std::string& folder, std::int64_t limit_bytes)
    : path_(folder), limit_(limit_bytes) {
  open(folder);
}

Cache::~Cache() {
  if (folder_ >= 0) close(folder_);
}

void Cache::open(const std::string& folder) {
  if (folder.empty()) {
    why_not_ = "neither LAY_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder";
    return;
  }
  make_dirs(folder);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info {};
  if (fd < 0) {
    why_not_ = folder + ": " + std::strerror(errno);
  } else if (fstat(fd, &info) != 0 || info.st_uid != geteuid()) {
    why_not_ = folder + " belongs to another user";
  } else if ((info.st_mode & 022) != 0) {
    why_not_ = folder + " may be written by others (its mode should be 0700)";
  } else {
    folder_ = fd;
    return;
  }
  if (fd >= 0) close(fd);
}

std::optional<std::string> Cache::find(std::string_view key, std::string* warning) const {
  if (!usable() || !is_key(key)) return std::nullopt;
  const std::string name = entry_name(key);
  const Descriptor file(
      openat(folder_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) return std::nullopt;
  auto bytes = read_all(file.get());
  const bool complete =
      bytes && bytes->size() >= magic.size() + digest_size && bytes->starts_with(magic);
  if (complete) {
    const std::string_view all = *bytes, covered = all.substr(0, all.size() - digest_size);
    if (digest_bytes(sha256(covered)) == all.substr(covered.size())) {
      const timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};  // the time of last use
      futimens(file.get(), now);
      return std::string(covered.substr(magic.size()));
    }
  }
  renameat(folder_, name.c_str(), folder_, (std::string(key) + ".bad").c_str());
  if (warning)
    *warning = "the cache entry " + path_ + "/" + name + " was damaged; it was moved aside";
  return std::nullopt;
}

bool Cache::store(std::string_view key, std::string_view payload) const {
  if (!usable() || !is_key(key)) return false;
  std::string bytes = std::string(magic) + std::string(payload);
  const Digest digest = sha256(bytes);
  bytes += digest_bytes(digest);
  const std::string draft = std::string(key) + "." + random_suffix() + ".tmp";
  bool stored = false;
  {
    const Descriptor file(
        openat(folder_, draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return false;
    stored = write_all(file.get(), bytes) && fsync(file.get()) == 0;
  }
  stored = stored && renameat(folder_, draft.c_str(), folder_, entry_name(key).c_str()) == 0;
  if (!stored) unlinkat(folder_, draft.c_str(), 0);
  if (stored) trim();
  return stored;
}

// A file of the cache: KEY.layc, KEY.bad, KEY.SUFFIX.tmp.
struct Cache::File {
  std::int64_t used, size;
  std::string name;

  std::string_view ending() const { return std::string_view(name).substr(name.rfind('.') + 1); }
  void count_in(Contents& contents) const {
    contents.bytes += size;
    ++(ending() == "layc"  ? contents.entries
       : ending() == "bad" ? contents.damaged
                           : contents.drafts);
  }
};

std::vector<Cache::File> Cache::files() const {
  std::vector<File> found;
  const int listing = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = listing < 0 ? nullptr : fdopendir(listing);
  if (!entries) {
    if (listing >= 0) close(listing);
    return found;
  }
  while (const dirent* entry = readdir(entries)) {
    struct stat info {};
    File file{0, 0, entry->d_name};
    const std::string_view ending = file.ending();
    const bool is_ours = is_key(std::string_view(file.name).substr(0, file.name.find('.'))) &&
                         (ending == "layc" || ending == "bad" || ending == "tmp");
    if (!is_ours || fstatat(folder_, file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode))
      continue;
    file.used = info.st_atim.tv_sec * 1000 + info.st_atim.tv_nsec / 1000000;
    file.size = info.st_size;
    found.push_back(std::move(file));
  }
  closedir(entries);
  return found;
}

Cache::Contents Cache::contents() const {
  Contents contents;
  if (usable())
    for (const File& file : files()) file.count_in(contents);
  return contents;
}

Cache::Contents Cache::clear() const {
  Contents removed;
  if (!usable()) return removed;
  for (const File& file : files())
    if (unlinkat(folder_, file.name.c_str(), 0) == 0) file.count_in(removed);
  return removed;
}

void Cache::trim() const {
  const Descriptor lock(openat(folder_, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;  // somebody else is at it
  std::vector<File> all = files();
  std::int64_t total = 0;
  for (const File& file : all) total += file.size;
  std::sort(all.begin(), all.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : all) {
    if (total <= limit_) break;
    if (unlinkat(folder_, file.name.c_str(), 0) == 0) total -= file.size;
  }
}

}  // namespace lay::runtime
