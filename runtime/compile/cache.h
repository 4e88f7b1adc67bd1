// Compiled kernels kept from run to run: files named after the SHA-256 of everything they depend
// on.
//
// The folder is ${LAY_CACHE_DIR:-${XDG_CACHE_HOME:-~/.cache}/lay}, made with mode 0700; one that is
// somebody else's, that others may write to or that is a symbolic link is not used. One entry is
// one file, `<key>.layc`: a magic word, the payload, and the SHA-256 of both. It is written under
// another name, synced and renamed, so a reader sees a whole entry or none; whoever loses a race
// replaces an entry by an equal one. An entry whose digest does not fit is moved aside.
//
// No failure of the cache is an error: whoever asks compiles in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// Files by the hash of what they were made from; several processes may use one folder.
class Cache {
 public:
  // The usual folder; what stands in the environment decides.
  Cache();
  explicit Cache(const std::string& folder, std::int64_t limit_bytes = std::int64_t{256} << 20);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // False where the folder cannot be written: then nothing is kept.
  bool usable() const { return folder_ >= 0; }
  const std::string& path() const { return path_; }
  const std::string& why_not() const { return why_not_; }  // where it is not usable

  // `key` is a SHA-256 in hexadecimal. A warning says what was wrong with an entry that was there.
  std::optional<std::string> find(std::string_view key, std::string* warning = nullptr) const;
  // Returns true if the payload is in the cache now. Afterwards the entries that were used longest
  // ago are removed until the folder is within its limit.
  bool store(std::string_view key, std::string_view payload) const;

  // What the folder holds: entries, damaged ones that were moved aside, and drafts of writers that
  // are at work or were killed.
  struct Contents {
    std::int64_t entries = 0, bytes = 0;  // bytes of all three
    std::int64_t damaged = 0, drafts = 0;
  };
  Contents contents() const;
  std::int64_t limit() const { return limit_; }

  // Removes all three, and returns what was removed. Files of others in the folder stay, here and
  // where it is kept within its limit.
  Contents clear() const;

 private:
  struct File;
  void open(const std::string& folder);
  std::vector<File> files() const;
  void trim() const;

  std::string path_, why_not_;
  // A descriptor of the folder: nothing is looked up by path again.
  int folder_ = -1;
  std::int64_t limit_ = 0;
};

}  // namespace lay::runtime
