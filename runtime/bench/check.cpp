#include "runtime/bench/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>

#include "backend/plan/recognise.h"
#include "frontend/algebra/memory/convert.h"
#include "frontend/sema/values/array.h"
#include "runtime/bench/factor.h"
#include "runtime/bench/parallel.h"
#include "runtime/bench/value.h"

namespace lay::bench {
namespace {

using sema::NodeId;

// What is needed of a contraction to compute it at any element: a sum over one index of a product
// of two loads, or casts of loads, with bare coordinates.
struct Sum {
  ElementType type = ElementType::f32;
  sema::IndexId k = -1;
  Factor left, right;
  double allowed = 0;
};

struct SumValue {
  double exact = 0, magnitude = 0;
};

// The sum of x(k) * y(k) in f64, as two numbers where the accumulator itself is f64.
template <class X, class Y>
SumValue added_up(std::int64_t count, const X& x_at, const Y& y_at) {
  double total = 0, lost = 0, magnitude = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = x_at(k), y = y_at(k);
    const double product = x * y, next = total + product;
    lost += std::fma(x, y, -product) + (product - (next - total));
    total = next;
    magnitude += std::abs(product);
  }
  return {total + lost, magnitude};
}

class Checker {
 public:
  Checker(const Problem& problem, const HostData& before, bool exact, int accumulate)
      : problem_(problem), exact_(exact), accumulate_(accumulate) {
    for (std::size_t i = 0; i < problem.tensors.size(); ++i)
      readers_.emplace_back(problem.tensors[i].element, before[i]);
    const auto& kernel = *problem.kernel;
    const auto live = plan::reachable(kernel);
    for (NodeId id = 0; id < static_cast<NodeId>(kernel.nodes.size()); ++id)
      if (live[static_cast<std::size_t>(id)] &&
          std::holds_alternative<sema::Contraction>(node(id).what))
        sums_.emplace(id, sum_of(id));
  }

  double products() const {
    double all = sums_.empty() ? 1 : 0;
    for (const auto& [id, sum] : sums_) all += static_cast<double>(problem_.extent(sum.k));
    return all;
  }

  // For so many elements of an output.
  void expect(std::int64_t elements) {
    for (auto& [id, sum] : sums_)
      for (Factor* factor : {&sum.left, &sum.right})
        factor->keep_lines(problem_, sum.k, reader(*factor), elements);
  }

  // One element of one output.
  void compare(const sema::Assignment& assignment, const std::vector<std::int64_t>& at, double got,
               double extra_roundoff, Judgement& judgement) const {
    double pushed = 0;  // how far, in allowed errors, the sums are moved
    std::map<NodeId, SumValue> known;
    ElementValue value(problem_, {[&](const sema::Load& load, const std::vector<std::int64_t>& c) {
                                    return load_at(load, c);
                                  },
                                  [&](NodeId id) {
                                    auto [found, fresh] = known.try_emplace(id);
                                    if (fresh) found->second = sum(sums_.at(id), at);
                                    return found->second.exact + pushed * moved(id, found->second);
                                  }});
    const double due = value.of(assignment.value, at);
    const double rounded_off = value.rounding_error();
    pushed = 1;
    const double up = value.of(assignment.value, at);
    pushed = -1;
    const double down = value.of(assignment.value, at);
    const Tensor& target = problem_.tensors[static_cast<std::size_t>(assignment.target)];
    const double due_there =
        is_float(target.element) ? due : static_cast<double>(round_to_integer(target.element, due));
    const double allowed = std::max(std::abs(up - due), std::abs(down - due)) + rounded_off +
                           (unit_roundoff(target.element) + extra_roundoff) * std::abs(due) +
                           smallest(target.element);
    const double rounded =
        is_float(target.element) ? sema::round_to(target.element, due) : due_there;
    ++judgement.elements;
    const double error = std::abs(got - due_there);
    // Beyond the largest number both are infinite, or the largest where the type saturates.
    const bool right = error <= allowed || got == rounded || (std::isnan(due) && std::isnan(got)) ||
                       (beyond(target.element, std::abs(due) + allowed) &&
                        std::signbit(got) == std::signbit(due) && !std::isnan(got));
    if (std::isfinite(error) && allowed > 0)
      judgement.worst = std::max(judgement.worst, error / allowed);
    if (right) return;
    if (judgement.wrong++ == 0) judgement.first = words(assignment, at, got, due_there, allowed);
  }

 private:
  const sema::Node& node(NodeId id) const {
    return problem_.kernel->nodes[static_cast<std::size_t>(id)];
  }

  // The smallest subnormal of the narrow types.
  static double smallest(ElementType type) {
    if (!is_float(type) || bits(type) > 16) return 0;
    return bits(type) <= 8 ? 0x1p-9 : 0x1p-24;
  }

  static bool beyond(ElementType type, double magnitude) {
    switch (type) {
      case ElementType::f16:
        return magnitude >= 65504;
      case ElementType::e4m3:
        return magnitude >= 448;
      case ElementType::e5m2:
        return magnitude >= 57344;
      default:
        return false;
    }
  }

  std::string words(const sema::Assignment& assignment, const std::vector<std::int64_t>& at,
                    double got, double due, double allowed) const {
    std::string where;
    for (const sema::IndexId index : assignment.indices)
      where += (where.empty() ? "" : ",") + std::to_string(at[static_cast<std::size_t>(index)]);
    char text[160];
    std::snprintf(text, sizeof text, "[%s] is %.9g and should be %.9g, +- %.3g", where.c_str(), got,
                  due, allowed);
    return problem_.tensors[static_cast<std::size_t>(assignment.target)].name + text;
  }

  double moved(NodeId id, const SumValue& value) const {
    if (exact_) return 0;
    const Sum& sum = sums_.at(id);
    return sum.allowed * value.magnitude + unit_roundoff(sum.type) * std::abs(value.exact);
  }

  double load_at(const sema::Load& load, const std::vector<std::int64_t>& coordinate) const {
    const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(load.tensor)];
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < coordinate.size(); ++i)
      offset += tensor.modes[i].offset(coordinate[i]);
    return readers_[static_cast<std::size_t>(load.tensor)][offset];
  }

  // The type whose numbers the factor is made of: the narrowest it went through.
  static ElementType type_of(const Factor& factor) {
    return factor.casts.empty() ? factor.tensor->element : factor.casts.back();
  }

  Factor factor_of(NodeId value, sema::IndexId k) const {
    Factor factor;
    while (const auto* cast = std::get_if<sema::Apply>(&node(value).what)) {
      if (cast->function != ElementFunction::cast) return {};
      factor.casts.insert(factor.casts.begin(), node(value).type);
      value = cast->operands[0];
    }
    const auto* load = std::get_if<sema::Load>(&node(value).what);
    if (!load) return {};
    for (const NodeId coordinate : load->coordinate) {
      factor.indices.push_back(plan::bare_index(*problem_.kernel, coordinate));
      if (factor.indices.back() < 0) return {};
    }
    factor.tensor = &problem_.tensors[static_cast<std::size_t>(load->tensor)];
    // A cast to a wider type changes no number.
    double narrowest = unit_roundoff(factor.tensor->element);
    std::erase_if(factor.casts, [&](ElementType type) {
      if (unit_roundoff(type) <= narrowest) return true;
      narrowest = unit_roundoff(type);
      return false;
    });
    for (std::int64_t i = 0; i < problem_.extent(k); ++i) {
      std::int64_t offset = 0;
      for (std::size_t mode = 0; mode < factor.indices.size(); ++mode)
        if (factor.indices[mode] == k) offset += factor.tensor->modes[mode].offset(i);
      factor.along_k.push_back(offset);
    }
    return factor;
  }

  Sum sum_of(NodeId id) const {
    const auto& contraction = std::get<sema::Contraction>(node(id).what);
    const auto* product = std::get_if<sema::Apply>(&node(contraction.body).what);
    Sum sum{node(id).type, contraction.indices[0], {}, {}, 0};
    if (contraction.indices.size() != 1 || !product || product->function != ElementFunction::mul)
      throw std::runtime_error(
          "its sum is not one of products over one index, which is what can be checked");
    sum.left = factor_of(product->operands[0], sum.k);
    sum.right = factor_of(product->operands[1], sum.k);
    if (!sum.left.tensor || !sum.right.tensor)
      throw std::runtime_error(
          "its sum is not of plain elements of tensors, which is what can be checked");
    sum.allowed = allowed_error(problem_.extent(sum.k), type_of(sum.left), type_of(sum.right),
                                sum.type, accumulate_);
    return sum;
  }

  const Reader& reader(const Factor& factor) const {
    return readers_[static_cast<std::size_t>(factor.tensor - problem_.tensors.data())];
  }

  SumValue sum(const Sum& sum, const std::vector<std::int64_t>& at) const {
    const std::int64_t count = std::ssize(sum.left.along_k);
    const float* lines[] = {sum.left.line(sum.k, at), sum.right.line(sum.k, at)};
    if (lines[0] && lines[1])
      return added_up(
          count, [&](std::int64_t k) { return static_cast<double>(lines[0][k]); },
          [&](std::int64_t k) { return static_cast<double>(lines[1][k]); });
    const auto elements = [&](const Factor& factor) {
      return [&factor, &from = reader(factor), base = factor.base(sum.k, at)](std::int64_t k) {
        return through(factor.casts, from[base + factor.along_k[static_cast<std::size_t>(k)]]);
      };
    };
    return added_up(count, elements(sum.left), elements(sum.right));
  }

  const Problem& problem_;
  bool exact_;
  int accumulate_;
  std::vector<Reader> readers_;
  std::map<NodeId, Sum> sums_;
};

// The values of all indices for the elements that are looked at: all of them, or the corners and
// others at random.
std::vector<std::vector<std::int64_t>> samples(const Problem& problem,
                                               const sema::Assignment& assignment,
                                               std::int64_t most, std::uint64_t seed) {
  std::vector<std::vector<std::int64_t>> all;
  std::vector<std::int64_t> extents;
  std::int64_t count = 1;
  for (const sema::IndexId index : assignment.indices) {
    extents.push_back(problem.extent(index));
    if (__builtin_mul_overflow(count, extents.back(), &count)) count = INT64_MAX;
  }
  const auto add = [&](const std::vector<std::int64_t>& coordinate) {
    std::vector<std::int64_t> at(problem.kernel->indices.size(), 0);
    for (std::size_t i = 0; i < coordinate.size(); ++i)
      at[static_cast<std::size_t>(assignment.indices[i])] = coordinate[i];
    all.push_back(std::move(at));
  };
  std::vector<std::int64_t> coordinate(extents.size(), 0);
  if (count <= most) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t rest = i;
      for (std::size_t mode = 0; mode < extents.size(); ++mode) {
        coordinate[mode] = rest % extents[mode];
        rest /= extents[mode];
      }
      add(coordinate);
    }
    return all;
  }
  std::mt19937_64 random(seed);
  for (std::uint64_t corner = 0; corner < (1ull << std::min<std::size_t>(extents.size(), 4));
       ++corner) {
    for (std::size_t mode = 0; mode < extents.size(); ++mode)
      coordinate[mode] = (corner >> mode & 1) != 0 ? extents[mode] - 1 : 0;
    add(coordinate);
  }
  while (static_cast<std::int64_t>(all.size()) < most) {
    for (std::size_t mode = 0; mode < extents.size(); ++mode)
      coordinate[mode] =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents[mode]));
    add(coordinate);
  }
  return all;
}

}  // namespace

double allowed_error(std::int64_t k, ElementType left, ElementType right, ElementType accumulator,
                     int accumulate) {
  if (!is_float(accumulator)) return 0;
  const double n = static_cast<double>(k), u = unit_roundoff(accumulator);
  const int width = std::min(bits(left), bits(right));
  const bool is_simt = left == accumulator && right == accumulator;
  if (is_simt) return std::min(n * u / (1 - n * u), 8 * std::sqrt(n) * u);
  // Tensor cores: steps of 32 bytes of K; their sums of 8-bit floats keep 13 bits of the
  // significand.
  const auto steps_of = [&](double some) { return std::ceil(some * std::max(width, 8) / 256); };
  const double steps = steps_of(n);
  if (width <= 8) {
    const double alone = accumulate > 0 ? std::min(steps, steps_of(accumulate)) : steps;
    return std::min(1.0, alone * 0x1p-13 + 8 * std::sqrt(n) * 2 * u);
  }
  return 8 * std::sqrt(n) * 2 * u + steps * 2 * u;
}

Judgement check(const Problem& problem, const HostData& before, const HostData& after, bool exact,
                const Sampling& sampling, double extra_roundoff, int accumulate) {
  Judgement judgement;
  Checker checker(problem, before, exact, accumulate);
  for (const sema::Assignment& assignment : problem.kernel->assignments) {
    const auto target = static_cast<std::size_t>(assignment.target);
    const Tensor& tensor = problem.tensors[target];
    const Reader results(tensor.element, after[target]);
    const auto most = static_cast<std::int64_t>(sampling.most_products / checker.products());
    const auto chosen =
        samples(problem, assignment, std::max<std::int64_t>(most, 256), sampling.seed);
    checker.expect(std::ssize(chosen));
    std::vector<Judgement> parts(static_cast<std::size_t>(most_parts()));
    in_parts(std::ssize(chosen), 64, [&](int part, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto& at = chosen[static_cast<std::size_t>(i)];
        std::int64_t offset = 0;
        for (std::size_t mode = 0; mode < assignment.indices.size(); ++mode)
          offset +=
              tensor.modes[mode].offset(at[static_cast<std::size_t>(assignment.indices[mode])]);
        checker.compare(assignment, at, results[offset], extra_roundoff,
                        parts[static_cast<std::size_t>(part)]);
      }
    });
    for (const Judgement& part : parts) {
      judgement.elements += part.elements;
      judgement.wrong += part.wrong;
      judgement.worst = std::max(judgement.worst, part.worst);
      if (judgement.first.empty()) judgement.first = part.first;
    }
  }
  return judgement;
}

std::int64_t first_difference(const Tensor& tensor, const std::vector<std::byte>& a,
                              const std::vector<std::byte>& b) {
  constexpr std::int64_t block = 1 << 16;  // bytes
  const std::int64_t bytes = std::ssize(a);
  std::vector<std::int64_t> first(static_cast<std::size_t>(most_parts()), -1);
  in_parts((bytes + block - 1) / block, 16, [&](int part, std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin * block; at < std::min(end * block, bytes); at += block) {
      const std::byte* const from = a.data() + at;
      const auto length = static_cast<std::size_t>(std::min(block, bytes - at));
      if (std::memcmp(from, b.data() + at, length) == 0) continue;
      first[static_cast<std::size_t>(part)] =
          at + (std::mismatch(from, from + length, b.data() + at).first - from);
      return;
    }
  });
  const auto found =
      std::find_if(first.begin(), first.end(), [](std::int64_t at) { return at >= 0; });
  return found == first.end()
             ? -1
             : *found / static_cast<std::int64_t>(sema::element_bytes(tensor.element));
}

}  // namespace lay::bench
