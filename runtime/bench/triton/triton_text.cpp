#include "runtime/bench/triton/triton_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "frontend/algebra/support/overloaded.h"
#include "runtime/bench/python_spelling.h"

namespace lay::bench {
namespace {

using enum ElementFunction;

// Triton's functions.
constexpr PythonSpelling functions[] = {
    {abs, "tl.abs($0)"},
    {min, "tl.minimum($0, $1)"},
    {max, "tl.maximum($0, $1)"},
    {fma, "tl.fma($0, $1, $2)"},
    {exp, "tl.exp($0)"},
    {log, "tl.log($0)"},
    {sqrt, "tl.sqrt_rn($0)"},
    {rsqrt, "tl.rsqrt($0)"},
    {tanh, "libdevice.tanh($0)"},
    {erf, "tl.erf($0)"},
    {sigmoid, "tl.sigmoid($0)"},
    {normcdf, "0.5 * (1.0 + tl.erf($0 * 0.7071067811865476))"},
    {sin, "tl.sin($0)"},
    {cos, "tl.cos($0)"},
    {floor, "tl.floor($0)"},
    {not_, "$0 == 0"},
    {select, "tl.where($0, $1, $2)"},
};

std::string real(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  const std::string written = text;
  return written.find_first_of(".en") == std::string::npos ? written + ".0" : written;
}

// Puts a negative number in parentheses: a minus may stand before it.
std::string operand(const std::string& text) {
  return text.starts_with("-") ? "(" + text + ")" : text;
}

}  // namespace

std::string triton_type(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return "tl.float16";
    case ElementType::bf16:
      return "tl.bfloat16";
    case ElementType::f32:
    case ElementType::tf32:
      return "tl.float32";
    case ElementType::e4m3:
      return "tl.float8e4nv";
    case ElementType::e5m2:
      return "tl.float8e5";
    case ElementType::s8:
      return "tl.int8";
    case ElementType::u8:
      return "tl.uint8";
    case ElementType::s32:
      return "tl.int32";
    default:
      throw NotInTriton{"Triton has no type " + std::string(element_name(type))};
  }
}

TritonText::Value TritonText::of(sema::NodeId value) {
  value_ = {};
  known_.clear();
  const std::string result = term(value);
  return {std::move(value_.lines), result};
}

std::string TritonText::term(sema::NodeId id) {
  if (id == form_.contraction) return "acc";
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  const sema::Node& node = problem_.kernel->node(id);
  const std::string text = std::visit(
      overloaded{
          [&](const sema::Literal& literal) {
            if (const auto* whole = std::get_if<std::int64_t>(&literal.value);
                whole && !is_float(node.type))
              return std::to_string(*whole);
            return real(std::visit([](auto x) { return static_cast<double>(x); }, literal.value));
          },
          [&](const sema::IndexValue& index) -> std::string {
            if (index.index == form_.m) return "m";
            if (index.index == form_.n) return "n";
            if (form_.batch.size() == 1 && index.index == form_.batch[0]) return "l";
            throw NotInTriton{"its epilogue uses one of several batch indices"};
          },
          [&](const sema::SizeValue& size) {
            const auto number = size.value.evaluate(problem_.sizes);
            if (!number) throw NotInTriton{"one of its sizes does not fit 64 bits"};
            return std::to_string(*number);
          },
          [&](const sema::ScalarValue& scalar) {
            return is_float(node.type)
                       ? real(problem_.real(scalar.scalar))
                       : std::to_string(static_cast<std::int64_t>(problem_.real(scalar.scalar)));
          },
          [&](const sema::Load&) { return load(id); },
          [](const sema::Reduce&) -> std::string {
            throw NotInTriton{"it has a second reduction"};
          },
          [&](const sema::Apply&) { return apply(id); },
      },
      node.what);
  return known_[id] = text;
}

// Adds a statement for a function; its operands come first.
std::string TritonText::apply(sema::NodeId id) {
  const sema::Node& node = problem_.kernel->node(id);
  const auto& what = std::get<sema::Apply>(node.what);
  std::vector<std::string> operands;
  for (const sema::NodeId each : what.operands) operands.push_back(operand(term(each)));
  std::string text;
  if (what.function == cast) {
    text = "tl.cast(" + operands[0] + ", " + triton_type(node.type) + ")";
  } else {
    const char* spelling = python_spelling(what.function, functions);
    const bool on_integers = !is_float(problem_.kernel->node(what.operands[0]).type);
    if (!spelling || (what.function == div && on_integers))
      throw NotInTriton{"it computes `" + std::string(function_row(what.function).name) +
                        "` of integers"};
    text = filled(spelling, operands);
  }
  value_.lines.push_back("v" + std::to_string(id) + " = " + text);
  return "v" + std::to_string(id);
}

std::string TritonText::load(sema::NodeId id) {
  const sema::Load& what = problem_.kernel->load(id);
  const auto same = [&](sema::NodeId other) {
    const sema::Load& before = problem_.kernel->load(other);
    if (before.tensor != what.tensor) return false;
    for (std::size_t i = 0; i < what.coordinate.size(); ++i)
      if (plan::bare_index(*problem_.kernel, before.coordinate[i]) !=
          plan::bare_index(*problem_.kernel, what.coordinate[i]))
        return false;
    return true;
  };
  for (const sema::NodeId coordinate : what.coordinate)
    if (plan::bare_index(*problem_.kernel, coordinate) < 0)
      throw NotInTriton{"it reads " + problem_.kernel->tensor(what.tensor).name +
                        " at computed coordinates"};
  auto at = std::find_if(loads_.begin(), loads_.end(), same);
  if (at == loads_.end()) at = loads_.insert(loads_.end(), id);
  return "x" + std::to_string(at - loads_.begin());
}

}  // namespace lay::bench
