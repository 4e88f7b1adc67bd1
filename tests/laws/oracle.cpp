#include "tests/laws/oracle.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace laws {

using lay::Layout;
using lay::Tuple;

namespace {

void collect(const Tuple& t, std::vector<int64_t>& leaves) {
  if (t.is_leaf()) {
    leaves.push_back(t.value().value());
    return;
  }
  for (const Tuple& mode : t.modes()) collect(mode, leaves);
}

// f(0), f(1), ... are those of some layout: tries every first extent.
bool factors(const std::vector<int64_t>& f) {
  const size_t n = f.size();
  if (n <= 1) return n == 0 || f[0] == 0;
  for (size_t first = 2; first <= n; ++first) {
    if (n % first != 0) continue;
    bool fits = true;
    for (size_t i = 0; i < n && fits; ++i)
      fits = f[i] == f[i - i % first] + static_cast<int64_t>(i % first) * f[1];
    if (!fits) continue;
    std::vector<int64_t> rest;
    for (size_t i = 0; i < n; i += first) rest.push_back(f[i]);
    if (factors(rest)) return true;
  }
  return false;
}

std::vector<int64_t> sorted(std::vector<int64_t> all) {
  std::sort(all.begin(), all.end());
  return all;
}

// The distinct words of n elements along one mode, in order.
std::vector<int64_t> words_of(int64_t extent, int64_t stride, int64_t n) {
  std::vector<int64_t> words;
  for (int64_t i = 0; i < extent; ++i) {
    const int64_t word = i * stride / n;
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  return words;
}

}  // namespace

Plain::Plain(const Layout& a) {
  collect(a.shape, extents);
  collect(a.stride, strides);
}

int64_t Plain::size() const {
  int64_t n = 1;
  for (const int64_t extent : extents) n *= extent;
  return n;
}

int64_t Plain::operator()(int64_t index) const {
  if (index < 0) return -(*this)(-index);
  int64_t value = 0;
  for (size_t k = 0; k < extents.size(); ++k) {
    const bool last = k + 1 == extents.size();
    value += (last ? index : index % extents[k]) * strides[k];
    index /= extents[k];
  }
  return value;
}

std::vector<int64_t> Plain::values() const {
  std::vector<int64_t> all;
  for (int64_t i = 0, n = size(); i < n; ++i) all.push_back((*this)(i));
  return all;
}

bool composes(const Layout& a, const Layout& b, const Layout& r) {
  const Plain outer(a), inner(b), result(r);
  if (result.size() != inner.size() || !compatible(b.shape, r.shape).is_always()) return false;
  for (int64_t i = 0, n = inner.size(); i < n; ++i) {
    if (outer(inner(i)) != result(i)) return false;
  }
  return true;
}

bool can_compose(const Layout& a, const Layout& b) {
  const Plain outer(a), inner(b);
  std::vector<std::vector<int64_t>> modes;
  for (size_t k = 0; k < inner.extents.size(); ++k) {
    std::vector<int64_t> f;
    for (int64_t i = 0; i < inner.extents[k]; ++i) f.push_back(outer(i * inner.strides[k]));
    if (!factors(f)) return false;
    modes.push_back(f);
  }
  for (int64_t i = 0, n = inner.size(); i < n; ++i) {
    int64_t sum = 0, rest = i;
    for (const auto& f : modes) {
      sum += f[static_cast<size_t>(rest) % f.size()];
      rest /= static_cast<int64_t>(f.size());
    }
    if (sum != outer(inner(i))) return false;
  }
  return true;
}

std::vector<int64_t> sorted_values(const Layout& a) {
  return sorted(Plain(a).values());
}

bool repeats(const Layout& a, const Layout& t, const Layout& r) {
  const auto places = places_for(a, t);
  return places && r[0] == a && composes(*places, t, r[1]);
}

std::optional<Layout> places_for(const Layout& a, const Layout& t) {
  lay::Facts facts;
  try {
    const int64_t copies = cosize(facts, t).value();
    const Layout places = complement(facts, a, Plain(a).size() * copies);
    if (Plain(places).size() >= copies) return places;
    return complement(facts, a, cosize(facts, a) * copies);
  } catch (const lay::Refusal&) {
    return std::nullopt;
  }
}

bool is_injective(const Layout& a) {
  const std::vector<int64_t> all = sorted(Plain(filter_zeros(a)).values());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

bool complements(const Layout& a, int64_t cotarget, const Layout& r) {
  const Plain base(filter_zeros(a)), rest(r);
  const std::vector<int64_t> own = base.values(), steps = rest.values();
  if (!std::is_sorted(steps.begin(), steps.end())) return false;
  std::set<int64_t> differences;
  for (const int64_t x : own) {
    for (const int64_t y : own) differences.insert(x - y);
  }
  for (size_t i = 1; i < steps.size(); ++i) {
    if (steps[i] <= steps[i - 1] || differences.count(steps[i])) return false;
  }
  int64_t reach = 1, last = 0;
  for (const Plain* side : {&base, &rest}) {
    for (size_t k = 0; k < side->extents.size(); ++k) {
      reach = std::max(reach, side->extents[k] * std::abs(side->strides[k]));
      last += (side->extents[k] - 1) * std::abs(side->strides[k]);
    }
  }
  return std::max(reach, last + 1) >= cotarget;
}

bool right_inverts(const Layout& a, const Layout& r) {
  const Plain f(a), inverse(r);
  for (int64_t i = 0, n = inverse.size(); i < n; ++i) {
    if (f(inverse(i)) != i) return false;
  }
  // Whole runs: merge what can be merged, then follow the strides; of two modes that fit the first
  // is taken.
  std::vector<std::pair<int64_t, int64_t>> modes;
  for (size_t k = 0; k < f.extents.size(); ++k) {
    if (f.extents[k] == 1) continue;
    if (!modes.empty() && modes.back().first * modes.back().second == f.strides[k]) {
      modes.back().first *= f.extents[k];
    } else {
      modes.emplace_back(f.extents[k], f.strides[k]);
    }
  }
  int64_t next = 1;
  for (bool found = true; found;) {
    found = false;
    for (auto it = modes.begin(); it != modes.end() && !found; ++it) {
      if (it->second != next) continue;
      next *= it->first;
      modes.erase(it);
      found = true;
      break;
    }
  }
  return inverse.size() == next;
}

bool left_inverts(const Layout& a, const Layout& r) {
  const Plain f(a), inverse(r);
  for (int64_t i = 0, n = f.size(); i < n; ++i) {
    const int64_t index = inverse(f(i));
    if (index < 0 || index >= n || f(index) != f(i)) return false;
  }
  return true;
}

bool upcasts(const Layout& a, int64_t n, const Layout& r) {
  const Plain elements(a), words(r);
  if (!weakly_congruent(a.shape, r.shape)) return false;
  std::vector<std::vector<int64_t>> modes;
  int64_t count = 1;
  for (size_t k = 0; k < elements.extents.size(); ++k) {
    modes.push_back(words_of(elements.extents[k], elements.strides[k], n));
    if (elements.strides[k] == 0) modes.back().assign(static_cast<size_t>(elements.extents[k]), 0);
    count *= static_cast<int64_t>(modes.back().size());
  }
  if (words.size() != count) return false;
  // The value of R where it counts the word of every element, mode by mode.
  for (int64_t i = 0, all = elements.size(); i < all; ++i) {
    int64_t rest = i, index = 0, step = 1;
    for (size_t k = 0; k < modes.size(); ++k) {
      const int64_t digit = rest % elements.extents[k];
      rest /= elements.extents[k];
      const int64_t word = digit * elements.strides[k] / n;
      const auto place = elements.strides[k] == 0
                             ? digit
                             : std::find(modes[k].begin(), modes[k].end(), word) - modes[k].begin();
      index += step * place;
      step *= static_cast<int64_t>(modes[k].size());
    }
    if (words(index) != elements(i) / n) return false;
  }
  return true;
}

bool can_upcast(const Layout& a, int64_t n) {
  const Plain elements(a);
  int64_t reach = 0;
  for (size_t k = 0; k < elements.extents.size(); ++k) {
    if (!factors(words_of(elements.extents[k], elements.strides[k], n)) && elements.strides[k] != 0)
      return false;
    int64_t most = 0;
    for (int64_t i = 0; i < elements.extents[k]; ++i)
      most = std::max(most, i * elements.strides[k] % n);
    reach += most;
  }
  return reach < n;
}

bool downcasts(const Layout& a, int64_t n, const Layout& r) {
  std::vector<int64_t> expected;
  for (const int64_t word : Plain(a).values()) {
    for (int64_t j = 0; j < n; ++j) expected.push_back(word * n + j);
  }
  return congruent(a.shape, r.shape) && sorted(expected) == sorted(Plain(r).values());
}

bool can_downcast(const Layout& a) {
  const Plain f(a);
  for (size_t k = 0; k < f.extents.size(); ++k) {
    if (f.strides[k] == 1 || f.extents[k] == 1) return true;
  }
  return false;
}

}  // namespace laws
