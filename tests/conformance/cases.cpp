#include "tests/conformance/cases.h"

#include <fstream>
#include <stdexcept>

namespace conformance {

using namespace lay;

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    const Json j = Json::parse(line);
    cases.push_back({j.at("id"), j.at("op"), j.at("in"), j.at("args"), j.at("static")});
  }
  return cases;
}

namespace {

// "2@0@1": value 2, path outermost first {1,0}.
Tuple as_basis(const std::string& text) {
  std::vector<int> path;
  size_t at = text.find('@');
  const Int value = std::stoll(text.substr(0, at));
  while (at != std::string::npos) {
    const size_t next = text.find('@', at + 1);
    path.insert(path.begin(), std::stoi(text.substr(at + 1, next - at - 1)));
    at = next;
  }
  return Tuple::basis(value, path);
}

}  // namespace

Tuple as_tuple(const Json& j) {
  if (j.is_number_integer()) return j.get<int64_t>();
  if (j.is_string()) return j.get<std::string>() == "_" ? Tuple::underscore() : as_basis(j.get<std::string>());
  std::vector<Tuple> modes;
  for (const Json& mode : j) modes.push_back(as_tuple(mode));
  return Tuple(std::move(modes));
}

Layout as_layout(const Json& j) {
  if (j.contains("identity_shape")) return make_identity_layout(as_tuple(j.at("identity_shape")));
  return Layout(as_tuple(j.at("shape")), as_tuple(j.at("stride")));
}

Composed as_composed(const Json& j) {
  const std::vector<int64_t> s = j.at("swizzle");
  const Json& inner = j.contains("layout") ? j.at("layout") : j;
  return composition(Swizzle(s.at(0), s.at(1), s.at(2)), as_tuple(j.at("offset")), as_layout(inner));
}

Tiler as_tiler(const Json& j) {
  if (j.is_object()) return as_layout(j);
  if (!j.is_array()) return Tiler::of(as_tuple(j));
  std::vector<Tiler> modes;
  for (const Json& mode : j) modes.push_back(as_tiler(mode));
  return Tiler(std::move(modes));
}

std::optional<Outcome> expected_of(const Case& c) {
  const Json& e = c.expected;
  if (e.contains("error") || e.contains("crash")) return std::nullopt;
  if (e.contains("value")) return Outcome{as_tuple(e.at("value"))};
  if (!e.contains("shape") && !e.contains("inner_swizzle")) {
    const std::vector<int64_t> s = e.at("swizzle");
    return Outcome{Swizzle(s.at(0), s.at(1), s.at(2))};
  }
  // Extents below 1, from negative strides: no layouts.
  for (const Tuple& extent : leaves(as_tuple(e.at("shape")))) {
    if (extent.value().value() < 1) return std::nullopt;
  }
  Outcome outcome{e.contains("swizzle") ? AnyLayout(as_composed(e)) : AnyLayout(as_layout(e))};
  if (e.contains("slice_offset")) outcome.offset = as_tuple(e.at("slice_offset"));
  return outcome;
}

Tuple Lift::lift(const Tuple& t) {
  return transform(t, [&](const Tuple& leaf) -> Tuple {
    if (!leaf.is_int() || leaf.value().value() < 2) return leaf;
    const int64_t n = leaf.value().value();
    const auto [it, fresh] = symbols_.try_emplace(n);
    if (fresh) {
      it->second = facts_.dim("D" + std::to_string(n));
      for (const auto& [m, symbol] : symbols_) {
        if (m < n && n % m == 0) facts_.assume(divides(it->second, symbol));
        if (m > n && m % n == 0) facts_.assume(divides(symbol, it->second));
      }
    }
    return it->second;
  });
}

Layout Lift::lift(const Layout& a) {
  return Layout(lift(a.shape), strides_ ? lift(a.stride) : a.stride);
}

Tiler Lift::lift(const Tiler& t) {
  if (const Layout* layout = std::get_if<Layout>(&t.value)) return lift(*layout);
  if (const Int* n = std::get_if<Int>(&t.value)) return lift(Tuple(*n)).value();
  if (std::holds_alternative<Tiler::Keep>(t.value)) return t;
  std::vector<Tiler> modes;
  for (const Tiler& mode : std::get<std::vector<Tiler>>(t.value)) modes.push_back(lift(mode));
  return Tiler(std::move(modes));
}

Layout Lift::lower(const Layout& a) const {
  std::map<DimId, Int> numbers;
  for (const auto& [n, symbol] : symbols_) numbers[*symbol.dim_id()] = n;
  return substitute(a, numbers);
}

bool Lift::hold(const std::vector<Guard>& guards) const {
  Binding binding;
  for (const auto& [n, symbol] : symbols_) binding[*symbol.dim_id()] = n;
  for (const Guard& guard : guards) {
    if (either(negate(guard.path), guard.predicate).evaluate(binding) != true) return false;
  }
  return true;
}

}  // namespace conformance
