#include "backend/plan/views/view_conditions.h"

#include <algorithm>

namespace lay::plan {

std::optional<std::vector<Predicate>> conditions_of_view(const OperandView& view, int tile_k) {
  std::vector<Predicate> needed;
  // A K tile that began in one window and ended in the next would have two bases: C % 64 == 0.
  for (const ViewedMode& mode : view.modes)
    if (mode.k && mode.k->below.is(1) && mode.k->remainder)
      needed.push_back(divides(mode.k->extent, tile_k));
  if (!view.order.empty()) {
    // The instruction has 16 bits for the offsets and the map as many for each corner's
    // coordinates. Of a tensor of 3, 4 or 5 modes: 16 bits, 8 of each of two, or 5 of each of
    // three.
    const int windows = static_cast<int>(view.order.size()) - 2;
    const std::int64_t values = std::int64_t{1} << (16 / windows);
    for (std::size_t i = 1; i + 1 < view.order.size(); ++i) {
      const ViewedMode& mode = view.modes[static_cast<std::size_t>(view.order[i])];
      const Int last = mode.first + (mode.count - 1) * mode.step;
      // The lower corner is the first base pixel, the upper one the last, from the tensor's end.
      for (const Int& corner : {mode.first, last - (mode.extent - 1)}) {
        needed.push_back(less_equal(-values / 2, corner));
        needed.push_back(less_equal(corner, values / 2 - 1));
      }
      if (mode.k)
        needed.push_back(less_equal((mode.k->extent - 1) * std::abs(mode.dilation), values - 1));
    }
  }
  // Of known sizes most hold by themselves: windows of 3 x 3 with a border of 1 have corners -1.
  std::erase_if(needed, [](const Predicate& each) { return each.is_always(); });
  const bool never = std::any_of(needed.begin(), needed.end(),
                                 [](const Predicate& each) { return each.is_never(); });
  if (never) return std::nullopt;
  return needed;
}

}  // namespace lay::plan
