// Element widths: upcast, downcast, recast.

#include <bit>
#include <map>
#include <numeric>

#include "frontend/algebra/composition/compose.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/repair.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

void check_factor(const char* name, const Int& n) {
  if (n.is_literal() && n.value() < 1) {
    throw refusal("factor",
                  std::string(name) + " by " + n.to_string() + ": the factor is at least 1");
  }
}

bool negative(const Int& d) {
  return d.is_literal() && d.value() < 0;
}

struct Pair {
  Tuple shape;
  Tuple stride;
};

// f on every mode s:d, rebuilt in the same nesting.
template <typename OneMode>
// A mode may become several, (2,3) in place of 6: names of modes follow by `refined_names`.
Layout each_mode(const Layout& a, const OneMode& one) {
  const std::function<Pair(const Tuple&, const Tuple&)> all = [&](const Tuple& shape,
                                                                  const Tuple& stride) -> Pair {
    if (shape.is_leaf()) return one(shape.value(), stride);
    std::vector<Tuple> shapes, strides;
    for (int i = 0; i < shape.rank(); ++i) {
      Pair mode = all(shape[i], stride[i]);
      shapes.push_back(std::move(mode.shape));
      strides.push_back(std::move(mode.stride));
    }
    return {Tuple(std::move(shapes)), Tuple(std::move(strides))};
  };
  Pair result = all(a.shape, a.stride);
  const ModeNames names = refined_names(result.shape, a);
  return Layout(std::move(result.shape), std::move(result.stride), a.units, names);
}

using trace::Casting;

Pair report_cast(Casting how, const Pair& from, Pair to, const Int& factor) {
  trace::report([&] {
    return trace::Cast{how, {from.shape.value(), from.stride}, Layout(to.shape, to.stride), factor};
  });
  return to;
}

// One mode s:d with d >= 0 in words of n elements: the mode, and how far into a word its elements
// reach.
//     8:1 in words of 4      2:1, elements reach 3 into a word
//     8:2 in words of 4      4:1, they reach 2
//     8:4 in words of 4      8:1, they reach 0: every element begins a word
struct Words {
  Casting how;
  Tuple extent;
  Tuple stride;
  Int reach = 0;
};

// The distinct words floor(i*d/n) of a literal mode whose step neither divides n nor is divided by
// it, where they are those of a layout.
//     4:3 in words of 2      elements 0 3 6 9, words 0 1 3 4: (2,2):(1,3)
std::optional<Words> listed_words(int64_t s, int64_t d, int64_t n) {
  // i*d stays below 2^63 for all i.
  if (s > most_listed || d > INT64_MAX / s) return std::nullopt;
  std::vector<int64_t> words{0};
  int64_t reach = 0;
  for (int64_t i = 1; i < s; ++i) {
    reach = std::max(reach, i * d % n);
    if (i * d / n != words.back()) words.push_back(i * d / n);
  }
  const auto modes = fit(words);
  if (!modes) return std::nullopt;
  const Layout fitted = from_modes(*modes, {});
  return Words{Casting::listed, fitted.shape, fitted.stride, reach};
}

// A literal step that neither divides n nor is divided by it comes round after p = n/gcd(n,d)
// elements, d/gcd(n,d) words on: the words of one round, if they are those of a layout, and the
// rounds. That p divides the count is guarded.
std::optional<Words> rounds_of_words(Facts& facts, const Int& s, int64_t d, int64_t n) {
  const int64_t common = std::gcd(n, d), round = n / common;
  const auto one = listed_words(round, d, n);
  if (!one || !facts.try_require(divides(s, round), "upcast")) return std::nullopt;
  const Layout words = coalesce(facts, Layout(concatenate(one->extent, divided(s, round)),
                                              concatenate(one->stride, Tuple(d / common))));
  return Words{Casting::rounds, words.shape, words.stride, one->reach};
}

// The stride is a multiple of the word, or a part of one, or with numbers whatever the list of
// words says.
std::optional<Words> in_words(Facts& facts, const Int& s, const Int& d, const Int& n) {
  if (d.is(0) || s.is(1)) return Words{Casting::still, s, 0};
  const auto part_of_a_word = [&]() -> Words {
    const Int count = divided(n, d);
    return {Casting::shrunk, facts.ceil_div(s, count), 1, (facts.min(s, count) - 1) * d};
  };
  if (facts.proves(divides(d, n))) return Words{Casting::divided, s, divided(d, n)};
  if (facts.proves(divides(n, d))) return part_of_a_word();
  if (d.is_literal() && n.is_literal()) {
    return s.is_literal() ? listed_words(s.value(), d.value(), n.value())
                          : rounds_of_words(facts, s, d.value(), n.value());
  }
  // Symbols that are not known to divide either way: whole words first, as a row pitch usually has.
  if (facts.try_require(divides(d, n), "upcast")) return Words{Casting::divided, s, divided(d, n)};
  if (facts.try_require(divides(n, d), "upcast")) return part_of_a_word();
  return std::nullopt;
}

Unit of_type(const Unit& unit, ElementType type) {
  return bits(unit) > 0 || unit.counts == Counts::none ? elements_of(type) : unit;
}

// Casting by 2^k moves all bits of a swizzle by k places.
int64_t power_of_two(const char* name, const Swizzle& s, int64_t n) {
  if (n < 1 || !std::has_single_bit(static_cast<uint64_t>(n))) {
    throw refusal("swizzle-power", std::string(name) + " of " + s.to_string() + " by " +
                                       std::to_string(n) +
                                       ": a swizzle moves bits, so the factor is a power of two");
  }
  return std::countr_zero(static_cast<uint64_t>(n));
}

std::variant<Swizzle, Layout> outer_cast(Facts& facts, const std::variant<Swizzle, Layout>& outer,
                                         const Int& n, bool up) {
  if (const Layout* layout = std::get_if<Layout>(&outer))
    return up ? upcast(facts, *layout, n) : downcast(facts, *layout, n);
  if (!n.is_literal()) throw refusal("symbolic", "a swizzle is recast by a literal factor only");
  const Swizzle& s = std::get<Swizzle>(outer);
  return up ? upcast(s, n.value()) : downcast(s, n.value());
}

struct Ratio {
  int64_t up;
  int64_t down;
};

//     16 -> 32 bits: up 2, down 1     6 -> 8 bits: up 4, down 3
Ratio ratio_of(int from_bits, int to_bits) {
  if (from_bits < 1 || to_bits < 1)
    throw refusal("factor", "recast needs element widths of at least one bit");
  const int common = std::gcd(from_bits, to_bits);
  return {to_bits / common, from_bits / common};
}

}  // namespace

namespace {

struct Upcast {
  std::optional<Layout> words;
  std::string why;  // where there is none
};

// Word of a sum = sum of words, floor((x + y)/n) == floor(x/n) + floor(y/n), holds where what is
// left of x and y together stays below n. So modes may each end inside a word, if together they do
// not reach its end.
Upcast try_upcast(Facts& facts, const Layout& a, const Int& n) {
  std::map<std::vector<int>, std::pair<Int, int>>
      inside;  // how far modes together reach into a word, and how many do
  std::string why;
  Layout result = each_mode(a, [&](const Int& extent, const Tuple& stride) -> Pair {
    // A mode that steps down is cast as its mirror image.
    const bool down = negative(stride.value());
    const auto words = in_words(facts, extent, down ? -stride.value() : stride.value(), n);
    if (!words) {
      why = "the stride " + stride.to_string() + " is no multiple of " + n.to_string() +
            " and does not divide it";
      return {extent, stride};
    }
    if (!words->reach.is(0)) {
      auto& [reach, modes] = inside[stride.path()];
      reach += words->reach;
      ++modes;
    }
    const Tuple step = transform(words->stride, [&](const Tuple& d) {
      return Tuple::basis(down ? -d.value() : d.value(), stride.path());
    });
    return report_cast(words->how, {extent, stride}, {words->extent, step}, n);
  });
  for (const auto& [path, used] : inside) {
    // One mode alone stays within a word by construction.
    if (!why.empty() || used.second < 2 || facts.try_require(less(used.first, n), "upcast"))
      continue;
    why = "together its modes reach " + used.first.to_string() +
          " elements into a word, and it has " + n.to_string();
  }
  if (!why.empty()) return {std::nullopt, why};
  return {result, {}};
}

// The first element whose word is not the sum of what its modes step to, where each steps evenly
// through its words.
// For each mode the word that each digit steps to; where the sum over the modes is not the word of
// the sum, that coordinate shows why there is no layout.
std::optional<Counterexample> wrong_word(Facts& facts, const Layout& a, int64_t n) {
  if (a.has_basis()) return std::nullopt;
  const std::vector<Mode> modes = flat_modes(a);
  int64_t count = 1;
  for (const Mode& mode : modes) {
    const int64_t s = mode.extent.value(), d = mode.stride.value().value();
    if (d < 0 || d > (INT64_MAX >> 24) / s || __builtin_mul_overflow(count, s, &count) ||
        count > most_listed) {
      return std::nullopt;
    }
  }
  std::vector<std::vector<int64_t>> stepped;  // by mode and digit
  for (const Mode& mode : modes) {
    const int64_t s = mode.extent.value(), d = mode.stride.value().value();
    std::vector<int64_t> words{0};
    for (int64_t i = 1; i < s; ++i) {
      if (i * d / n != words.back()) words.push_back(i * d / n);
    }
    const bool even = fit(words).has_value();
    stepped.emplace_back();
    for (int64_t i = 0, place = 0; i < s; ++i) {
      if (static_cast<size_t>(place) + 1 < words.size() &&
          i * d / n == words[static_cast<size_t>(place) + 1])
        ++place;
      stepped.back().push_back(even ? i * d / n : place * words[1]);
    }
  }
  for (int64_t index = 0; index < count; ++index) {
    int64_t rest = index, element = 0, word = 0;
    for (size_t k = 0; k < modes.size(); ++k) {
      const int64_t s = modes[k].extent.value(), digit = rest % s;
      rest /= s;
      element += digit * modes[k].stride.value().value();
      word += stepped[k][static_cast<size_t>(digit)];
    }
    if (word == element / n) continue;
    Counterexample w;
    w.index = index;
    if (!a.shape.is_leaf()) w.coordinate = idx2crd(facts, index, a.shape).to_string();
    w.expected = std::to_string(element / n);
    w.got = std::to_string(word);
    return w;
  }
  return std::nullopt;
}

// With what was tried and works: strides rounded up to whole words, fewer elements a word.
Refusal refuse_upcast(const Facts& known, const Layout& a, const Int& n, const std::string& why) {
  Refusal r = refusal("upcast", "upcast of " + a.to_string() + " by " + n.to_string() + ": " + why);
  r.operands = {a.to_string(), n.to_string()};
  if (!a.is_known() || !n.is_literal()) {
    const auto at_sizes = [&](Facts& plain, const Numbers& numbers) {
      const auto small = small_at(a, numbers);
      const Int factor = n.substitute(numbers);
      if (!small || !factor.is_literal() || factor.value() < 1) return false;
      static_cast<void>(upcast(plain, *small, factor));
      return true;
    };
    show_sizes(known, {a, Layout(1, n)}, at_sizes, r);
    return r;
  }
  const trace::Quiet trials;
  Facts facts;
  r.witness = wrong_word(facts, a, n.value());
  const Layout padded(a.shape, transform(a.stride, [&](const Tuple& d) -> Tuple {
                        if (negative(d.value()) || divides(n, max(d.value(), 1)).is_always())
                          return d;
                        return Tuple::basis(ceil_div(d.value(), n) * n, d.path());
                      }));
  if (try_upcast(facts, padded, n).words) r.works.push_back("the layout as " + padded.to_string());
  // At most 64 narrower words are tried.
  for (int64_t fewer = n.value() - 1; fewer > 1 && fewer > n.value() - 64; --fewer) {
    if (!try_upcast(facts, a, fewer).words) continue;
    r.works.push_back("upcast by " + std::to_string(fewer));
    break;
  }
  return r;
}

}  // namespace

namespace {

// Words of n elements, or nths of one, are no longer what the layout counted: recast says what they
// are.
// Cast by a number, not from type to type: what the result counts has no name.
Layout in_other_words(Layout a) {
  a.units.codomain = {};
  return a;
}

}  // namespace

Layout upcast(Facts& facts, const Layout& a, const Int& n) {
  check_factor("upcast", n);
  if (n.is(1)) return a;
  trace::Operation operation("upcast", a, n);
  Upcast upcast = try_upcast(facts, a, n);
  if (!upcast.words) throw refuse_upcast(facts, a, n, upcast.why);
  return operation.gives(in_other_words(std::move(*upcast.words)));
}

namespace {

// The leaf that holds neighbours: of stride 1 or -1, if possible of more than one element; else one
// of a single element, whose stride is never used.
// downcast makes n neighbours of each element, so one mode must hold neighbours: that of stride 1
// grows n times longer, and all other strides n times larger.
std::optional<size_t> neighbours(const Facts& facts, const Layout& a) {
  const std::vector<Mode> modes = flat_modes(a);
  std::optional<size_t> found;
  int best = 0;
  for (size_t i = 0; i < modes.size(); ++i) {
    const Int& d = modes[i].stride.value();
    const bool unit = d.is(1) || d.is(-1) || (!d.is_literal() && facts.proves(equal(d, 1)));
    const int rank = unit && !modes[i].extent.is(1) ? 3 : unit ? 2 : modes[i].extent.is(1) ? 1 : 0;
    if (rank > best) best = rank, found = i;
  }
  return found;
}

// A word of n elements at the first place: nothing in the layout with its strides scaled steps
// through them.
// The strides times n place the words right, but nothing steps from one element of a word to the
// next.
Counterexample first_word(const Layout& a, const Int& n) {
  Facts facts;
  const auto scaled = [&](const Tuple& stride) {
    return Tuple::basis(stride.value() * n, stride.path());
  };
  Counterexample w;
  if (!a.shape.is_leaf()) w.coordinate = idx2crd(facts, 0, a.shape).to_string();
  w.expected = "0 .. " + (n - 1).to_string();
  w.got = "0";
  w.claimed = Layout(a.shape, transform(a.stride, scaled)).to_string();
  return w;
}

Refusal refuse_downcast(Facts& facts, const Layout& a, const Int& n) {
  Refusal r = refusal("downcast", "downcast of " + a.to_string() +
                                      ": no mode has stride 1, so elements are not neighbours");
  r.operands = {a.to_string()};
  for (const Mode& mode : flat_modes(a)) {
    const Predicate is_one = equal(mode.stride.value(), 1);
    if (mode.stride.value().is_literal() || !r.help.empty() || !Under(facts, is_one).possible())
      continue;
    r.code = "undecided";
    r.message = "downcast of " + a.to_string() +
                " needs a mode of stride 1, and whether there is one is not known";
    r.help = "assume " + is_one.to_string();
  }
  if (!r.help.empty()) return r;
  if (a.is_known() && n.is_literal()) r.witness = first_word(a, n);
  // A mode 1:1 in front holds the elements of one word.
  const Layout widened =
      prepend(a.shape.is_leaf() ? Layout(tuple(a.shape), tuple(a.stride)) : a, Layout(1, 1));
  if (neighbours(Facts(), widened)) r.works.push_back("the layout as " + widened.to_string());
  return r;
}

}  // namespace

Layout downcast(Facts& facts, const Layout& a, const Int& n) {
  check_factor("downcast", n);
  if (n.is(1)) return a;
  trace::Operation operation("downcast", a, n);
  const auto widened = neighbours(facts, a);
  if (!widened) throw refuse_downcast(facts, a, n);
  size_t next = 0;
  return operation.gives(
      in_other_words(each_mode(a, [&](const Int& extent, const Tuple& stride) -> Pair {
        const Pair from{extent, stride};
        if (next++ != *widened) {
          return report_cast(Casting::scaled, from,
                             {extent, Tuple::basis(stride.value() * n, stride.path())}, n);
        }
        const Int step = negative(stride.value()) ? -1 : 1;
        return report_cast(Casting::grown, from, {extent * n, Tuple::basis(step, stride.path())},
                           n);
      })));
}

Layout recast(Facts& facts, const Layout& a, int from_bits, int to_bits) {
  const Ratio ratio = ratio_of(from_bits, to_bits);
  trace::Operation operation("recast", a, Int(from_bits), Int(to_bits));
  return operation.gives(downcast(facts, upcast(facts, a, ratio.up), ratio.down));
}

namespace {

void check_from(const char* what, const Unit& unit, ElementType from) {
  if (unit.counts != Counts::elements || unit.element == from) return;
  throw refusal("units", "recast from " + std::string(element_name(from)) + ": the " + what +
                             " counts " + unit.to_string());
}

}  // namespace

Layout recast(Facts& facts, const Layout& a, ElementType from, ElementType to) {
  const Unit& unit = a.units.codomain;
  check_from("layout", unit, from);
  Layout result = recast(facts, a, bits(from), bits(to));
  result.units = {a.units.domain, of_type(unit, to)};
  return result;
}

// Where the swizzle shifts up, bits inside a word move bits above it; the law is about the
// beginnings of words, where these are 0.
Swizzle upcast(const Swizzle& s, int64_t n) {
  trace::Operation operation("upcast", s, Int(n));
  const int64_t base = s.m - power_of_two("upcast", s, n);
  const Swizzle up =
      base >= 0 ? Swizzle(s.b, base, s.s) : Swizzle(std::max<int64_t>(0, s.b + base), 0, s.s);
  trace::report([&] { return trace::Rescaled{s, up, n}; });
  return operation.gives(n == 1 ? s : up);
}

Swizzle downcast(const Swizzle& s, int64_t n) {
  trace::Operation operation("downcast", s, Int(n));
  const Swizzle down(s.b, s.m + power_of_two("downcast", s, n), s.s);
  trace::report([&] { return trace::Rescaled{s, down, n}; });
  return operation.gives(down);
}

Swizzle recast(const Swizzle& s, int from_bits, int to_bits) {
  const Ratio ratio = ratio_of(from_bits, to_bits);
  return downcast(upcast(s, ratio.up), ratio.down);
}

Swizzle recast(const Swizzle& s, ElementType from, ElementType to) {
  check_from("swizzle", s.unit, from);
  Swizzle result = recast(s, bits(from), bits(to));
  result.unit = elements_of(to);
  return result;
}

Composed recast(Facts& facts, const Composed& a, ElementType from, ElementType to) {
  check_from("layout", a.layout().units.codomain, from);
  Composed result = recast(facts, a, bits(from), bits(to));
  Layout& inner = std::get<Layout>(result.inner);
  inner.units.codomain = of_type(a.layout().units.codomain, to);
  if (Swizzle* s = std::get_if<Swizzle>(&result.outer)) s->unit = inner.units.codomain;
  return result;
}

// Each part by itself: offset, inner layout and outer function count the same words.
Composed upcast(Facts& facts, const Composed& a, const Int& n) {
  if (!a.offset.is_int())
    throw refusal("not-integer", "upcast of " + a.to_string() + ": the offset is a coordinate");
  const Int& offset = a.offset.value();
  if (offset.is_literal() && n.is_literal() && n.value() > 1 && offset.value() % n.value() != 0) {
    throw refusal("upcast",
                  "upcast of " + a.to_string() + " by " + n.to_string() + ": the offset " +
                      offset.to_string() + " lies within a word",
                  "an offset that is a multiple of " + n.to_string() + " begins one");
  }
  const std::variant<Swizzle, Layout> outer = outer_cast(facts, a.outer, n, true);
  return {outer, facts.exact_div(offset, n, "upcast"), upcast(facts, a.layout(), n)};
}

Composed downcast(Facts& facts, const Composed& a, const Int& n) {
  if (!a.offset.is_int())
    throw refusal("not-integer", "downcast of " + a.to_string() + ": the offset is a coordinate");
  return {outer_cast(facts, a.outer, n, false), a.offset.value() * n,
          downcast(facts, a.layout(), n)};
}

Composed recast(Facts& facts, const Composed& a, int from_bits, int to_bits) {
  const Ratio ratio = ratio_of(from_bits, to_bits);
  Composed result = a;
  if (ratio.up != 1) result = upcast(facts, result, ratio.up);
  if (ratio.down != 1) result = downcast(facts, result, ratio.down);
  return result;
}

}  // namespace lay
