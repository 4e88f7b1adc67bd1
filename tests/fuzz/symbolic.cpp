// The law of symbols: where the guards hold, the result at some sizes is what the operation gives
// on the operands at those sizes. Integers: an expression simplified by the facts has the value of
// the expression, and what is proved holds.

#include <algorithm>
#include <functional>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/world.h"
#include "tests/laws/oracle.h"

namespace fuzz {
namespace {

using namespace laws;
using lay::Binding;
using lay::Facts;
using lay::Int;
using lay::Layout;
using lay::Predicate;
using lay::Refusal;
using lay::Tiler;
using lay::Tuple;
using Count = std::function<void(Outcome)>;

constexpr int64_t kMaxValues = 3000;

// Operands, and what is done with them, on symbols as on numbers.
struct Expression {
  const char* name;
  std::vector<Layout> layouts;
  Int number = 1;
  std::function<Layout(Facts&, const std::vector<Layout>&, const Int&)> run;
  // The condition on the result beside the same function; by itself where the contract leaves the
  // function open.
  std::function<bool(const std::vector<Layout>&, const Int&, const Layout&)> contract;
  // True if the law says anything at these operands.
  std::function<bool(Facts&, const std::vector<Layout>&)> applies;
};

Layout literal(const Layout& a, const Binding& at) {
  return substitute(a, World::replacement(at));
}

bool fits(const Layout& a) {
  int64_t n = 1;
  for (const Tuple& extent : leaves(a.shape)) {
    if (__builtin_mul_overflow(n, extent.value().value(), &n) || n > kMaxValues) return false;
  }
  return true;
}

bool hold(const std::vector<lay::Guard>& guards, const Binding& at) {
  for (const lay::Guard& guard : guards) {
    if (either(negate(guard.path), guard.predicate).evaluate(at) != true) return false;
  }
  return true;
}

// One instantiation; nothing where the layouts are too large to count.
std::optional<Outcome> judge(const Expression& e, const Layout& result, const Binding& at) {
  Facts plain;
  std::vector<Layout> operands;
  for (const Layout& a : e.layouts) operands.push_back(literal(a, at));
  const Int number = e.number.substitute(World::replacement(at));
  std::optional<Layout> expected;
  if (e.applies && !e.applies(plain, operands)) return std::nullopt;
  try {
    expected = e.run(plain, operands, number);
  } catch (const Refusal&) {
  }
  try {
    const Layout actual = literal(result, at);
    if (!fits(actual) || (expected && !fits(*expected))) return std::nullopt;
    if (e.contract && !e.contract(operands, number, actual)) return Outcome::wrong;
    if (e.contract) return Outcome::right;
    return expected && Plain(*expected).values() == Plain(actual).values() ? Outcome::right
                                                                           : Outcome::wrong;
  } catch (const Refusal&) {
    return Outcome::wrong;  // an extent below 1, an inexact quotient
  }
}

// Returns true if the operation has a result at every one of some sizes.
bool answered_everywhere(World& world, const Expression& e, int instantiations) {
  for (int i = 0; i < instantiations; ++i) {
    const auto at = world.sample();
    if (!at) return false;
    Facts plain;
    std::vector<Layout> operands;
    for (const Layout& a : e.layouts) operands.push_back(literal(a, *at));
    try {
      e.run(plain, operands, e.number.substitute(World::replacement(*at)));
    } catch (const Refusal&) {
      return false;
    }
  }
  return true;
}

void run(World& world, const Expression& e, int instantiations, Report& report,
         const Count& count) {
  report.operation = e.name;
  for (const Layout& a : e.layouts) report.text += a.to_string() + " ";
  report.text += "and " + e.number.to_string();
  lay::GuardScope scope(world.facts());
  std::optional<Layout> result;
  try {
    result = e.run(world.facts(), e.layouts, e.number);
    report.text += " gives " + result->to_string();
  } catch (const Refusal& refusal) {
    report.text += " is refused: " + refusal.code + ": " + refusal.message + " " + refusal.help;
    if (refusal.code == "undecided" && refusal.help.empty()) return count(Outcome::wrong);
    return count(answered_everywhere(world, e, instantiations) ? Outcome::open : Outcome::refused);
  }
  for (const lay::Guard& guard : scope.guards()) report.text += ", guard " + guard.to_string();
  const std::string text = report.text;
  for (int i = 0; i < instantiations; ++i) {
    const auto at = world.sample();
    if (!at) return;
    report.text = text + " at " + world.to_string(*at);
    if (!hold(scope.guards(), *at)) {
      count(judge(e, *result, *at) == Outcome::right ? Outcome::strict : Outcome::guarded);
    } else if (const auto outcome = judge(e, *result, *at)) {
      count(*outcome);
    }
  }
}

Expression random_expression(Random& random, World& world) {
  const auto some = [&](int most) { return world.layout(static_cast<int>(random.in(1, most))); };
  const auto tile = [&] {
    return random.once_in(2) ? Layout(Tuple(random.in(1, 6)), 1)
                             : Layout(world.extent(), random.once_in(3) ? world.stride() : 1);
  };
  using Operands = std::vector<Layout>;
  switch (random.in(0, 17)) {
    case 16: {
      const Int m = world.extent(), n = world.extent();
      return {"tile_to_shape",
              {world.layout(2), Layout(lay::tuple(m, n), lay::tuple(1, 1))},
              1,
              [](Facts& f, const Operands& a, const Int&) {
                const Layout block = coalesce(f, a[0], lay::tuple(1, 1));
                return tile_to_shape(f, block,
                                     lay::tuple(size(block[0]) * a[1].shape[0].value(),
                                                size(block[1]) * a[1].shape[1].value()));
              },
              {},
              {}};
    }
    case 17: {
      const int widths[] = {8, 16, 32, 64};
      const int from = widths[random.in(0, 3)], to = widths[random.in(0, 3)];
      const int64_t up = std::max(1, to / from), down = std::max(1, from / to);
      return {
          "recast",
          {some(3)},
          1,
          [from, to](Facts& f, const Operands& a, const Int&) { return recast(f, a[0], from, to); },
          [up, down](const Operands& a, const Int&, const Layout& r) {
            return up > 1 ? upcasts(a[0], up, r) : downcasts(a[0], down, r);
          },
          {}};
    }
    case 0:
      return {"coalesce", {some(4)},
              1,          [](Facts& f, const Operands& a, const Int&) { return coalesce(f, a[0]); },
              {},         {}};
    case 1:
    case 2:
    case 3: {
      Layout right = some(2);
      if (random.once_in(8)) {  // all down, or some
        right = random.once_in(2)
                    ? laws::negated(random, right)
                    : Layout(right.shape, transform(right.stride, [](const Tuple& d) -> Tuple {
                               return -d.value();
                             }));
      }
      return {
          "composition",
          {some(3), right},
          1,
          [](Facts& f, const Operands& a, const Int&) { return composition(f, a[0], a[1]); },
          [](const Operands& a, const Int&, const Layout& r) { return composes(a[0], a[1], r); },
          {}};
    }
    case 4:
    case 5:
      return {"logical_divide",
              {some(3), tile()},
              1,
              [](Facts& f, const Operands& a, const Int&) { return logical_divide(f, a[0], a[1]); },
              {},
              {}};
    case 6: {
      const Int m = world.extent(), n = world.extent();
      const Layout a = world.layout(2);
      return {"divide by mode",
              {a, Layout(lay::tuple(m, n), lay::tuple(1, 1))},
              1,
              [](Facts& f, const Operands& x, const Int&) {
                return zipped_divide(f, x[0], Tiler::of(x[1].shape));
              },
              {},
              {}};
    }
    case 7:
      return {
          "logical_product",
          {some(2), tile()},
          1,
          [](Facts& f, const Operands& a, const Int&) { return logical_product(f, a[0], a[1]); },
          {},
          {}};
    case 8:
      return {"complement",
              {some(3)},
              world.extent() * random.in(1, 8),
              [](Facts& f, const Operands& a, const Int& n) { return complement(f, a[0], n); },
              {},
              {}};
    case 9:
      return {"right_inverse",
              {some(3)},
              1,
              [](Facts& f, const Operands& a, const Int&) { return right_inverse(f, a[0]); },
              [](const Operands& a, const Int&, const Layout& r) { return right_inverts(a[0], r); },
              {}};
    case 10:
      return {"left_inverse",
              {some(3)},
              1,
              [](Facts& f, const Operands& a, const Int&) { return left_inverse(f, a[0]); },
              [](const Operands& a, const Int&, const Layout& r) { return left_inverts(a[0], r); },
              {}};
    case 11:
      return {"upcast",
              {some(3)},
              random.in(1, 4),
              [](Facts& f, const Operands& a, const Int& n) { return upcast(f, a[0], n); },
              [](const Operands& a, const Int& n, const Layout& r) {
                return upcasts(a[0], n.value(), r);
              },
              {}};
    case 12:
      return {"downcast",
              {some(3)},
              random.in(1, 4),
              [](Facts& f, const Operands& a, const Int& n) { return downcast(f, a[0], n); },
              [](const Operands& a, const Int& n, const Layout& r) {
                return downcasts(a[0], n.value(), r);
              },
              {}};
    case 13:
      return {"divide, coalesced",
              {some(2), tile()},
              1,
              [](Facts& f, const Operands& a, const Int&) {
                return coalesce(f, zipped_divide(f, a[0], a[1]));
              },
              {},
              {}};
    case 14:
      return {"compose twice",
              {some(2), tile(), tile()},
              1,
              [](Facts& f, const Operands& a, const Int&) {
                return composition(f, composition(f, a[0], a[1]), a[2]);
              },
              {},
              // Past the end of a layout its function goes by its form.
              [](Facts& f, const Operands& a) {
                return cosize(f, a[2]).value() <= size(a[1]).value();
              }};
    default:
      return {"compose an inverse",
              {some(2), tile()},
              1,
              [](Facts& f, const Operands& a, const Int&) {
                return composition(f, right_inverse(f, a[0]), a[1]);
              },
              {},
              // Likewise.
              [](Facts& f, const Operands& a) {
                return cosize(f, a[1]).value() <= size(right_inverse(f, a[0])).value();
              }};
  }
}

// Simplified, it is the same; what is decided is so.
void run_integers(Random& random, World& world, int instantiations, Report& report,
                  const Count& count) {
  report.operation = "integers";
  try {
    const auto leaf = [&] { return random.once_in(3) ? Int(random.in(-4, 9)) : world.extent(); };
    const Int a = laws::random_integer(random, 2, leaf), b = laws::random_integer(random, 1, leaf),
              simple = world.facts().simplify(a);
    const Predicate claim = random.once_in(3)   ? divides(a, random.in(2, 6))
                            : random.once_in(3) ? equal(a, b)
                                                : less_equal(b, a);
    const lay::Conclusion decision = world.facts().decide(claim);
    const bool proved = decision.verdict == lay::Verdict::proved;
    for (int i = 0; i < instantiations; ++i) {
      const auto at = world.sample();
      if (!at) return;
      report.text = a.to_string() + " is " + simple.to_string() + ", " + claim.to_string() +
                    (proved ? " proved" : "") + " at " + world.to_string(*at);
      const auto expected = a.evaluate(*at);
      const bool same = !expected || simple.evaluate(*at) == expected;
      count(same && (!proved || claim.evaluate(*at) != false) ? Outcome::right : Outcome::wrong);
    }
  } catch (const Refusal&) {  // an integer beyond 64 bits
    count(Outcome::refused);
  }
}

}  // namespace

void run_symbolic(Random& random, int instantiations, Report& report, const Count& count) {
  World world(random);
  if (random.once_in(8)) return run_integers(random, world, instantiations, report, count);
  run(world, random_expression(random, world), instantiations, report, count);
}

}  // namespace fuzz
