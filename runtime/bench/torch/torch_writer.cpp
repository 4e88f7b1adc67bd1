#include "runtime/bench/torch/torch_writer.h"

#include <algorithm>
#include <cmath>

#include "backend/plan/recognise.h"
#include "frontend/algebra/support/overloaded.h"
#include "runtime/bench/problem/element_value.h"
#include "runtime/bench/problem/strides.h"
#include "runtime/bench/torch/torch_words.h"

namespace lay::bench::torch {

using enum ElementFunction;

namespace {

std::string function_text(const std::string& name, const std::string& parameters,
                          const std::vector<std::string>& lines, const std::string& returned) {
  std::string text = "def " + name + "(" + parameters + "):\n";
  for (const std::string& line : lines) text += "    " + line + "\n";
  return text + "    return " + returned + "\n";
}

// Returns what the names of a function end with.
std::string suffix_of(Alternative alternative) {
  switch (alternative) {
    case Alternative::plain:
      return "";
    case Alternative::cudnn:
      return "_cudnn";
    case Alternative::flash:
      return "_flash";
    case Alternative::equal_gemm:
      return "_equal";
  }
  return "";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return list;
}

}  // namespace

Written Writer::write() {
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
  std::vector<std::string> parameters;
  for (const sema::TensorId input : made_.inputs) parameters.push_back(names_[input]);
  const std::string suffix = suffix_of(alternative_);
  if (!prepared_.empty()) {
    const std::string given = joined(parameters);
    parameters.insert(parameters.end(), prepared_.begin(), prepared_.end());
    made_.text =
        function_text("prepared" + suffix, given, prepared_lines_, listed(parameters)) + "\n\n";
  }
  made_.name = "computed" + suffix;
  made_.text += function_text(made_.name, joined(parameters), lines_, listed(results));
  made_.tf32 = products_ > 0 && products_ == tf32_products_;
  made_.copies_operands = made_.copies_operands && products_ == 1;
  made_.is_one_call = library_lines_ > 0 && lines_.size() == library_lines_ + output_lines_;
  return std::move(made_);
}

std::string Writer::statement(const std::string& text) {
  const std::string name = "v" + std::to_string(next_++);
  lines_.push_back(name + " = " + text);
  return name;
}

std::string Writer::library_statement(const std::string& text) {
  ++library_lines_;
  return statement(text);
}

void Writer::call(const std::string& function) {
  if (std::find(made_.calls.begin(), made_.calls.end(), function) == made_.calls.end())
    made_.calls.push_back(function);
}

std::size_t Writer::place(IndexId index) const {
  return static_cast<std::size_t>(std::find(order_.begin(), order_.end(), index) - order_.begin());
}

Axes Writer::in_order(const std::set<IndexId>& indices) {
  for (const IndexId index : indices)
    if (place(index) == order_.size()) order_.push_back(index);
  Axes axes(indices.begin(), indices.end());
  std::sort(axes.begin(), axes.end(), [&](IndexId a, IndexId b) { return place(a) < place(b); });
  return axes;
}

Axes Writer::united(const std::vector<const Value*>& values) {
  std::set<IndexId> all;
  for (const Value* value : values) all.insert(value->axes.begin(), value->axes.end());
  return in_order(all);
}

bool Writer::has(const Axes& axes, IndexId index) {
  return std::find(axes.begin(), axes.end(), index) != axes.end();
}

std::string Writer::listed(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return texts.size() == 1 ? list + "," : list;
}

std::string Writer::aligned(const Value& value, const Axes& axes) {
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

std::string Writer::arranged(sema::TensorId id, const std::vector<int>& modes) const {
  const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(id)];
  type_text(tensor.element);
  strides_of(problem_, id, {});
  std::string text = names_.at(id);
  std::vector<std::string> order;
  bool as_it_is = true;
  for (const int mode : modes) {
    if (mode < 0) continue;
    as_it_is = as_it_is && mode == static_cast<int>(order.size());
    order.push_back(std::to_string(mode));
  }
  if (!as_it_is) text += ".permute(" + listed(order) + ")";
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (modes[i] < 0) text += ".unsqueeze(" + std::to_string(i) + ")";
  return text;
}

Value Writer::ordered(const std::string& name, const Axes& axes) {
  Value made;
  made.axes = in_order({axes.begin(), axes.end()});
  made.text = name;
  if (made.axes == axes) return made;
  std::vector<std::string> from;
  for (const IndexId axis : made.axes)
    from.push_back(std::to_string(std::find(axes.begin(), axes.end(), axis) - axes.begin()));
  made.text = library_statement(name + ".permute(" + listed(from) + ")");
  return made;
}

std::vector<std::string> Writer::places(const Value& value, const Axes& axes) {
  std::vector<std::string> places;
  for (std::size_t i = 0; i < value.axes.size(); ++i)
    if (has(axes, value.axes[i])) places.push_back(std::to_string(i));
  return places;
}

Value Writer::number_of(ElementType type, sema::Computed number) {
  Value value;
  value.number = number;
  value.type = value.wanted = type;
  value.text = type == ElementType::pred ? (number.integer != 0 ? "True" : "False")
               : is_float(type)          ? real_text(number.real)
                                         : std::to_string(number.integer);
  if (value.text[0] == '-') value.text = "(" + value.text + ")";
  return value;
}

Value Writer::converted(const Value& value, ElementType type) {
  if (value.number) {
    const bool from_real = is_float(value.type), to_real = is_float(type);
    const double real = from_real ? value.number->real : static_cast<double>(value.number->integer);
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
  // A saturation of which PyTorch knows nothing.
  if (is_half_byte(type) && value.type != type)
    throw NotInTorch{"PyTorch has no type " + std::string(element_name(type))};
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
    text += ".to(" + type_text(type) + ")";
  }
  made.text = conversions_[key] = statement(text);
  return made;
}

std::string Writer::output(const sema::Assignment& assignment) {
  const Tensor& target = problem_.tensors[static_cast<std::size_t>(assignment.target)];
  type_text(target.element);
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
           ", dtype=" + type_text(target.element) + ", device=\"cuda\")";
  } else {
    if (value.axes != order) text = aligned(value, order) + ".expand(" + listed(extents) + ")";
    // The product of equal size leaves its result where it is.
    if (alternative_ != Alternative::equal_gemm)
      text += is_computed(value.text) ? ".contiguous()"
                                      : ".clone(memory_format=torch.contiguous_format)";
  }
  if (text == value.text && order == assignment.indices) return text;
  ++output_lines_;
  if (order == assignment.indices) return statement(text);
  std::vector<std::string> modes;
  for (const IndexId index : assignment.indices) modes.push_back(std::to_string(place(index)));
  return statement(text + ".permute(" + listed(modes) + ")");
}

bool Writer::is_narrow_root(NodeId id, ElementType type) const {
  return forms_.under_casts(id) == root_ && is_half(target_) && type == target_;
}

Value Writer::value(NodeId id) {
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

Value Writer::range(IndexId index) {
  Value made;
  made.axes = in_order({index});
  made.type = ElementType::s64;
  made.text =
      statement("torch.arange(" + std::to_string(problem_.extent(index)) + ", device=\"cuda\")");
  return made;
}

Value Writer::loaded(const sema::Load& load) {
  const Tensor& tensor = problem_.tensors[static_cast<std::size_t>(load.tensor)];
  type_text(tensor.element);
  strides_of(problem_, load.tensor, {});
  Value made;
  made.type = tensor.element;
  made.text = names_.at(load.tensor);
  Axes indices;
  bool is_view = true;
  for (const NodeId coordinate : load.coordinate) {
    const IndexId index = plan::bare_index(kernel_, coordinate);
    is_view = is_view && (index < 0 ? value(coordinate).number.has_value() : !has(indices, index));
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

Value Writer::gathered(const sema::Load& load, Value made) {
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
    if (has_selects_ && !coordinates[i].number && plan::bare_index(kernel_, load.coordinate[i]) < 0)
      text += ".clamp(0, " + std::to_string(tensor.modes[i].size - 1) + ")";
    subscripts += (subscripts.empty() ? "" : ", ") + text;
  }
  made.text = statement(made.text + "[" + subscripts + "]");
  return made;
}
}  // namespace lay::bench::torch
