// The steps of a derivation in words: the one place where they are worded.

#include <algorithm>
#include <bit>
#include <numeric>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/explain/derivation.h"

namespace lay::sema {
namespace {

using namespace trace;

std::string text_of(const Mode& mode) {
  return mode.extent.to_string() + ":" + mode.stride.to_string();
}

std::string list_of(const std::vector<Mode>& modes) {
  std::string list;
  for (const Mode& mode : modes) list += (list.empty() ? "" : ", ") + text_of(mode);
  return list;
}

// "3*4 = 12": a product of two integers with its value.
std::string product(const Int& a, const Int& b) {
  const std::string written = a.to_factor_string() + "*" + b.to_factor_string();
  int64_t covered;
  if (a.is_literal() && b.is_literal() && __builtin_mul_overflow(a.value(), b.value(), &covered))
    return written;
  const std::string value = (a * b).to_string();
  return written == value ? written : written + " = " + value;
}

std::string quotient(const Int& a, const Int& b) {
  if (a.is_literal() && b.is_literal() && a.value() % b.value() != 0) {
    return a.to_string() + "//" + b.to_string() + " = " + floor_div(a, b).to_string();
  }
  const std::string written = a.to_factor_string() + "/" + b.to_factor_string(),
                    value = divided(a, b).to_string();
  return written == value ? written : written + " = " + value;
}

// "(4-1)*3 = 9"
std::string reach(const Int& count, const Int& step) {
  const std::string value = ((count - 1) * step).to_string();
  if (!count.is_literal()) return "(" + count.to_string() + " - 1)*" + step.to_factor_string();
  return "(" + count.to_string() + "-1)*" + step.to_factor_string() + " = " + value;
}

std::string steps(const Int& count, const Int& step) {
  return count.to_string() + (count.is(1) ? " step" : " steps") + " of " + step.to_string();
}

std::string misfit(const Meets& m) {
  const std::string step = m.step.to_string(), extent = m.left.extent.to_string();
  if (m.code == "composition-shape") {
    return step + " divides " + extent + ", but " + quotient(m.left.extent, m.step) +
           " steps fill the mode, and " + m.count.to_string() +
           " is no multiple of that: they end in the middle of a round";
  }
  if (m.code == "undecided")
    return "what happens here depends on " + m.missing + ", which the facts leave open";
  return step + " neither divides " + extent + " nor is divided by it, and " +
         reach(m.count, m.step) + " is not below " + extent + ": the steps have no form here";
}

// "4:3*8 = 4:24": the step times the stride of the mode.
std::string piece_of(const Meets& m) {
  const std::string extent = m.piece->extent.to_string() + ":", piece = text_of(*m.piece);
  const Tuple& stride = m.left.stride;
  const std::string written =
      extent + m.step.to_factor_string() + "*" +
      (stride.is_int() ? stride.value().to_factor_string() : stride.to_string());
  const bool product = m.piece->stride == Tuple::basis(m.step * stride.value(), stride.path());
  return !product || m.step.is(1) || written == piece ? piece : written + " = " + piece;
}

std::string meeting(const Meets& m) {
  const std::string step = m.step.to_string(), extent = m.left.extent.to_string();
  const std::string piece = m.piece ? piece_of(m) : "";
  switch (m.meeting) {
    case Meeting::inside:
      return reach(m.count, m.step) + " < " + extent + ", so they stay inside, " + piece;
    case Meeting::over:
      if (m.step == m.left.extent) return "the step is one whole round: step 1 in the next mode";
      return extent + " divides " + step + ", so they step over whole rounds: step " +
             quotient(m.step, m.left.extent) + " in the next mode";
    case Meeting::through:
      return step + " divides " + extent + ", and " + quotient(m.left.extent, m.step) +
             " divides " + m.count.to_string() + ": " + m.piece->extent.to_string() +
             " steps fill it, " + piece + ", and " + quotient(m.count, m.piece->extent) +
             " steps of 1 go on";
    case Meeting::last:
      return "the last mode takes what is left, " + piece;
    case Meeting::still:
      return "step 0 stays where it is, " + text_of(*m.piece);
    case Meeting::open:
      return "the steps stay inside, fill the mode or step over whole rounds, and every case has "
             "one form: " +
             piece + ", and " + steps(m.rest->extent, m.rest->stride.value()) + " go on";
    case Meeting::misfit:
      return misfit(m);
  }
  return "";
}

struct Words {
  std::string operator()(const Begin&) const { return ""; }
  std::string operator()(const End&) const { return ""; }
  std::string operator()(const Guarded& s) const {
    return "not known, so guarded: " + s.guard.to_string();
  }

  std::string operator()(const Drop& s) const { return text_of(s.mode) + " has extent 1 and goes"; }
  std::string operator()(const Join& s) const {
    const std::string low = text_of(s.low), high = text_of(s.high);
    const std::string end = product(s.low.extent, s.low.stride.value());
    if (s.joined) {
      return low + " then " + high + ": " + end + " is where the next begins, so they are one, " +
             (s.low.extent * s.high.extent).to_string() + ":" + s.low.stride.to_string();
    }
    return low + " then " + high + ": " + end +
           (s.high.stride.is_int() && s.high.stride.value().is_literal() &&
                    (s.low.extent * s.low.stride.value()).is_literal()
                ? " is not "
                : " is not known to be ") +
           s.high.stride.to_string() + ", so they stay apart";
  }

  std::string operator()(const LeftSide& s) const {
    std::string name = "A";
    for (const int mode : s.path) name += "[" + std::to_string(mode) + "]";
    if (s.modes.size() == 1)
      return name + " has one mode, " + list_of(s.modes) + ", which goes on for ever";
    return name + " coalesced is " + list_of(s.modes) + "; its last mode goes on for ever";
  }
  std::string operator()(const Walk& s) const {
    const std::string mode = s.count.to_string() + ":" + s.step.to_string();
    const Int& step = s.step.value();
    std::string words = "mode " + std::to_string(s.right_mode) + " of B, " + mode + ", is ";
    if (step.is_literal() && step.value() < 0) {
      return words + steps(s.count, -step) + " downwards: as upwards, with every sign changed";
    }
    return words + steps(s.count, step);
  }
  std::string operator()(const Meets& s) const {
    return s.meeting == Meeting::still ? meeting(s) : "at " + text_of(s.left) + ": " + meeting(s);
  }
  std::string operator()(const Carry& s) const {
    std::string sum;
    for (const Int& one : s.reaches) sum += (sum.empty() ? "" : " + ") + one.to_factor_string();
    const std::string total = s.reach.to_string();
    if (total != sum) sum += " = " + total;
    return "together the modes of B reach " + sum + " in " + text_of(s.left) +
           (s.stays
                ? ", below " + s.left.extent.to_string() + ": nothing carries"
                : ", not below " + s.left.extent.to_string() + ": they carry into the next mode");
  }
  std::string operator()(const Tabulated& s) const {
    if (!s.compared) return "the rules find no form";
    if (!s.found) return "the rules find no form, and neither does the table of all values";
    return "the rules find no form, but the table of all values has one: " + s.found->to_string();
  }

  std::string operator()(const Gap& s) const {
    const std::string mode = text_of(s.mode), below = s.covered.to_string(),
                      now =
                          "; now " + product(s.mode.extent, s.mode.stride.value()) + " are covered",
                      covered = below + (s.covered.is(1) ? " is" : " are") + " covered";
    if (s.mode.stride == Tuple(s.covered))
      return mode + " begins where " + covered + ": no gap" + now;
    const std::string begins =
        mode + " begins at " + s.mode.stride.to_string() + ", and " + covered + ": ";
    if (s.gap.is(1)) return begins + "no second copy of that fits below it" + now;
    return begins + quotient(s.mode.stride.value(), s.covered) + " copies of that fit below it, " +
           s.gap.to_string() + ":" + below + now;
  }
  std::string operator()(const Interlaced& s) const {
    return text_of(s.mode) +
           " steps within what the modes below it cover, and no value is taken twice: together "
           "they are one block" +
           (s.covered ? ", " + s.covered->to_string() + " are covered" : "") +
           (s.gap.is(1) ? "" : ", and " + s.gap.to_string() + ":1 stands beside each value");
  }
  std::string operator()(const Searched& s) const {
    return "read so, values do not tell their digits; a search finds " + s.found.to_string();
  }
  std::string operator()(const Rest& s) const {
    const std::string written =
        "ceil_div(" + s.cotarget.to_string() + "," + s.covered.to_string() + ")";
    return "above all modes " + written +
           (written == s.rest.to_string() ? "" : " = " + s.rest.to_string()) +
           (s.rest.is(1) ? " copy reaches" : " copies reach") +
           " the cotarget: " + s.rest.to_string() + ":" + s.covered.to_string();
  }
  std::string operator()(const Follow& s) const {
    if (!s.mode) return "no mode has stride " + s.wanted.to_string() + ": the inverse ends here";
    return "stride " + s.wanted.to_string() + " is that of " + text_of(*s.mode) +
           ", a step of which is " + s.place.to_string() +
           " in the index: " + s.mode->extent.to_string() + ":" + s.place.to_string();
  }
  std::string operator()(const Undo& s) const {
    const Int& stride = s.mode.stride.value();
    return text_of(s.mode) + ": its stride is " + quotient(stride, s.last) +
           (s.last.is(1) ? "" : " times that below") + ", and a step of it is " +
           s.place.to_string() + " in the index";
  }

  std::string operator()(const Cast& s) const {
    const std::string from = text_of(s.from), to = s.to.to_string(), n = s.factor.to_string();
    const std::string stride = s.from.stride.value().to_string();
    switch (s.how) {
      case Casting::still:
        return from + " stays: its elements lie in one place";
      case Casting::divided:
        return from + ": " + n + " divides the stride " + stride + ", which becomes " +
               s.to.stride.to_string() + ": " + to;
      case Casting::shrunk:
        return from + ": the stride " + stride + " divides " + n + ", so " +
               quotient(s.factor, magnitude(s.from)) + " elements are one: " + to;
      case Casting::listed:
        return from + ": its elements lie in the words " + first_values(s.to) + ", which is " + to;
      case Casting::rounds: {
        const Int step = magnitude(s.from), common = std::gcd(step.value(), s.factor.value());
        return from + ": " + product(divided(s.factor, common), step) + " are whole words of " + n +
               ", so the words of one round of elements come again: " + to;
      }
      case Casting::grown:
        if (s.from.extent.is(1)) return from + ": one element, which becomes " + n + ": " + to;
        return from + ": neighbours, each of which becomes " + n + ": " + to;
      case Casting::scaled:
        return from + ": the steps are " + n + " times as many elements: " + to;
    }
    return "";
  }
  std::string operator()(const Image& s) const {
    const std::string become = std::popcount(static_cast<std::uint64_t>(s.from.source_mask())) == 1
                                   ? ", which becomes "
                                   : ", which become ";
    const std::string words = "through " + s.through.to_string() + ": " + s.from.to_string() +
                              " reads " + bits_of(s.from.source_mask()) + become +
                              bits_of(s.source) + ", and changes " + bits_of(s.from.target_mask()) +
                              become + bits_of(s.target);
    return words +
           (s.to ? ": that is " + s.to->to_string() : ": no swizzle does that at every value");
  }

  std::string operator()(const Rescaled& s) const {
    return "one " +
           std::string(s.to.m < s.from.m || s.to.b < s.from.b ? "element holds " : "word is ") +
           std::to_string(s.factor) + " elements, so the bits move by log2(" +
           std::to_string(s.factor) + "): M = " + std::to_string(s.from.m) + " becomes " +
           std::to_string(s.to.m) +
           (s.to.b == s.from.b
                ? ""
                : ", and B = " + std::to_string(s.from.b) + " becomes " + std::to_string(s.to.b));
  }
  std::string operator()(const Xors& s) const {
    if (s.swizzle.b == 0) return s.swizzle.to_string() + " changes nothing";
    const std::string words = s.swizzle.to_string() + " XORs " + bits_of(s.swizzle.source_mask()) +
                              " of what the layout gives into " + bits_of(s.swizzle.target_mask());
    if (s.swizzle.m == 0) return words;
    const std::string run =
        s.swizzle.m < 63
            ? ", and aligned runs of " + std::to_string(int64_t{1} << s.swizzle.m) + " in one piece"
            : "";
    return words + "; " + bit_range(0, s.swizzle.m) + (s.swizzle.m == 1 ? " stays" : " stay") + run;
  }
  std::string operator()(const Together& s) const {
    return s.a.to_string() + " reads " + bits_of(s.a.source_mask()) + " and " + s.b.to_string() +
           " reads " + bits_of(s.b.source_mask()) + ", both shifted by " + std::to_string(s.a.s) +
           ": XOR twice is no XOR, so what remains is " +
           bits_of(s.a.source_mask() ^ s.b.source_mask());
  }
  std::string operator()(const At& s) const {
    std::string words = s.natural == s.coordinate
                            ? "coordinate " + s.coordinate.to_string()
                            : s.coordinate.to_string() + " is the coordinate " +
                                  s.natural.to_string() + " of " + s.layout.shape.to_string();
    const std::vector<Tuple> indices = leaves(s.natural), strides = leaves(s.layout.stride);
    std::string sum;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      sum += (i ? " + " : "") + indices[i].value().to_factor_string() + "*" +
             (strides[i].is_int() ? strides[i].value().to_factor_string() : strides[i].to_string());
    }
    return words + ": " + sum + " = " + s.value.to_string();
  }
  std::string operator()(const Kept& s) const {
    return s.coordinate.to_string() + ": what stands under _ is " + s.sub.to_string() +
           ", and the indices that are given add " + s.offset.to_string();
  }
  std::string operator()(const Moved& s) const {
    return "offset " + s.offset.to_string() + ": " + s.offset.to_string() + " + " +
           s.from.to_string() + " = " + s.value.to_string();
  }
  std::string operator()(const Bits& s) const {
    const int64_t low_source = s.swizzle.m + std::max<int64_t>(0, s.swizzle.s);
    const int64_t low_target = s.swizzle.m - std::min<int64_t>(0, s.swizzle.s);
    const std::string taken = binary(s.from >> low_source, s.swizzle.b),
                      old = binary(s.from >> low_target, s.swizzle.b),
                      fresh = binary(s.to >> low_target, s.swizzle.b);
    const std::string name = s.swizzle.to_string() + " of " + std::to_string(s.from);
    if (s.swizzle.b == 0) return name + " moves nothing";
    const char* are = s.swizzle.b == 1 ? " is " : " are ";
    return name + ": " + bit_range(low_source, s.swizzle.b) + are + taken + ", " +
           bit_range(low_target, s.swizzle.b) + are + old + "; " + old + " xor " + taken + " = " +
           fresh + ", so " + std::to_string(s.to);
  }

  std::string operator()(const Common& s) const {
    const std::string along = "along " + s.through.to_string() +
                              ", which counts through B, A gives " + s.values.to_string();
    if (s.count.is(1)) return along + ": no two neighbours of B are neighbours in A";
    return along + ": the first " + s.count.to_string() + " follow one another in both";
  }
  std::string operator()(const Limited& s) const {
    const std::string kept = s.by.m == 0 ? " moves even the lowest bit"
                             : s.by.m == 1
                                 ? " leaves the lowest bit alone"
                                 : " leaves the lowest " + std::to_string(s.by.m) + " bits alone";
    return s.by.to_string() + kept + ": no more than " + std::to_string(s.elements) +
           (s.elements == 1 ? " element stays" : " elements stay") + " together";
  }
  std::string operator()(const Bound& s) const {
    return s.access + ": at best " + counted(s.accesses, "access", "accesses") + " of " +
           counted(s.vector, "element", "elements") + " as one, which take at least " +
           counted(s.fewest, "wavefront", "wavefronts");
  }
  std::string operator()(const Tried& s) const {
    std::string each;
    for (const auto& [name, count] : s.wavefronts) {
      each += (each.empty() ? "" : ", ") + name + " " + std::to_string(count);
    }
    return lay::to_string(s.layout) + " takes " + counted(s.sum, "wavefront", "wavefronts") + " (" +
           each + "): the best so far";
  }
  std::string operator()(const Looked& s) const {
    const std::string looked =
        counted(s.candidates, "layout", "layouts") + " of " + s.family + " looked at";
    if (s.wavefronts == s.fewest)
      return looked + "; none of any kind takes fewer than " + std::to_string(s.fewest);
    return looked + ", which is all; " + std::to_string(s.fewest) +
           " would be the bound for any layout, so one outside the family may be better";
  }

  std::string operator()(const Condition& s) const {
    if (s.condition.is_never()) return "what would be enough for all sizes is false";
    return "enough, with the others: " + s.condition.to_string() +
           (s.proved ? ", which holds" : ", which the facts leave open");
  }
  std::string operator()(const Judged& s) const {
    if (s.verdict == Verdict::proved) {
      return s.symbolic ? "the facts prove what is enough for all sizes"
                        : "decided from the numbers: nothing breaks it";
    }
    if (s.verdict == Verdict::undecided)
      return "neither a proof nor sizes that break it were found within the steps";
    std::string sizes;
    for (const auto& [name, value] : s.sizes)
      sizes += (sizes.empty() ? "" : ", ") + name + " = " + std::to_string(value);
    const std::string where =
        sizes.empty() ? "" : "with " + sizes + ", the smallest sizes that break it: ";
    return where + (s.failure.empty() ? "it fails" : s.failure);
  }

  static std::string counted(int64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
  }
  static std::string binary(int64_t bits, int64_t count) {
    std::string digits;
    for (int64_t k = count; k-- > 0;) digits += (bits >> k & 1) != 0 ? '1' : '0';
    return digits.empty() ? "0" : digits;
  }
  // "bits 4..3", or the number where they are not neighbours.
  static std::string bits_of(int64_t mask) {
    if (mask == 0) return "no bits";
    if (mask < 0) return std::to_string(mask);
    const auto bits = static_cast<uint64_t>(mask);
    const int low = std::countr_zero(bits), count = std::popcount(bits);
    if (bits >> low != (uint64_t{1} << count) - 1) return "the bits of " + std::to_string(mask);
    return bit_range(low, count);
  }
  static std::string bit_range(int64_t low, int64_t count) {
    if (count <= 1) return "bit " + std::to_string(low);
    return "bits " + std::to_string(low + count - 1) + ".." + std::to_string(low);
  }

  static std::string first_values(const Layout& words) {
    Facts facts;
    std::string list;
    const int64_t n = size(words).value();
    for (int64_t i = 0; i < std::min<int64_t>(n, 8); ++i)
      list += (i ? " " : "") + evaluate(facts, words, i).to_string();
    return list + (n > 8 ? " ..." : "");
  }

  static Int magnitude(const Mode& mode) {
    const Int& d = mode.stride.value();
    return d.is_literal() && d.value() < 0 ? -d : d;
  }
};

}  // namespace

std::string step_text(const Step& step) {
  return std::visit(Words{}, step);
}

}  // namespace lay::sema
