#include "backend/ir/lower/views/lower_views.h"

#include <algorithm>
#include <bit>

namespace lay::ir {

using plan::Digit;
using plan::OperandView;
using plan::ViewedMode;

Term Digits::of(const Digit& digit) {
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& each) { return each.first == digit; });
  if (found != known_.end()) return found->second;
  Builder& b = declared_.b;
  Term value = index_;
  // n_p_q // (P*Q), n_p_q // Q % P, n_p_q % Q.
  if (!digit.below.is(1)) value = value / b.size(digit.below);
  if (digit.remainder) value = value % b.size(digit.extent);
  if (!digit.below.is(1) || digit.remainder) value = b.let(declared_.fresh(name_), value);
  known_.emplace_back(digit, value);
  return value;
}

void Digits::compute(const std::vector<ViewedMode>& modes,
                     std::optional<Digit> ViewedMode::*of_mode) {
  for (const ViewedMode& mode : modes)
    if (mode.*of_mode) of(*(mode.*of_mode));
}

int map_of_view(Declared& declared, const std::string& name, const LoadedBoxes& boxes,
                const OperandView& view) {
  const auto& load = std::get<sema::Load>(declared.kernel.node(boxes.load).what);
  TensorMap map{declared.name(name),
                declared.tensors[static_cast<size_t>(load.tensor)],
                boxes.order,
                {},
                {},
                {}};
  const bool im2col = !view.order.empty();
  for (size_t i = 0; i < boxes.order.size(); ++i) {
    const ViewedMode& mode = view.modes[static_cast<size_t>(boxes.order[i])];
    if (im2col) {
      map.box.push_back(i == 0 ? boxes.box[1] : i == 1 ? boxes.box[0] : 1);
      map.onto.push_back(i == 0 ? 1 : 0);
      if (i == 0 || i + 1 == boxes.order.size()) continue;
      map.im2col.push_back({mode.first, mode.count, mode.step});
      continue;
    }
    // Of an index of several a box runs along the fastest alone.
    map.box.push_back(mode.k && mode.k->below.is(1)           ? boxes.box[1]
                      : mode.outer && mode.outer->below.is(1) ? boxes.box[0]
                                                              : 1);
    map.onto.push_back(mode.k ? 1 : 0);
  }
  if (boxes.span > 16)
    map.swizzle = Swizzle(std::countr_zero(static_cast<unsigned>(boxes.span / 16)), 4, 3);
  auto& maps = declared.b.kernel.tensor_maps;
  maps.push_back(std::move(map));
  return static_cast<int>(maps.size()) - 1;
}

ViewedPlace place_in_view(Declared& declared, const OperandView& view, Digits& outer, Digits& k,
                          Term further, const std::function<Term(sema::IndexId)>& batch_at) {
  Builder& b = declared.b;
  const auto number = [&](std::int64_t value) { return b.constant(value); };
  ViewedPlace made;
  std::vector<Term> offsets;
  for (const ViewedMode& mode : view.modes) {
    // A window that is read backwards: its last element has the offset 0.
    Term along_k = number(0);
    if (mode.k) {
      along_k = k.of(*mode.k);
      if (mode.k->below.is(1)) along_k = along_k + further;
      if (mode.dilation < 0) along_k = b.size(mode.k->extent - 1) - along_k;
      if (mode.dilation != 1 && mode.dilation != -1)
        along_k = along_k * number(std::abs(mode.dilation));
    }
    const bool channels = view.order.empty() || static_cast<int>(offsets.size()) == view.order[0];
    Term at = mode.outer        ? outer.of(*mode.outer)
              : mode.batch >= 0 ? batch_at(mode.batch)
              : channels        ? along_k
                                : number(0);
    if (mode.step != 1) at = at * number(mode.step);
    if (!mode.first.is(0)) at = at + b.size(mode.first);
    made.coordinate.push_back(at);
    offsets.push_back(along_k);
  }
  for (size_t i = 1; i + 1 < view.order.size(); ++i)
    made.offsets.push_back(offsets[static_cast<size_t>(view.order[i])]);
  return made;
}

}  // namespace lay::ir
