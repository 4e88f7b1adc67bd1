// Composition where strides are basis elements, by the definition: values are numbers for each
// direction.

#include <map>

#include "tests/laws/oracle.h"

namespace laws {
namespace {

using lay::Layout;
using lay::Tuple;
using Directed = std::map<std::vector<int>, int64_t>;  // without zeros

Directed sum(Directed a, const Directed& b, int64_t times) {
  for (const auto& [path, value] : b) {
    if ((a[path] += times * value) == 0) a.erase(path);
  }
  return a;
}

Directed evaluate_plain(const Layout& a, int64_t index) {
  const std::vector<Tuple> extents = leaves(a.shape), strides = leaves(a.stride);
  Directed value;
  for (size_t k = 0; k < extents.size(); ++k) {
    const int64_t extent = extents[k].value().value(),
                  digit = k + 1 == extents.size() ? index : index % extent;
    value = sum(value, {{strides[k].path(), strides[k].value().value()}}, digit);
    index /= extent;
  }
  for (auto it = value.begin(); it != value.end();)
    it = it->second == 0 ? value.erase(it) : std::next(it);
  return value;
}

// a at a value of b: an integer is an index into all of a, a direction one into the mode of a that
// it names.
Directed through(const Layout& a, const Directed& value) {
  Directed total;
  for (const auto& [path, index] : value) {
    total = sum(total, evaluate_plain(path.empty() ? a : a[path[0]], index), 1);
  }
  return total;
}

bool factors(const std::vector<Directed>& f) {
  const size_t n = f.size();
  if (n <= 1) return n == 0 || f[0].empty();
  if (f[1].size() > 1) return false;
  for (size_t first = 2; first <= n; ++first) {
    if (n % first != 0) continue;
    bool fits = true;
    for (size_t i = 0; i < n && fits; ++i)
      fits = f[i] == sum(f[i - i % first], f[1], static_cast<int64_t>(i % first));
    if (!fits) continue;
    std::vector<Directed> rest;
    for (size_t i = 0; i < n; i += first) rest.push_back(f[i]);
    if (factors(rest)) return true;
  }
  return false;
}

}  // namespace

bool composes_anyhow(const Layout& a, const Layout& b, const Layout& r) {
  if (!(size(b) == size(r)) || !compatible(b.shape, r.shape).is_always()) return false;
  for (int64_t i = 0, n = size(b).value(); i < n; ++i) {
    if (through(a, evaluate_plain(b, i)) != evaluate_plain(r, i)) return false;
  }
  return true;
}

bool can_compose_anyhow(const Layout& a, const Layout& b) {
  const std::vector<Tuple> extents = leaves(b.shape), strides = leaves(b.stride);
  std::vector<std::vector<Directed>> modes;
  for (size_t k = 0; k < extents.size(); ++k) {
    std::vector<Directed> f;
    for (int64_t i = 0; i < extents[k].value().value(); ++i) {
      f.push_back(through(a, sum({}, {{strides[k].path(), strides[k].value().value()}}, i)));
    }
    if (!factors(f)) return false;
    modes.push_back(f);
  }
  for (int64_t i = 0, n = size(b).value(); i < n; ++i) {
    Directed total;
    int64_t rest = i;
    for (const auto& f : modes) {
      total = sum(total, f[static_cast<size_t>(rest) % f.size()], 1);
      rest /= static_cast<int64_t>(f.size());
    }
    if (total != through(a, evaluate_plain(b, i))) return false;
  }
  return true;
}

}  // namespace laws
