#include "frontend/sema/reference.h"

#include <cmath>
#include <stdexcept>

#include "frontend/algebra/convert.h"
#include "frontend/algebra/refusal.h"

namespace lay::sema {
namespace {

// A number of a node's type: `integer` for integer and truth types, `real` for floats.
struct Computed {
  double real = 0;
  std::int64_t integer = 0;
};

std::int64_t wrapped(ElementType type, std::int64_t x) {
  if (bits(type) >= 64 || type == ElementType::pred) return x;
  auto low = static_cast<std::uint64_t>(x) << (64 - bits(type));
  return is_signed(type) ? static_cast<std::int64_t>(low) >> (64 - bits(type))
                         : static_cast<std::int64_t>(low >> (64 - bits(type)));
}

std::int64_t add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t multiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

double rounded(ElementType type, double x) {
  if (type == ElementType::f32) return static_cast<double>(static_cast<float>(x));
  return type == ElementType::f64 ? x : round_to(type, x);
}

// a*b + c rounded once: exact in f64 for f32 operands' product, so fmaf is taken for f32.
double fused(ElementType type, double a, double b, double c) {
  if (type == ElementType::f64) return std::fma(a, b, c);
  if (type == ElementType::f32) {
    return static_cast<double>(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
  }
  return rounded(type, std::fma(a, b, c));
}

double function_of_f32(ElementFunction f, float x) {
  switch (f) {
    case ElementFunction::exp:
      return static_cast<double>(std::exp(x));
    case ElementFunction::log:
      return static_cast<double>(std::log(x));
    case ElementFunction::sqrt:
      return static_cast<double>(std::sqrt(x));
    case ElementFunction::rsqrt:
      return static_cast<double>(1.0f / std::sqrt(x));
    case ElementFunction::tanh:
      return static_cast<double>(std::tanh(x));
    case ElementFunction::erf:
      return static_cast<double>(std::erf(x));
    case ElementFunction::sin:
      return static_cast<double>(std::sin(x));
    case ElementFunction::cos:
      return static_cast<double>(std::cos(x));
    case ElementFunction::floor:
      return static_cast<double>(std::floor(x));
    default:
      throw std::logic_error("internal: no function of one float");
  }
}

double function_of_f64(ElementFunction f, double x) {
  switch (f) {
    case ElementFunction::exp:
      return std::exp(x);
    case ElementFunction::log:
      return std::log(x);
    case ElementFunction::sqrt:
      return std::sqrt(x);
    case ElementFunction::rsqrt:
      return 1 / std::sqrt(x);
    case ElementFunction::tanh:
      return std::tanh(x);
    case ElementFunction::erf:
      return std::erf(x);
    case ElementFunction::sin:
      return std::sin(x);
    case ElementFunction::cos:
      return std::cos(x);
    case ElementFunction::floor:
      return std::floor(x);
    default:
      throw std::logic_error("internal: no function of one double");
  }
}

class Run {
 public:
  explicit Run(const KernelCall& call) : call_(call), kernel_(*call.kernel), at_(kernel_.indices.size(), 0) {
    for (const Index& index : kernel_.indices) extents_.push_back(size_of(index.extent));
    for (const Node& node : kernel_.nodes) {
      const auto* size = std::get_if<SizeValue>(&node.what);
      sizes_.push_back(size ? size_of(size->value) : 0);
    }
  }

  KernelResult run() {
    std::vector<Array> results = call_.tensors;
    for (const Assignment& a : kernel_.assignments) {
      auto target = static_cast<std::size_t>(a.target);
      Array out = Array::make(results[target].element, results[target].shape);
      for_each(a.indices, [&] {
        std::vector<std::int64_t> coordinate;
        for (IndexId index : a.indices) coordinate.push_back(at_[static_cast<std::size_t>(index)]);
        Computed v = value(a.value);
        bool real = is_float(kernel_.nodes[static_cast<std::size_t>(a.value)].type);
        std::int64_t i = out.offset(coordinate);
        if (real) {
          out.set_real(i, v.real);
        } else {
          out.set_integer(i, v.integer);
        }
      });
      results[target] = out;
    }
    KernelResult result;
    for (std::size_t id = 0; id < kernel_.tensors.size(); ++id) {
      if (kernel_.tensors[id].access != Access::input) result.outputs.push_back(results[id]);
    }
    return result;
  }

 private:
  std::int64_t size_of(const Int& n) const {
    auto value = n.evaluate(call_.sizes);
    if (!value) throw refusal("overflow", n.to_string() + " has no value for these sizes");
    return *value;
  }

  template <typename F>
  void for_each(const std::vector<IndexId>& indices, F&& f, std::size_t from = 0) {
    if (from == indices.size()) return f();
    auto k = static_cast<std::size_t>(indices[from]);
    for (std::int64_t i = 0; i < extents_[k]; ++i) {
      at_[k] = i;
      for_each(indices, f, from + 1);
    }
  }

  const Node& node(NodeId id) const { return kernel_.nodes[static_cast<std::size_t>(id)]; }

  Computed value(NodeId id) {
    const Node& n = node(id);
    if (const auto* x = std::get_if<Literal>(&n.what)) return literal(*x);
    if (const auto* x = std::get_if<IndexValue>(&n.what)) return {0, at_[static_cast<std::size_t>(x->index)]};
    if (std::holds_alternative<SizeValue>(n.what)) return {0, sizes_[static_cast<std::size_t>(id)]};
    if (const auto* x = std::get_if<ScalarValue>(&n.what)) return scalar(*x, n.type);
    if (const auto* x = std::get_if<Load>(&n.what)) return load(*x);
    if (const auto* x = std::get_if<Contraction>(&n.what)) return contraction(*x, n.type);
    return apply(std::get<Apply>(n.what), n.type);
  }

  static Computed literal(const Literal& x) {
    if (const auto* i = std::get_if<std::int64_t>(&x.value)) return {0, *i};
    return {std::get<double>(x.value), 0};
  }

  Computed scalar(const ScalarValue& x, ElementType type) const {
    const Number& number = call_.scalars[static_cast<std::size_t>(x.scalar)];
    double real = std::holds_alternative<double>(number) ? std::get<double>(number)
                                                         : static_cast<double>(std::get<std::int64_t>(number));
    if (is_float(type)) return {rounded(type, real), 0};
    return {0,
            std::holds_alternative<double>(number) ? static_cast<std::int64_t>(real) : std::get<std::int64_t>(number)};
  }

  Computed load(const Load& x) {
    const Array& array = call_.tensors[static_cast<std::size_t>(x.tensor)];
    std::int64_t at = 0;
    for (std::size_t k = 0; k < x.coordinate.size(); ++k) {
      std::int64_t i = value(x.coordinate[k]).integer;
      if (i < 0 || i >= array.shape[k]) {
        throw refusal("bounds", kernel_.tensors[static_cast<std::size_t>(x.tensor)].name + " is read at " +
                                    std::to_string(i) + " in mode " + std::to_string(k) + " of " +
                                    std::to_string(array.shape[k]) + " elements");
      }
      at = at * array.shape[k] + i;
    }
    return is_float(array.element) ? Computed{array.real(at), 0} : Computed{0, array.integer(at)};
  }

  Computed contraction(const Contraction& x, ElementType type) {
    Computed sum;
    const auto* product = std::get_if<Apply>(&node(x.body).what);
    bool fuse = product && product->function == ElementFunction::mul && node(x.body).type == type;
    for_each(x.indices, [&] {
      if (fuse) {
        Computed a = value(product->operands[0]), b = value(product->operands[1]);
        if (is_float(type)) {
          sum.real = fused(type, a.real, b.real, sum.real);
        } else {
          sum.integer = wrapped(type, add(sum.integer, multiply(a.integer, b.integer)));
        }
        return;
      }
      Computed a = value(x.body);
      sum.real = rounded(type, sum.real + a.real);
      sum.integer = wrapped(type, add(sum.integer, a.integer));
    });
    return sum;
  }

  Computed cast(NodeId from, ElementType to) {
    Computed x = value(from);
    bool real = is_float(node(from).type);
    if (is_float(to)) {
      if (!real && to == ElementType::f32) return {static_cast<double>(static_cast<float>(x.integer)), 0};
      return {rounded(to, real ? x.real : static_cast<double>(x.integer)), 0};
    }
    return {0, real ? round_to_integer(to, x.real) : saturate(to, x.integer)};
  }

  bool truth(NodeId id) { return value(id).integer != 0; }

  Computed apply(const Apply& x, ElementType type) {
    const std::vector<NodeId>& operands = x.operands;
    switch (x.function) {
      case ElementFunction::select:
        return value(truth(operands[0]) ? operands[1] : operands[2]);
      case ElementFunction::and_:
        return {0, truth(operands[0]) && truth(operands[1])};
      case ElementFunction::or_:
        return {0, truth(operands[0]) || truth(operands[1])};
      case ElementFunction::not_:
        return {0, !truth(operands[0])};
      case ElementFunction::cast:
        return cast(operands[0], type);
      default:
        break;
    }
    std::vector<Computed> v;
    for (NodeId operand : operands) v.push_back(value(operand));
    ElementType operand_type = node(operands[0]).type;
    return is_float(operand_type) ? on_reals(x.function, type, v) : on_integers(x.function, type, v);
  }

  static Computed on_reals(ElementFunction f, ElementType type, const std::vector<Computed>& v) {
    double a = v[0].real, b = v.size() > 1 ? v[1].real : 0;
    switch (f) {
      case ElementFunction::add:
        return {rounded(type, a + b), 0};
      case ElementFunction::sub:
        return {rounded(type, a - b), 0};
      case ElementFunction::mul:
        return {rounded(type, a * b), 0};
      case ElementFunction::div:
        return {rounded(type, a / b), 0};
      case ElementFunction::rem:
        return {rounded(type, std::fmod(a, b)), 0};
      case ElementFunction::neg:
        return {-a, 0};
      case ElementFunction::abs:
        return {std::abs(a), 0};
      case ElementFunction::min:
        return {std::fmin(a, b), 0};
      case ElementFunction::max:
        return {std::fmax(a, b), 0};
      case ElementFunction::fma:
        return {fused(type, a, b, v[2].real), 0};
      case ElementFunction::lt:
        return {0, a < b};
      case ElementFunction::le:
        return {0, a <= b};
      case ElementFunction::gt:
        return {0, a > b};
      case ElementFunction::ge:
        return {0, a >= b};
      case ElementFunction::eq:
        return {0, a == b};
      case ElementFunction::ne:
        return {0, a != b};
      default:
        if (type == ElementType::f64) return {function_of_f64(f, a), 0};
        return {rounded(type, function_of_f32(f, static_cast<float>(a))), 0};
    }
  }

  static Computed on_integers(ElementFunction f, ElementType type, const std::vector<Computed>& v) {
    std::int64_t a = v[0].integer, b = v.size() > 1 ? v[1].integer : 0;
    switch (f) {
      case ElementFunction::add:
        return {0, wrapped(type, add(a, b))};
      case ElementFunction::sub:
        return {0, wrapped(type, add(a, multiply(b, -1)))};
      case ElementFunction::mul:
        return {0, wrapped(type, multiply(a, b))};
      case ElementFunction::div:
      case ElementFunction::rem:
        if (b == 0) throw refusal("division-by-zero", "an index is divided by 0");
        if (b == -1) return {0, f == ElementFunction::div ? multiply(a, -1) : 0};
        return {0, f == ElementFunction::div ? a / b : a % b};
      case ElementFunction::neg:
        return {0, wrapped(type, multiply(a, -1))};
      case ElementFunction::abs:
        return {0, wrapped(type, a < 0 ? multiply(a, -1) : a)};
      case ElementFunction::min:
        return {0, std::min(a, b)};
      case ElementFunction::max:
        return {0, std::max(a, b)};
      case ElementFunction::fma:
        return {0, wrapped(type, add(multiply(a, b), v[2].integer))};
      case ElementFunction::lt:
        return {0, a < b};
      case ElementFunction::le:
        return {0, a <= b};
      case ElementFunction::gt:
        return {0, a > b};
      case ElementFunction::ge:
        return {0, a >= b};
      case ElementFunction::eq:
        return {0, a == b};
      case ElementFunction::ne:
        return {0, a != b};
      default:
        throw std::logic_error("internal: no function of integers");
    }
  }

  const KernelCall& call_;
  const Kernel& kernel_;
  std::vector<std::int64_t> at_, extents_, sizes_;
};

}  // namespace

KernelResult run_reference(const KernelCall& call) {
  return Run(call).run();
}

}  // namespace lay::sema
