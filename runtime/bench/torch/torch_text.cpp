#include "runtime/bench/torch/torch_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "backend/plan/recognise.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/kernel/element_arithmetic.h"
#include "runtime/bench/problem/element_value.h"
#include "runtime/bench/problem/strides.h"
#include "runtime/bench/torch/torch_forms.h"

namespace lay::bench {
namespace {

using enum ElementFunction;
using sema::IndexId;
using sema::NodeId;
using sema::Reduce;
using sema::ReduceFunction;
using Axes = std::vector<IndexId>;

// A function in PyTorch, with $0, $1, $2 for its operands. At least one of them is a tensor.
struct Spelling {
  ElementFunction function;
  const char* text;
};
constexpr Spelling spellings[] = {
    {add, "$0 + $1"},
    {sub, "$0 - $1"},
    {mul, "$0 * $1"},
    {div, "$0 / $1"},
    {neg, "-$0"},
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
    {lt, "$0 < $1"},
    {le, "$0 <= $1"},
    {gt, "$0 > $1"},
    {ge, "$0 >= $1"},
    {eq, "$0 == $1"},
    {ne, "$0 != $1"},
    {and_, "$0 & $1"},
    {or_, "$0 | $1"},
    {not_, "~$0"},
    {select, "torch.where($0, $1, $2)"},
};

std::string real_text(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%.*g", digits, value);
    if (std::strtod(shorter, nullptr) != value) continue;
    std::snprintf(text, sizeof text, "%s", shorter);
    break;
  }
  const std::string written = text;
  return written.find_first_of(".en") == std::string::npos ? written + ".0" : written;
}

bool is_half(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16;
}

// Returns the type that the elements have in PyTorch.
ElementType stored(ElementType type) {
  return type == ElementType::tf32 ? ElementType::f32 : type;
}

// Returns whether each number of `narrow` is one of `wide`, which has more bits.
bool holds_all_of(ElementType wide, ElementType narrow) {
  if (narrow == ElementType::pred || bits(wide) <= bits(narrow)) return false;
  if (is_float(narrow)) return is_float(wide);
  if (is_float(wide)) return bits(narrow) <= 8;
  return is_signed(wide) || !is_signed(narrow);
}

// Returns whether a statement made the value, which otherwise is a view of an input.
bool is_computed(const std::string& name) {
  return name.size() > 1 && name[0] == 'v' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

// Words that are no names of parameters here.
bool is_taken(const std::string& name) {
  static const std::set<std::string> words = {
      "and",      "as",     "assert",   "async", "await",  "break",  "class", "computed",
      "continue", "def",    "del",      "elif",  "else",   "except", "False", "float",
      "for",      "from",   "F",        "if",    "import", "in",     "is",    "global",
      "None",     "lambda", "nonlocal", "not",   "one",    "or",     "pass",  "raise",
      "return",   "torch",  "True",     "try",   "while",  "with",   "yield", "finally"};
  return is_computed(name) || words.contains(name);
}

struct Value {
  // A name, or an expression that binds as strongly as one; a number of Python.
  std::string text;
  Axes axes;
  // The element type of the tensor `text`.
  ElementType type = ElementType::f32;
  // The type of the node. PyTorch need not convert to it where it computes in `type` anyway.
  ElementType wanted = ElementType::f32;
  // The value of a number; nothing for a tensor.
  std::optional<sema::Computed> number;
  // Was rounded to `type` by a product or a function of PyTorch.
  bool is_rounded = false;
};

class Writer {
 public:
  explicit Writer(const Problem& problem)
      : problem_(problem), kernel_(*problem.kernel), forms_(problem) {}

  TorchFunction write() {
    const auto live = plan::reachable(kernel_);
    std::set<sema::TensorId> loaded;
    for (std::size_t id = 0; id < live.size(); ++id) {
      const auto* load = std::get_if<sema::Load>(&kernel_.nodes[id].what);
      if (live[id] && load) loaded.insert(load->tensor);
      const auto* apply = std::get_if<sema::Apply>(&kernel_.nodes[id].what);
      has_selects_ = has_selects_ || (live[id] && apply && apply->function == select);
    }
    for (std::size_t index = 0; index < kernel_.indices.size(); ++index)
      if (problem_.extent(static_cast<IndexId>(index)) == 0)
        throw NotInTorch{"the extent of " + kernel_.indices[index].name + " is 0"};
    for (const sema::TensorId input : loaded) {
      made_.inputs.push_back(input);
      std::string name = kernel_.tensor(input).name;
      while (is_taken(name) || std::any_of(names_.begin(), names_.end(),
                                           [&](const auto& each) { return each.second == name; }))
        name += "_";
      names_[input] = name;
    }
    std::vector<std::string> results;
    for (const sema::Assignment& assignment : kernel_.assignments) {
      made_.outputs.push_back(assignment.target);
      results.push_back(output(assignment));
    }
    std::string parameters, returned;
    for (const sema::TensorId input : made_.inputs)
      parameters += (parameters.empty() ? "" : ", ") + names_[input];
    for (const std::string& result : results) returned += (returned.empty() ? "" : ", ") + result;
    made_.text = "import torch\nimport torch.nn.functional as F\n";
    if (uses_one_) made_.text += "\none = torch.ones((), device=\"cuda\")\n";
    made_.text += "\n\ndef computed(" + parameters + "):\n";
    for (const std::string& line : lines_) made_.text += "    " + line + "\n";
    made_.text += "    return " + returned + (results.size() == 1 ? ",\n" : "\n");
    made_.tf32 = products_ > 0 && products_ == tf32_products_;
    return std::move(made_);
  }

 private:
  // --- statements, axes and types ---

  // Adds a statement and returns its name.
  std::string statement(const std::string& text) {
    const std::string name = "v" + std::to_string(next_++);
    lines_.push_back(name + " = " + text);
    return name;
  }

  void call(const std::string& function) {
    if (std::find(made_.calls.begin(), made_.calls.end(), function) == made_.calls.end())
      made_.calls.push_back(function);
  }

  std::size_t place(IndexId index) const {
    return static_cast<std::size_t>(std::find(order_.begin(), order_.end(), index) -
                                    order_.begin());
  }

  // Returns the indices in the order of axes.
  Axes in_order(const std::set<IndexId>& indices) {
    for (const IndexId index : indices)
      if (place(index) == order_.size()) order_.push_back(index);
    Axes axes(indices.begin(), indices.end());
    std::sort(axes.begin(), axes.end(), [&](IndexId a, IndexId b) { return place(a) < place(b); });
    return axes;
  }

  Axes united(const std::vector<const Value*>& values) {
    std::set<IndexId> all;
    for (const Value* value : values) all.insert(value->axes.begin(), value->axes.end());
    return in_order(all);
  }

  static bool has(const Axes& axes, IndexId index) {
    return std::find(axes.begin(), axes.end(), index) != axes.end();
  }

  static std::string listed(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
    return texts.size() == 1 ? list + "," : list;
  }

  // Returns the value for use beside values of these axes: those that it lacks have extent 1.
  static std::string aligned(const Value& value, const Axes& axes) {
    if (value.number || value.axes.empty()) return value.text;
    std::vector<std::string> subscripts;
    bool lacks = false;
    for (const IndexId axis : axes) {
      const bool is_there = has(value.axes, axis);
      if (!is_there && subscripts.empty()) continue;  // broadcasting adds axes in front
      subscripts.emplace_back(is_there ? ":" : "None");
      lacks = lacks || !is_there;
    }
    std::string list;
    for (const std::string& each : subscripts) list += (list.empty() ? "" : ", ") + each;
    return lacks ? value.text + "[" + list + "]" : value.text;
  }

  // Returns the axes' places, as PyTorch's `dim`.
  static std::vector<std::string> places(const Value& value, const Axes& axes) {
    std::vector<std::string> places;
    for (std::size_t i = 0; i < value.axes.size(); ++i)
      if (has(axes, value.axes[i])) places.push_back(std::to_string(i));
    return places;
  }

  static Value number_of(ElementType type, sema::Computed number) {
    Value value;
    value.number = number;
    value.type = value.wanted = type;
    value.text = type == ElementType::pred ? (number.integer != 0 ? "True" : "False")
                 : is_float(type)          ? real_text(number.real)
                                           : std::to_string(number.integer);
    if (value.text[0] == '-') value.text = "(" + value.text + ")";
    return value;
  }

  // Returns the value in another type.
  Value converted(const Value& value, ElementType type) {
    if (value.number) {
      const bool from_real = is_float(value.type), to_real = is_float(type);
      const double real =
          from_real ? value.number->real : static_cast<double>(value.number->integer);
      sema::Computed number;
      if (to_real)
        number.real = sema::rounded(type, real);
      else if (type == ElementType::pred)
        number.integer = real != 0;
      else
        number.integer =
            sema::wrapped(type, from_real ? static_cast<std::int64_t>(std::nearbyint(real))
                                          : value.number->integer);
      return number_of(type, number);
    }
    if (stored(value.type) == stored(type)) return value;
    const auto key = std::pair{value.text, stored(type)};
    Value made = value;
    made.type = made.wanted = type;
    if (const auto known = conversions_.find(key); known != conversions_.end()) {
      made.text = known->second;
      return made;
    }
    std::string text = value.text;
    if (type == ElementType::pred) {
      text += " != 0";
    } else {
      if (!is_float(type) && is_float(value.type)) text = "torch.round(" + text + ")";
      // Lay saturates where PyTorch makes a NaN.
      if (type == ElementType::e4m3) text += ".clamp(-448.0, 448.0)";
      if (type == ElementType::e5m2) text += ".clamp(-57344.0, 57344.0)";
      text += ".to(" + torch_type(type) + ")";
    }
    made.text = conversions_[key] = statement(text);
    return made;
  }

  // Returns the value in its node's type.
  Value exact(const Value& value) { return converted(value, value.wanted); }

  // --- outputs ---

  std::string output(const sema::Assignment& assignment) {
    const Tensor& target = problem_.tensors[static_cast<std::size_t>(assignment.target)];
    torch_type(target.element);
    // As the output lies in memory: the largest stride first.
    const Strides strides = strides_of(problem_, assignment.target, assignment.indices);
    Axes order = assignment.indices;
    std::stable_sort(order.begin(), order.end(),
                     [&](IndexId a, IndexId b) { return strides.of(a) > strides.of(b); });
    if (order != output_order_) {
      known_.clear();
      order_ = output_order_ = order;
    }
    target_ = target.element;
    root_ = forms_.under_casts(assignment.value);
    Value value = converted(this->value(assignment.value), target.element);
    // A view of an input, or a value that lacks some of the output's axes, is not yet in memory.
    std::vector<std::string> extents;
    for (const IndexId index : order) extents.push_back(std::to_string(problem_.extent(index)));
    std::string text = value.text;
    if (value.number) {
      text = "torch.full((" + listed(extents) + "), " + value.text +
             ", dtype=" + torch_type(target.element) + ", device=\"cuda\")";
    } else {
      if (value.axes != order) text = aligned(value, order) + ".expand(" + listed(extents) + ")";
      text += is_computed(value.text) ? ".contiguous()"
                                      : ".clone(memory_format=torch.contiguous_format)";
    }
    if (order == assignment.indices) return statement(text);
    std::vector<std::string> modes;
    for (const IndexId index : assignment.indices) modes.push_back(std::to_string(place(index)));
    return statement(text + ".permute(" + listed(modes) + ")");
  }

  // Returns whether functions may compute in the output's type: it is narrow, and nothing comes
  // behind this node.
  bool is_narrow_root(NodeId id, ElementType type) const {
    return forms_.under_casts(id) == root_ && is_half(target_) && type == target_;
  }

  // --- nodes ---

  Value value(NodeId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    const sema::Node& node = kernel_.node(id);
    Value made = std::visit(
        overloaded{
            [&](const sema::Literal& literal) {
              sema::Computed number;
              std::visit([&](auto x) { number.real = static_cast<double>(x); }, literal.value);
              if (const auto* whole = std::get_if<std::int64_t>(&literal.value))
                number.integer = *whole;
              return number_of(node.type, number);
            },
            [&](const sema::IndexValue& index) { return range(index.index); },
            [&](const sema::SizeValue& size) {
              const auto number = size.value.evaluate(problem_.sizes);
              if (!number) throw NotInTorch{"one of its sizes does not fit 64 bits"};
              return number_of(node.type, {static_cast<double>(*number), *number});
            },
            [&](const sema::ScalarValue& scalar) {
              const double real = problem_.real(scalar.scalar);
              return number_of(node.type, {real, static_cast<std::int64_t>(real)});
            },
            [&](const sema::Load& load) { return loaded(load); },
            [&](const Reduce& reduce) { return reduced(id, reduce); },
            [&](const sema::Apply& apply) { return applied(id, apply); },
        },
        node.what);
    made.wanted = node.type;
    if (made.is_rounded && made.type != node.type)
      made_.roundoff = std::max(made_.roundoff, unit_roundoff(made.type));
    return known_[id] = made;
  }

  Value range(IndexId index) {
    Value made;
    made.axes = in_order({index});
    made.type = ElementType::s64;
    made.text =
        statement("torch.arange(" + std::to_string(problem_.extent(index)) + ", device=\"cuda\")");
    return made;
  }

  Value loaded(const sema::Load& load) {
    const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(load.tensor)];
    torch_type(tensor.element);
    strides_of(problem_, load.tensor, {});
    Value made;
    made.type = tensor.element;
    made.text = names_.at(load.tensor);
    Axes indices;
    bool is_view = true;
    for (const NodeId coordinate : load.coordinate) {
      const IndexId index = plan::bare_index(kernel_, coordinate);
      is_view =
          is_view && (index < 0 ? value(coordinate).number.has_value() : !has(indices, index));
      if (index >= 0) indices.push_back(index);
    }
    if (!is_view) return gathered(load, made);
    // Fixed coordinates, and extents of indices that are smaller than the mode's.
    std::string subscripts;
    bool cuts = false;
    for (std::size_t i = 0; i < load.coordinate.size(); ++i) {
      const IndexId index = plan::bare_index(kernel_, load.coordinate[i]);
      std::string text = ":";
      if (index < 0)
        text = value(load.coordinate[i]).text;
      else if (problem_.extent(index) != tensor.modes[i].size)
        text += std::to_string(problem_.extent(index));
      cuts = cuts || text != ":";
      subscripts += (subscripts.empty() ? "" : ", ") + text;
    }
    if (cuts) made.text += "[" + subscripts + "]";
    made.axes = in_order({indices.begin(), indices.end()});
    if (made.axes == indices) return made;
    if (indices.size() == 2) {
      made.text += ".T";
      return made;
    }
    std::vector<std::string> from;
    for (const IndexId axis : made.axes)
      from.push_back(
          std::to_string(std::find(indices.begin(), indices.end(), axis) - indices.begin()));
    made.text += ".permute(" + listed(from) + ")";
    return made;
  }

  // Returns elements at computed coordinates.
  Value gathered(const sema::Load& load, Value made) {
    std::vector<Value> coordinates;
    std::vector<const Value*> all;
    for (const NodeId coordinate : load.coordinate) coordinates.push_back(value(coordinate));
    for (const Value& coordinate : coordinates) all.push_back(&coordinate);
    made.axes = united(all);
    std::string subscripts;
    const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(load.tensor)];
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      std::string text = aligned(coordinates[i], made.axes);
      // Where a condition leaves elements out, their coordinates may be outside.
      if (has_selects_ && !coordinates[i].number &&
          plan::bare_index(kernel_, load.coordinate[i]) < 0)
        text += ".clamp(0, " + std::to_string(tensor.modes[i].size - 1) + ")";
      subscripts += (subscripts.empty() ? "" : ", ") + text;
    }
    made.text = statement(made.text + "[" + subscripts + "]");
    return made;
  }

  // --- functions of elements ---

  Value applied(NodeId id, const sema::Apply& apply) {
    const ElementType type = kernel_.node(id).type;
    if (apply.function == cast) {
      const Value from = value(apply.operands[0]);
      // A conversion to a wider type is left to those that need it.
      const bool keeps = holds_all_of(type, from.type) || stored(from.type) == stored(type);
      return !from.number && keeps ? from : converted(exact(from), type);
    }
    if (auto made = library_form(id)) return *made;
    if (apply.function == add)
      if (auto made = product_and_bias(apply)) return *made;
    return spelled(id, apply);
  }

  Value spelled(NodeId id, const sema::Apply& apply) {
    const ElementType type = kernel_.node(id).type;
    const bool chooses = apply.function == select;
    if (chooses)
      if (const Value condition = value(apply.operands[0]); condition.number)
        return value(apply.operands[condition.number->integer != 0 ? 1 : 2]);
    std::vector<Value> values;
    for (const NodeId operand : apply.operands) values.push_back(value(operand));
    // What changes nothing would still be a pass over memory.
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
      text += ".to(" + torch_type(type) + ")";
    made.text = statement(text);
    return made;
  }

  static std::string spelling(ElementFunction function, const std::vector<Value>& values,
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
    const auto found =
        std::find_if(std::begin(spellings), std::end(spellings),
                     [&](const Spelling& each) { return each.function == function; });
    if (found == std::end(spellings))
      throw NotInTorch{"it computes `" + std::string(function_row(function).name) + "`"};
    std::string text;
    for (const char* at = found->text; *at; ++at)
      text += *at == '$' ? operands[static_cast<std::size_t>(*++at - '0')] : std::string(1, *at);
    return text;
  }

  static bool is_number(const Value& value, int number) {
    return value.number &&
           (is_float(value.type) ? value.number->real == number : value.number->integer == number);
  }

  // Returns a function of numbers as a number.
  Value folded(NodeId id, const sema::Apply& apply, const std::vector<Value>& values) {
    const ElementType type = kernel_.node(id).type, of = kernel_.node(apply.operands[0]).type;
    const auto holds = [&](std::size_t i) { return values[i].number->integer != 0; };
    std::vector<sema::Computed> numbers;
    for (const Value& each : values) numbers.push_back(*each.number);
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

  // --- functions of PyTorch's own ---

  std::optional<Value> library_form(NodeId id) {
    std::optional<Value> made;
    if (const auto form = forms_.softmax(id)) made = softmax(id, *form);
    if (const auto form = forms_.log_sum_exp(id); form && !made) made = log_sum_exp(id, *form);
    if (const auto form = forms_.norm(id); form && !made) made = norm(id, *form);
    if (const auto form = forms_.activation(id); form && !made) made = activation(id, *form);
    return made;
  }

  std::optional<Value> softmax(NodeId id, const SoftmaxForm& form) {
    const Value x = value(form.x);
    if (!has(x.axes, form.axis)) return std::nullopt;
    const bool is_narrow = is_narrow_root(id, x.type);
    call("torch.softmax");
    Value made = x;
    made.type = is_narrow ? x.type : x.wanted;
    made.is_rounded = is_narrow;
    made.text = statement("torch.softmax(" + x.text + ", dim=" + places(x, {form.axis}).at(0) +
                          (x.type == made.type ? "" : ", dtype=" + torch_type(made.type)) + ")");
    return made;
  }

  std::optional<Value> log_sum_exp(NodeId id, const LogSumExpForm& form) {
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

  std::optional<Value> norm(NodeId id, const NormForm& form) {
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

  std::optional<Value> activation(NodeId id, const ActivationForm& form) {
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

  // --- reductions ---

  Value reduced(NodeId id, const Reduce& reduce) {
    if (reduce.function == ReduceFunction::sum)
      if (auto made = product_sum(id, reduce)) return *made;
    Value body = value(reduce.body);
    const ElementType type = kernel_.node(id).type;
    // Small floats have no reductions.
    if (is_float(body.type) && bits(body.type) <= 8) body = exact(body);
    body = with_axes(body, reduce.indices);
    Value made;
    made.axes = body.axes;
    std::erase_if(made.axes, [&](IndexId axis) { return has(reduce.indices, axis); });
    std::vector<std::string> dims = places(body, reduce.indices);
    const std::string all = "dim=(" + listed(dims) + ")";
    // The last axis first, so that the places of the others stay.
    const auto one_by_one = [&](const std::string& function, const std::string& options) {
      std::string text = body.text;
      for (std::size_t i = dims.size(); i-- > 0;)
        text = function + "(" + text + ", dim=" + dims[i] + options + ")";
      return text;
    };
    made.type = body.type;
    switch (reduce.function) {
      case ReduceFunction::sum:
      case ReduceFunction::prod: {
        // They accumulate halves in f32, whatever type they return.
        made.type = is_narrow_root(id, body.type) ? body.type : type;
        made.is_rounded = is_half(made.type);
        const std::string options =
            made.type == body.type && is_float(body.type) ? "" : ", dtype=" + torch_type(made.type);
        made.text = reduce.function == ReduceFunction::sum
                        ? "torch.sum(" + body.text + ", " + all + options + ")"
                        : one_by_one("torch.prod", options);
        call(reduce.function == ReduceFunction::sum ? "torch.sum" : "torch.prod");
        break;
      }
      case ReduceFunction::max:
      case ReduceFunction::min: {
        const std::string function =
            reduce.function == ReduceFunction::max ? "torch.amax" : "torch.amin";
        made.text = function + "(" + body.text + ", " + all + ")";
        call(function);
        break;
      }
      case ReduceFunction::any:
      case ReduceFunction::all: {
        const std::string function =
            reduce.function == ReduceFunction::any ? "torch.any" : "torch.all";
        made.type = ElementType::pred;
        made.text = one_by_one(function, "");
        call(function);
        break;
      }
      case ReduceFunction::argmax:
      case ReduceFunction::argmin: {
        const std::string function =
            reduce.function == ReduceFunction::argmax ? "torch.argmax" : "torch.argmin";
        if (dims.size() != 1) throw NotInTorch{"it asks for a position over several indices"};
        made.type = ElementType::s64;
        made.text = one_by_one(function, "");
        call(function);
        break;
      }
    }
    made.text = statement(made.text);
    // Positions are s64 in PyTorch.
    return made.type == ElementType::s64 ? converted(made, type) : made;
  }

  // Returns the value with an axis for each of the indices.
  Value with_axes(Value value, const std::vector<IndexId>& indices) {
    std::set<IndexId> wanted(indices.begin(), indices.end());
    wanted.insert(value.axes.begin(), value.axes.end());
    const Axes axes = in_order(wanted);
    if (!value.number && axes == value.axes) return value;
    std::vector<std::string> extents;
    for (const IndexId index : axes) extents.push_back(std::to_string(problem_.extent(index)));
    const std::string shape = "(" + listed(extents) + ")";
    value.text = value.number ? "torch.full(" + shape + ", " + value.text +
                                    ", dtype=" + torch_type(value.type) + ", device=\"cuda\")"
                              : aligned(value, axes) + ".expand(" + shape + ")";
    value.number.reset();
    value.axes = axes;
    return value;
  }

  // --- sums of products ---

  void factors_of(NodeId id, std::vector<NodeId>& factors) const {
    const NodeId bare = forms_.under_casts(id);
    const auto* apply = std::get_if<sema::Apply>(&kernel_.node(bare).what);
    if (apply && apply->function == mul && kernel_.node(bare).type == kernel_.node(id).type)
      for (const NodeId operand : apply->operands) factors_of(operand, factors);
    else
      factors.push_back(id);
  }

  // A sum of a product: factors under the sum, and those that it does not run over.
  struct ProductSum {
    std::vector<Value> under, beside;
    // The type in which PyTorch multiplies.
    ElementType type = ElementType::f32;
  };

  // Returns the parts of a sum of a product whose factors have different axes, so that broadcasting
  // them would make a tensor larger than each; nothing for any other sum.
  std::optional<ProductSum> parts_of(NodeId id, const Reduce& reduce) {
    if (reduce.function != ReduceFunction::sum) return std::nullopt;
    std::vector<NodeId> factors;
    factors_of(reduce.body, factors);
    if (factors.size() < 2) return std::nullopt;
    const auto runs_over = [&](NodeId factor) {
      const auto& free = forms_.free_indices(factor);
      return std::any_of(reduce.indices.begin(), reduce.indices.end(),
                         [&](IndexId index) { return free.contains(index); });
    };
    std::set<IndexId> all;
    std::size_t largest = 0;
    std::vector<NodeId> under, beside;
    for (const NodeId factor : factors) {
      (runs_over(factor) ? under : beside).push_back(factor);
      if (!runs_over(factor)) continue;
      const auto& free = forms_.free_indices(factor);
      all.insert(free.begin(), free.end());
      largest = std::max(largest, free.size());
    }
    for (const IndexId index : reduce.indices)
      if (!all.contains(index)) return std::nullopt;
    const bool differ = std::any_of(under.begin(), under.end(), [&](NodeId factor) {
      return forms_.free_indices(factor).size() != all.size();
    });
    if (under.size() < 2 || !differ) return std::nullopt;
    ProductSum made;
    for (const NodeId factor : under) made.under.push_back(value(factor));
    for (const NodeId factor : beside) made.beside.push_back(value(factor));
    // One type for all: bf16 (f16) if one of them is, else the type that they have in common, else
    // the accumulator's.
    std::set<ElementType> types;
    for (const Value& each : made.under) types.insert(stored(each.type));
    made.type = types.size() == 1 ? *types.begin() : kernel_.node(id).type;
    for (const ElementType half : {ElementType::bf16, ElementType::f16})
      if (types.contains(half)) made.type = half;
    ++products_;
    const auto is_tf32 = [&](NodeId factor) {
      for (NodeId at = factor;; at = std::get<sema::Apply>(kernel_.node(at).what).operands[0]) {
        if (kernel_.node(at).type == ElementType::tf32) return true;
        if (at == forms_.under_casts(at)) return false;
      }
    };
    tf32_products_ += std::all_of(under.begin(), under.end(), is_tf32);
    return made;
  }

  // The letters of an einsum, one an index.
  std::string letters(const Axes& axes) {
    std::string text;
    for (const IndexId axis : axes) {
      if (!letters_.contains(axis)) {
        char letter = kernel_.index(axis).name[0];
        const auto is_used = [&](char c) {
          return std::any_of(letters_.begin(), letters_.end(),
                             [&](const auto& each) { return each.second == c; });
        };
        if (!std::isalpha(static_cast<unsigned char>(letter)) || is_used(letter)) letter = 'a';
        while (is_used(letter)) letter = letter == 'z' ? 'A' : static_cast<char>(letter + 1);
        letters_[axis] = letter;
      }
      text += letters_[axis];
    }
    return text;
  }

  // Two factors as a product of matrices: the axes that only one of them has, that the sum runs
  // over, and that all three have.
  struct MatrixForm {
    Axes rows, columns, summed, batch;
    // Of the factors: `left` has the rows.
    std::size_t left = 0;
  };
  std::optional<MatrixForm> matrix_form(const std::vector<Value>& factors, const Axes& result,
                                        const Reduce& reduce) {
    if (factors.size() != 2) return std::nullopt;
    MatrixForm form;
    // What comes first in the result belongs to the left factor.
    const auto in = [&](std::size_t factor, IndexId axis) {
      return has(factors[factor].axes, axis);
    };
    for (const IndexId axis : result) {
      if (in(0, axis) == in(1, axis)) continue;
      form.left = in(0, axis) ? 0 : 1;
      break;
    }
    for (const IndexId axis : result)
      (in(0, axis) && in(1, axis) ? form.batch
       : in(form.left, axis)      ? form.rows
                                  : form.columns)
          .push_back(axis);
    for (const IndexId index : reduce.indices) {
      if (!in(0, index) || !in(1, index)) return std::nullopt;
      form.summed.push_back(index);
    }
    if (form.summed.size() != 1 || form.rows.size() != 1 || form.columns.size() > 1 ||
        form.batch.size() > 1)
      return std::nullopt;
    // The orders that PyTorch's functions take and give: batch, rows or columns, what is summed.
    const auto joined = [](const Axes& batch, const Axes& middle, const Axes& last) {
      Axes all = batch;
      all.insert(all.end(), middle.begin(), middle.end());
      all.insert(all.end(), last.begin(), last.end());
      return all;
    };
    const bool fits =
        factors[form.left].axes == joined(form.batch, form.rows, form.summed) &&
        factors[1 - form.left].axes == joined(form.batch, form.columns, form.summed) &&
        result == joined(form.batch, form.rows, form.columns);
    return fits ? std::optional(form) : std::nullopt;
  }

  std::optional<Value> product_sum(NodeId id, const Reduce& reduce) {
    auto parts = parts_of(id, reduce);
    if (!parts) return std::nullopt;
    const ElementType wanted = kernel_.node(id).type;
    auto& factors = parts->under;
    std::vector<const Value*> all;
    for (const Value& each : factors) all.push_back(&each);
    const Axes axes = united(all);
    Value made;
    made.axes = axes;
    std::erase_if(made.axes, [&](IndexId axis) { return has(reduce.indices, axis); });
    const auto form = matrix_form(factors, made.axes, reduce);
    const bool integers = !is_float(parts->type);
    const bool small_floats = is_float(parts->type) && bits(parts->type) <= 8;
    if (integers || small_floats) {
      auto narrow = narrow_product(*parts, form, made, wanted);
      if (!narrow) {
        // Nothing grows if one factor has all axes.
        if (std::none_of(factors.begin(), factors.end(),
                         [&](const Value& each) { return each.axes == axes; }))
          throw NotInTorch{"PyTorch has no product of " +
                           std::string(element_name(factors[0].type)) + " and " +
                           std::string(element_name(factors[1].type)) + " of this form"};
        return std::nullopt;
      }
      made = *narrow;
    } else {
      for (Value& each : factors) each = converted(each, parts->type);
      made.type = parts->type;
      made.is_rounded = is_half(made.type);
      made.text = statement(product_text(factors, form, made.axes));
    }
    made.wanted = wanted;
    for (Value& each : parts->beside) {
      if (is_number(each, 1)) continue;
      const bool is_narrow =
          made.is_rounded && (each.number || each.type == made.type) && made.type == target_;
      if (!is_narrow) made = exact(made), each = exact(each);
      const std::vector<const Value*> both{&made, &each};
      const Axes united_axes = united(both);
      const std::string text = aligned(made, united_axes) + " * " + aligned(each, united_axes);
      made.axes = united_axes;
      made.text = statement(text);
    }
    return made;
  }

  std::string product_text(const std::vector<Value>& factors, const std::optional<MatrixForm>& form,
                           const Axes& result) {
    if (form) {
      const std::string &left = factors[form->left].text, &right = factors[1 - form->left].text;
      if (form->columns.empty() && form->batch.empty()) {
        call("torch.mv");
        return "torch.mv(" + left + ", " + right + ")";
      }
      if (!form->columns.empty()) {
        const std::string function = form->batch.empty() ? "torch.mm" : "torch.bmm";
        call(function);
        return function + "(" + left + ", " + right + (form->batch.empty() ? ".T)" : ".mT)");
      }
    }
    call("torch.einsum");
    std::string subscripts, texts;
    for (const Value& each : factors) {
      subscripts += (subscripts.empty() ? "" : ",") + letters(each.axes);
      texts += ", " + each.text;
    }
    return "torch.einsum(\"" + subscripts + "->" + letters(result) + "\"" + texts + ")";
  }

  // Returns a product of integers or of 8-bit floats, if PyTorch has it.
  std::optional<Value> narrow_product(const ProductSum& parts,
                                      const std::optional<MatrixForm>& form, Value made,
                                      ElementType wanted) {
    if (!form || form->columns.empty() || !form->batch.empty()) return std::nullopt;
    const std::int64_t m = problem_.extent(form->rows[0]), n = problem_.extent(form->columns[0]),
                       k = problem_.extent(form->summed[0]);
    const std::string &left = parts.under[form->left].text,
                      &right = parts.under[1 - form->left].text;
    if (parts.type == ElementType::s8 && wanted == ElementType::s32) {
      constexpr std::int64_t least_rows = 17, multiple = 8;
      if (m < least_rows || k % multiple != 0 || n % multiple != 0) return std::nullopt;
      call("torch._int_mm");
      made.type = ElementType::s32;
      made.text = statement("torch._int_mm(" + left + ", " + right + ".T)");
      return made;
    }
    constexpr std::int64_t multiple = 16;
    if (!is_float(parts.type) || k % multiple != 0 || n % multiple != 0 || m % multiple != 0)
      return std::nullopt;
    call("torch._scaled_mm");
    uses_one_ = true;
    // Its outputs are halves or f32.
    made.type = is_half(target_) ? target_ : wanted;
    made.is_rounded = is_half(made.type);
    made.text = statement("torch._scaled_mm(" + left + ", " + right +
                          ".T, scale_a=one, scale_b=one, out_dtype=" + torch_type(made.type) +
                          ", use_fast_accum=True)");
    return made;
  }

  // A node times a number.
  struct Multiple {
    double number = 1;
    NodeId node = -1;
  };
  Multiple multiple(NodeId id) const {
    const NodeId bare = forms_.under_casts(id);
    const auto* product = std::get_if<sema::Apply>(&kernel_.node(bare).what);
    if (product && product->function == mul)
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
        if (const auto number = forms_.number(product->operands[i]))
          return {*number, forms_.under_casts(product->operands[1 - i])};
    return {1, bare};
  }

  // Returns the branch that a condition on sizes and scalars takes, under casts.
  NodeId taken_branch(NodeId id) {
    const NodeId bare = forms_.under_casts(id);
    const auto* choice = std::get_if<sema::Apply>(&kernel_.node(bare).what);
    if (!choice || choice->function != select) return bare;
    const Value condition = value(choice->operands[0]);
    if (!condition.number) return bare;
    return taken_branch(choice->operands[condition.number->integer != 0 ? 1 : 2]);
  }

  // Returns a product of matrices plus a bias along its columns or a matrix, each perhaps times a
  // number: what cuBLASLt fuses.
  std::optional<Value> product_and_bias(const sema::Apply& sum) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const Multiple product = multiple(taken_branch(sum.operands[i])),
                     bias = multiple(taken_branch(sum.operands[1 - i]));
      const auto* reduce = std::get_if<Reduce>(&kernel_.node(product.node).what);
      if (!reduce || known_.contains(product.node) ||
          !std::holds_alternative<sema::Load>(kernel_.node(bias.node).what))
        continue;
      const int products = products_, tf32_products = tf32_products_;
      auto parts = parts_of(product.node, *reduce);
      if (parts && parts->beside.empty() && is_float(parts->type) && bits(parts->type) > 8) {
        std::vector<const Value*> all;
        for (const Value& each : parts->under) all.push_back(&each);
        Value made;
        made.axes = united(all);
        std::erase_if(made.axes, [&](IndexId axis) { return has(reduce->indices, axis); });
        const auto form = matrix_form(parts->under, made.axes, *reduce);
        const Value added = value(bias.node);
        if (form && form->batch.empty() && form->columns.size() == 1 &&
            (added.axes == form->columns || added.axes == made.axes) &&
            stored(added.type) == parts->type &&
            (!is_half(parts->type) || parts->type == target_)) {
          for (Value& each : parts->under) each = converted(each, parts->type);
          call("torch.addmm");
          made.type = parts->type;
          made.is_rounded = is_half(made.type);
          std::string numbers;
          if (bias.number != 1) numbers += ", beta=" + real_text(bias.number);
          if (product.number != 1) numbers += ", alpha=" + real_text(product.number);
          made.text = statement("torch.addmm(" + added.text + ", " + parts->under[form->left].text +
                                ", " + parts->under[1 - form->left].text + ".T" + numbers + ")");
          return made;
        }
      }
      products_ = products, tf32_products_ = tf32_products;
    }
    return std::nullopt;
  }

  const Problem& problem_;
  const sema::Kernel& kernel_;
  const TorchForms forms_;
  TorchFunction made_;
  std::map<sema::TensorId, std::string> names_;
  std::vector<std::string> lines_;
  int next_ = 0, products_ = 0, tf32_products_ = 0;
  bool uses_one_ = false, has_selects_ = false;
  std::map<IndexId, char> letters_;

  // Of the output that is written: its indices, and behind them those that were met since.
  Axes output_order_, order_;
  ElementType target_ = ElementType::f32;
  NodeId root_ = -1;
  std::map<NodeId, Value> known_;
  // By text and type: what was converted once is not converted again.
  std::map<std::pair<std::string, ElementType>, std::string> conversions_;
};

}  // namespace

std::string torch_type(ElementType type) {
  switch (type) {
    case ElementType::pred:
      return "torch.bool";
    case ElementType::f16:
      return "torch.float16";
    case ElementType::bf16:
      return "torch.bfloat16";
    case ElementType::f32:
    case ElementType::tf32:
      return "torch.float32";
    case ElementType::f64:
      return "torch.float64";
    case ElementType::e4m3:
      return "torch.float8_e4m3fn";
    case ElementType::e5m2:
      return "torch.float8_e5m2";
    case ElementType::s8:
      return "torch.int8";
    case ElementType::u8:
      return "torch.uint8";
    case ElementType::s16:
      return "torch.int16";
    case ElementType::s32:
      return "torch.int32";
    case ElementType::s64:
      return "torch.int64";
    default:
      throw NotInTorch{"PyTorch has no type " + std::string(element_name(type))};
  }
}

TorchFunction torch_function(const Problem& problem) {
  return Writer(problem).write();
}

}  // namespace lay::bench
