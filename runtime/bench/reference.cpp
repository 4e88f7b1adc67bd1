#include "runtime/bench/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "backend/plan/recognise.h"
#include "frontend/algebra/memory/convert.h"
#include "frontend/sema/values/array.h"
#include "runtime/bench/host_work.h"
#include "runtime/bench/joined.h"
#include "runtime/bench/problem/element_value.h"
#include "runtime/bench/problem/operand.h"

namespace lay::bench {
namespace {

using sema::NodeId;
using Indices = std::vector<std::int64_t>;  // the values of all indices, by IndexId

// A reduction of the kernel, most often a sum. A sum over one index of elements, or of products of
// two elements, is computed in a loop over memory; any other reduction term by term.
struct Sum {
  sema::ReduceFunction function = sema::ReduceFunction::sum;
  ElementType type = ElementType::f32;
  std::vector<sema::IndexId> indices;
  NodeId body = -1;
  // The operands of a loop over memory. Terms that are single elements have no `right`.
  std::optional<Operand> left, right;
  // The terms are elements or products of two: sums of small integers are exact.
  bool is_exact_on_integers = false;
  // t(K)
  double allowed = 0;
};

struct SumValue {
  // The sum, the sum of the terms' magnitudes, and the sum of the terms' own rounding errors.
  // Another reduction has its value, 0, and the bound on its error.
  double exact = 0, magnitude = 0, error = 0;
};

// The value of a reduction the last time, and where the indices that it depends on stood then.
struct LastSum {
  Indices at;
  SumValue value;
};
using LastSums = std::map<NodeId, LastSum>;

// Adds in f64 and keeps what each addition loses, so that sums whose accumulator is f64 itself are
// exact enough to compare with.
class Accumulator {
 public:
  // Adds term + rest, where `rest` is far below the term.
  void add(double term, double rest = 0) {
    const double next = total_ + term;
    lost_ += rest + (term - (next - total_));
    total_ = next;
    magnitude_ += std::abs(term);
  }
  // Adds what another one has added up.
  void add(const Accumulator& other) {
    const double magnitude = magnitude_ + other.magnitude_;
    add(other.total_, other.lost_);
    magnitude_ = magnitude;
  }
  SumValue value() const { return {total_ + lost_, magnitude_, 0}; }

 private:
  double total_ = 0, lost_ = 0, magnitude_ = 0;
};

template <class X>
SumValue sum_of_elements(std::int64_t count, const X& x_at) {
  Accumulator sum;
  for (std::int64_t k = 0; k < count; ++k) sum.add(x_at(k));
  return sum.value();
}

template <class X, class Y>
SumValue sum_of_products(std::int64_t count, const X& x_at, const Y& y_at) {
  Accumulator sum;
  for (std::int64_t k = 0; k < count; ++k) {
    const double x = x_at(k), y = y_at(k), product = x * y;
    sum.add(product, std::fma(x, y, -product));
  }
  return sum.value();
}

// Products of two floats are exact in f64, and sums that do not wait for each other take a quarter
// of the time.
SumValue sum_of_products(std::int64_t count, const float* x, const float* y) {
  constexpr std::int64_t chains = 4;
  std::array<Accumulator, chains> sums;
  std::int64_t k = 0;
  for (; k + chains <= count; k += chains)
    for (std::int64_t i = 0; i < chains; ++i)
      sums[static_cast<std::size_t>(i)].add(static_cast<double>(x[k + i]) * y[k + i]);
  for (; k < count; ++k) sums[0].add(static_cast<double>(x[k]) * y[k]);
  for (std::size_t i = 1; i < chains; ++i) sums[0].add(sums[i]);
  return sums[0].value();
}

const sema::Node& node_of(const Problem& problem, NodeId id) {
  return problem.kernel->nodes[static_cast<std::size_t>(id)];
}

const Tensor& tensor_of(const Problem& problem, sema::TensorId id) {
  return problem.tensors[static_cast<std::size_t>(id)];
}

// Returns the operands of a product, or the value itself as the only operand.
std::vector<NodeId> terms_of(const Problem& problem, NodeId body) {
  const auto* product = std::get_if<sema::Apply>(&node_of(problem, body).what);
  if (product && product->function == ElementFunction::mul) return product->operands;
  return {body};
}

bool is_of_elements(const Problem& problem, const sema::Reduce& contraction) {
  if (contraction.function != sema::ReduceFunction::sum) return false;
  const auto terms = terms_of(problem, contraction.body);
  return std::all_of(terms.begin(), terms.end(), [&](NodeId term) {
    return std::holds_alternative<sema::Load>(
        node_of(problem, sema::without_casts(*problem.kernel, term)).what);
  });
}

// Calls f(id, contraction) for each sum that the outputs depend on.
template <class F>
void for_each_sum(const Problem& problem, const F& f) {
  const auto live = plan::reachable(*problem.kernel);
  for (NodeId id = 0; id < std::ssize(live); ++id)
    if (live[static_cast<std::size_t>(id)])
      if (const auto* sum = std::get_if<sema::Reduce>(&node_of(problem, id).what)) f(id, *sum);
}

class Reference {
 public:
  Reference(const Problem& problem, const HostData& before, const Tolerance& tolerance)
      : problem_(problem), tolerance_(tolerance), free_(sema::free_indices(*problem.kernel)) {
    for (std::size_t i = 0; i < problem.tensors.size(); ++i)
      readers_.emplace_back(problem.tensors[i].element, before[i]);
    for_each_sum(problem, [&](NodeId id, const sema::Reduce& contraction) {
      sums_.emplace(id, sum_of(id, contraction));
    });
  }

  // Returns the work of one element of an output, in terms of a loop over memory.
  double work(const sema::Assignment& assignment) const {
    std::set<NodeId> seen;
    return std::max(1.0, work_of(assignment.value, seen));
  }

  // Prepares for as many elements of an output.
  void expect(std::int64_t elements) {
    for (auto& [id, sum] : sums_)
      for (std::optional<Operand>* operand : {&sum.left, &sum.right})
        if (*operand) (*operand)->pack_lines(problem_, sum.indices[0], reader(**operand), elements);
  }

  // Compares one element of an output.
  void compare(const sema::Assignment& assignment, const Indices& at, double got,
               Comparison& comparison) const {
    const auto [expected, allowed] = bounded(assignment, at);
    ++comparison.elements;
    const double error = std::abs(got - expected);
    if (std::isfinite(error) && allowed > 0)
      comparison.worst = std::max(comparison.worst, error / allowed);
    const Tensor& target = tensor_of(problem_, assignment.target);
    if (is_right(target.element, got, expected, allowed)) return;
    if (comparison.wrong++ == 0)
      comparison.first = difference(assignment, at, got, expected, allowed);
  }

 private:
  // Returns what is expected of an element, and the bound on its error. The sums are moved up and
  // down by their own bounds, to see what the epilogue makes of that.
  Bounded bounded(const sema::Assignment& assignment, const Indices& at) const {
    double moved_by = 0;
    std::map<NodeId, SumValue> known;
    LastSums last;
    ElementValue value(problem_,
                       {[&](const sema::Load& load, const Indices& c) { return load_at(load, c); },
                        [&](NodeId id, const Indices& indices) {
                          auto [found, fresh] = known.try_emplace(id);
                          if (fresh) found->second = sum(id, indices, last);
                          const double moved = moved_by * error_of(id, found->second);
                          return Bounded{found->second.exact + moved, 0};
                        }});
    const auto [exact, rounded_off] = value.of(assignment.value, at);
    moved_by = 1;
    const double up = value.of(assignment.value, at).value;
    moved_by = -1;
    const double down = value.of(assignment.value, at).value;
    const ElementType type = tensor_of(problem_, assignment.target).element;
    const double allowed = std::max(std::abs(up - exact), std::abs(down - exact)) + rounded_off +
                           (unit_roundoff(type) + tolerance_.extra_roundoff) * std::abs(exact) +
                           smallest(type);
    return {is_float(type) ? exact : static_cast<double>(round_to_integer(type, exact)), allowed};
  }

  static bool is_right(ElementType type, double got, double expected, double allowed) {
    if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
    if (std::abs(got - expected) <= allowed) return true;
    const double rounded = is_float(type) ? sema::round_to(type, expected) : expected;
    if (got == rounded) return true;
    // Beyond the largest number both are infinite, or the largest if the type saturates.
    return is_beyond(type, std::abs(expected) + allowed) &&
           std::signbit(got) == std::signbit(expected);
  }

  // Returns the smallest subnormal of the narrow types.
  static double smallest(ElementType type) {
    if (!is_float(type) || bits(type) > 16) return 0;
    return bits(type) <= 8 ? 0x1p-9 : 0x1p-24;
  }

  static bool is_beyond(ElementType type, double magnitude) {
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

  std::string difference(const sema::Assignment& assignment, const Indices& at, double got,
                         double expected, double allowed) const {
    std::string where;
    for (const sema::IndexId index : assignment.indices)
      where += (where.empty() ? "" : ",") + std::to_string(at[static_cast<std::size_t>(index)]);
    char text[160];
    std::snprintf(text, sizeof text, "[%s]: expected %.9g +- %.3g, got %.9g", where.c_str(),
                  expected, allowed, got);
    return tensor_of(problem_, assignment.target).name + text;
  }

  // Returns the bound on the error of a sum.
  double error_of(NodeId id, const SumValue& value) const {
    const Sum& sum = sums_.at(id);
    if (sum.function != sema::ReduceFunction::sum) return value.error;
    if (tolerance_.exact && sum.is_exact_on_integers) return 0;
    return sum.allowed * value.magnitude + unit_roundoff(sum.type) * std::abs(value.exact) +
           value.error;
  }

  double load_at(const sema::Load& load, const Indices& coordinate) const {
    const Tensor& tensor = tensor_of(problem_, load.tensor);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < coordinate.size(); ++i)
      offset += tensor.modes[i].offset(coordinate[i]);
    return readers_[static_cast<std::size_t>(load.tensor)][offset];
  }

  // Returns the type whose numbers the operand is made of: the narrowest that it went through.
  static ElementType type_of(const Operand& operand) {
    return operand.casts.empty() ? operand.tensor->element : operand.casts.back();
  }

  // Returns a term as an operand of a loop over k; nothing if it is not an element of a tensor at
  // bare indices.
  std::optional<Operand> operand_of(NodeId value, sema::IndexId k) const {
    Operand operand;
    const NodeId loaded = sema::without_casts(*problem_.kernel, value);
    for (; value != loaded; value = std::get<sema::Apply>(node(value).what).operands[0])
      operand.casts.insert(operand.casts.begin(), node(value).type);
    const auto* load = std::get_if<sema::Load>(&node(loaded).what);
    if (!load) return std::nullopt;
    for (const NodeId coordinate : load->coordinate) {
      operand.indices.push_back(plan::bare_index(*problem_.kernel, coordinate));
      if (operand.indices.back() < 0) return std::nullopt;
    }
    operand.tensor = &tensor_of(problem_, load->tensor);
    // A cast to a wider type changes no number.
    double narrowest = unit_roundoff(operand.tensor->element);
    std::erase_if(operand.casts, [&](ElementType type) {
      if (unit_roundoff(type) <= narrowest) return true;
      narrowest = unit_roundoff(type);
      return false;
    });
    for (std::int64_t i = 0; i < problem_.extent(k); ++i) {
      std::int64_t offset = 0;
      for (std::size_t mode = 0; mode < operand.indices.size(); ++mode)
        if (operand.indices[mode] == k) offset += operand.tensor->modes[mode].offset(i);
      operand.along_k.push_back(offset);
    }
    return operand;
  }

  Sum sum_of(NodeId id, const sema::Reduce& contraction) const {
    Sum sum;
    sum.function = contraction.function;
    sum.type = node(id).type;
    sum.indices = contraction.indices;
    sum.body = contraction.body;
    sum.is_exact_on_integers = is_of_elements(problem_, contraction);
    std::int64_t count = 1;
    for (const sema::IndexId index : sum.indices) count *= problem_.extent(index);
    ElementType left = sum.type, right = sum.type;
    const auto terms = terms_of(problem_, sum.body);
    if (sum.is_exact_on_integers && sum.indices.size() == 1) {
      sum.left = operand_of(terms[0], sum.indices[0]);
      if (terms.size() == 2) sum.right = operand_of(terms[1], sum.indices[0]);
      if (!sum.left || (terms.size() == 2 && !sum.right)) sum.left = sum.right = std::nullopt;
      if (sum.right) left = type_of(*sum.left), right = type_of(*sum.right);
    }
    // Elements at computed coordinates, as W[expert[t],n,k], are of their tensor's type too.
    if (sum.is_exact_on_integers && terms.size() == 2 && !sum.right) {
      left = stored_type_of(terms[0]);
      right = stored_type_of(terms[1]);
    }
    sum.allowed = allowed_error(count, left, right, sum.type, tolerance_.promotion_interval);
    return sum;
  }

  // Of a term that is an element, under casts.
  ElementType stored_type_of(NodeId term) const {
    const auto& load = std::get<sema::Load>(node(sema::without_casts(*problem_.kernel, term)).what);
    return tensor_of(problem_, load.tensor).element;
  }

  double work_of(NodeId id, std::set<NodeId>& seen) const {
    if (!seen.insert(id).second) return 0;
    const auto* contraction = std::get_if<sema::Reduce>(&node(id).what);
    if (!contraction) {
      double all = 0;
      for (const NodeId operand : plan::operands(node(id))) all += work_of(operand, seen);
      return all;
    }
    constexpr double interpreted = 32;  // a term that is evaluated node by node
    const Sum& sum = sums_.at(id);
    double terms = 1;
    for (const sema::IndexId index : sum.indices)
      terms *= static_cast<double>(problem_.extent(index));
    if (sum.left) return terms;
    std::set<NodeId> within;
    return terms * (interpreted + work_of(sum.body, within));
  }

  const sema::Node& node(NodeId id) const { return node_of(problem_, id); }

  const Reader& reader(const Operand& operand) const {
    return readers_[static_cast<std::size_t>(operand.tensor - problem_.tensors.data())];
  }

  SumValue sum(NodeId id, const Indices& at, LastSums& last) const {
    const Sum& sum = sums_.at(id);
    if (sum.left) return sum_in_memory(sum, at);
    Indices free;
    for (const sema::IndexId index : free_[static_cast<std::size_t>(id)])
      free.push_back(at[static_cast<std::size_t>(index)]);
    if (const auto before = last.find(id); before != last.end() && before->second.at == free)
      return before->second.value;
    const SumValue value = sum_of_terms(sum, at, last);
    last[id] = {std::move(free), value};
    return value;
  }

  // Calls f(at) with at(k) the operand's element at k: of a packed line if there is one.
  template <class F>
  SumValue with_elements(const Operand& operand, sema::IndexId k, const Indices& at,
                         const F& f) const {
    if (const float* line = operand.line(k, at))
      return f([line](std::int64_t i) { return static_cast<double>(line[i]); });
    return f([&operand, &from = reader(operand), base = operand.base(k, at)](std::int64_t i) {
      return rounded_through(operand.casts,
                             from[base + operand.along_k[static_cast<std::size_t>(i)]]);
    });
  }

  SumValue sum_in_memory(const Sum& sum, const Indices& at) const {
    const std::int64_t count = std::ssize(sum.left->along_k);
    const sema::IndexId k = sum.indices[0];
    const float *left = sum.left->line(k, at),
                *right = sum.right ? sum.right->line(k, at) : nullptr;
    if (left && right) return sum_of_products(count, left, right);
    return with_elements(*sum.left, k, at, [&](const auto& x_at) {
      if (!sum.right) return sum_of_elements(count, x_at);
      return with_elements(*sum.right, k, at,
                           [&](const auto& y_at) { return sum_of_products(count, x_at, y_at); });
    });
  }

  // Evaluates every term; reductions within a term are reductions of their own.
  SumValue sum_of_terms(const Sum& sum, Indices at, LastSums& last) const {
    ElementValue value(problem_,
                       {[&](const sema::Load& load, const Indices& c) { return load_at(load, c); },
                        [&](NodeId id, const Indices& indices) {
                          const SumValue inner = this->sum(id, indices, last);
                          return Bounded{inner.exact, error_of(id, inner)};
                        }});
    std::int64_t count = 1;
    for (const sema::IndexId index : sum.indices) count *= problem_.extent(index);
    Accumulator total;
    Joined joined(sum.function, node(sum.body).type);
    const bool is_sum = sum.function == sema::ReduceFunction::sum;
    double error = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t remainder = i;
      for (const sema::IndexId index : sum.indices) {
        at[static_cast<std::size_t>(index)] = remainder % problem_.extent(index);
        remainder /= problem_.extent(index);
      }
      const Bounded term = value.of(sum.body, at);
      if (!is_sum) {
        joined.add(term);
        continue;
      }
      total.add(term.value);
      error += term.error;
    }
    if (!is_sum) return {joined.value().value, 0, joined.value().error};
    SumValue made = total.value();
    made.error = error;
    return made;
  }

  const Problem& problem_;
  const Tolerance& tolerance_;
  std::vector<Reader> readers_;
  std::map<NodeId, Sum> sums_;
  std::vector<std::set<sema::IndexId>> free_;  // indices of each node
};

// Chooses elements of an output, each as the values of all indices: every element if there are at
// most `most`, else the corners (of the first four modes) and others at random.
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
                     int promotion_interval) {
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
    const double alone =
        promotion_interval > 0 ? std::min(steps, steps_of(promotion_interval)) : steps;
    return std::min(1.0, alone * 0x1p-13 + 8 * std::sqrt(n) * 2 * u);
  }
  return 8 * std::sqrt(n) * 2 * u + steps * 2 * u;
}

Comparison compare_with_reference(const Problem& problem, const HostData& before,
                                  const HostData& after, const Tolerance& tolerance,
                                  const Sampling& sampling) {
  Comparison comparison;
  Reference reference(problem, before, tolerance);
  for (const sema::Assignment& assignment : problem.kernel->assignments) {
    const auto target = static_cast<std::size_t>(assignment.target);
    const Tensor& tensor = problem.tensors[target];
    const Reader results(tensor.element, after[target]);
    const double work = reference.work(assignment);
    // A few elements are always compared: the corners and some at random, fewer where one element
    // alone is work for milliseconds.
    const std::int64_t least = work < 1e7 ? 256 : 32;
    const auto most = static_cast<std::int64_t>(sampling.most_products / work);
    const auto chosen = samples(problem, assignment, std::max(most, least), sampling.seed);
    reference.expect(std::ssize(chosen));
    std::vector<Comparison> parts(static_cast<std::size_t>(most_parts()));
    const std::int64_t together = work < 1e6 ? 64 : 1;
    in_parts(std::ssize(chosen), together, [&](int part, std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto& at = chosen[static_cast<std::size_t>(i)];
        std::int64_t offset = 0;
        for (std::size_t mode = 0; mode < assignment.indices.size(); ++mode)
          offset +=
              tensor.modes[mode].offset(at[static_cast<std::size_t>(assignment.indices[mode])]);
        reference.compare(assignment, at, results[offset], parts[static_cast<std::size_t>(part)]);
      }
    });
    for (const Comparison& part : parts) {
      comparison.elements += part.elements;
      comparison.wrong += part.wrong;
      comparison.worst = std::max(comparison.worst, part.worst);
      if (comparison.first.empty()) comparison.first = part.first;
    }
  }
  return comparison;
}

bool has_exact_sums(const Problem& problem) {
  bool exact = true;
  for_each_sum(problem, [&](NodeId, const sema::Reduce& contraction) {
    exact = exact && is_of_elements(problem, contraction);
  });
  return exact;
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
