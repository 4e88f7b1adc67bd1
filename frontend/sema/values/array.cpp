#include "frontend/sema/values/array.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "frontend/algebra/memory/convert.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/values/value.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 33;
constinit thread_local const ArrayLimit* in_force = nullptr;

template <typename T>
T read(const std::vector<std::byte>& bytes, std::int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void write(std::vector<std::byte>& bytes, std::int64_t i, T value) {
  std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

std::uint64_t read_bits(const Array& a, std::int64_t i) {
  switch (element_bytes(a.element)) {
    case 1:
      return read<std::uint8_t>(*a.bytes, i);
    case 2:
      return read<std::uint16_t>(*a.bytes, i);
    case 4:
      return read<std::uint32_t>(*a.bytes, i);
    default:
      return read<std::uint64_t>(*a.bytes, i);
  }
}

void write_bits(const Array& a, std::int64_t i, std::uint64_t value) {
  switch (element_bytes(a.element)) {
    case 1:
      return write(*a.bytes, i, static_cast<std::uint8_t>(value));
    case 2:
      return write(*a.bytes, i, static_cast<std::uint16_t>(value));
    case 4:
      return write(*a.bytes, i, static_cast<std::uint32_t>(value));
    default:
      return write(*a.bytes, i, value);
  }
}

}  // namespace

double round_to(ElementType type, double value) {
  return type == ElementType::f64 ? value : decode(type, encode(type, value));
}

std::size_t element_bytes(ElementType type) {
  int n = type == ElementType::pred ? 8 : std::max(bits(type), 8);
  return static_cast<std::size_t>(n) / 8;
}

std::optional<std::int64_t> elements_of(const std::vector<std::int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t n = 1;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(n, extent, &n)) return std::nullopt;
  return n;
}

struct ArrayLimit::Count {
  std::int64_t most = kMostBytes;
  std::atomic<std::int64_t> alive{0};

  // Returns true, and counts the bytes, if they still fit.
  bool take(std::int64_t bytes) {
    std::int64_t now = alive;
    while (bytes <= most - now)
      if (alive.compare_exchange_weak(now, now + bytes)) return true;
    return false;
  }
  std::string text() const {
    return most == kMostBytes ? "8 GiB" : std::to_string(most) + " bytes";
  }
};

ArrayLimit::ArrayLimit(std::int64_t most) : count_(std::make_shared<Count>()) {
  count_->most = std::min(most, kMostBytes);
}

ArrayLimit::InForce::InForce(const ArrayLimit& limit)
    : before_(std::exchange(sema::in_force, &limit)) {}

ArrayLimit::InForce::~InForce() {
  sema::in_force = before_;
}

Array Array::make(ElementType element, std::vector<std::int64_t> shape) {
  Array a;
  a.element = element;
  a.shape = std::move(shape);
  const std::optional<std::int64_t> elements = elements_of(a.shape);
  const auto width = static_cast<std::int64_t>(element_bytes(element));
  if (!elements || *elements > kMostBytes / width)
    throw refusal("limit",
                  "an array of more than 2^33 bytes: all arrays together take at most 8 GiB");
  const std::int64_t n = *elements * width;
  static const ArrayLimit of_process(kMostBytes);
  const std::shared_ptr<ArrayLimit::Count> count = (in_force ? *in_force : of_process).count_;
  if (!count->take(n))
    throw refusal("limit", "an array of " + std::to_string(n) +
                               " bytes: all arrays together take at most " + count->text());
  const std::shared_ptr<void> counted(nullptr, [count, n](void*) { count->alive -= n; });
  a.bytes = std::shared_ptr<std::vector<std::byte>>(
      new std::vector<std::byte>(static_cast<std::size_t>(n)),
      [counted](const std::vector<std::byte>* freed) { delete freed; });
  return a;
}

std::int64_t Array::size() const {
  return elements_of(shape).value();
}

std::int64_t Array::offset(const std::vector<std::int64_t>& coordinate) const {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) at = at * shape[i] + coordinate.at(i);
  return at;
}

double Array::real(std::int64_t i) const {
  if (element == ElementType::f32) return static_cast<double>(read<float>(*bytes, i));
  if (element == ElementType::f64) return read<double>(*bytes, i);
  if (is_float(element)) return decode(element, read_bits(*this, i));
  return static_cast<double>(integer(i));
}

std::int64_t Array::integer(std::int64_t i) const {
  if (is_float(element)) return round_to_integer(ElementType::s64, real(i));
  std::uint64_t value = read_bits(*this, i);
  if (!is_signed(element)) return static_cast<std::int64_t>(value);
  int unused = 64 - static_cast<int>(element_bytes(element)) * 8;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

void Array::set_real(std::int64_t i, double value) {
  if (element == ElementType::f32) return write(*bytes, i, static_cast<float>(value));
  if (element == ElementType::f64) return write(*bytes, i, value);
  if (element == ElementType::pred) return write_bits(*this, i, value != 0);
  // An integer of 4 bits fills its byte, sign and all.
  if (!is_float(element) && is_half_byte(element))
    return set_integer(i, round_to_integer(element, value));
  write_bits(*this, i, encode(element, value));
}

void Array::set_integer(std::int64_t i, std::int64_t value) {
  if (is_float(element))
    return set_real(i, element == ElementType::f64 ? static_cast<double>(value) : to_odd(value));
  if (element == ElementType::pred) return write_bits(*this, i, value != 0);
  write_bits(*this, i, static_cast<std::uint64_t>(saturate(element, value)));
}

Array Array::cast(ElementType to) const {
  Array result = make(to, shape);
  for (std::int64_t i = 0, n = size(); i < n; ++i) {
    if (is_float(element)) {
      result.set_real(i, real(i));
    } else {
      result.set_integer(i, integer(i));
    }
  }
  return result;
}

std::string Array::to_string() const {
  std::string s = std::string(element_name(element)) + " (";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? "," : "") + std::to_string(shape[i]);
  s += shape.size() == 1 ? ",) [" : ") [";
  std::int64_t shown = std::min<std::int64_t>(size(), 8);
  for (std::int64_t i = 0; i < shown; ++i) {
    if (i) s += ", ";
    if (element == ElementType::pred) {
      s += integer(i) ? "true" : "false";
    } else {
      const bool narrow = bits(element) <= 32;
      s += !is_float(element) ? std::to_string(integer(i))
           : narrow           ? real_text(static_cast<float>(real(i)))
                              : real_text(real(i));
    }
  }
  return s + (size() > shown ? ", ...]" : "]");
}

}  // namespace lay::sema
