#pragma once

// IntTuples: an integer, or a tuple of IntTuples of any depth.
//
//     Tuple t = tuple(4, tuple(2, 3));       t.to_string() == "(4,(2,3))"
//     t.rank() == 2   t.depth() == 2   t[1][0].value() == Int(2)
//     tuple(2).to_string() == "(2,)"         the tuple of one; 2 is the integer
//
// A leaf is an Int, optionally on a basis path (`2@0`: 2 steps along mode 0; `1@0@1`: mode 0 inside
// mode 1, last index outermost; the path is stored outermost first, here {1,0}), or the underscore
// `_`. Nesting deeper than 200 throws Refusal "depth". Copies share their nodes.

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontend/algebra/integers/int.h"

namespace lay {

class Tuple {
 public:
  Tuple() = default;                   // the integer 0
  Tuple(Int value) : value_(value) {}  // an integer
  template <std::integral T>
  Tuple(T value) : value_(value) {}
  explicit Tuple(std::vector<Tuple> modes);  // a tuple
  static Tuple underscore();
  // An empty path gives the integer; value 0 gives 0.
  static Tuple basis(Int value, std::vector<int> path);

  bool is_tuple() const { return modes_ != nullptr; }
  bool is_leaf() const { return !is_tuple(); }
  bool is_underscore() const { return underscore_; }
  bool is_basis() const { return path_ != nullptr; }
  bool is_int() const { return !modes_ && !path_ && !underscore_; }
  bool is_literal(int64_t value) const { return is_int() && value_.is(value); }

  const Int& value() const { return value_; }  // of an integer or a basis element
  // Empty for integers.
  const std::vector<int>& path() const;
  const std::vector<Tuple>& modes() const;  // of a tuple

  // The integer is its own only mode.
  int rank() const { return modes_ ? static_cast<int>(modes_->size()) : 1; }
  int depth() const { return depth_; }
  std::int64_t leaf_count() const { return leaves_; }
  // Mode 0 of an integer is the integer; else Refusal "mode"
  const Tuple& operator[](int mode) const;

  std::string to_string() const;
  friend bool operator==(const Tuple& a, const Tuple& b);

  bool has_underscore() const;
  bool has_basis() const;
  // All leaves are literal integers (basis elements with literal values included).
  bool is_known() const;

 private:
  Int value_;
  std::shared_ptr<const std::vector<Tuple>> modes_;
  std::shared_ptr<const std::vector<int>> path_;
  bool underscore_ = false;
  int depth_ = 0;
  // However the nodes are shared.
  std::int32_t leaves_ = 1;
};

template <typename... Modes>
Tuple tuple(const Modes&... modes) {
  return Tuple(std::vector<Tuple>{Tuple(modes)...});
}

// Every dim replaced by what the map says.
Tuple substitute(const Tuple& t, const std::map<DimId, Int>& replacement);

}  // namespace lay
