#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "frontend/algebra/claims/judge.h"
#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

Conclusion sizes_differ(int64_t a, int64_t b) {
  Failure f;
  f.value = std::to_string(a);
  f.expected = std::to_string(b);
  f.sentence = "the sizes are " + f.value + " and " + f.expected;
  return {Verdict::refuted, std::move(f)};
}

Conclusion differ_at(const AnyLayout& a, const AnyLayout& b, int64_t index) {
  Failure f;
  f.index = index;
  f.coordinate = coordinate_text(a, index);
  f.value = value_text(a, index);
  f.expected = value_text(b, index);
  f.sentence =
      place_text(a, index) + ", the first gives " + f.value + " and the second " + f.expected;
  return {Verdict::refuted, std::move(f)};
}

// Coalesced layouts are equal where the functions are: the first stride is the value at 1, the
// first extent where the values leave its multiples, and so on. So they differ first where their
// first unequal modes begin or end.
//     (2,2):(1,2) and 4:1      equal: both are 4:1
//     (4,2):(1,8) and 8:1      differ at 4, where the first mode of the left one ends
std::optional<int64_t> first_difference(const Layout& a, const Layout& b) {
  Facts facts;
  const std::vector<Mode> of_a = flat_modes(coalesce(facts, a)),
                          of_b = flat_modes(coalesce(facts, b));
  int64_t index = 1;
  for (size_t k = 0; k < std::min(of_a.size(), of_b.size()); ++k) {
    // Only 1:0 has an extent of 1 after `coalesce`.
    if (of_a[k].extent.is(1)) break;
    if (!(of_a[k].stride == of_b[k].stride)) return index;
    const int64_t extent = std::min(of_a[k].extent.value(), of_b[k].extent.value());
    index *= extent;
    if (!(of_a[k].extent == of_b[k].extent)) return index;
  }
  return std::nullopt;
}

// A literal function whose value at a sum of bits of the index is the XOR of those at the bits:
// powers of two for extents, and sums without a carry. First the value at 0.
std::optional<std::vector<int64_t>> by_bits(const AnyLayout& a) {
  const auto parts = stripped(a);
  const auto known = parts ? known_stripped(a) : std::nullopt;
  if (!known || known->known.paths.size() != 1 || !known->known.paths[0].empty())
    return std::nullopt;
  if (known->known.offsets[0] < 0 || known->known.offsets[0] > INT64_MAX) return std::nullopt;
  std::vector<int64_t> values{static_cast<int64_t>(known->known.offsets[0])};
  int64_t met = values[0];
  for (const KnownMode& mode : known->known.modes) {
    // An index must be a sum of bits, each with a value of its own.
    if ((mode.extent & (mode.extent - 1)) != 0) return std::nullopt;
    for (int64_t bit = 1; bit < mode.extent; bit *= 2) {
      int64_t value;
      // Without a carry between them a sum of values is their XOR, through which a swizzle, being
      // linear over bits, goes as well: S(x ^ y) == S(x) ^ S(y).
      if (__builtin_mul_overflow(bit, mode.stride, &value) || value < 0 || (value & met) != 0)
        return std::nullopt;
      met |= value;
      values.push_back(value);
    }
  }
  if (known->swizzle) {
    for (int64_t& value : values) value = (*known->swizzle)(value);
  }
  return values;
}

// Two such functions differ first at 0 or at a single bit.
std::optional<Conclusion> differ_by_bits(const AnyLayout& a, const AnyLayout& b) {
  const auto of_a = by_bits(a), of_b = by_bits(b);
  if (!of_a || !of_b || of_a->size() != of_b->size()) return std::nullopt;
  for (size_t k = 0; k < of_a->size(); ++k) {
    if ((*of_a)[k] != (*of_b)[k]) return differ_at(a, b, k == 0 ? 0 : int64_t{1} << (k - 1));
  }
  return Conclusion{Verdict::proved, {}};
}

// One layout under two swizzles: where they differ at x is a matter of single bits of x, or of the
// XOR of two that go to one place. A sum of bounded integers decides if the layout gives an x with
// the bit `set` and, where there is one, the bit `clear`: its terms are the digits of the index,
// and what stands around those bits.
class Unlike {
 public:
  Unlike(const Known& known, const Swizzle& a, const Swizzle& b)
      : known_(known), terms_(known.terms(0)) {
    Wide most = greatest_sum(terms_) + known.offsets[0];
    while (top_ < 62 && most >> top_ != 0) ++top_;
    for (int64_t to = 0; to < 62; ++to) {
      const auto from = [&](const Swizzle& s) {
        return s.target_mask() >> to & 1 ? std::optional(to + s.s) : std::nullopt;
      };
      const auto of_a = from(a), of_b = from(b);
      // Bit `to` of the swizzled value is x[to] ^ x[from]; where both swizzles take the same
      // `from`, or neither takes one, that bit is equal in both.
      if (of_a == of_b) continue;
      // Bit `to` differs where x[from of a] != x[from of b]: one of them set and the other clear,
      // either way round; with one swizzle alone, where its bit is set.
      if (of_a) bits_.push_back({*of_a, of_b});
      if (of_b) bits_.push_back({*of_b, of_a});
    }
  }

  // The smallest index at which the swizzles differ. No: there is none.
  // The least index by bisection, digit by digit from the top, each asking whether some bit still
  // can differ.
  Tri find(int64_t& index) {
    if (const Tri any = differs(); any != Tri::yes) return any;
    for (size_t k = terms_.size(); k-- > 0;) {
      const auto digit = least_holding(terms_[k].high, [&](int64_t n) {
        const int64_t high = std::exchange(terms_[k].high, n);
        const Tri answer = differs();
        terms_[k].high = high;
        return answer;
      });
      if (!digit) return Tri::unknown;
      terms_[k].low = terms_[k].high = *digit;
      index += *digit * known_.modes[k].radix;
    }
    return Tri::yes;
  }

 private:
  struct Bits {
    int64_t set;
    std::optional<int64_t> clear;
  };

  Tri differs() {
    bool unknown = false;
    for (const Bits& bits : bits_) {
      const Tri answer = gives(bits);
      if (answer == Tri::yes) return answer;
      unknown |= answer == Tri::unknown;
    }
    return unknown ? Tri::unknown : Tri::no;
  }

  // offset + digits == 2^set + what stands below the bits, between them and above. Modulo the power
  // of two above both, of which what stands above takes a multiple, most digits are nothing.
  Tri gives(const Bits& bits) {
    // No value has a bit so high.
    if (bits.set >= top_) return Tri::no;
    // A value is written as
    //
    //     2^set + (bits below the fixed ones) + (bits between them) + modulus * (what is above)
    //
    // where each part in brackets is a bounded integer times a power of two.
    std::vector<int64_t> fixed{bits.set};
    if (bits.clear && *bits.clear < top_) fixed.push_back(*bits.clear);
    std::sort(fixed.begin(), fixed.end());
    const int64_t modulus = int64_t{1} << (fixed.back() + 1);
    const auto below = [&](Wide x) {
      return static_cast<int64_t>((x % modulus + modulus) % modulus);
    };
    std::vector<Bounded> all;
    for (const Bounded& term : terms_) {
      if (below(term.stride) != 0) all.push_back({below(term.stride), term.low, term.high});
    }
    const int64_t offset = below(known_.offsets[0]);
    // The part above those bits: as many multiples of the modulus as the sum can reach.
    all.push_back({-modulus, 0, static_cast<int64_t>((greatest_sum(all) + offset) / modulus)});
    int64_t from = 0;
    // The free bits in the gap from one fixed bit to the next: a number below 2^(to - from).
    for (const int64_t to : fixed) {
      if (to > from) all.push_back({-(int64_t{1} << from), 0, (int64_t{1} << (to - from)) - 1});
      from = to + 1;
    }
    const Wide target = (Wide{1} << bits.set) - offset;
    return solvable(all, {&target, 1}, steps_);
  }

  const Known& known_;
  std::vector<Bounded> terms_;
  int64_t top_ = 0;  // the bits of a value
  std::vector<Bits> bits_;
  int steps_ = kKnownSteps;
};

// The same layout under both.
std::optional<Conclusion> differ_by_swizzle(const AnyLayout& a, const AnyLayout& b) {
  const auto of_a = known_stripped(a), of_b = known_stripped(b);
  const auto parts_a = stripped(a), parts_b = stripped(b);
  if (!of_a || !of_b || !(parts_a->offset == parts_b->offset)) return std::nullopt;
  // Two layouts that differ may still be one function under two swizzles: another rule has to say.
  if (first_difference(parts_a->layout, parts_b->layout)) return std::nullopt;
  const bool integers = of_a->known.paths.size() == 1 && of_a->known.paths[0].empty();
  if (!integers || of_a->known.offsets[0] + greatest_sum(of_a->known.terms(0)) > INT64_MAX / 2)
    return std::nullopt;
  Unlike search(of_a->known, of_a->swizzle.value_or(Swizzle()), of_b->swizzle.value_or(Swizzle()));
  int64_t index = 0;
  switch (search.find(index)) {
    case Tri::yes:
      return differ_at(a, b, index);
    case Tri::no:
      return Conclusion{Verdict::proved, {}};
    case Tri::unknown:
      break;
  }
  return std::nullopt;
}

// A mode of both: modes split where those of the other end.
struct Both {
  int64_t extent, of_a, of_b, radix;
};

//     (4,6):(1,4) and (8,3):(2,16)     modes 4, 2, 3 of both
//
// Nothing where extents do not divide: (4,3) and (3,4).
std::optional<std::vector<Both>> modes_of_both(const Known& a, const Known& b) {
  std::vector<KnownMode> of_a(a.modes.rbegin(), a.modes.rend()),
      of_b(b.modes.rbegin(), b.modes.rend());
  std::vector<Both> all;
  while (!of_a.empty() && !of_b.empty()) {
    KnownMode &x = of_a.back(), &y = of_b.back();
    const int64_t extent = std::min(x.extent, y.extent);
    all.push_back({extent, x.stride, y.stride, x.radix});
    for (auto* modes : {&of_a, &of_b}) {
      KnownMode& mode = modes->back();
      if (mode.extent % extent != 0 || __builtin_mul_overflow(mode.stride, extent, &mode.stride))
        return std::nullopt;
      mode.radix *= extent;
      mode.extent /= extent;
      if (mode.extent == 1) modes->pop_back();
    }
  }
  return all;
}

// Above the bits of both swizzles nothing moves: S(x + k*2^t) == S(x) + k*2^t. So where a step of a
// mode is the same in both, and n of them are a multiple of 2^t, more than n make no difference
// that n do not make; and where the steps of a mode are two multiples of 2^t, one of
// them makes one. The rest of the modes is walked through.
std::optional<Conclusion> differ_in_low_bits(const AnyLayout& a, const AnyLayout& b, int64_t most) {
  const auto of_a = known_stripped(a), of_b = known_stripped(b);
  if (!of_a || !of_b) return std::nullopt;
  for (const Known* known : {&of_a->known, &of_b->known}) {
    if (known->paths.size() != 1 || !known->paths[0].empty()) return std::nullopt;
    if (known->offsets[0] + greatest_sum(known->terms(0)) > INT64_MAX / 2) return std::nullopt;
  }
  auto modes = modes_of_both(of_a->known, of_b->known);
  if (!modes) return std::nullopt;
  const Swizzle in_a = of_a->swizzle.value_or(Swizzle()), in_b = of_b->swizzle.value_or(Swizzle());
  const int64_t bits =
      in_a.source_mask() | in_a.target_mask() | in_b.source_mask() | in_b.target_mask();
  // 2^t, the first power of two above all bits that either swizzle reads or writes.
  const auto above = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bits) + 1));
  Wide count = 1;
  for (Both& mode : *modes) {
    if (mode.of_a == mode.of_b) {
      // A period of the low bits: after 2^t / gcd(stride, 2^t) steps they are as at the first.
      mode.extent = std::min(mode.extent, above / std::gcd(mode.of_a, above));
    } else if (mode.of_a % above == 0 && mode.of_b % above == 0) {
      // One step leaves the low bits of both as they are and moves the values apart: where they
      // agree at one coordinate they differ at the next, so two coordinates are enough.
      mode.extent = std::min<int64_t>(mode.extent, 2);
    }
    if ((count *= mode.extent) > most) return std::nullopt;
  }
  std::vector<int64_t> digits(modes->size(), 0);
  auto x = static_cast<int64_t>(of_a->known.offsets[0]),
       y = static_cast<int64_t>(of_b->known.offsets[0]);
  int64_t index = 0;
  // An odometer over the digits that are left: x and y, the values inside, follow by additions.
  const auto move = [&](size_t k, int64_t steps) {
    digits[k] += steps;
    x += steps * (*modes)[k].of_a;
    y += steps * (*modes)[k].of_b;
    index += steps * (*modes)[k].radix;
  };
  while (in_a(x) == in_b(y)) {
    size_t k = 0;
    for (; k < digits.size() && digits[k] + 1 == (*modes)[k].extent; ++k) move(k, -digits[k]);
    if (k == digits.size()) return Conclusion{Verdict::proved, {}};
    move(k, 1);
  }
  return differ_at(a, b, index);
}

// Values that are compared one by one where nothing else decides.
constexpr int64_t kFirstValues = int64_t{1} << 16;

// A difference among the first values is the smallest there is; without one nothing is known.
Conclusion by_first_values(const AnyLayout& a, const AnyLayout& b, int64_t count) {
  Facts facts;
  for (int64_t i = 0; i < count; ++i) {
    if (!(evaluate(facts, a, i) == evaluate(facts, b, i))) return differ_at(a, b, i);
  }
  return {};
}

Conclusion decide(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>&, int64_t most) {
  const AnyLayout &a = layouts[0], &b = layouts[1];
  const int64_t n = size_of(a).value();
  if (const int64_t m = size_of(b).value(); n != m) return sizes_differ(n, m);
  const auto parts_a = stripped(a), parts_b = stripped(b);
  // One swizzle around both, a bijection: they are the same function if the layouts inside are.
  if (parts_a && parts_b && parts_a->swizzle == parts_b->swizzle) {
    if (!(parts_a->offset == parts_b->offset)) return differ_at(a, b, 0);
    const auto index = first_difference(parts_a->layout, parts_b->layout);
    return index ? differ_at(a, b, *index) : Conclusion{Verdict::proved, {}};
  }
  if (const auto verdict = differ_by_bits(a, b)) return *verdict;
  if (const auto verdict = differ_by_swizzle(a, b)) return *verdict;
  if (const auto verdict = differ_in_low_bits(a, b, most)) return *verdict;
  const auto of_a = walked(a, most), of_b = walked(b, most);
  if (!of_a || !of_b)
    return by_first_values(a, b, std::min<int64_t>(n, std::min(most, kFirstValues)));
  const auto [x, y] = std::mismatch(of_a->begin(), of_a->end(), of_b->begin());
  return x == of_a->end() ? Conclusion{Verdict::proved, {}} : differ_at(a, b, x - of_a->begin());
}

// Takes the modes of both off from the left together: of two extents of which one divides the
// other, the greater is split. Returns the conditions left open for the two to be the same.
std::optional<std::vector<Predicate>> refined(Facts& facts, const Layout& a, const Layout& b) {
  std::vector<Mode> of_a = flat_modes(coalesce(facts, a)), of_b = flat_modes(coalesce(facts, b));
  std::reverse(of_a.begin(), of_a.end());
  std::reverse(of_b.begin(), of_b.end());
  std::vector<Predicate> all{equal(size(a), size(b))};
  while (!of_a.empty() && !of_b.empty()) {
    Mode &x = of_a.back(), &y = of_b.back();
    if (x.stride.path() != y.stride.path()) return std::nullopt;
    all.push_back(either(equal(x.extent, 1), equal(x.stride.value(), y.stride.value())));
    // M:d with M a multiple of n is (n,M/n):(d,n*d): n is taken off, the rest stays for the next
    // mode of the other layout.
    const auto split = [&](std::vector<Mode>& longer, std::vector<Mode>& shorter) {
      const Int times = shorter.back().extent;
      Mode& mode = longer.back();
      mode = {divided(mode.extent, times),
              Tuple::basis(mode.stride.value() * times, mode.stride.path())};
      shorter.pop_back();
    };
    if (x.extent == y.extent || facts.proves(equal(x.extent, y.extent))) {
      of_a.pop_back();
      of_b.pop_back();
    } else if (facts.proves(divides(x.extent, y.extent))) {
      split(of_a, of_b);
    } else if (facts.proves(divides(y.extent, x.extent))) {
      split(of_b, of_a);
    } else {
      // Neither is known to divide the other: that they are equal is enough, and stays open.
      all.push_back(equal(x.extent, y.extent));
      of_a.pop_back();
      of_b.pop_back();
    }
  }
  // Modes of one layout that are left over must be of a single coordinate.
  for (const auto* rest : {&of_a, &of_b}) {
    for (const Mode& mode : *rest) all.push_back(equal(mode.extent, 1));
  }
  return all;
}

// The sizes, and the values at 1 where there are two.
std::vector<Predicate> needed(Facts& facts, const Layout& a, const Layout& b) {
  std::vector<Predicate> all{equal(size(a), size(b))};
  const Mode x = flat_modes(coalesce(facts, a)).front(), y = flat_modes(coalesce(facts, b)).front();
  if (facts.proves(less_equal(2, x.extent)) && facts.proves(less_equal(2, y.extent))) {
    all.push_back(equal(x.stride, y.stride));
  }
  return all;
}

}  // namespace

Conclusion same_function(Facts& facts, const AnyLayout& a, const AnyLayout& b) {
  Claim claim{{a, b}, {}, std::nullopt, {}, decide};
  const auto parts_a = stripped(a), parts_b = stripped(b);
  if (parts_a && parts_b && parts_a->swizzle == parts_b->swizzle &&
      parts_a->offset == parts_b->offset) {
    claim.enough = refined(facts, parts_a->layout, parts_b->layout);
    claim.needed = needed(facts, parts_a->layout, parts_b->layout);
  }
  return judge(facts, claim);
}

}  // namespace lay
