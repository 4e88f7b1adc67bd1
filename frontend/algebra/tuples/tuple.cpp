#include "frontend/algebra/tuples/tuple.h"

#include <algorithm>

#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

constexpr std::int64_t kMaxLeaves = std::int64_t{1} << 20;
constexpr int kMaxDepth = 200;

void write(const Tuple& t, std::string& text) {
  if (t.is_underscore()) {
    text += '_';
  } else if (t.is_basis()) {
    text += t.value().is_literal() ? t.value().to_string() : t.value().to_factor_string();
    for (auto it = t.path().rbegin(); it != t.path().rend(); ++it)
      text += "@" + std::to_string(*it);
  } else if (t.is_leaf()) {
    text += t.value().to_string();
  } else {
    text += '(';
    for (int i = 0; i < t.rank(); ++i) {
      if (i > 0) text += ',';
      write(t[i], text);
    }
    text += t.rank() == 1 ? ",)" : ")";
  }
}

template <typename Test>
bool any_leaf(const Tuple& t, const Test& test) {
  if (t.is_leaf()) return test(t);
  return std::any_of(t.modes().begin(), t.modes().end(),
                     [&](const Tuple& mode) { return any_leaf(mode, test); });
}

}  // namespace

Tuple::Tuple(std::vector<Tuple> modes) {
  std::int64_t leaves = 0;
  for (const Tuple& mode : modes) {
    depth_ = std::max(depth_, mode.depth_);
    leaves += mode.leaves_;
  }
  if (leaves > kMaxLeaves) throw refusal("limit", "a tuple of more than 2^20 integers");
  leaves_ = static_cast<std::int32_t>(leaves);
  if (++depth_ > kMaxDepth)
    throw refusal("depth", "a tuple nests deeper than " + std::to_string(kMaxDepth));
  modes_ = std::make_shared<const std::vector<Tuple>>(std::move(modes));
}

Tuple Tuple::underscore() {
  Tuple t;
  t.underscore_ = true;
  return t;
}

Tuple Tuple::basis(Int value, std::vector<int> path) {
  Tuple t(std::move(value));
  if (!path.empty() && !t.value_.is(0))
    t.path_ = std::make_shared<const std::vector<int>>(std::move(path));
  return t;
}

const std::vector<int>& Tuple::path() const {
  static const std::vector<int> none;
  return path_ ? *path_ : none;
}

const std::vector<Tuple>& Tuple::modes() const {
  static const std::vector<Tuple> none;
  return modes_ ? *modes_ : none;
}

const Tuple& Tuple::operator[](int mode) const {
  if (mode < 0 || mode >= rank()) {
    throw refusal("mode", to_string() + " has no mode " + std::to_string(mode),
                  "its modes are 0 to " + std::to_string(rank() - 1));
  }
  return modes_ ? (*modes_)[static_cast<size_t>(mode)] : *this;
}

std::string Tuple::to_string() const {
  std::string text;
  write(*this, text);
  return text;
}

bool operator==(const Tuple& a, const Tuple& b) {
  if (a.is_tuple() != b.is_tuple()) return false;
  if (a.is_tuple()) return a.modes_ == b.modes_ || *a.modes_ == *b.modes_;
  return a.underscore_ == b.underscore_ && a.value_ == b.value_ && a.path() == b.path();
}

bool Tuple::has_underscore() const {
  return any_leaf(*this, [](const Tuple& leaf) { return leaf.is_underscore(); });
}

bool Tuple::has_basis() const {
  return any_leaf(*this, [](const Tuple& leaf) { return leaf.is_basis(); });
}

bool Tuple::is_known() const {
  return !any_leaf(
      *this, [](const Tuple& leaf) { return leaf.is_underscore() || !leaf.value().is_literal(); });
}

Tuple substitute(const Tuple& t, const std::map<DimId, Int>& replacement) {
  if (t.is_tuple()) {
    std::vector<Tuple> modes;
    for (const Tuple& mode : t.modes()) modes.push_back(substitute(mode, replacement));
    return Tuple(std::move(modes));
  }
  if (t.is_underscore()) return t;
  return Tuple::basis(t.value().substitute(replacement), t.path());
}

}  // namespace lay
