// Random operations on literal layouts of small domains: composition, divides, products,
// complements, inverses, casts.

#include <functional>
#include <numeric>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rows.h"
#include "tests/laws/oracle.h"

namespace fuzz {
namespace {

using namespace laws;
using lay::Facts;
using lay::Layout;
using lay::Refusal;
using lay::Tiler;
using lay::Tuple;

// At most `most` elements.
Layout small_layout(Random& random, int depth, int64_t extent, int64_t most) {
  while (true) {
    const Tuple shape = laws::random_shape(random, depth, extent);
    if (size(shape).value() <= most) return laws::random_layout(random, shape);
  }
}

// The law judges a result, `possible` a refusal.
Outcome judge(Report& report, const std::function<Layout()>& operation,
              const std::function<bool(const Layout&)>& law,
              const std::function<bool()>& possible) {
  try {
    const Layout r = operation();
    report.text += " gives " + r.to_string();
    return law(r) ? Outcome::right : Outcome::wrong;
  } catch (const Refusal& refusal) {
    report.text += " is refused: " + refusal.code + ": " + refusal.message;
    return possible() ? Outcome::missed : Outcome::refused;
  }
}

Layout side_by_side(const Layout& a, const Layout& b) {
  return make_layout(std::vector<Layout>{a, b});
}

Outcome composition_case(Random& random, Report& report) {
  Facts facts;
  const Layout a = small_layout(random, 2, 8, 200);
  Layout b = small_layout(random, 2, 6, 100);
  if (random.once_in(10)) b = laws::negated(random, b);
  report.text = a.to_string() + " o " + b.to_string();
  return judge(
      report, [&] { return composition(facts, a, b); },
      [&](const Layout& r) { return composes(a, b, r); }, [&] { return can_compose(a, b); });
}

// a has basis strides, or b does and addresses the modes of a; the search for existence takes each
// path by itself.
Outcome basis_case(Random& random, Report& report) {
  Facts facts;
  const bool left = random.once_in(2);
  const Tuple shape = laws::random_shape(random, 1, 6);
  if (shape.is_leaf()) return composition_case(random, report);
  Layout a = laws::random_layout(random, shape), b = small_layout(random, 1, 5, 60);
  if (left) a = laws::with_basis(random, a);
  if (!left) b = laws::addressing(random, b, shape.rank());
  report.text = a.to_string() + " o " + b.to_string();
  return judge(
      report, [&] { return composition(facts, a, b); },
      [&](const Layout& r) { return composes_anyhow(a, b, r); },
      [&] { return can_compose_anyhow(a, b); });
}

Outcome divide_case(Random& random, Report& report) {
  Facts facts;
  const Layout a = small_layout(random, 1, 12, 150), t = small_layout(random, 1, 5, 30);
  const int64_t kind = random.in(0, 3);
  report.text = a.to_string() + " divided by " + t.to_string();
  std::optional<Layout> tiles;
  try {
    tiles = side_by_side(t, complement(facts, t, coalesce(facts, a).shape));
  } catch (const Refusal&) {
  }
  return judge(
      report,
      [&] {
        if (kind == 0) return logical_divide(facts, a, t);
        if (kind == 1) return zipped_divide(facts, a, t);
        return kind == 2 ? tiled_divide(facts, a, t) : flat_divide(facts, a, t);
      },
      [&](const Layout& r) {
        const std::vector<int64_t> all = Plain(r).values(), order = Plain(*tiles).values();
        const Plain whole(a);
        for (size_t i = 0; i < order.size(); ++i) {
          if (all.size() != order.size() || all[i] != whole(order[i])) return false;
        }
        return true;
      },
      [&] { return is_injective(t) && (!tiles || can_compose(a, *tiles)); });
}

Outcome divide_by_mode_case(Random& random, Report& report) {
  Facts facts;
  const int64_t m = random.in(1, 6), n = random.in(1, 6), p = random.in(1, 5), q = random.in(1, 5);
  const Layout a = laws::random_layout(random, lay::tuple(m * p, n * q));
  report.text = a.to_string() + " by (" + std::to_string(m) + "," + std::to_string(n) + ")";
  return judge(
      report, [&] { return zipped_divide(facts, a, Tiler::of(lay::tuple(m, n))); },
      [&](const Layout& r) {
        const Plain whole(a), divided(r);
        for (int64_t i = 0; i < m * n * p * q; ++i) {
          const int64_t x = i % m + m * (i / (m * n) % p), y = i / m % n + n * (i / (m * n * p));
          if (divided(i) != whole(x + m * p * y)) return false;
        }
        return divided.size() == m * n * p * q;
      },
      [] { return true; });
}

Outcome product_case(Random& random, Report& report) {
  Facts facts;
  const Layout a = small_layout(random, 1, 5, 30), t = small_layout(random, 1, 4, 16);
  const int64_t kind = random.in(0, 2);
  report.text = a.to_string() + " times " + t.to_string();
  const bool by_mode = kind == 2;
  return judge(
      report,
      [&] {
        if (kind == 0) return logical_product(facts, a, t);
        return kind == 1 ? zipped_product(facts, a, t) : blocked_product(facts, a, t);
      },
      [&](const Layout& r) {
        if (!by_mode) return repeats(a, t, r);
        const Layout whole = logical_product(facts, a, t);
        return size(r) == size(whole) && sorted_values(r) == sorted_values(whole) &&
               repeats(a, t, whole);
      },
      [&] {
        if (!is_injective(a)) return false;
        const auto places = places_for(a, t);
        return places && can_compose(*places, t);
      });
}

Outcome complement_case(Random& random, Report& report) {
  Facts facts;
  Layout a = small_layout(random, 2, 6, 40);
  if (random.once_in(5)) a = laws::negated(random, a);
  const int64_t target = random.in(1, 200);
  report.text = "complement of " + a.to_string() + " in " + std::to_string(target);
  return judge(
      report, [&] { return complement(facts, a, target); },
      [&](const Layout& r) { return complements(a, target, r); }, [&] { return is_injective(a); });
}

Outcome right_inverse_case(Random& random, Report& report) {
  Facts facts;
  const Layout a = small_layout(random, 2, 8, 200);
  report.text = "right_inverse of " + a.to_string();
  return judge(
      report, [&] { return right_inverse(facts, a); },
      [&](const Layout& r) { return right_inverts(a, r); }, [] { return true; });
}

Outcome left_inverse_case(Random& random, Report& report) {
  Facts facts;
  Layout a = small_layout(random, 2, 6, 40);
  if (random.once_in(5)) a = laws::negated(random, a);
  report.text = "left_inverse of " + a.to_string();
  return judge(
      report, [&] { return left_inverse(facts, a); },
      [&](const Layout& r) { return left_inverts(a, r); }, [&] { return can_left_invert(a); });
}

Outcome upcast_case(Random& random, Report& report) {
  Facts facts;
  const Layout a = small_layout(random, 2, 8, 100);
  const int64_t n = random.in(1, 8);
  report.text = "upcast of " + a.to_string() + " by " + std::to_string(n);
  return judge(
      report, [&] { return upcast(facts, a, n); },
      [&](const Layout& r) { return upcasts(a, n, r); }, [&] { return can_upcast(a, n); });
}

Outcome downcast_case(Random& random, Report& report) {
  Facts facts;
  const Layout a = small_layout(random, 2, 8, 100);
  const int64_t n = random.in(1, 8);
  report.text = "downcast of " + a.to_string() + " by " + std::to_string(n);
  return judge(
      report, [&] { return downcast(facts, a, n); },
      [&](const Layout& r) { return downcasts(a, n, r); }, [&] { return can_downcast(a); });
}

Outcome recast_case(Random& random, Report& report) {
  Facts facts;
  const Layout a = small_layout(random, 2, 8, 100);
  const int widths[] = {4, 6, 8, 16, 32, 64};
  const int from = widths[random.in(0, 5)], to = widths[random.in(0, 5)],
            common = std::gcd(from, to);
  report.text =
      "recast of " + a.to_string() + " from " + std::to_string(from) + " to " + std::to_string(to);
  const auto words = [&] { return upcast(facts, a, to / common); };
  return judge(
      report, [&] { return recast(facts, a, from, to); },
      [&](const Layout& r) {
        return from == common ? upcasts(a, to / common, r) : downcasts(words(), from / common, r);
      },
      [&] {
        if (!can_upcast(a, to / common)) return false;
        try {
          return from == common || can_downcast(words());
        } catch (const Refusal&) {
          return true;
        }
      });
}

constexpr Row kRows[] = {
    {"composition", 30, composition_case},
    {"composition (basis)", 4, basis_case},
    {"divides", 14, divide_case},
    {"divide by mode", 6, divide_by_mode_case},
    {"products", 12, product_case},
    {"complement", 10, complement_case},
    {"right_inverse", 6, right_inverse_case},
    {"left_inverse", 6, left_inverse_case},
    {"upcast", 6, upcast_case},
    {"downcast", 3, downcast_case},
    {"recast", 3, recast_case},
};

}  // namespace

std::span<const Row> layout_rows() {
  return kRows;
}

}  // namespace fuzz
