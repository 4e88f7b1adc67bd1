#include "frontend/algebra/tuples/mode_names.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

struct Names {
  std::mutex mutex;
  std::map<std::string, int64_t> numbers;
  std::vector<std::string> names{""};
};

Names& all_names() {
  static Names names;
  return names;
}

// b's number at every leaf of the shape.
Tuple refine(const Tuple& shape, const Tuple& coarse, const Tuple& numbers) {
  if (coarse.is_leaf()) return repeat_like(shape, numbers);
  std::vector<Tuple> modes;
  for (int i = 0; i < shape.rank(); ++i) modes.push_back(refine(shape[i], coarse[i], numbers[i]));
  return Tuple(std::move(modes));
}

bool is_refinement(const Tuple& shape, const Tuple& coarse) {
  if (coarse.is_leaf()) return true;
  if (shape.is_leaf() || shape.rank() != coarse.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!is_refinement(shape[i], coarse[i])) return false;
  }
  return true;
}

}  // namespace

int64_t name_number(const std::string& name) {
  Names& all = all_names();
  const std::lock_guard lock(all.mutex);
  const auto [at, fresh] = all.numbers.try_emplace(name, static_cast<int64_t>(all.names.size()));
  if (fresh) all.names.push_back(name);
  return at->second;
}

std::string name_of_number(int64_t number) {
  Names& all = all_names();
  const std::lock_guard lock(all.mutex);
  return all.names.at(static_cast<size_t>(number));
}

ModeNames mode_names(Tuple numbers) {
  const std::vector<Tuple> flat = leaves(numbers);
  if (std::all_of(flat.begin(), flat.end(), [](const Tuple& n) { return n.is_literal(0); }))
    return nullptr;
  return std::make_shared<const Tuple>(std::move(numbers));
}

Tuple name_numbers(const Layout& a) {
  return a.names ? *a.names : repeat_like(a.shape, 0);
}

int64_t only_name(const Layout& a) {
  if (!a.names) return 0;
  const std::vector<Tuple> flat = leaves(*a.names);
  const bool same =
      std::all_of(flat.begin(), flat.end(), [&](const Tuple& n) { return n == flat[0]; });
  return same ? flat[0].value().value() : 0;
}

ModeNames refined_names(const Tuple& shape, const Layout& b) {
  if (!b.names || !is_refinement(shape, b.shape)) return nullptr;
  return mode_names(refine(shape, b.shape, *b.names));
}

ModeNames same_names(const Tuple& shape, int64_t number) {
  return number == 0 ? nullptr : mode_names(repeat_like(shape, number));
}

Layout with_mode_names(Layout a, const Tuple& names) {
  if (!is_refinement(a.shape, names)) {
    throw refusal("mode-names",
                  "there are names for " + std::to_string(names.rank()) +
                      " modes, and the shape is " + a.shape.to_string(),
                  "a name for each mode, nested as the shape or less");
  }
  a.names = mode_names(refine(a.shape, names, names));
  return a;
}

std::optional<int> mode_named(const Layout& a, const std::string& name) {
  std::optional<int> found;
  for (int k = 0; k < a.rank(); ++k) {
    if (only_name(a[k]) == 0 || name_of_number(only_name(a[k])) != name) continue;
    if (found) return std::nullopt;
    found = k;
  }
  return found;
}

}  // namespace lay
