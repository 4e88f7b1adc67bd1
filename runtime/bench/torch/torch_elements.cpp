#include <algorithm>

#include "runtime/bench/python_spelling.h"
#include "runtime/bench/torch/torch_words.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench::torch {

using enum ElementFunction;

namespace {

// PyTorch's functions. At least one operand is a tensor.
constexpr PythonSpelling functions[] = {
    {abs, "torch.abs($0)"},
    {fma, "$0 * $1 + $2"},
    {exp, "torch.exp($0)"},
    {log, "torch.log($0)"},
    {sqrt, "torch.sqrt($0)"},
    {rsqrt, "torch.rsqrt($0)"},
    {tanh, "torch.tanh($0)"},
    {erf, "torch.erf($0)"},
    {sigmoid, "torch.sigmoid($0)"},
    {normcdf, "torch.special.ndtr($0)"},
    {sin, "torch.sin($0)"},
    {cos, "torch.cos($0)"},
    {floor, "torch.floor($0)"},
    {not_, "~$0"},
    {select, "torch.where($0, $1, $2)"},
};

}  // namespace

Value Writer::applied(NodeId id, const sema::Apply& apply) {
  const ElementType type = kernel_.node(id).type;
  if (apply.function == cast) {
    const Value from = value(apply.operands[0]);
    // A conversion to a wider type is left to those that need it.
    const bool keeps = holds_all_of(type, from.type) || stored(from.type) == stored(type);
    return !from.number && keeps ? from : converted(exact(from), type);
  }
  if (apply.function == mul) {
    if (alternative_ == Alternative::equal_gemm)
      if (auto made = equal_gemm(id)) return *made;
    if (auto made = scaled_product(id)) return *made;
  }
  if (auto made = library_form(id)) return *made;
  if (apply.function == add)
    if (auto made = product_and_bias(apply)) return *made;
  return spelled(id, apply);
}

Value Writer::spelled(NodeId id, const sema::Apply& apply) {
  const ElementType type = kernel_.node(id).type;
  const bool chooses = apply.function == select;
  if (chooses)
    if (const Value condition = value(apply.operands[0]); condition.number)
      return value(apply.operands[condition.number->integer != 0 ? 1 : 2]);
  std::vector<Value> values;
  for (const NodeId operand : apply.operands) values.push_back(value(operand));
  // An operation that changes nothing would still be a pass over memory.
  if (apply.function == mul || apply.function == add)
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (is_number(values[i], apply.function == mul ? 1 : 0) && !values[1 - i].number)
        return values[1 - i];
  if (std::all_of(values.begin(), values.end(), [](const Value& v) { return !!v.number; }))
    return folded(id, apply, values);
  // In a narrow type, or each operand in its node's.
  bool is_narrow = true, any_rounded = false;
  std::optional<ElementType> narrow;
  for (const Value& each : values) {
    if (each.number || each.type == ElementType::pred) continue;
    is_narrow = is_narrow && is_half(each.type) && (!narrow || *narrow == each.type);
    narrow = each.type;
    any_rounded = any_rounded || each.is_rounded;
  }
  is_narrow = is_narrow && narrow && type != ElementType::pred && *narrow == target_ &&
              (any_rounded || is_narrow_root(id, *narrow));
  std::vector<const Value*> all;
  for (Value& each : values) {
    if (!is_narrow) each = exact(each);
    all.push_back(&each);
  }
  Value made;
  made.axes = united(all);
  made.type = is_narrow ? *narrow : type;
  made.is_rounded = is_narrow;
  std::vector<std::string> operands;
  for (const Value& each : values) operands.push_back(aligned(each, made.axes));
  std::string text =
      spelling(apply.function, values, operands, kernel_.node(apply.operands[0]).type);
  // PyTorch makes f32 or s64 of two numbers.
  if (chooses && values[1].number && values[2].number && type != ElementType::f32 &&
      type != ElementType::s64)
    text += ".to(" + type_text(type) + ")";
  made.text = statement(text);
  return made;
}

std::string Writer::spelling(ElementFunction function, const std::vector<Value>& values,
                             const std::vector<std::string>& operands, ElementType of) {
  const bool is_min = function == min || function == min_nan;
  if (is_min || function == max || function == max_nan) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (values[i].number)
        return operands[1 - i] + (is_min ? ".clamp(max=" : ".clamp(min=") + operands[i] + ")";
    // fmin and fmax take the other operand where one is NaN.
    const std::string name = function == min       ? "torch.fmin("
                             : function == max     ? "torch.fmax("
                             : function == min_nan ? "torch.minimum("
                                                   : "torch.maximum(";
    return name + operands[0] + ", " + operands[1] + ")";
  }
  if (!is_float(of) && function == div)
    return "torch.div(" + operands[0] + ", " + operands[1] + ", rounding_mode=\"trunc\")";
  if (function == rem) return "torch.fmod(" + operands[0] + ", " + operands[1] + ")";
  const char* text = python_spelling(function, functions);
  if (!text) throw NotInTorch{"it computes `" + std::string(function_row(function).name) + "`"};
  return filled(text, operands);
}

bool Writer::is_number(const Value& value, int number) {
  return value.number &&
         (is_float(value.type) ? value.number->real == number : value.number->integer == number);
}

Value Writer::folded(NodeId id, const sema::Apply& apply, const std::vector<Value>& values) {
  const ElementType type = kernel_.node(id).type, of = kernel_.node(apply.operands[0]).type;
  const auto holds = [&](std::size_t i) { return values[i].number->integer != 0; };
  sema::Operands numbers{};
  for (std::size_t i = 0; i < values.size(); ++i) numbers.at(i) = *values[i].number;
  switch (apply.function) {
    case select:
      return values[holds(0) ? 1 : 2];
    case and_:
      return number_of(type, {0, holds(0) && holds(1)});
    case or_:
      return number_of(type, {0, holds(0) || holds(1)});
    case not_:
      return number_of(type, {0, !holds(0)});
    default:
      return number_of(type, is_float(of) ? sema::on_reals(apply.function, type, numbers)
                                          : sema::on_integers(apply.function, type, numbers));
  }
}

std::optional<Value> Writer::library_form(NodeId id) {
  std::optional<Value> made;
  if (const auto form = forms_.softmax(id)) made = softmax(id, *form);
  if (const auto form = forms_.log_sum_exp(id); form && !made) made = log_sum_exp(id, *form);
  if (const auto form = forms_.norm(id); form && !made) made = norm(id, *form);
  if (const auto form = forms_.activation(id); form && !made) made = activation(id, *form);
  return made;
}

std::optional<Value> Writer::softmax(NodeId id, const SoftmaxForm& form) {
  const Value x = value(form.x);
  if (!has(x.axes, form.axis)) return std::nullopt;
  const bool is_narrow = is_narrow_root(id, x.type);
  call("torch.softmax");
  Value made = x;
  made.type = is_narrow ? x.type : x.wanted;
  made.is_rounded = is_narrow;
  made.text = statement("torch.softmax(" + x.text + ", dim=" + places(x, {form.axis}).at(0) +
                        (x.type == made.type ? "" : ", dtype=" + type_text(made.type)) + ")");
  return made;
}

std::optional<Value> Writer::log_sum_exp(NodeId id, const LogSumExpForm& form) {
  Value x = value(form.x);
  if (places(x, form.indices).size() != form.indices.size()) return std::nullopt;
  if (!is_narrow_root(id, x.type)) x = exact(x);
  call("torch.logsumexp");
  Value made = x;
  std::erase_if(made.axes, [&](IndexId axis) { return has(form.indices, axis); });
  made.is_rounded = is_half(x.type);
  made.text =
      statement("torch.logsumexp(" + x.text + ", dim=(" + listed(places(x, form.indices)) + "))");
  return made;
}

std::optional<Value> Writer::norm(NodeId id, const NormForm& form) {
  Value x = value(form.x);
  if (x.number || x.axes.empty() || x.axes.back() != form.axis) return std::nullopt;
  const std::string name = form.is_layer_norm ? "F.layer_norm" : "F.rms_norm";
  std::string options;
  bool is_narrow = is_narrow_root(id, x.type);
  for (const NodeId each : {form.weight, form.bias})
    is_narrow = is_narrow && (each < 0 || value(each).type == x.type);
  const auto option = [&](const char* key, NodeId given) {
    if (given < 0) return;
    const Value read = is_narrow ? value(given) : exact(value(given));
    options += std::string(", ") + key + "=" + read.text;
  };
  if (!is_narrow) x = exact(x);
  option("weight", form.weight);
  option("bias", form.bias);
  call("torch.nn.functional." + name.substr(2));
  Value made = x;
  made.is_rounded = is_narrow;
  made.text = statement(name + "(" + x.text + ", (" + std::to_string(problem_.extent(form.axis)) +
                        ",)" + options + ", eps=" + real_text(form.epsilon) + ")");
  return made;
}

std::optional<Value> Writer::activation(NodeId id, const ActivationForm& form) {
  Value x = value(form.x);
  if (x.number) return std::nullopt;
  if (!(x.is_rounded && x.type == target_) && !is_narrow_root(id, x.type)) x = exact(x);
  Value made = x;
  made.is_rounded = is_half(x.type);
  using Kind = ActivationForm::Kind;
  const std::string text = form.kind == Kind::relu   ? "F.relu(" + x.text + ")"
                           : form.kind == Kind::silu ? "F.silu(" + x.text + ")"
                           : form.kind == Kind::gelu
                               ? "F.gelu(" + x.text + ")"
                               : "F.gelu(" + x.text + ", approximate=\"tanh\")";
  made.text = statement(text);
  return made;
}

}  // namespace lay::bench::torch
