#include <algorithm>

#include "frontend/algebra/inverse.h"
#include "frontend/algebra/mode.h"
#include "frontend/algebra/polynomial.h"
#include "frontend/algebra/tuple_operations.h"

namespace lay {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 20;
constexpr int64_t kSteps = int64_t{1} << 24;
constexpr size_t kMaxModes = 24;

// sum of factors[k] * (stride k) == due.
struct Equation {
  std::vector<int64_t> factors;
  int64_t due;
};

struct Overflow {};

int64_t difference_of_products(int64_t a, int64_t b, int64_t c, int64_t d) {
  int64_t x, y, r;
  if (__builtin_mul_overflow(a, b, &x) || __builtin_mul_overflow(c, d, &y) || __builtin_sub_overflow(x, y, &r)) {
    throw Overflow{};
  }
  return r;
}

// Linear equations in echelon form.
class Equations {
 public:
  // False if the equation contradicts those before it.
  bool add(Equation e) {
    for (const Row& row : rows_) {
      const int64_t a = row.pivot < e.factors.size() ? e.factors[row.pivot] : 0;
      if (a == 0) continue;
      const int64_t b = row.equation.factors[row.pivot];
      e.factors.resize(std::max(e.factors.size(), row.equation.factors.size()), 0);
      for (size_t k = 0; k < e.factors.size(); ++k) {
        const int64_t factor = k < row.equation.factors.size() ? row.equation.factors[k] : 0;
        e.factors[k] = difference_of_products(e.factors[k], b, factor, a);
      }
      e.due = difference_of_products(e.due, b, row.equation.due, a);
      reduce(e);
    }
    const auto pivot = std::find_if(e.factors.begin(), e.factors.end(), [](int64_t f) { return f != 0; });
    if (pivot == e.factors.end()) return e.due == 0;
    rows_.push_back({e, static_cast<size_t>(pivot - e.factors.begin())});
    return true;
  }

  size_t rank() const { return rows_.size(); }

  // Integers that solve them, free ones 0.
  std::optional<std::vector<int64_t>> solve(size_t unknowns) const {
    std::vector<int64_t> solution(unknowns, 0);
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      int64_t rest = row->equation.due;
      for (size_t k = 0; k < row->equation.factors.size(); ++k) {
        if (k != row->pivot) rest = difference_of_products(rest, 1, row->equation.factors[k], solution[k]);
      }
      const int64_t factor = row->equation.factors[row->pivot];
      if (rest % factor != 0) return std::nullopt;
      solution[row->pivot] = rest / factor;
    }
    return solution;
  }

 private:
  struct Row {
    Equation equation;
    size_t pivot;
  };

  static void reduce(Equation& e) {
    int64_t common = e.due;
    for (const int64_t f : e.factors) common = gcd(common, f);
    if (common < 2) return;
    for (int64_t& f : e.factors) f /= common;
    e.due /= common;
  }

  std::vector<Row> rows_;
};

struct Entry {
  int64_t value;
  int64_t index;
};

// The values of a, ascending, each with its first index.
std::vector<Entry> entries_of(const Layout& a) {
  const std::vector<int64_t> all = values(a);
  std::vector<Entry> entries;
  for (size_t i = 0; i < all.size(); ++i) entries.push_back({all[i], static_cast<int64_t>(i)});
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) { return x.value < y.value; });
  const auto same = [](const Entry& x, const Entry& y) { return x.value == y.value; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return entries;
}

class Searcher {
 public:
  explicit Searcher(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  std::optional<Layout> run() {
    try {
      return descend(1);
    } catch (const Overflow&) {
      cut_ = true;
      return std::nullopt;
    }
  }
  bool exhausted() const { return !cut_; }
  // Of values taken more than once only the first index was tried.
  bool is_injective(int64_t elements) const { return static_cast<int64_t>(entries_.size()) == elements; }

 private:
  // The digits of the value below the extents, and what is above.
  Equation digits(const Entry& entry, int64_t& above) const {
    Equation e{{}, entry.index};
    above = entry.value;
    for (const int64_t extent : extents_) {
      e.factors.push_back(above % extent);
      above /= extent;
    }
    return e;
  }

  // The equations of values that agree above the extents, or, where `last`, of all: r is linear above them.
  std::optional<Equations> equations(bool last) {
    Equations system;
    Equation first{{}, 0};
    int64_t first_above = -1;
    for (const Entry& entry : entries_) {
      if (--steps_ < 0) {
        cut_ = true;
        return std::nullopt;
      }
      int64_t above;
      Equation e = digits(entry, above);
      if (last) {
        e.factors.push_back(above);
      } else if (above != first_above) {
        first = e;
        first_above = above;
        continue;
      } else {
        for (size_t k = 0; k < e.factors.size(); ++k) e.factors[k] -= first.factors[k];
        e.due -= first.due;
      }
      if (!system.add(std::move(e))) return std::nullopt;
    }
    return system;
  }

  std::optional<Layout> descend(int64_t product) {
    if (!equations(false)) return std::nullopt;
    if (const auto system = equations(true)) {
      if (const auto strides = system->solve(extents_.size() + 1)) return layout_of(*strides, product);
      cut_ |= system->rank() <= extents_.size();  // another choice of a free stride may do
    }
    if (extents_.size() == kMaxModes) {
      cut_ = true;
      return std::nullopt;
    }
    for (int64_t extent = 2; extent <= entries_.back().value / product && steps_ > 0; ++extent) {
      extents_.push_back(extent);
      auto found = descend(product * extent);
      extents_.pop_back();
      if (found) return found;
    }
    return std::nullopt;
  }

  Layout layout_of(const std::vector<int64_t>& strides, int64_t product) const {
    std::vector<Mode> modes;
    for (size_t k = 0; k < extents_.size(); ++k) modes.push_back({extents_[k], strides[k]});
    modes.push_back({entries_.back().value / product + 1, strides.back()});
    return from_modes(modes, {});
  }

  std::vector<Entry> entries_;
  std::vector<int64_t> extents_;
  int64_t steps_ = kSteps;
  bool cut_ = false;
};

// A literal layout with integer strides at an index.
int64_t at(const std::vector<Mode>& modes, int64_t index) {
  int64_t value = 0;
  for (size_t k = 0; k < modes.size(); ++k) {
    const int64_t extent = modes[k].extent.value(), digit = k + 1 == modes.size() ? index : index % extent;
    value = checked_add(value, checked_mul(digit, modes[k].stride.value().value()));
    index /= extent;
  }
  return value;
}

bool is_listed(const Layout& a) {
  if (!a.is_known() || a.has_basis()) return false;
  int64_t n = 1;
  for (const Mode& mode : flat_modes(a)) {
    if (__builtin_mul_overflow(n, mode.extent.value(), &n) || n > kMaxElements) return false;
  }
  return true;
}

}  // namespace

bool is_left_inverse(const Layout& a, const Layout& r) {
  if (!is_listed(a) || !r.is_known()) return false;
  const std::vector<Mode> outer = flat_modes(a), inverse = flat_modes(r);
  for (const int64_t value : values(a)) {
    if (at(outer, at(inverse, value)) != value) return false;
  }
  return true;
}

InverseSearch search_left_inverse(const Layout& a) {
  if (!is_listed(a)) return {};
  Searcher searcher(entries_of(a));
  auto found = searcher.run();
  if (found && !is_left_inverse(a, *found)) found.reset();
  return {found, searcher.exhausted() && searcher.is_injective(size(a.shape).value())};
}

}  // namespace lay
