#include "runtime/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "frontend/source/diagnostic.h"
#include "frontend/source/text.h"

namespace lay::runtime {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  Diagnostic d;
  d.code = "file";
  d.message = "`" + escaped(path) + "`: " + what;
  throw DiagnosticError(std::move(d));
}

[[noreturn]] void fail_errno(const std::string& path, int error) {
  if (error == ENOENT) fail(path, "there is no such file");
  fail(path, std::strerror(error));
}

// The file that a chain of links ends at, so that writing through a link replaces the file and
// keeps the link.
std::string target_of(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (!real) return path;
  std::string target = real;
  std::free(real);
  return target;
}

// A new file beside its target, removed again unless it was moved into place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) : name_(target + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0 && errno == ENOENT) fail(target, "there is no such folder");
    if (descriptor_ < 0) fail_errno(target, errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!moved_) ::unlink(name_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool write(std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t n =
          ::write(descriptor_, piece.data(), std::min<std::size_t>(piece.size(), 1 << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      piece.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  bool move_to(const std::string& target, mode_t mode) {
    if (::fchmod(descriptor_, mode) != 0 || ::fsync(descriptor_) != 0) return false;
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) return false;
    moved_ = ::rename(name_.c_str(), target.c_str()) == 0;
    return moved_;
  }

 private:
  std::string name_;
  int descriptor_ = -1;
  bool moved_ = false;
};

// The mode that open(2) would have given, or the mode of the file that is replaced.
mode_t mode_for(const std::string& target) {
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) fail(target, "is there already, and not a regular file");
    if (::access(target.c_str(), W_OK) != 0) fail_errno(target, errno);
    return info.st_mode & 07777;
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  if (path.find('\0') != std::string::npos) fail(path, "a file name holds no NUL");
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) fail_errno(path, errno);
  struct stat info {};
  const bool known = ::fstat(descriptor_, &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    fail(path, known && S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(info.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::size_t InputFile::read(char* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::read(descriptor_, to + done, std::min<std::size_t>(bytes - done, 1 << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(path_, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

std::string read_file(const std::string& path, std::uint64_t limit) {
  InputFile file(path);
  if (file.size() > limit)
    fail(path, std::to_string(file.size()) + " bytes are more than the limit of " +
                   std::to_string(limit));
  std::string text(file.size(), '\0');
  text.resize(file.read(text.data(), text.size()));
  return text;
}

void write_file(const std::string& path, const std::vector<std::string_view>& pieces) {
  if (path.find('\0') != std::string::npos) fail(path, "a file name holds no NUL");
  const std::string target = target_of(path);
  const mode_t mode = mode_for(target);
  TemporaryFile temporary(target);
  for (const auto piece : pieces)
    if (!temporary.write(piece)) fail_errno(path, errno);
  if (!temporary.move_to(target, mode)) fail_errno(path, errno);
}

}  // namespace lay::runtime
