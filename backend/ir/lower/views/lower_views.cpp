#include "backend/ir/lower/views/lower_views.h"

#include <algorithm>

namespace lay::ir {

using tile::Digit;
using tile::OperandView;
using tile::ViewedMode;

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
  const auto mode_at = [&](size_t i) -> const ViewedMode& {
    return view.modes[static_cast<size_t>(boxes.order[i])];
  };
  return add_map(declared, name, boxes, [&](TensorMap& map) {
    const size_t rank = boxes.order.size();
    if (!view.order.empty()) {
      map.box.assign(rank, 1);
      map.onto.assign(rank, 0);
      map.box[0] = boxes.box[1];
      map.onto[0] = 1;
      map.box[1] = boxes.box[0];
      for (size_t i = 1; i + 1 < rank; ++i)
        map.im2col.push_back({mode_at(i).first, mode_at(i).count, mode_at(i).step});
      return;
    }
    // Of an index of several a box runs along the fastest alone.
    for (size_t i = 0; i < rank; ++i) {
      const ViewedMode& mode = mode_at(i);
      map.box.push_back(mode.k && mode.k->below.is(1)           ? boxes.box[1]
                        : mode.outer && mode.outer->below.is(1) ? boxes.box[0]
                                                                : 1);
      map.onto.push_back(mode.k ? 1 : 0);
    }
  });
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
