#include "tests/fuzz/world.h"

namespace fuzz {

using lay::Int;
using lay::Layout;
using lay::Tuple;

World::World(laws::Random& random) : random_(random) {
  const char* names[] = {"M", "N", "K"};
  for (int64_t i = random.in(1, 3); i > 0; --i) {
    Symbol s{facts_.dim(names[symbols_.size()]), names[symbols_.size()], 1, 1, 6};
    if (random.once_in(2)) s.multiple = random.in(2, 4);
    if (random.once_in(4)) s.lower = random.in(2, 4);
    if (random.once_in(4)) s.upper = random.in(s.lower, 8);
    s.upper = std::max(s.upper, (s.lower + s.multiple - 1) / s.multiple * s.multiple);
    if (s.multiple > 1) facts_.assume(divides(s.dim, s.multiple));
    if (s.lower > 1) facts_.assume(less_equal(s.lower, s.dim));
    if (random.once_in(4)) facts_.assume(less_equal(s.dim, s.upper));
    symbols_.push_back(s);
  }
  if (symbols_.size() < 2 || !random.once_in(2)) return;
  const Int &a = symbols_[0].dim, &b = symbols_[1].dim;
  const lay::Predicate relations[] = {less_equal(a, b), equal(a, b), divides(b, a), not_equal(a, b),
                                      less(a * 2, b * 3)};
  try {
    facts_.assume(relations[random.in(0, 4)]);
  } catch (const lay::Refusal&) {  // it contradicts the others: not assumed
  }
}

const World::Symbol& World::any() {
  return symbols_[static_cast<size_t>(random_.in(0, static_cast<int64_t>(symbols_.size()) - 1))];
}

Int World::extent() {
  const Symbol& s = any();
  switch (random_.in(0, 9)) {
    case 0:
    case 1:
    case 2:
      return random_.in(1, 6);
    case 3:
    case 4:
    case 5:
      return s.dim;
    case 6:
      return s.dim * random_.in(2, 3);
    case 7:
      return divided(s.dim, s.multiple);
    case 8:
      return facts_.ceil_div(s.dim, random_.in(2, 4));
    default:
      return s.dim * any().dim;
  }
}

Int World::stride() {
  if (random_.once_in(8)) return 0;
  return random_.once_in(3) ? Int(random_.in(1, 12)) : extent() * random_.in(1, 2);
}

Tuple World::shape(int leaves) {
  if (leaves == 1) return extent();
  std::vector<Tuple> modes;
  for (int i = 0; i < leaves; ++i) {
    if (leaves > 2 && i == 0 && random_.once_in(3)) {
      modes.emplace_back(std::vector<Tuple>{extent(), extent()});
      ++i;
    } else {
      modes.emplace_back(extent());
    }
  }
  return Tuple(std::move(modes));
}

Layout World::layout(int leaves) {
  const Tuple dims = shape(leaves);
  const int64_t kind = random_.in(0, 5);
  if (kind < 2) return make_layout(dims);
  if (kind == 2) return make_layout_right(dims);
  Int next = 1;
  return Layout(dims, transform(dims, [&](const Tuple& extent) -> Tuple {
                  if (kind == 5) return stride();
                  const Int here = next;
                  next = kind == 3 || !random_.once_in(3)
                             ? next * extent.value()
                             : (next * extent.value()) + random_.in(0, 3);
                  return kind == 3 && random_.once_in(4) ? Int(0) : here;
                }));
}

std::optional<lay::Binding> World::sample() {
  for (int attempt = 0; attempt < 30; ++attempt) {
    lay::Binding at;
    for (const Symbol& s : symbols_) {
      at[*s.dim.dim_id()] =
          std::max<int64_t>(1, (random_.in(s.lower, s.upper) + s.multiple - 1) / s.multiple) *
          s.multiple;
    }
    bool allowed = true;
    for (const lay::Predicate& fact : facts_.assumptions()) allowed &= fact.evaluate(at) == true;
    if (allowed) return at;
  }
  return std::nullopt;
}

std::map<lay::DimId, Int> World::replacement(const lay::Binding& at) {
  std::map<lay::DimId, Int> map;
  for (const auto& [id, value] : at) map[id] = value;
  return map;
}

std::string World::to_string(const lay::Binding& at) const {
  std::string text;
  for (const Symbol& s : symbols_)
    text += (text.empty() ? "" : ", ") + s.name + " = " + std::to_string(at.at(*s.dim.dim_id()));
  for (const lay::Predicate& fact : facts_.assumptions()) text += ", " + fact.to_string();
  return text;
}

}  // namespace fuzz
