// Files as this project reads and writes them: only regular files are read, never more than was
// allowed, and a file that is written is either wholly there or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lay::runtime {

// A descriptor of an open regular file and the size it had when it was opened. Opening anything
// else (a directory, a FIFO, a device, a file that is not there) throws DiagnosticError with code
// `file`, whose message names the path.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  // The next `bytes` bytes; fewer only where the file ended early.
  std::size_t read(char* to, std::size_t bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// The whole file. Larger than `limit` bytes: error `file`.
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{4} << 20);

// Writes the pieces, one after the other, to a temporary file beside `path`, and moves it there
// when all of it is on the disk. Where that fails nothing is left behind, what stood at `path`
// still does, and error `file` is thrown.
void write_file(const std::string& path, const std::vector<std::string_view>& pieces);

}  // namespace lay::runtime
