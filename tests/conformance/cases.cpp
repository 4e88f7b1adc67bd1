#include "tests/conformance/cases.h"

#include <fstream>
#include <map>
#include <stdexcept>

namespace conformance {

using namespace lay;

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    const Json j = Json::parse(line);
    cases.push_back({j.at("id"), j.at("op"), j.at("in"), j.at("args"), j.at("static"),
                     j.contains("dynamic_differs")});
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
  if (j.is_string())
    return j.get<std::string>() == "_" ? Tuple::underscore() : as_basis(j.get<std::string>());
  std::vector<Tuple> modes;
  for (const Json& mode : j) modes.push_back(as_tuple(mode));
  return Tuple(std::move(modes));
}

Layout as_layout(const Json& j) {
  if (j.contains("identity_shape")) return make_identity_layout(as_tuple(j.at("identity_shape")));
  return Layout(as_tuple(j.at("shape")), as_tuple(j.at("stride")));
}

Composed as_composed(const Json& j) {
  const Json& inner = j.contains("layout") ? j.at("layout") : j;
  return composition(as_swizzle(j), as_tuple(j.at("offset")), as_layout(inner));
}

Tiler as_tiler(const Json& j) {
  if (j.is_object()) return as_layout(j);
  if (!j.is_array()) return Tiler::of(as_tuple(j));
  std::vector<Tiler> modes;
  for (const Json& mode : j) modes.push_back(as_tiler(mode));
  return Tiler(std::move(modes));
}

bool is_composed(const Json& j) {
  return j.contains("swizzle") && (j.contains("layout") || j.contains("shape"));
}

Swizzle as_swizzle(const Json& j) {
  const std::vector<int64_t> s = j.at("swizzle");
  return Swizzle(s.at(0), s.at(1), s.at(2));
}

std::string Case::describe() const {
  return id + " " + Json(in).dump() + " " + args.dump();
}

std::string Outcome::to_string() const {
  if (const auto* a = std::get_if<AnyLayout>(&result)) return lay::to_string(*a);
  if (const auto* t = std::get_if<Tuple>(&result)) return t->to_string();
  return std::get<Swizzle>(result).to_string();
}

namespace {

// The parts of a coordinate that are not 0, by their place.
void collect(const Tuple& t, std::vector<int>& path, std::map<std::vector<int>, int64_t>& parts) {
  if (t.is_leaf()) {
    std::vector<int> place = path;
    place.insert(place.end(), t.path().begin(), t.path().end());
    if (!t.is_literal(0)) parts[place] = t.value().value();
    return;
  }
  for (int k = 0; k < t.rank(); ++k) {
    path.push_back(k);
    collect(t[k], path, parts);
    path.pop_back();
  }
}

}  // namespace

bool same_value(const Tuple& a, const Tuple& b) {
  std::vector<int> path;
  std::map<std::vector<int>, int64_t> parts_of_a, parts_of_b;
  collect(a, path, parts_of_a);
  collect(b, path, parts_of_b);
  return parts_of_a == parts_of_b;
}

namespace {

// All values of a partition: thread 0's are those of its layout, the others' begin at their bases.
// `member` ends in the tensor's shape: "C(64,32)".
std::vector<int64_t> table_of(const Json& e, const std::string& member) {
  const int64_t rows = std::stoll(member.substr(member.find('(') + 1));
  Facts facts;
  const Layout part = as_layout(e);
  const std::vector<int64_t> bases = e.at("bases");
  std::vector<int64_t> all;
  for (int64_t v = 0; v < size(part).value(); ++v) {
    const std::vector<Tuple> at = leaves(add(evaluate(facts, part, v), 0));
    const int64_t first =
        at[0].value().value() + (at.size() > 1 ? rows * at[1].value().value() : 0);
    for (const int64_t base : bases) all.push_back(base + first);
  }
  return all;
}

}  // namespace

std::optional<Outcome> expected_of(const Case& c) {
  const Json& e = c.expected;
  if (e.contains("error") || e.contains("crash")) return std::nullopt;
  if (e.contains("value")) return Outcome{as_tuple(e.at("value")), 0, {}};
  if (!e.contains("shape") && !e.contains("inner_swizzle")) {
    return Outcome{as_swizzle(e), 0, {}};
  }
  // Extents below 1, from negative strides: no layouts.
  for (const Tuple& extent : leaves(as_tuple(e.at("shape")))) {
    if (extent.value().value() < 1) return std::nullopt;
  }
  Outcome outcome{
      e.contains("swizzle") ? AnyLayout(as_composed(e)) : AnyLayout(as_layout(e)), 0, {}};
  if (e.contains("bases")) outcome.table = table_of(e, c.args.at("member"));
  if (e.contains("slice_offset")) outcome.offset = as_tuple(e.at("slice_offset"));
  return outcome;
}

}  // namespace conformance
