#include "frontend/sema/builtins/cute_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "frontend/algebra/layouts/operations.h"

namespace lay::sema {
namespace {

constexpr int kDeepest = 100;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Value read() {
    Value value = chain();
    accept(":");  // print_tensor: the values follow on lines of their own
    space();
    if (at_ != text_.size()) stop("the end of the text");
    return value;
  }

 private:
  [[noreturn]] void stop(const std::string& wanted) const {
    throw refusal("cute-text", "character " + std::to_string(at_ + 1) +
                                   " of the text is not CuTe's: expected " + wanted);
  }

  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  bool accept(std::string_view word) {
    space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void expect(std::string_view word) {
    if (!accept(word)) stop(std::string(word));
  }

  // swizzle or layout, then `o offset o layout`.
  Value chain() {
    if (accept("Sw<") || accept("S<")) return after_swizzle(swizzle());  // the DSL writes S<3,4,3>
    if (accept("tensor<")) return dsl_tensor(">");                       // the DSL's types
    if (accept("tensor(")) return dsl_tensor("");  // and tensors, with their data
    if (pointer_bits()) {  // a tensor: what stands at the address is not said, the layout is
      expect("o");
      if (accept("Sw<")) return after_swizzle(swizzle());
      return Value(layout(tuple(0)));
    }
    if (accept("ArithTuple")) return coordinates();
    scope();
    if (accept("ComposedLayout<")) return composed_type();
    if (accept("Swizzle<")) return object(Value(swizzle()));
    if (accept("Layout<")) return object(Value(layout_type()));
    Tuple shape = tuple(0);
    space();
    if (at_ < text_.size() && text_[at_] == ':') return Value(layout(std::move(shape)));
    return Value(std::move(shape));
  }

  // A layout into coordinates, and where it begins.
  Value coordinates() {
    Tuple offset = group(0);
    expect("o");
    Layout inner = layout(tuple(0));
    const std::vector<Tuple> begin = leaves(offset);
    if (std::all_of(begin.begin(), begin.end(), [](const Tuple& i) { return i.is_literal(0); }))
      return Value(inner);
    return Value(Composed{make_identity_layout(repeat_like(offset, 1 << 30)), offset, inner});
  }

  // The names of C++ types, as compilers and debuggers write them:
  // cute::Layout<cute::tuple<cute::C<4> >, ...>, and objects of them, Layout<Shape<_4>>{}.
  void scope() { accept("cute::"); }

  Value object(Value value) {
    accept("{}");
    return value;
  }

  // After `Layout<`. Without strides the left-most mode is fastest.
  Layout layout_type() {
    Tuple shape = tuple(0);
    if (!accept(",")) {
      expect(">");
      return make_layout(shape);
    }
    scope();
    const bool left = accept("LayoutLeft") || accept("GenColMajor");
    const bool right = !left && (accept("LayoutRight") || accept("GenRowMajor"));
    Layout result = left    ? make_layout(shape)
                    : right ? make_layout_right(shape)
                            : Layout(shape, tuple(0));
    expect(">");
    return result;
  }

  // After `ComposedLayout<`: a swizzle, an offset or the width that a pointer will have, a layout.
  Value composed_type() {
    scope();
    expect("Swizzle<");
    Swizzle outer = swizzle();
    expect(",");
    scope();
    Tuple offset = 0;
    if (accept("smem_ptr_flag_bits<")) {  // then the swizzle is one of byte addresses
      outer = recast(outer, 8, element_width());
      expect(">");
    } else {
      offset = tuple(0);
    }
    expect(",");
    scope();
    expect("Layout<");
    const Layout inner = layout_type();
    expect(">");
    return object(Value(composition(outer, offset, inner)));
  }

  int element_width() {
    const std::int64_t bits = number();
    if (bits < 1 || bits > 128) stop("an element width");
    return static_cast<int>(bits);
  }

  // A number of the types: Int<4>, C<4>, constant<int, 4>, or E<0>, ScaledBasis<_4, 0>. Nothing
  // where none begins.
  std::optional<Tuple> number_type() {
    for (const char* name : {"Int<", "C<", "constant<int,", "integral_constant<int,"}) {
      if (!accept(name)) continue;
      const std::int64_t value = number();
      expect(">");
      return Tuple(value);
    }
    const bool scaled = accept("ScaledBasis<");
    if (!scaled && !accept("E<")) return std::nullopt;
    Tuple value = 1;
    if (scaled) {
      value = tuple(kDeepest);
      if (!value.is_int()) stop("an integer");
      expect(",");
    }
    std::vector<int> path;
    do {
      path.push_back(mode_number());
    } while (accept(","));
    expect(">");
    return Tuple::basis(value.value(), std::move(path));
  }

  int mode_number() {
    const std::int64_t index = number();
    if (index < 0 || index > 255) stop("the number of a mode");
    return static_cast<int>(index);
  }

  // Where a tuple of the types begins.
  bool tuple_type() {
    for (const char* name :
         {"Shape<", "Stride<", "Coord<", "Step<", "Tile<", "ArithmeticTuple<", "tuple<"})
      if (accept(name)) return true;
    return false;
  }

  // After `tensor<`: ptr<f16, smem, align<16>, S<2,4,3>> o layout, or (0,0) o layout; after
  // `tensor(`: raw_ptr(address: f16, smem, align<16>) o layout, and data that does not matter. The
  // swizzle is one of byte addresses.
  Value dsl_tensor(std::string_view end) {
    Value value;
    if (accept("ptr<")) {
      value = at_pointer('<', '>');
    } else if (accept("raw_ptr(")) {
      while (at_ < text_.size() && text_[at_] != ':') ++at_;
      expect(":");
      value = at_pointer('(', ')');
    } else {
      value = coordinates();
    }
    if (end.empty()) {
      at_ = text_.size();
    } else {
      expect(end);
    }
    return value;
  }

  Value at_pointer(char open, char close) {
    space();
    while (at_ < text_.size() && !is_digit(text_[at_]) && text_[at_] != ',' && text_[at_] != close)
      ++at_;
    if (at_ == text_.size() || !is_digit(text_[at_])) stop("an element type with its width");
    const std::int64_t bits = number();
    if (bits < 1 || bits > 128) stop("an element width");
    std::optional<Swizzle> swizzled;
    for (int depth = 1; depth > 0; ++at_) {
      if (at_ == text_.size()) stop(std::string(1, close));
      if (text_.substr(at_, 2) == "S<") {
        at_ += 2;
        swizzled = swizzle();
        --at_;
      } else if (text_[at_] == open) {
        ++depth;
      } else if (text_[at_] == close) {
        --depth;
      }
    }
    expect("o");
    Layout inner = layout(tuple(0));
    if (!swizzled) return Value(std::move(inner));
    return Value(composition(recast(*swizzled, 8, static_cast<int>(bits)), 0, inner));
  }

  Layout layout(Tuple shape) {
    expect(":");
    return Layout(std::move(shape), tuple(0));
  }

  Swizzle swizzle() {
    std::int64_t b = number();
    expect(",");
    std::int64_t m = number();
    expect(",");
    std::int64_t s = number();
    expect(">");
    return Swizzle(b, m, s);
  }

  Value after_swizzle(Swizzle s) {
    if (!accept("o") && !accept("_")) return Value(s);
    if (const auto bits = pointer_bits()) {  // then the swizzle is one of byte addresses
      expect("o");
      Layout inner = layout(tuple(0));
      return Value(composition(recast(s, 8, *bits), 0, inner));
    }
    Tuple offset = tuple(0);
    expect("o");
    Layout inner = layout(tuple(0));
    return Value(composition(s, offset, inner));
  }

  // The element width of a pointer: smem_ptr[16b](unset), gmem_ptr[32b](0x7f0000000400).
  std::optional<int> pointer_bits() {
    for (const char* name : {"smem_ptr[", "gmem_ptr[", "rmem_ptr[", "tmem_ptr[", "ptr["}) {
      if (!accept(name)) continue;
      const int bits = element_width();
      expect("b](");
      while (at_ < text_.size() && text_[at_] != ')') ++at_;
      expect(")");
      return bits;
    }
    return std::nullopt;
  }

  Tuple tuple(int depth) {
    space();
    scope();
    if (at_ < text_.size() && text_[at_] == '(') return group(depth);
    if (tuple_type()) return modes(depth, ">");
    if (auto number = number_type()) return *number;
    if (at_ + 1 >= text_.size() || text_[at_] != '_' || !is_digit(text_[at_ + 1])) {
      if (at_ < text_.size() && text_[at_] == '_' &&
          !(at_ + 1 < text_.size() && text_[at_ + 1] == '-')) {
        ++at_;
        return Tuple::underscore();
      }
    }
    std::int64_t value = number();
    std::vector<int> path;
    while (at_ < text_.size() && text_[at_] == '@') {
      ++at_;
      path.insert(path.begin(), mode_number());
    }
    return path.empty() ? Tuple(value) : Tuple::basis(value, std::move(path));
  }

  Tuple group(int depth) {
    expect("(");
    return modes(depth, ")");
  }

  // The modes of a tuple up to the sign that closes it.
  Tuple modes(int depth, std::string_view close) {
    if (depth > kDeepest) stop("an end to the nesting");
    std::vector<Tuple> modes;
    if (accept(close)) return Tuple(std::move(modes));
    do {
      modes.push_back(tuple(depth + 1));
    } while (accept(","));
    expect(close);
    return Tuple(std::move(modes));
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  // 4, _4, -4 and _-4.
  std::int64_t number() {
    space();
    if (at_ < text_.size() && (text_[at_] == '?' || text_.substr(at_, 3) == "int")) {
      const std::string word = text_[at_] == '?' ? "?" : "int";
      Refusal r =
          refusal("cute-text", "character " + std::to_string(at_ + 1) + " of the text is `" + word +
                                   "`: a size that is not known where CuTe printed it");
      r.help = "write its value for the `" + word +
               "`, or the layout in Lay with a name for it: `dim N`, then (8,N):(1,8)";
      throw r;
    }
    if (at_ < text_.size() && text_[at_] == '_') ++at_;
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) stop("an integer");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Value read_cute(std::string_view text) {
  return Reader(text).read();
}

}  // namespace lay::sema
