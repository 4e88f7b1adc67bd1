// Random operations on composed layouts (a swizzle after a layout or before one) and tile_to_shape,
// by definition.

#include <algorithm>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rows.h"
#include "tests/laws/oracle.h"

namespace fuzz {
namespace {

using namespace laws;
using lay::Composed;
using lay::Facts;
using lay::Int;
using lay::Layout;
using lay::Refusal;
using lay::Swizzle;
using lay::Tuple;

// XOR by the definition, bit by bit.
int64_t swizzled(const Swizzle& s, int64_t x) {
  int64_t result = x;
  for (int64_t k = 0; k < s.b; ++k) {
    const int64_t from = s.m + k + std::max<int64_t>(0, s.s),
                  to = s.m + k - std::min<int64_t>(0, s.s);
    if (x >> from & 1) result ^= int64_t{1} << to;
  }
  return result;
}

// A composed layout at a 1-D index.
int64_t at(const Composed& c, int64_t index) {
  const int64_t offset = c.offset.value().value();
  const auto* after = std::get_if<Layout>(&c.inner);
  const int64_t inner =
      offset + (after ? Plain(*after)(index) : swizzled(std::get<Swizzle>(c.inner), index));
  const auto* swizzle = std::get_if<Swizzle>(&c.outer);
  return swizzle ? swizzled(*swizzle, inner) : Plain(std::get<Layout>(c.outer))(inner);
}

int64_t at(const lay::AnyLayout& a, int64_t index) {
  return std::visit(
      [&](const auto& x) {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Layout>)
          return Plain(x)(index);
        else
          return at(x, index);
      },
      a);
}

// Compact with power-of-two extents, as layouts under a swizzle are; now and then any.
Layout random_base(Random& random) {
  if (random.once_in(3)) {
    while (true) {
      const Tuple shape = laws::random_shape(random, 2, 6);
      if (size(shape).value() <= 100) return laws::random_layout(random, shape);
    }
  }
  std::vector<Tuple> modes;
  for (int64_t i = random.in(1, 3); i > 0; --i) modes.push_back(int64_t{1} << random.in(0, 3));
  const Tuple shape(std::move(modes));
  return random.once_in(2) ? lay::make_layout(shape) : lay::make_layout_right(shape);
}

template <typename Run, typename Due>
Outcome same_values(Report& report, int64_t count, const Run& run, const Due& expected,
                    bool possible) {
  try {
    const lay::AnyLayout r = run();
    report.text += " gives " + to_string(r);
    for (int64_t i = 0; i < count; ++i) {
      if (at(r, i) != expected(i)) return Outcome::wrong;
    }
    return Outcome::right;
  } catch (const Refusal& refusal) {
    report.text += " is refused: " + refusal.code + ": " + refusal.message;
    return possible ? Outcome::missed : Outcome::refused;
  }
}

Outcome left_case(Random& random, Report& report) {
  Facts facts;
  const Swizzle s = random_swizzle(random);
  const Layout a = random_base(random), b = random_base(random);
  const int64_t offset = random.once_in(2) ? 0 : random.in(0, 40);
  const Composed c{s, offset, a};
  report.text = c.to_string() + " o " + b.to_string();
  return same_values(
      report, Plain(b).size(), [&]() -> lay::AnyLayout { return composition(facts, c, b); },
      [&](int64_t i) { return swizzled(s, offset + Plain(a)(Plain(b)(i))); }, can_compose(a, b));
}

Outcome right_case(Random& random, Report& report) {
  Facts facts;
  const Swizzle s = random_swizzle(random);
  const Layout a = random_base(random), inner = random_base(random);
  const int64_t offset = random.once_in(2) ? 0 : random.in(0, 16);
  if (random.once_in(2)) {
    report.text = a.to_string() + " o " + s.to_string();
    return same_values(
        report, Plain(a).size(), [&]() -> lay::AnyLayout { return composition(facts, a, s); },
        [&](int64_t i) { return Plain(a)(swizzled(s, i)); }, true);
  }
  const Composed c{s, offset, inner};
  report.text = a.to_string() + " o " + c.to_string();
  return same_values(
      report, Plain(inner).size(), [&] { return composition(facts, a, c); },
      [&](int64_t i) { return Plain(a)(swizzled(s, offset + Plain(inner)(i))); }, false);
}

// Both sides are composed already, or one is and the other a swizzle.
Composed random_composed(Random& random, Facts& facts) {
  const Layout a = random_base(random);
  if (random.once_in(3)) return composition(facts, a, random_swizzle(random));
  return {random_swizzle(random), random.once_in(3) ? random.in(0, 16) : 0, a};
}

Outcome both_case(Random& random, Report& report) {
  Facts facts;
  const Composed a = random_composed(random, facts), b = random_composed(random, facts);
  const Swizzle s = random_swizzle(random);
  const auto* of_b = std::get_if<Layout>(&b.inner);
  const int64_t size_of_b = Plain(of_b ? *of_b : std::get<Layout>(b.outer)).size();
  const auto* of_a = std::get_if<Layout>(&a.inner);
  switch (random.in(0, 2)) {
    case 0:
      report.text = a.to_string() + " o " + s.to_string();
      return same_values(
          report, Plain(of_a ? *of_a : std::get<Layout>(a.outer)).size(),
          [&]() -> lay::AnyLayout { return composition(facts, a, s); },
          [&](int64_t i) { return at(a, swizzled(s, i)); }, false);
    case 1:
      report.text = s.to_string() + " o " + b.to_string();
      return same_values(
          report, size_of_b, [&]() -> lay::AnyLayout { return composition(facts, s, b); },
          [&](int64_t i) { return swizzled(s, at(b, i)); }, false);
    default:
      report.text = a.to_string() + " o " + b.to_string();
      return same_values(
          report, size_of_b, [&] { return composition(facts, a, b); },
          [&](int64_t i) { return at(a, at(b, i)); }, false);
  }
}

Outcome inverse_case(Random& random, Report& report) {
  Facts facts;
  const Composed c{random_swizzle(random), 0, random_base(random)};
  const Layout& inner = c.layout();
  const bool left = random.once_in(2);
  report.text = (left ? "left_inverse of " : "right_inverse of ") + c.to_string();
  try {
    const Composed r = left ? left_inverse(facts, c) : right_inverse(facts, c);
    report.text += " gives " + r.to_string();
    if (left) {
      for (int64_t i = 0; i < Plain(inner).size(); ++i) {
        if (at(c, at(r, at(c, i))) != at(c, i)) return Outcome::wrong;
      }
      return Outcome::right;
    }
    const auto* outer = std::get_if<Layout>(&r.outer);
    const int64_t count = outer ? Plain(*outer).size() : Plain(r.layout()).size();
    for (int64_t i = 0; i < count; ++i) {
      if (at(c, at(r, i)) != i) return Outcome::wrong;
    }
    return Outcome::right;
  } catch (const Refusal& refusal) {
    report.text += " is refused: " + refusal.code + ": " + refusal.message;
    if (!left) return Outcome::missed;
    const std::vector<int64_t> all = Plain(inner).values();
    const bool searched =
        *std::max_element(all.begin(), all.end()) < 200;  // beyond that every cut takes too long
    return searched && can_left_invert(inner) ? Outcome::missed : Outcome::refused;
  }
}

// n neighbours are one word: the words of the elements that begin one, the elements of the words.
Outcome cast_case(Random& random, Report& report) {
  const Swizzle s = random_swizzle(random);
  const int64_t n = int64_t{1} << random.in(0, 3);
  const bool up = random.once_in(2);
  report.text = (up ? "upcast of " : "downcast of ") + s.to_string() + " by " + std::to_string(n);
  try {
    const Swizzle r = up ? upcast(s, n) : downcast(s, n);
    report.text += " gives " + r.to_string();
    for (int64_t x = 0; x < 1024; ++x) {
      if (up ? swizzled(s, x - x % n) / n != swizzled(r, x / n)
             : swizzled(r, x) != swizzled(s, x / n) * n + x % n) {
        return Outcome::wrong;
      }
    }
    return Outcome::right;
  } catch (const Refusal& refusal) {
    report.text += " is refused: " + refusal.code + ": " + refusal.message;
    return Outcome::missed;
  }
}

// Element x of mode k is element x % s of block x / s, and blocks stand in order where the
// complement leaves room.
Outcome tile_case(Random& random, Report& report) {
  Facts facts;
  const int64_t rank = random.in(1, 2);
  std::vector<Tuple> block, target, order;
  for (int64_t k = 0; k < rank; ++k) {
    block.push_back(random.in(1, 4));
    target.push_back(random.once_in(4) ? Int(random.in(1, 12))
                                       : block.back().value() * random.in(1, 4));
    order.push_back(k);
  }
  if (rank == 2 && random.once_in(2)) std::swap(order[0], order[1]);
  const Layout a = laws::random_layout(random, Tuple(block));
  const Tuple shape(target), by(order);
  report.text = "tile_to_shape of " + a.to_string() + " to " + shape.to_string() + " in order " +
                by.to_string();
  std::vector<int64_t> extents, blocks;
  int64_t count = 1, copies = 1;
  bool divides = true;
  for (size_t k = 0; k < block.size(); ++k) {
    const int64_t s = block[k].value().value(), t = target[k].value().value();
    divides = divides && t % s == 0;
    extents.push_back(s);
    blocks.push_back(t / s);
    count *= t;
    copies *= t / s;
  }
  const auto places = divides ? places_for(a, Layout(copies, 1)) : std::nullopt;
  try {
    const Layout r = tile_to_shape(facts, a, shape, by);
    report.text += " gives " + r.to_string();
    if (!divides || !places || Plain(r).size() != count) return Outcome::wrong;
    for (int64_t i = 0; i < count; ++i) {
      std::vector<int64_t> number(block.size());
      int64_t rest = i, inside = 0, step = 1;
      for (size_t k = 0; k < block.size(); ++k) {
        const int64_t x = rest % (extents[k] * blocks[k]);
        rest /= extents[k] * blocks[k];
        inside += step * (x % extents[k]);
        step *= extents[k];
        number[k] = x / extents[k];
      }
      int64_t which = 0;
      for (size_t j = block.size(); j-- > 0;) {
        const auto k = static_cast<size_t>(
            std::find(order.begin(), order.end(), Tuple(static_cast<int64_t>(j))) - order.begin());
        which = which * blocks[k] + number[k];
      }
      if (Plain(r)(i) != Plain(a)(inside) + Plain(*places)(which)) return Outcome::wrong;
    }
    return Outcome::right;
  } catch (const Refusal& refusal) {
    report.text += " is refused: " + refusal.code + ": " + refusal.message;
    if (!divides) return Outcome::refused;
    std::vector<Tuple> strides(block.size());
    int64_t step = 1;
    for (size_t j = 0; j < block.size(); ++j) {
      const auto k = static_cast<size_t>(
          std::find(order.begin(), order.end(), Tuple(static_cast<int64_t>(j))) - order.begin());
      strides[k] = step;
      step *= blocks[k];
    }
    const Layout tiles(Tuple(std::vector<Tuple>(blocks.begin(), blocks.end())), Tuple(strides));
    return places && can_compose(*places, tiles) ? Outcome::missed : Outcome::refused;
  }
}

constexpr Row kRows[] = {
    {"swizzle o layout", 10, left_case},    {"layout o swizzle", 10, right_case},
    {"composed o composed", 10, both_case}, {"composed inverses", 6, inverse_case},
    {"cast of a swizzle", 4, cast_case},    {"tile_to_shape", 10, tile_case},
};

}  // namespace

std::span<const Row> swizzled_rows() {
  return kRows;
}

}  // namespace fuzz
