#include "runtime/io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "frontend/source/diagnostic.h"
#include "frontend/source/text.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 1 << 20;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  Diagnostic d;
  d.code = "npy";
  d.message = "`" + escaped(path) + "` " + what;
  throw DiagnosticError(std::move(d));
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// The header is the Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }:
// keys in any order.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr_) {
        descr_ = descr();
      } else if (key == "fortran_order" && !order_) {
        order_ = boolean();
      } else if (key == "shape" && !shape_) {
        shape_ = shape();
      } else {
        malformed("the key '" + key + "' is unknown or appears twice");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) malformed("there is text after the dictionary");
    if (!descr_ || !order_ || !shape_)
      malformed("one of 'descr', 'fortran_order' and 'shape' is missing");
    return {*descr_, *order_, *shape_};
  }

 private:
  [[noreturn]] void malformed(const std::string& why) {
    fail(path_, "has a header that cannot be read: " + escaped(why));
  }

  void skip_space() {
    const auto end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(end, rest_.size()));
  }
  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      malformed(std::string("expected '") + c + "' before \"" + std::string(rest_.substr(0, 20)) +
                "\"");
  }
  bool accept_word(std::string_view word) {
    skip_space();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string string() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"')
      malformed("expected a string before \"" + std::string(rest_.substr(0, 20)) + "\"");
    const auto end = rest_.find(quote, 1);
    if (end == std::string_view::npos) malformed("a string does not end");
    std::string value(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return value;
  }

  std::string descr() {
    skip_space();
    if (!rest_.empty() && (rest_.front() == '[' || rest_.front() == '('))
      fail(path_, "holds records of several fields; save one field of them as an array of its own");
    return string();
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    malformed("'fortran_order' is neither True nor False");
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0)
        malformed("'shape' is not a tuple of extents that fit 64 bits");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      accept_word("L");  // as Python 2 wrote long integers
      extents.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    if (extents.size() > 64) malformed("'shape' has more than 64 dimensions");
    return extents;
  }

  const std::string& path_;
  std::string_view rest_;
  std::optional<std::string> descr_;
  std::optional<bool> order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

struct Descr {
  NpyType type;
  bool swapped = false;
};

Descr element(const std::string& path, const std::string& descr) {
  const std::string_view text = descr;
  const auto refuse = [&]() {
    fail(path, "holds elements of dtype '" + escaped(descr) +
                   "'; convert it with .astype() to one of float16, " +
                   "float32, float64, bool, int8 ... int64, uint8 ... uint64");
  };
  if (text.size() != 3 || std::string_view("<>|=").find(text[0]) == text.npos || text[2] < '1' ||
      text[2] > '9')
    refuse();
  NpyType type{text[1], text[2] - '0'};
  if (type == NpyType{'f', 1}) type.kind = 'V';  // an 8-bit float of an extension type: bits
  const std::string_view sizes = type.kind == 'b'                       ? "1"
                                 : type.kind == 'i' || type.kind == 'u' ? "1248"
                                 : type.kind == 'f'                     ? "248"
                                 : type.kind == 'V'                     ? "12"
                                                                        : "";
  if (sizes.find(text[2]) == sizes.npos) refuse();
  return {type, text[0] == '>' && type.size > 1};
}

// The bytes that the header promises, or nothing where they are more than 64 bits can count.
std::optional<std::uint64_t> promised_bytes(const std::vector<std::int64_t>& shape, int size) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = static_cast<std::uint64_t>(size);
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      return std::nullopt;
  return bytes;
}

void swap_bytes(std::vector<std::byte>& data, int size) {
  for (auto at = data.begin(); at != data.end(); at += size) std::reverse(at, at + size);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) text += std::to_string(extent) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  if (shape.size() == 1) text.pop_back();
  return text + ")";
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  InputFile file(path);
  char prefix[12] = {};
  const std::uint64_t read = file.read(prefix, 8);
  if (read < 8 || std::string_view(prefix, 6) != magic) {
    if (std::string_view(prefix, 2) == "PK")
      fail(path, "is a .npz archive; save the one array with numpy.save");
    fail(path, "is not a .npy file: it does not begin with \\x93NUMPY");
  }
  const int version = prefix[6];
  if (version < 1 || version > 3)
    fail(path, "is a .npy file of version " + std::to_string(version) + ", not 1, 2 or 3");

  const std::size_t length_bytes = version == 1 ? 2 : 4;
  std::uint32_t header_length = 0;
  if (file.read(prefix + 8, length_bytes) != length_bytes) fail(path, "ends inside its header");
  std::memcpy(&header_length, prefix + 8, length_bytes);
  const std::uint64_t begin = 8 + length_bytes;
  if (header_length > longest_header)
    fail(path, "has a header of " + std::to_string(header_length) + " bytes");
  if (begin + header_length > file.size()) fail(path, "ends inside its header");
  std::string text(header_length, '\0');
  text.resize(file.read(text.data(), text.size()));

  const Header header = HeaderParser(path, text).parse();
  const Descr descr = element(path, header.descr);
  const auto promised = promised_bytes(header.shape, descr.type.size);
  const std::uint64_t held = file.size() - begin - header_length;
  if (!promised || *promised != held)
    fail(path, "has shape " + shape_text(header.shape) + " of '" + header.descr +
                   "', which takes " + (promised ? std::to_string(*promised) : "more than 2^64") +
                   " bytes, but holds " + std::to_string(held));

  NpyArray array{descr.type, header.shape, header.fortran_order, std::vector<std::byte>(held)};
  if (file.read(reinterpret_cast<char*>(array.data.data()), held) != held)
    fail(path, "became shorter while it was read");
  if (descr.swapped) swap_bytes(array.data, descr.type.size);
  return array;
}

void write_npy(const std::string& path, const NpyArray& array) {
  const bool one_byte = array.type.size == 1 || array.type.kind == 'V';
  std::string header = std::string("{'descr': '") + (one_byte ? '|' : '<') + array.type.kind +
                       std::to_string(array.type.size) +
                       "', 'fortran_order': " + (array.fortran_order ? "True" : "False") +
                       ", 'shape': " + shape_text(array.shape) + ", }";
  // The data begins at a multiple of 64 bytes; a header ends with a newline.
  constexpr std::size_t prefix = 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  const auto length =
      static_cast<std::uint16_t>(header.size());  // 64 dimensions of 20 digits fit 16 bits
  const std::string start = std::string(magic) + '\x01' + '\x00' +
                            static_cast<char>(length & 0xff) + static_cast<char>(length >> 8);
  write_file(
      path, {start, header, {reinterpret_cast<const char*>(array.data.data()), array.data.size()}});
}

}  // namespace lay::runtime
