#include <algorithm>

#include "frontend/algebra/mode.h"
#include "frontend/algebra/operations.h"
#include "frontend/algebra/polynomial.h"
#include "frontend/algebra/trace.h"

namespace lay {
namespace {

void check_strides(const char* operation, const Layout& a, const std::vector<Mode>& modes) {
  for (const Mode& mode : modes) {
    if (!mode.stride.is_int()) {
      throw refusal("not-integer", std::string(operation) + " needs integer strides, and " + a.to_string() + " has " +
                                       mode.stride.to_string());
    }
    if (mode.stride.value().is_literal() && mode.stride.value().value() < 0) {
      throw refusal("negative-stride", std::string(operation) + " of " + a.to_string() + ": the stride " +
                                           mode.stride.to_string() + " is negative");
    }
  }
}

// A mode of extent 1 leaves no gap below it. Where the extent may be 1 and rounding would tell the difference, that it
// is more is guarded.
void require_counted(Facts& facts, const Mode& mode, const Int& covered, const Int& next) {
  const Int& stride = mode.stride.value();
  if (mode.extent.is_literal() || stride == covered) return;
  if (facts.proves(divides(stride, covered)) && facts.proves(divides(next, stride))) return;
  facts.try_require(less_equal(2, mode.extent), "complement");
}

}  // namespace

std::vector<size_t> by_stride(const Facts& facts, const std::vector<Mode>& modes) {
  std::vector<size_t> rest, order;
  for (size_t i = 0; i < modes.size(); ++i) rest.push_back(i);
  const auto before = [&](size_t a, size_t b) {
    const Int &x = modes[a].stride.value(), &y = modes[b].stride.value();
    if (x.is_literal() && y.is_literal()) return x.value() < y.value();
    return facts.proves(less_equal(x, y)) && !facts.proves(less_equal(y, x));
  };
  while (!rest.empty()) {
    auto first = rest.begin();
    for (auto it = rest.begin() + 1; it != rest.end(); ++it) {
      if (before(*it, *first)) first = it;
    }
    order.push_back(*first);
    rest.erase(first);
  }
  return order;
}

Layout complement(Facts& facts, const Layout& a) {
  return complement(facts, a, cosize(facts, filter(facts, a)));
}

namespace {

// Modes, by ascending stride, of which some step within what others cover: no copies fit in between but those of single
// values below their common divisor.
struct Interleaved {
  Int gap;
  Int covered;
};

Interleaved interleave(const std::vector<Mode>& modes, const std::vector<size_t>& order, size_t count) {
  int64_t common = 0, span = 0;
  for (size_t k = 0; k < count; ++k) {
    const int64_t stride = modes[order[k]].stride.value().value();
    common = gcd(common, stride);
    span = checked_add(span, checked_mul(modes[order[k]].extent.value() - 1, stride));
  }
  return {common, checked_add(span, common)};
}

// Two indices of a literal layout with the same value.
struct Twice {
  int64_t first, second, value;
};

std::optional<Twice> find_twice(const Layout& a) {
  const std::vector<int64_t> all = values(a);
  std::vector<int64_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  const auto value = [&](int64_t i) { return all[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t k) { return value(i) < value(k); });
  std::optional<Twice> found;
  for (size_t i = 1; i < order.size(); ++i) {
    if (value(order[i - 1]) != value(order[i]) || (found && found->second <= order[i])) continue;
    found = Twice{order[i - 1], order[i], value(order[i])};
  }
  return found;
}

constexpr int64_t kMaxListed = int64_t{1} << 20;

// Refuses unless the literal layout is injective.
void check_injective(Facts& facts, const Layout& a, const Layout& filtered, const Int& stride, const Int& covered) {
  Refusal r =
      refusal("complement-overlap", "complement of " + a.to_string() + ": a mode steps by " + stride.to_string() +
                                        ", within the " + covered.to_string() + " that the modes below it cover");
  r.operands = {a.to_string()};
  if (!filtered.is_known() || size(filtered).value() > kMaxListed) throw r;
  const auto twice = find_twice(filtered);
  if (!twice) return;
  const auto coordinate = [&](int64_t i) { return idx2crd(facts, i, filtered.shape).to_string(); };
  r.message = "complement of " + a.to_string() + ", which takes a value twice";
  r.labels.push_back({0, (filtered == a ? "" : "as " + filtered.to_string() + ": ") + coordinate(twice->first) +
                             " and " + coordinate(twice->second) + " both give " + std::to_string(twice->value)});
  throw r;
}

}  // namespace

Layout complement(Facts& facts, const Layout& a, const Tuple& cotarget) {
  trace::Operation operation("complement", a, cotarget);
  const Layout filtered = filter(facts, a);
  std::vector<Mode> modes = flat_modes(filtered);
  check_strides("complement", a, modes);
  std::erase_if(modes, [](const Mode& mode) { return mode.stride.is_literal(0) || mode.extent.is(1); });
  std::vector<Mode> result;
  Int covered = 1;
  const std::vector<size_t> order = by_stride(facts, modes);
  for (size_t k = 0; k < order.size(); ++k) {
    const size_t i = order[k];
    const Int& stride = modes[i].stride.value();
    const Int next = k + 1 < order.size() ? modes[order[k + 1]].stride.value() : size(cotarget);
    require_counted(facts, modes[i], covered, next);
    if (!facts.try_require(less_equal(covered, stride), "complement")) {
      check_injective(facts, a, filtered, stride, covered);
      const Interleaved block = interleave(modes, order, k + 1);
      result.assign({{block.gap, 1}});
      trace::report([&] { return trace::Gap{modes[i], 1, block.gap}; });
      covered = block.covered;
      continue;
    }
    result.push_back({facts.floor_div(stride, covered), covered});
    trace::report([&] { return trace::Gap{modes[i], covered, result.back().extent}; });
    covered = stride * modes[i].extent;
  }
  const Int rest = size(ceil_div(facts, cotarget, covered));
  result.push_back({rest, covered});
  trace::report([&] { return trace::Rest{cotarget, covered, rest}; });
  Layout complement = coalesce(facts, from_modes(result, {}));
  complement.units = {{}, a.units.codomain};
  return operation.gives(std::move(complement));
}

namespace {

// Follows the strides 1, s0, s0*s1, ... through the modes. `decide`: a stride that may or may not be the next one is
// taken not to be, and that is guarded.
Layout follow_strides(Facts& facts, const Layout& a, bool decide) {
  const Layout merged = coalesce(facts, a);
  const std::vector<Mode> modes = flat_modes(merged);
  std::vector<Int> before{1};  // the product of the extents before each mode
  for (const Mode& mode : modes) before.push_back(before.back() * mode.extent);
  std::vector<Mode> result;
  std::vector<size_t> rest;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i].stride.is_int() && !modes[i].stride.is_literal(0) && !modes[i].extent.is(1)) rest.push_back(i);
  }
  Int next = 1;
  const auto find_next = [&] {
    const auto steps_on = [&](size_t i) { return steps_into(facts, 1, modes[i].stride, next); };
    const auto known = std::find_if(rest.begin(), rest.end(), steps_on);
    if (known != rest.end() || !decide) return known;
    return std::find_if(rest.begin(), rest.end(), [&](size_t i) {
      return !facts.try_require(not_equal(modes[i].stride.value(), next), "right_inverse");
    });
  };
  for (auto found = find_next(); found != rest.end(); found = find_next()) {
    const size_t i = *found;
    result.push_back({modes[i].extent, before[i]});
    trace::report([&] { return trace::Follow{next, modes[i], before[i]}; });
    next = modes[i].stride.value() * modes[i].extent;
    rest.erase(found);
  }
  trace::report([&] { return trace::Follow{next, std::nullopt, 0}; });
  Layout inverse = coalesce(facts, from_modes(result, {}));
  inverse.units = {a.units.codomain, a.units.domain};
  return inverse;
}

}  // namespace

Layout right_inverse(Facts& facts, const Layout& a) {
  trace::Operation operation("right_inverse", a);
  return operation.gives(follow_strides(facts, a, true));
}

Layout known_right_inverse(Facts& facts, const Layout& a) {
  trace::Operation operation("right_inverse", a);
  return operation.gives(follow_strides(facts, a, false));
}

namespace {

Refusal refuse_left_inverse(const Layout& a, const Int& covered, const Int& stride, bool divides_it) {
  return refusal("left-inverse", "left_inverse of " + a.to_string() + ": the stride " + stride.to_string() +
                                     (divides_it ? " is no multiple of the stride below it, "
                                                 : " is within what the modes below it cover, ") +
                                     covered.to_string());
}

bool is_left_inverse(const Layout& a, const Layout& r) {
  const Int n = size(a);
  if (!a.is_known() || !r.is_known() || n.value() > (int64_t{1} << 20)) return false;
  Facts facts;
  for (const int64_t value : values(a)) {
    if (!(evaluate(facts, a, evaluate(facts, r, value)) == Tuple(value))) return false;
  }
  return true;
}

}  // namespace

Layout left_inverse(Facts& facts, const Layout& a) {
  trace::Operation operation("left_inverse", a);
  const Layout merged = coalesce(facts, a);
  const std::vector<Mode> modes = flat_modes(merged);
  check_strides("left_inverse", a, modes);
  std::vector<Int> before{1};
  for (const Mode& mode : modes) before.push_back(before.back() * mode.extent);
  std::vector<Mode> result{{1, 0}};  // extents filled in one step later: the step to the next stride
  Int last = 1, covered = 1;
  std::optional<Refusal> overlap;
  size_t largest = modes.size();
  for (const size_t i : by_stride(facts, modes)) {
    const Int& stride = modes[i].stride.value();
    if (stride.is(0)) continue;
    if (!facts.try_require(divides(stride, last), "left_inverse")) throw refuse_left_inverse(a, last, stride, true);
    if (!overlap && !facts.try_require(less_equal(covered, stride), "left_inverse")) {
      overlap = refuse_left_inverse(a, covered, stride, false);
    }
    trace::report([&] { return trace::Undo{modes[i], last, before[i]}; });
    result.back().extent = divided(stride, last);
    result.push_back({1, before[i]});
    last = stride;
    covered = stride * modes[i].extent;
    largest = i;
  }
  result.back().extent = largest < modes.size() ? modes[largest].extent : size(merged);
  Layout inverse = coalesce(facts, from_modes(result, {}));
  if (overlap && !is_left_inverse(a, inverse)) throw *overlap;
  inverse.units = {a.units.codomain, a.units.domain};
  return operation.gives(std::move(inverse));
}

Layout nullspace(const Layout& a) {
  const std::vector<Mode> modes = flat_modes(a);
  const std::vector<Mode> steps = flat_modes(make_layout(a.shape));
  std::vector<Mode> result;
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i].stride.is_literal(0)) result.push_back(steps[i]);
  }
  Layout kernel = from_modes(result, {});
  kernel.units = {{}, a.units.domain};
  return kernel;
}

}  // namespace lay
