#include "frontend/algebra/memory/fit.h"

#include <algorithm>
#include <tuple>

#include "frontend/algebra/integers/bounded.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

constexpr int64_t kMostEntries = int64_t{1} << 20;
constexpr int64_t kFirstEntries = 256;            // enough to rule most swizzles out
constexpr int64_t kMostLooks = int64_t{1} << 27;  // entries looked at, over all swizzles

constexpr Wide kNoEntry = Wide{1} << 65;

struct Leaf {
  int64_t extent, stride;
};

// One mode of the table: its entries come one after the other. The leaves closed so far are fixed
// by what was seen, and the open one goes on with its stride until an entry leaves it; it may end
// there only if what is closed by then divides the mode.
class ModeFit {
 public:
  explicit ModeFit(int64_t extent) : extent_(extent) {}

  // Nothing if the entry at the next coordinate can be this; else what it would have to be.
  std::optional<Wide> take(int64_t value) {
    const int64_t c = static_cast<int64_t>(seen_.size());
    seen_.push_back(value);
    if (c == 0) return std::nullopt;
    if (c == 1) {
      stride_ = value;
      return std::nullopt;
    }
    // The closed leaves repeat below the open one: entry c is that of `below`, `times` strides on.
    const int64_t below = c % closed_, times = c / closed_;
    const Wide expected = Wide{seen_[static_cast<size_t>(below)]} + Wide{stride_} * times;
    if (expected == value) return std::nullopt;
    // A leaf can end only where the closed ones are complete and divide the mode.
    if (below != 0 || extent_ % c != 0) return expected;
    leaves_.push_back({times, stride_});
    closed_ = c;
    stride_ = value;
    return std::nullopt;
  }

  int64_t at(int64_t c) const { return seen_[static_cast<size_t>(c)]; }

  // The open leaf ends with the mode.
  std::vector<Leaf> leaves() const {
    std::vector<Leaf> all = leaves_;
    if (extent_ > 1) all.push_back({extent_ / closed_, stride_});
    if (all.empty()) all.push_back({1, 0});
    return all;
  }

 private:
  int64_t extent_;
  std::vector<int64_t> seen_;
  std::vector<Leaf> leaves_;
  int64_t closed_ = 1;  // the product of the extents of the closed leaves
  int64_t stride_ = 0;  // of the open one
};

// The table under one swizzle, which is its own inverse.
// S is its own inverse: the table is S(offset + L(i)) for a layout L where S(table) - S(table[0])
// is L, so each swizzle is taken off first and what is left fitted as a plain layout.
class TableFit {
 public:
  TableFit(const OffsetTable& table, const Swizzle& swizzle) : table_(table), swizzle_(swizzle) {
    for (const int64_t extent : table.extents) modes_.emplace_back(extent);
    digits_.assign(table.extents.size(), 0);
    offset_ = value(0);
  }

  // Goes on to entry `end`; false where an entry breaks it.
  // Entries in the order of the index; each takes a step of an odometer over the modes.
  bool run(int64_t end) {
    for (; next_ < end; ++next_) {
      const auto expected = step();
      if (expected) {
        const Wide whole = *expected + offset_;
        if (whole >= INT64_MIN && whole <= INT64_MAX) expected_ = static_cast<int64_t>(whole);
        return false;
      }
      for (size_t k = 0; k < digits_.size() && ++digits_[k] == table_.extents[k]; ++k)
        digits_[k] = 0;
    }
    return true;
  }

  int64_t next() const { return next_; }
  std::optional<int64_t> expected() const {
    if (!expected_ || swizzle_.b == 0) return expected_;
    return *expected_ < 0 ? std::nullopt : std::optional(swizzle_(*expected_));
  }
  int64_t leaf_count() const {
    int64_t sum = 0;
    for (const ModeFit& mode : modes_) sum += static_cast<int64_t>(mode.leaves().size());
    return sum;
  }

  AnyLayout layout() const {
    std::vector<Tuple> shape, stride;
    for (const ModeFit& mode : modes_) {
      std::vector<Tuple> extents, strides;
      for (const Leaf& leaf : mode.leaves()) {
        extents.emplace_back(leaf.extent);
        strides.emplace_back(leaf.stride);
      }
      shape.push_back(extents.size() == 1 ? extents[0] : Tuple(std::move(extents)));
      stride.push_back(strides.size() == 1 ? strides[0] : Tuple(std::move(strides)));
    }
    const bool one = shape.size() == 1;
    const Layout inner(one ? shape[0] : Tuple(std::move(shape)),
                       one ? stride[0] : Tuple(std::move(stride)));
    if (swizzle_.b == 0 && offset_ == 0) return inner;
    return Composed{swizzle_, offset_, inner};
  }

 private:
  int64_t value(int64_t i) const {
    const int64_t v = table_.values[static_cast<size_t>(i)];
    return swizzle_.b == 0 ? v : swizzle_(v);
  }

  // An entry on one axis is that mode's; any other is the sum of those.
  std::optional<Wide> step() {
    int64_t here;
    if (__builtin_sub_overflow(value(next_), offset_, &here)) return kNoEntry;
    size_t moving = 0, axis = 0;
    Wide sum = 0;
    for (size_t k = 0; k < digits_.size(); ++k) {
      if (digits_[k] == 0) continue;
      ++moving;
      axis = k;
    }
    if (moving == 0) {
      for (ModeFit& mode : modes_) mode.take(0);
      return std::nullopt;
    }
    // Entries on one axis define that mode; they come before any entry that has this digit together
    // with others.
    if (moving == 1) return modes_[axis].take(here);
    for (size_t k = 0; k < digits_.size(); ++k) sum += modes_[k].at(digits_[k]);
    return sum == here ? std::nullopt : std::optional(sum);
  }

  const OffsetTable& table_;
  Swizzle swizzle_;
  std::vector<ModeFit> modes_;
  std::vector<int64_t> digits_;
  int64_t offset_ = 0, next_ = 0;
  std::optional<int64_t> expected_;
};

int bit_length(int64_t x) {
  int bits = 0;
  for (; x > 0; x /= 2) ++bits;
  return bits;
}

// Every swizzle that moves a bit of the values, smallest B first.
std::vector<Swizzle> swizzles_for(const std::vector<int64_t>& values) {
  std::vector<Swizzle> all;
  if (*std::min_element(values.begin(), values.end()) < 0) return all;
  const int bits = std::min(62, bit_length(*std::max_element(values.begin(), values.end())));
  // Source and target bits are 2*B different bits of a value.
  for (int b = 1; 2 * b <= bits; ++b) {
    for (int s = b; s + b <= bits; ++s) {
      for (int m = 0; m + s + b <= bits; ++m) {
        all.emplace_back(b, m, s);
        all.emplace_back(b, m, -s);
      }
    }
  }
  return all;
}

}  // namespace

FittedLayout fit_table(const OffsetTable& table) {
  const int64_t n = static_cast<int64_t>(table.values.size());
  if (n > kMostEntries)
    throw refusal("too-many", "a table of more than 2^20 entries is not fitted");
  TableFit plain(table, Swizzle());
  if (plain.run(n)) return {plain.layout(), 0, std::nullopt};
  FittedLayout best{std::nullopt, plain.next(), plain.expected()};
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  std::optional<Key> key;
  int64_t looks = 0;
  for (const Swizzle& swizzle : swizzles_for(table.values)) {
    TableFit fit(table, swizzle);
    // Those that fail within the first entries are tried to the last one, whatever was looked at.
    const bool begins = fit.run(std::min(n, kFirstEntries));
    if (begins && looks > kMostLooks) {
      if (best.layout) break;
      throw refusal("limit",
                    "no layout has these values, and there are too many swizzles to try them all");
    }
    const bool goes_on = begins && fit.run(n);
    looks += fit.next();
    if (!goes_on) {
      if (!best.layout && fit.next() > best.broken)
        best = {std::nullopt, fit.next(), fit.expected()};
      continue;
    }
    // Among several that fit, the fewest modes come first, then the fewest bits moved.
    const Key own{fit.leaf_count(), swizzle.b, std::abs(swizzle.s), swizzle.m};
    if (key && !(own < *key)) continue;
    key = own;
    best.layout = fit.layout();
  }
  return best;
}

}  // namespace lay
