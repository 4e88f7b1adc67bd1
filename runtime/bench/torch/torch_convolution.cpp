#include "runtime/bench/torch/torch_convolution.h"

#include <algorithm>

#include "backend/plan/recognise.h"
#include "runtime/bench/torch/torch_coordinates.h"
#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench {

using sema::IndexId;
using sema::NodeId;
using sema::Reduce;

namespace {

// One dimension: the coordinate stride * output + dilation * filter - padding of a mode of the
// input. Without an index the filter has one row.
struct Dimension {
  int mode = -1;
  IndexId output = -1, filter = -1;
  std::int64_t stride = 1, dilation = 1, padding = 0;
};

class ConvolutionRecogniser {
 public:
  ConvolutionRecogniser(const Problem& problem, const TorchForms& forms)
      : problem_(problem), kernel_(*problem.kernel), forms_(forms) {}

  std::optional<ConvolutionForm> form(const Reduce& sum) {
    if (sum.function != sema::ReduceFunction::sum) return std::nullopt;
    summed_.insert(sum.indices.begin(), sum.indices.end());
    const auto product = under_condition(sum.body);
    if (!product) return std::nullopt;
    std::vector<NodeId> loads;
    for (const NodeId factor : forms_.multiplied(*product)) {
      const auto load = under_condition(factor);
      if (!load || !forms_.load(*load)) return std::nullopt;
      loads.push_back(*load);
    }
    if (loads.size() != 2) return std::nullopt;
    if (has_bare_coordinates(*forms_.load(loads[0]))) std::swap(loads[0], loads[1]);
    made_.input = forms_.load(loads[0]), made_.filter = forms_.load(loads[1]);
    if (has_bare_coordinates(*made_.input) || !has_bare_coordinates(*made_.filter) || !place() ||
        !covers() || !conditions_are_bounds())
      return std::nullopt;
    return made_;
  }

 private:
  std::int64_t extent(IndexId index) const { return index < 0 ? 1 : problem_.extent(index); }
  std::int64_t size_of(const sema::Load& load, int mode) const {
    return problem_.tensors[static_cast<std::size_t>(load.tensor)]
        .modes[static_cast<std::size_t>(mode)]
        .size;
  }

  // Returns what is chosen where a condition holds and 0 stands elsewhere, and keeps the condition;
  // a value without a condition is returned as it is.
  std::optional<NodeId> under_condition(NodeId id) {
    const auto* chosen = forms_.operands(id, ElementFunction::select);
    if (!chosen) return id;
    auto holds = inequalities(problem_, (*chosen)[0]);
    if (!holds || constant_value(problem_, (*chosen)[2]) != 0.0) return std::nullopt;
    conditions_.insert(conditions_.end(), holds->begin(), holds->end());
    return (*chosen)[1];
  }

  bool has_bare_coordinates(const sema::Load& load) const {
    return std::all_of(load.coordinate.begin(), load.coordinate.end(), [&](NodeId coordinate) {
      return plan::bare_index(kernel_, coordinate) >= 0;
    });
  }

  int mode_of(const sema::Load& load, IndexId index) const {
    for (std::size_t mode = 0; mode < load.coordinate.size(); ++mode)
      if (plan::bare_index(kernel_, load.coordinate[mode]) == index) return static_cast<int>(mode);
    return -1;
  }

  std::optional<Dimension> dimension(int mode, NodeId coordinate) const {
    const auto number = affine_number(problem_, coordinate);
    if (!number) return std::nullopt;
    Dimension made{.mode = mode, .padding = -number->constant};
    for (const auto& [index, factor] : number->factors) {
      const bool summed = summed_.contains(index);
      IndexId& place = summed ? made.filter : made.output;
      if (place >= 0 || factor < 1) return std::nullopt;
      place = index;
      (summed ? made.dilation : made.stride) = factor;
    }
    if (made.output < 0 || made.padding < 0) return std::nullopt;
    return made;
  }

  // Finds what each mode of the input and of the filter is for.
  bool place() {
    const sema::Load &input = *made_.input, &filter = *made_.filter;
    int channel = -1, batch = -1;
    for (std::size_t i = 0; i < input.coordinate.size(); ++i) {
      const auto mode = static_cast<int>(i);
      const IndexId index = plan::bare_index(kernel_, input.coordinate[i]);
      if (index < 0) {
        const auto found = dimension(mode, input.coordinate[i]);
        if (!found) return false;
        dimensions_.push_back(*found);
        continue;
      }
      if (extent(index) != size_of(input, mode)) return false;
      int& place = summed_.contains(index) ? channel : batch;
      if (place >= 0) return false;
      place = mode;
      if (summed_.contains(index))
        channel_ = index;
      else
        made_.axes.push_back(index);
    }
    if (channel < 0 || dimensions_.empty() || dimensions_.size() > 3) return false;
    made_.input_modes = {batch, channel};
    IndexId features = -1;
    for (const NodeId coordinate : filter.coordinate) {
      const IndexId index = plan::bare_index(kernel_, coordinate);
      if (extent(index) != size_of(filter, mode_of(filter, index))) return false;
      if (summed_.contains(index)) continue;
      if (features >= 0 || mode_of(input, index) >= 0) return false;
      features = index;
    }
    if (features < 0) return false;
    made_.filter_modes = {mode_of(filter, features), mode_of(filter, channel_)};
    made_.axes.push_back(features);
    for (const Dimension& each : dimensions_) {
      made_.input_modes.push_back(each.mode);
      made_.filter_modes.push_back(each.filter < 0 ? -1 : mode_of(filter, each.filter));
      made_.axes.push_back(each.output);
      made_.stride.push_back(each.stride);
      made_.padding.push_back(each.padding);
      made_.dilation.push_back(each.dilation);
      made_.made.push_back((size_of(input, each.mode) + 2 * each.padding -
                            each.dilation * (extent(each.filter) - 1) - 1) /
                               each.stride +
                           1);
    }
    // The sum runs over channels and rows of the filter, each of them once.
    const auto filtered = std::count_if(dimensions_.begin(), dimensions_.end(),
                                        [](const Dimension& each) { return each.filter >= 0; });
    return made_.filter_modes[1] >= 0 && std::ssize(summed_) == filtered + 1 &&
           filter.coordinate.size() == summed_.size() + 1 &&
           std::set(made_.axes.begin(), made_.axes.end()).size() == made_.axes.size();
  }

  // Returns whether PyTorch makes all elements that are wanted.
  bool covers() const {
    for (std::size_t i = 0; i < dimensions_.size(); ++i)
      if (made_.made[i] < extent(dimensions_[i].output)) return false;
    return true;
  }

  // Returns whether the conditions hold exactly where all coordinates lie inside the input. Each is
  // one of a single dimension, so that rows and columns can be counted out apart.
  bool conditions_are_bounds() const {
    std::vector<AffineNumber> left = conditions_;
    for (const Dimension& each : dimensions_) {
      std::vector<AffineNumber> here;
      std::erase_if(left, [&](const AffineNumber& condition) {
        for (const auto& [index, factor] : condition.factors)
          if (index != each.output && index != each.filter) return false;
        here.push_back(condition);
        return true;
      });
      const std::int64_t size = size_of(*made_.input, each.mode);
      for (std::int64_t p = 0; p < extent(each.output); ++p)
        for (std::int64_t r = 0; r < extent(each.filter); ++r) {
          const std::int64_t at = each.stride * p + each.dilation * r - each.padding;
          const bool holds = std::all_of(here.begin(), here.end(), [&](const AffineNumber& n) {
            return n.constant + n.factor(each.output) * p + n.factor(each.filter) * r >= 0;
          });
          if (holds != (0 <= at && at < size)) return false;
        }
    }
    return left.empty();
  }

  const Problem& problem_;
  const sema::Kernel& kernel_;
  const TorchForms& forms_;
  ConvolutionForm made_;
  std::set<IndexId> summed_;
  IndexId channel_ = -1;
  std::vector<Dimension> dimensions_;
  std::vector<AffineNumber> conditions_;
};

}  // namespace

std::optional<ConvolutionForm> convolution_form(const Problem& problem, const TorchForms& forms,
                                                const Reduce& sum) {
  return ConvolutionRecogniser(problem, forms).form(sum);
}

namespace torch {

std::optional<Value> Writer::convolution(const Reduce& reduce) {
  const auto form = convolution_form(problem_, forms_, reduce);
  if (!form) return std::nullopt;
  const ElementType type = kernel_.tensor(form->input->tensor).element;
  if (kernel_.tensor(form->filter->tensor).element != type ||
      (!is_half(type) && stored(type) != ElementType::f32))
    return std::nullopt;
  const auto numbers = [](const std::vector<std::int64_t>& values) {
    std::vector<std::string> texts;
    for (const std::int64_t value : values) texts.push_back(std::to_string(value));
    return "(" + listed(texts) + ")";
  };
  // cuDNN times its kernels the first time, as users who care for speed have it do.
  made_.set_up.insert("torch.backends.cudnn.benchmark = True");
  if (!is_half(type))
    made_.set_up.insert(std::string("torch.backends.cudnn.allow_tf32 = ") +
                        (type == ElementType::tf32 ? "True" : "False"));
  const std::string function = "conv" + std::to_string(form->stride.size()) + "d";
  call("torch.nn.functional." + function);
  std::string name = library_statement(
      "F." + function + "(" + arranged(form->input->tensor, form->input_modes) + ", " +
      arranged(form->filter->tensor, form->filter_modes) + ", stride=" + numbers(form->stride) +
      ", padding=" + numbers(form->padding) + ", dilation=" + numbers(form->dilation) + ")");
  std::string wanted;
  bool cuts = false;
  const std::size_t leading = form->axes.size() - form->made.size();
  for (std::size_t i = 0; i < form->made.size(); ++i) {
    const std::int64_t extent = problem_.extent(form->axes[leading + i]);
    cuts = cuts || extent != form->made[i];
    wanted += ", :" + std::to_string(extent);
  }
  if (cuts) name = library_statement(name + "[..." + wanted + "]");
  if (form->input_modes[0] < 0) name = library_statement(name + ".squeeze(0)");
  Value made = ordered(name, form->axes);
  made.type = stored(type);
  made.is_rounded = is_half(type);
  return made;
}

}  // namespace torch

}  // namespace lay::bench
