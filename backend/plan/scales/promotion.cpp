#include "backend/plan/scales/promotion.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "backend/plan/recognise.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

// The interval is whole steps of the atom; in a K tile it divides what a group of threads has of
// it, or is several such parts, of which each is added by its own group; else it is whole K tiles.
// Four slices of a K tile of 256: 16, 32, 64, 128, 256, 512, ...
bool fits_tile(const TensorGemm& gemm, std::int64_t interval) {
  const int k = gemm.tile[2], part = gemm.part_of_k();
  return interval > 0 && interval % gemm.mma.shape[2] == 0 &&
         (part % interval == 0 || (interval % part == 0 && k % interval == 0) || interval % k == 0);
}

// The longest interval that divides a group of that size; 0 where there is none.
int longest_interval(const TensorGemm& gemm, WayThroughK way, std::int64_t group) {
  constexpr int most = 4096, most_of_narrow_floats = 128;
  const int k = gemm.tile[2];
  // Hopper's tensor cores keep about 14 bits of a sum of 8-bit floats (DeepSeek-V3 report, section
  // 3.3.2); others lose nothing in a longer interval, which takes fewer additions.
  const bool narrow = is_float(gemm.mma.a_type) && bits(gemm.mma.a_type) <= 8;
  const int limit = narrow ? std::max(k, most_of_narrow_floats) : most;
  // K tiles may be walked from the end, where whole intervals of several would not end with groups.
  for (std::int64_t tiles = way == WayThroughK::alternates ? 1 : limit / k; tiles > 0; --tiles)
    if (group % (tiles * k) == 0) return static_cast<int>(tiles * k);
  const std::int64_t part = std::gcd(group, std::int64_t{gemm.part_of_k()});
  return fits_tile(gemm, part) ? static_cast<int>(part) : 0;
}

// Leaves of a layout with basis strides, one after the other.
struct Leaf {
  std::int64_t extent, stride;
  int axis;  // -1: stride 0
};

std::vector<Leaf> leaves_of(const Layout& layout) {
  const std::vector<Tuple> extents = leaves(layout.shape), strides = leaves(layout.stride);
  std::vector<Leaf> made;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const bool moves = strides[i].is_basis();
    const Int step = moves ? strides[i].value() : Int(0);
    made.push_back({extents[i].value().value(), step.value(),
                    moves ? static_cast<int>(strides[i].path()[0]) : -1});
  }
  return made;
}

// Which of a thread's accumulators share a number of the scale.
class Numbers {
 public:
  // runs[axis]: neighbours from each multiple of it on that share one; 0 where all do.
  Numbers(const TensorGemm& gemm, const std::array<std::int64_t, 2>& runs)
      : gemm_(gemm), runs_(runs) {}

  void choose(ProductScale& scale) {
    const Layout values = gemm_.accumulators[1];
    scale.held = {held(values[0]), held(values[1][0]), held(values[1][1])};
    scale.count = static_cast<int>(count_);
    // One mode is written without a tuple around it.
    if (read_shape_.size() == 1) scale.read = Layout(read_shape_[0], read_stride_[0]);
    if (read_shape_.size() > 1) scale.read = Layout(Tuple(read_shape_), Tuple(read_stride_));
  }

 private:
  // The part of (value, (i, j)) -> number that the modes of this part give. A mode within a run is
  // no part of it, one that reaches over runs is cut at their length:
  //
  //   (2,2,16):(1@1,8@0,8@1), columns in runs of 64    (2,2,(8,2)):(0,1,(0,2)), rows 0 and 8 and
  //                                                    columns 0 and 64 are read
  Layout held(const Layout& part) {
    std::vector<Tuple> shape, stride;
    const auto add = [&](std::int64_t extent, const Leaf& leaf, std::int64_t step, bool again) {
      shape.emplace_back(extent);
      stride.emplace_back(again ? 0 : count_);
      if (again) return;
      read_shape_.emplace_back(extent);
      read_stride_.push_back(Tuple::basis(step, {leaf.axis}));
      count_ *= extent;
    };
    for (const Leaf& leaf : leaves_of(part)) {
      const std::int64_t run = leaf.axis < 0 ? 0 : runs_[static_cast<std::size_t>(leaf.axis)];
      const std::int64_t inside =
          run == 0 ? leaf.extent : std::max<std::int64_t>(1, run / leaf.stride);
      if (leaf.extent == 1 || run == 0 || inside >= leaf.extent) {
        add(leaf.extent, leaf, 0, true);
      } else {
        if (inside > 1) add(inside, leaf, 0, true);
        add(leaf.extent / inside, leaf, inside * leaf.stride, false);
      }
    }
    return Layout(Tuple(shape), Tuple(stride));
  }

  const TensorGemm& gemm_;
  std::array<std::int64_t, 2> runs_;
  std::int64_t count_ = 1;
  std::vector<Tuple> read_shape_, read_stride_;
};

// Returns true if runs begin and end where modes do: each mode of threads and of values lies within
// a run, steps by whole runs, or is cut by them in equal parts. Coordinates are sums of such steps,
// as digits of a number, so that those within a run never carry out of it.
bool cuts_evenly(const TensorGemm& gemm, int axis, std::int64_t run) {
  for (const Leaf& leaf : leaves_of(gemm.accumulators)) {
    if (leaf.axis != axis || leaf.extent == 1) continue;
    const bool within = run % (leaf.extent * leaf.stride) == 0, whole = leaf.stride % run == 0,
               cut = run % leaf.stride == 0 && leaf.extent % (run / leaf.stride) == 0;
    if (!within && !whole && !cut) return false;
  }
  return true;
}

// The part of a K tile that a group of threads has, for messages: "K tiles of 128".
std::string parts_text(const TensorGemm& gemm) {
  return (gemm.groups[2] == 1 ? "K tiles of " : "slices of ") + std::to_string(gemm.part_of_k());
}

// Sets the interval of a product with scales; those of groups whose size is no number divide them
// where the conditions hold.
bool choose_scaled_interval(const TensorShaping& at, TensorGemm& gemm, WayThroughK way) {
  const std::int64_t common = common_group(at.form.scales);
  // Groups whose size is no number: the interval is a part of a K tile, which is then asked to
  // divide them.
  const int longest = longest_interval(gemm, way, common > 0 ? common : gemm.part_of_k());
  const int said = at.schedule.promotion_interval.value_or(0);
  const auto works = [&] {
    std::vector<std::pair<std::string, std::string>> notes;
    if (longest > 0) notes.emplace_back("works", std::to_string(longest));
    return notes;
  };
  if (said > 0 && common % said != 0) {
    return at.wrong("schedule-cover", "promotion_interval",
                    "scales change every " + std::to_string(common) +
                        " elements of K, within intervals of " + std::to_string(said),
                    works());
  }
  if (said > gemm.tile[2] && way == WayThroughK::alternates) {
    return at.wrong("schedule-cover", "promotion_interval",
                    "intervals of several K tiles do not end where groups of scales do when every "
                    "other tile goes through K from its end",
                    works());
  }
  gemm.promotion_interval = said > 0 ? said : longest;
  if (gemm.promotion_interval == 0) {
    return at.wrong("schedule-cover", "tile",
                    "scales change every " + std::to_string(common) + " elements of K, which " +
                        parts_text(gemm) + " in steps of " + std::to_string(gemm.mma.shape[2]) +
                        " have no equal part of");
  }
  for (const GroupScale& scale : at.form.scales) {
    for (const GroupScale::Quotient& each : scale.quotients) {
      if (each.group.is_literal()) continue;
      const Predicate divides = equal(mod(each.group, gemm.promotion_interval), 0);
      if (!at.facts.proves(divides)) at.conditions.when.push_back(divides);
    }
  }
  return true;
}

}  // namespace

bool choose_promotion(const TensorShaping& at, TensorGemm& gemm, WayThroughK way) {
  gemm.promotion_interval = at.schedule.promotion_interval.value_or(0);
  gemm.total = at.kernel.node(gemm.contraction).type;
  const bool scaled = !at.form.scales.empty();
  if (scaled && !choose_scaled_interval(at, gemm, way)) return false;
  if (gemm.promotion_interval == 0) return true;
  if (!scaled && !is_float(gemm.mma.accumulator)) {
    return at.wrong("schedule-entry", "promotion_interval",
                    "sums of " + std::string(element_name(gemm.mma.accumulator)) +
                        " are exact however they are added up",
                    {{"help", "leave the entry out"}});
  }
  if (fits_tile(gemm, gemm.promotion_interval)) return true;
  const std::string tiles =
                        " elements of K are neither whole tiles of " + std::to_string(gemm.tile[2]),
                    steps = "in steps of " + std::to_string(gemm.mma.shape[2]),
                    part = gemm.groups[2] == 1
                               ? " nor an equal part of one " + steps
                               : " nor, " + steps + ", an equal part of the " +
                                     std::to_string(gemm.part_of_k()) + " that each of " +
                                     std::to_string(gemm.groups[2]) + " slices has of one";
  return at.wrong("schedule-cover", "promotion_interval",
                  std::to_string(gemm.promotion_interval) + tiles + part,
                  {{"works", std::to_string(gemm.tile[2])}});
}

ProductScale product_scale(const sema::Kernel& kernel, const TensorGemm& gemm,
                           const GroupScale& factor) {
  ProductScale scale{factor, {}, {}};
  std::array<std::int64_t, 2> runs{};
  for (const int axis : {0, 1}) {
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t run = constant_run(kernel, factor.value, axis == 0 ? gemm.m : gemm.n);
    scale.varies[a] = run > 0;
    // Tiles begin at multiples of their extent.
    runs[a] = std::gcd(run, std::int64_t{gemm.tile[a]});
    if (run == 0) runs[a] = 0;
    if (runs[a] > 1 && !cuts_evenly(gemm, axis, runs[a])) runs[a] = 1;
  }
  Numbers(gemm, runs).choose(scale);
  return scale;
}

bool choose_scales(const TensorShaping& at, TensorGemm& gemm) {
  for (const GroupScale& factor : at.form.scales) {
    gemm.scales.push_back(product_scale(at.kernel, gemm, factor));
    if (const int count = gemm.scales.back().count; count > most_scale_numbers) {
      return at.wrong("schedule-registers", "tile",
                      "a scale has " + std::to_string(count) +
                          " numbers for the accumulators of a thread, which keeps at most " +
                          std::to_string(most_scale_numbers),
                      {{"help", "a smaller tile or more groups"}});
    }
  }
  return true;
}

}  // namespace lay::plan
