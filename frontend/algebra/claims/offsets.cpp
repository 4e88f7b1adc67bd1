// aligned, fits: claims about every value of a layout on its own.

#include <algorithm>

#include "frontend/algebra/claims/axes.h"
#include "frontend/algebra/claims/judge.h"
#include "frontend/algebra/layouts/codomain.h"
#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

// The swizzle keeps the low bits of every value, and with them divisibility by the powers of two up
// to them.
bool keeps_multiples(const Swizzle& s, int64_t step) {
  const auto moved = static_cast<uint64_t>(s.source_mask() | s.target_mask());
  const int64_t lowest = static_cast<int64_t>(moved & ~(moved - 1));
  return lowest % step == 0;
}

// Where the value is no 64-bit integer, and cannot be named.
Conclusion beyond_at(const AnyLayout& a, int64_t index) {
  Failure f;
  f.index = index;
  f.coordinate = coordinate_text(a, index);
  f.sentence = place_text(a, index) + ", the value is outside 64 bits";
  return {Verdict::refuted, std::move(f)};
}

// Values that are multiples of `step` elements: every stride is one, and the offset.
// A multiple at 0 and after one step of each mode are enough and needed, since values are their
// sums.
Conclusion decide_aligned(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>& numbers,
                          int64_t most) {
  const AnyLayout& a = layouts[0];
  const int64_t step = numbers[0].value().value();
  const std::string what = "no multiple of " + std::to_string(step);
  const auto parts = known_stripped(a);
  // A swizzle that changes no bit below log2(step) keeps multiples of step.
  if (parts && (!parts->swizzle || keeps_multiples(*parts->swizzle, step))) {
    const Known& known = parts->known;
    for (const Wide offset : known.offsets) {
      if (offset % step != 0) return fails_at(a, 0, what);
    }
    for (const KnownMode& mode : known.modes) {
      // mode.radix is the index of one step of the mode alone.
      if (mode.stride % step != 0) return fails_at(a, mode.radix, what);
    }
    return {Verdict::proved, {}};
  }
  const auto values = walked(a, most);
  if (!values) return {};
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] % step != 0) return fails_at(a, static_cast<int64_t>(i), what);
  }
  return {Verdict::proved, {}};
}

Conclusion decide_fits(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>& numbers,
                       int64_t most) {
  const AnyLayout& a = layouts[0];
  const int64_t bits = numbers[0].value().value();
  // Signed: -2^(bits-1) .. 2^(bits-1) - 1.
  const Wide end = Wide{1} << (bits - 1);
  const std::string what = "outside " + std::to_string(bits) + " bits";
  const auto parts = known_stripped(a);
  if (parts) {
    // The range is then a whole number of blocks, each of which the swizzle keeps.
    const bool whole_blocks = !parts->swizzle || end % swizzle_block(*parts->swizzle) == 0;
    for (size_t axis = 0; whole_blocks && axis < parts->known.paths.size(); ++axis) {
      const auto first = first_outside(parts->known, axis, -end, end - 1);
      // With 64 bits the value itself cannot be computed, let alone printed.
      if (first && bits < 64) return fails_at(a, *first, what);
      if (first) return beyond_at(a, *first);
    }
    if (whole_blocks) return {Verdict::proved, {}};
  }
  const auto values = walked(a, most);
  if (!values) return {};
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] < -end || (*values)[i] >= end)
      return fails_at(a, static_cast<int64_t>(i), what);
  }
  return {Verdict::proved, {}};
}

}  // namespace

Conclusion aligned(Facts& facts, const AnyLayout& a, const Int& bytes, int element_bits) {
  if (bytes.is_literal() && bytes.value() < 1) {
    throw refusal("argument-kind", "an alignment is at least one byte, not " + bytes.to_string());
  }
  // The elements in the least multiple of the alignment: bytes*8 / gcd(bytes*8, bits).
  const Int wanted = bytes * 8;
  Int step = wanted;
  if (wanted.is_literal()) {
    int64_t x = wanted.value(), y = element_bits;
    while (y != 0) x = std::exchange(y, x % y);
    step = wanted.value() / x;
  } else {
    step = facts.exact_div(wanted, element_bits, "aligned");
  }
  Claim claim{{a}, {step}, std::nullopt, {}, decide_aligned};
  const auto parts = stripped(a);
  const bool plain =
      parts &&
      (!parts->swizzle || (step.is_literal() && keeps_multiples(*parts->swizzle, step.value())));
  if (plain && parts->offset.is_int()) {
    claim.enough = std::vector<Predicate>{divides(parts->offset.value(), step)};
    for (const Mode& mode : flat_modes(parts->layout)) {
      claim.enough->push_back(either(equal(mode.extent, 1), divides(mode.stride.value(), step)));
    }
    claim.needed = *claim.enough;
    // Offset and strides being multiples is needed as well: they are values, and differences of
    // values.
    claim.exact = true;
  }
  return judge(facts, claim);
}

Conclusion fits(Facts& facts, const AnyLayout& a, int bits) {
  if (bits < 1 || bits > 64) throw refusal("argument-kind", "an integer has 1 to 64 bits here");
  Claim claim{{a}, {bits}, std::nullopt, {}, decide_fits};
  const auto parts = stripped(a);
  if (parts && parts->offset.is_int() && bits < 64) {
    const Int end = int64_t{1} << (bits - 1);
    const bool whole_blocks = !parts->swizzle || end.value() % swizzle_block(*parts->swizzle) == 0;
    if (whole_blocks) {
      claim.enough.emplace();
      for (const SymbolicAxis& axis : axes_of(parts->layout)) {
        const Reach reach = reach_of(facts, axis);
        const Int offset = axis.path.empty() ? parts->offset.value() : Int(0);
        claim.enough->push_back(less_equal(-end, offset + reach.low));
        claim.enough->push_back(less(offset + reach.high, end));
      }
      if (axes_of(parts->layout).empty()) claim.enough->push_back(less(parts->offset.value(), end));
      claim.needed = *claim.enough;
      claim.exact = true;
    }
  }
  return judge(facts, claim);
}

}  // namespace lay
