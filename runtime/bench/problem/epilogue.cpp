#include "runtime/bench/problem/epilogue.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

#include "runtime/bench/problem/element_value.h"

namespace lay::bench {
namespace {

using sema::NodeId;

struct KnownActivation {
  std::string_view name;
  double (*of)(double);
};
constexpr std::array<KnownActivation, 4> activations = {{
    {"none", [](double x) { return x; }},
    {"relu", [](double x) { return x > 0 ? x : 0; }},
    {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x * 0.7071067811865476)); }},
    {"gelu_tanh",
     [](double x) {
       return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
     }},
}};

// Recognises the epilogue by its values. alpha, beta and the bias's coefficient are slopes far to
// the right, where every activation that is known is linear; the activation is the one that then
// agrees at random arguments and coordinates.
class Recogniser {
 public:
  Recogniser(const Problem& problem, const plan::GemmForm& form)
      : problem_(problem),
        form_(form),
        value_(problem,
               {[this](const sema::Load& load, const std::vector<std::int64_t>&) {
                  return load.tensor == found_.c ? c_ : load.tensor == found_.bias ? bias_ : 0;
                },
                [this](NodeId, const std::vector<std::int64_t>&) {
                  return Bounded{sum_, 0};
                }}) {}

  std::variant<Epilogue, NoEpilogue> run() {
    const sema::Kernel& kernel = *problem_.kernel;
    if (kernel.assignments.size() != 1) return NoEpilogue{"it has several outputs"};
    if (const auto why = assign_roles(kernel.assignments[0].value)) return NoEpilogue{*why};
    // Here relu and both gelus are the identity to the last bit.
    constexpr double far = 64;
    const double base = at(far, 0, 0);
    found_.alpha = (at(2 * far, 0, 0) - base) / far;
    if (found_.c >= 0) found_.beta = (at(far, far, 0) - base) / far;
    const double gamma = found_.bias >= 0 ? (at(far, 0, far) - base) / far : 1;
    if (found_.c >= 0 && found_.beta == 0) found_.c = -1;
    if (std::abs(gamma - 1) > 1e-6) return NoEpilogue{"its bias is multiplied by something"};
    for (const KnownActivation& activation : activations)
      if (fits(activation)) {
        found_.activation = activation.name;
        return found_;
      }
    return NoEpilogue{"expected none, relu, gelu or gelu_tanh of alpha * sum + beta * C + bias"};
  }

 private:
  // Takes each tensor that the value reads beside the sum as C, which has both m and n, or as the
  // bias, which has one of them. Returns why not, if a tensor is neither.
  std::optional<std::string> assign_roles(NodeId root) {
    std::set<NodeId> seen;
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (id == form_.contraction || !seen.insert(id).second) continue;
      const sema::Node& node = problem_.kernel->nodes[static_cast<std::size_t>(id)];
      const auto* load = std::get_if<sema::Load>(&node.what);
      if (!load) {
        for (const NodeId operand : plan::operands(node)) open.push_back(operand);
        continue;
      }
      std::vector<sema::IndexId> indices;
      for (const NodeId coordinate : load->coordinate)
        indices.push_back(plan::bare_index(*problem_.kernel, coordinate));
      const auto has = [&](sema::IndexId index) {
        return std::find(indices.begin(), indices.end(), index) != indices.end();
      };
      const bool is_c = has(form_.m) && has(form_.n);
      sema::TensorId& role = is_c ? found_.c : found_.bias;
      if (has(-1) || (!is_c && !has(form_.m) && !has(form_.n)) ||
          (role >= 0 && role != load->tensor))
        return "its epilogue reads " +
               problem_.tensors[static_cast<std::size_t>(load->tensor)].name +
               ", which is neither a C nor a bias of cuBLASLt";
      role = load->tensor;
      if (!is_c) found_.bias_along_n = has(form_.n);
    }
    return std::nullopt;
  }

  double at(double sum, double c, double bias) {
    sum_ = sum, c_ = c, bias_ = bias;
    if (index_.empty()) index_.assign(problem_.kernel->indices.size(), 0);
    return value_.of(problem_.kernel->assignments[0].value, index_).value;
  }

  bool fits(const KnownActivation& activation) {
    std::mt19937_64 random(1);
    const auto any = [&](double scale) {
      return scale * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    };
    for (int i = 0; i < 200; ++i) {
      index_.clear();
      for (std::size_t k = 0; k < problem_.kernel->indices.size(); ++k) {
        const std::int64_t extent =
            std::max<std::int64_t>(problem_.extent(static_cast<sema::IndexId>(k)), 1);
        const std::uint64_t place = random();
        index_.push_back(place % 4 == 0   ? 0
                         : place % 4 == 1 ? extent - 1
                                          : static_cast<std::int64_t>(
                                                place / 4 % static_cast<std::uint64_t>(extent)));
      }
      const double scale = i % 2 == 0 ? 3 : 30, sum = any(scale),
                   c = found_.c >= 0 ? any(scale) : 0, bias = found_.bias >= 0 ? any(scale) : 0;
      const double expected = activation.of(found_.alpha * sum + found_.beta * c + bias);
      if (!(std::abs(at(sum, c, bias) - expected) <= 1e-6 * (1 + scale))) return false;
    }
    return true;
  }

  const Problem& problem_;
  const plan::GemmForm& form_;
  Epilogue found_;
  double sum_ = 0, c_ = 0, bias_ = 0;
  std::vector<std::int64_t> index_;
  ElementValue value_;
};

}  // namespace

std::variant<Epilogue, NoEpilogue> epilogue_of(const Problem& problem, const plan::GemmForm& form) {
  return Recogniser(problem, form).run();
}

sema::KernelPtr epilogue_kernel(const sema::Kernel& kernel, const plan::GemmForm& form,
                                ElementType product) {
  auto made = std::make_shared<sema::Kernel>(kernel);
  const sema::Assignment& assignment = kernel.assignments.at(0);
  made->name += "_epilogue";
  made->schedules.clear();
  sema::Tensor tensor = kernel.tensor(assignment.target);
  tensor.name = "product";
  while (std::any_of(kernel.tensors.begin(), kernel.tensors.end(),
                     [&](const auto& t) { return t.name == tensor.name; }))
    tensor.name += "_";
  tensor.element = product;
  tensor.access = sema::Access::input;
  const auto id = static_cast<sema::TensorId>(made->tensors.size());
  made->tensors.push_back(tensor);
  made->signature.push_back({false, id});

  // Nodes are in order of dependence, so the operands' coordinates lie before the sum and can be
  // the load's coordinates. The sum's body becomes the load, the sum its conversion.
  sema::Load load{id, {}};
  for (const sema::IndexId index : assignment.indices)
    for (sema::NodeId node = 0; node < form.contraction; ++node)
      if (plan::bare_index(kernel, node) == index) {
        load.coordinate.push_back(node);
        break;
      }
  sema::Node& sum = made->nodes[static_cast<std::size_t>(form.contraction)];
  const sema::NodeId body = std::get<sema::Reduce>(sum.what).body;
  sema::Node& read = made->nodes[static_cast<std::size_t>(body)];
  read.what = load;
  read.type = product;
  if (sum.type == product)
    sum.what = load;
  else
    sum.what = sema::Apply{ElementFunction::cast, {body}};
  return made;
}

}  // namespace lay::bench
