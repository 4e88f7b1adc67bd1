#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "frontend/algebra/claims/judge.h"
#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

KnownVerdict sizes_differ(int64_t a, int64_t b) {
  Failure f;
  f.value = std::to_string(a);
  f.due = std::to_string(b);
  f.sentence = "the sizes are " + f.value + " and " + f.due;
  return {Verdict::refuted, std::move(f)};
}

KnownVerdict differ_at(const AnyLayout& a, const AnyLayout& b, int64_t index) {
  Failure f;
  f.index = index;
  f.coordinate = coordinate_text(a, index);
  f.value = value_text(a, index);
  f.due = value_text(b, index);
  f.sentence = place_text(a, index) + ", the first gives " + f.value + " and the second " + f.due;
  return {Verdict::refuted, std::move(f)};
}

// Coalesced layouts are equal where the functions are: the first stride is the value at 1, the
// first extent where the values leave its multiples, and so on. So they differ first where their
// first unequal modes begin or end.
std::optional<int64_t> first_difference(const Layout& a, const Layout& b) {
  Facts facts;
  const std::vector<Mode> of_a = flat_modes(coalesce(facts, a)),
                          of_b = flat_modes(coalesce(facts, b));
  int64_t index = 1;
  for (size_t k = 0; k < std::min(of_a.size(), of_b.size()); ++k) {
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
    if ((mode.extent & (mode.extent - 1)) != 0) return std::nullopt;
    for (int64_t bit = 1; bit < mode.extent; bit *= 2) {
      int64_t value;
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
std::optional<KnownVerdict> differ_by_bits(const AnyLayout& a, const AnyLayout& b) {
  const auto of_a = by_bits(a), of_b = by_bits(b);
  if (!of_a || !of_b || of_a->size() != of_b->size()) return std::nullopt;
  for (size_t k = 0; k < of_a->size(); ++k) {
    if ((*of_a)[k] != (*of_b)[k]) return differ_at(a, b, k == 0 ? 0 : int64_t{1} << (k - 1));
  }
  return KnownVerdict{Verdict::proved, {}};
}

// One layout under two swizzles: where they differ at x is a matter of single bits of x, or of the
// XOR of two that go to one place. Whether the layout gives an x with the bit `set` and, where
// there is one, the bit `clear` is a sum of bounded integers: the digits of the index, and what
// stands around those bits.
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
      if (of_a == of_b) continue;
      if (of_a) bits_.push_back({*of_a, of_b});
      if (of_b) bits_.push_back({*of_b, of_a});
    }
  }

  // The smallest index at which the swizzles differ. No: there is none.
  Answer find(int64_t& index) {
    if (const Answer any = differs(); any != Answer::yes) return any;
    for (size_t k = terms_.size(); k-- > 0;) {
      const auto digit = least_holding(terms_[k].high, [&](int64_t n) {
        const int64_t high = std::exchange(terms_[k].high, n);
        const Answer answer = differs();
        terms_[k].high = high;
        return answer;
      });
      if (!digit) return Answer::unknown;
      terms_[k].low = terms_[k].high = *digit;
      index += *digit * known_.modes[k].radix;
    }
    return Answer::yes;
  }

 private:
  struct Bits {
    int64_t set;
    std::optional<int64_t> clear;
  };

  Answer differs() {
    bool unknown = false;
    for (const Bits& bits : bits_) {
      const Answer answer = gives(bits);
      if (answer == Answer::yes) return answer;
      unknown |= answer == Answer::unknown;
    }
    return unknown ? Answer::unknown : Answer::no;
  }

  // offset + digits == 2^set + what stands below the bits, between them and above. Modulo the power
  // of two above both, of which what stands above takes a multiple, most digits are nothing.
  Answer gives(const Bits& bits) {
    if (bits.set >= top_) return Answer::no;
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
    all.push_back({-modulus, 0, static_cast<int64_t>((greatest_sum(all) + offset) / modulus)});
    int64_t from = 0;
    for (const int64_t to : fixed) {
      if (to > from) all.push_back({-(int64_t{1} << from), 0, (int64_t{1} << (to - from)) - 1});
      from = to + 1;
    }
    const Wide target = (Wide{1} << bits.set) - offset;
    return solvable(all, {&target, 1}, steps_);
  }

  const Known& known_;
  std::vector<Bounded> terms_;
  int64_t top_ = 0;  // values have so many bits
  std::vector<Bits> bits_;
  int steps_ = kKnownSteps;
};

// The same layout under both.
std::optional<KnownVerdict> differ_by_swizzle(const AnyLayout& a, const AnyLayout& b) {
  const auto of_a = known_stripped(a), of_b = known_stripped(b);
  const auto parts_a = stripped(a), parts_b = stripped(b);
  if (!of_a || !of_b || !(parts_a->offset == parts_b->offset)) return std::nullopt;
  if (first_difference(parts_a->layout, parts_b->layout)) return std::nullopt;
  const bool integers = of_a->known.paths.size() == 1 && of_a->known.paths[0].empty();
  if (!integers || of_a->known.offsets[0] + greatest_sum(of_a->known.terms(0)) > INT64_MAX / 2)
    return std::nullopt;
  Unlike search(of_a->known, of_a->swizzle.value_or(Swizzle()), of_b->swizzle.value_or(Swizzle()));
  int64_t index = 0;
  switch (search.find(index)) {
    case Answer::yes:
      return differ_at(a, b, index);
    case Answer::no:
      return KnownVerdict{Verdict::proved, {}};
    case Answer::unknown:
      break;
  }
  return std::nullopt;
}

// A mode of both: modes split where those of the other end.
struct Both {
  int64_t extent, of_a, of_b, radix;
};

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
// mode is the same in both, and so many of them are a multiple of 2^t, more of them make no
// difference that fewer do not make; and where the steps of a mode are two multiples of 2^t, one of
// them makes one. What is left of the modes is walked through.
std::optional<KnownVerdict> differ_in_low_bits(const AnyLayout& a, const AnyLayout& b,
                                               int64_t most) {
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
  const auto above = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bits) + 1));
  Wide count = 1;
  for (Both& mode : *modes) {
    if (mode.of_a == mode.of_b) {
      mode.extent = std::min(mode.extent, above / std::gcd(mode.of_a, above));
    } else if (mode.of_a % above == 0 && mode.of_b % above == 0) {
      mode.extent = std::min<int64_t>(mode.extent, 2);
    }
    if ((count *= mode.extent) > most) return std::nullopt;
  }
  std::vector<int64_t> digits(modes->size(), 0);
  auto x = static_cast<int64_t>(of_a->known.offsets[0]),
       y = static_cast<int64_t>(of_b->known.offsets[0]);
  int64_t index = 0;
  const auto move = [&](size_t k, int64_t steps) {
    digits[k] += steps;
    x += steps * (*modes)[k].of_a;
    y += steps * (*modes)[k].of_b;
    index += steps * (*modes)[k].radix;
  };
  while (in_a(x) == in_b(y)) {
    size_t k = 0;
    for (; k < digits.size() && digits[k] + 1 == (*modes)[k].extent; ++k) move(k, -digits[k]);
    if (k == digits.size()) return KnownVerdict{Verdict::proved, {}};
    move(k, 1);
  }
  return differ_at(a, b, index);
}

constexpr int64_t kFirstValues = int64_t{1} << 16;

// A difference among the first values is the smallest there is; without one nothing is known.
KnownVerdict by_first_values(const AnyLayout& a, const AnyLayout& b, int64_t count) {
  Facts facts;
  for (int64_t i = 0; i < count; ++i) {
    if (!(evaluate(facts, a, i) == evaluate(facts, b, i))) return differ_at(a, b, i);
  }
  return {};
}

KnownVerdict decide(const std::vector<AnyLayout>& layouts, const std::vector<Tuple>&,
                    int64_t most) {
  const AnyLayout &a = layouts[0], &b = layouts[1];
  const int64_t n = size_of(a).value();
  if (const int64_t m = size_of(b).value(); n != m) return sizes_differ(n, m);
  const auto parts_a = stripped(a), parts_b = stripped(b);
  if (parts_a && parts_b && parts_a->swizzle == parts_b->swizzle) {
    if (!(parts_a->offset == parts_b->offset)) return differ_at(a, b, 0);
    const auto index = first_difference(parts_a->layout, parts_b->layout);
    return index ? differ_at(a, b, *index) : KnownVerdict{Verdict::proved, {}};
  }
  if (const auto verdict = differ_by_bits(a, b)) return *verdict;
  if (const auto verdict = differ_by_swizzle(a, b)) return *verdict;
  if (const auto verdict = differ_in_low_bits(a, b, most)) return *verdict;
  const auto of_a = walked(a, most), of_b = walked(b, most);
  if (!of_a || !of_b)
    return by_first_values(a, b, std::min<int64_t>(n, std::min(most, kFirstValues)));
  const auto [x, y] = std::mismatch(of_a->begin(), of_a->end(), of_b->begin());
  return x == of_a->end() ? KnownVerdict{Verdict::proved, {}} : differ_at(a, b, x - of_a->begin());
}

// The modes of both taken off from the left together: of two extents of which one divides the
// other, the greater is split. What is left open for them to be the same.
std::optional<std::vector<Predicate>> refined(Facts& facts, const Layout& a, const Layout& b) {
  std::vector<Mode> of_a = flat_modes(coalesce(facts, a)), of_b = flat_modes(coalesce(facts, b));
  std::reverse(of_a.begin(), of_a.end());
  std::reverse(of_b.begin(), of_b.end());
  std::vector<Predicate> all{equal(size(a), size(b))};
  while (!of_a.empty() && !of_b.empty()) {
    Mode &x = of_a.back(), &y = of_b.back();
    if (x.stride.path() != y.stride.path()) return std::nullopt;
    all.push_back(either(equal(x.extent, 1), equal(x.stride.value(), y.stride.value())));
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
      all.push_back(equal(x.extent, y.extent));
      of_a.pop_back();
      of_b.pop_back();
    }
  }
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

Judgement same_function(Facts& facts, const AnyLayout& a, const AnyLayout& b) {
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
