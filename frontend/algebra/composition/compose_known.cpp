// The rule of compose_rule.cpp on literal operands with integer strides, in plain 64-bit numbers:
// no facts, no guards, no allocation but for the result. Most compositions of a script and of a
// plan are of this kind.

#include <algorithm>
#include <array>

#include "frontend/algebra/composition/compose.h"

namespace lay {
namespace {

// More modes than that go to the general rule, which has no limit.
constexpr size_t kMaxModes = 32;

struct PlainMode {
  int64_t extent;
  int64_t stride;
};

struct PlainModes {
  std::array<PlainMode, kMaxModes> at;
  size_t count = 0;
  bool push(int64_t extent, int64_t stride) {
    if (count == kMaxModes) return false;
    at[count++] = {extent, stride};
    return true;
  }
};

bool collect(const Tuple& shape, const Tuple& stride, PlainModes& modes) {
  if (shape.is_leaf()) {
    if (!stride.is_int() || !shape.value().is_literal() || !stride.value().is_literal())
      return false;
    return modes.push(shape.value().value(), stride.value().value());
  }
  for (size_t i = 0; i < shape.modes().size(); ++i) {
    if (!collect(shape.modes()[i], stride.modes()[i], modes)) return false;
  }
  return true;
}

// Coalesced, with the last mode reversed in place first, as extended_modes does.
//     (4,2,3):(1,4,16)     is (8,3):(1,16): 2:4 goes on where 4:1 ends
//     (4,1):(1,99)         keeps 1:99 as its last mode, along which values go on for ever
bool extend(const PlainModes& all, PlainModes& merged) {
  for (size_t i = all.count; i-- > 0;) {
    const PlainMode mode = all.at[i];
    if (merged.count == 0) {
      merged.push(mode.extent, mode.stride);
      continue;
    }
    // All modes but the last, of which `merged` holds at least one by now.
    if (mode.extent == 1) continue;
    PlainMode& after = merged.at[merged.count - 1];
    int64_t reached, extent;
    // From the last mode back: this one joins the one after it where extent*stride is that one's
    // stride.
    if (__builtin_mul_overflow(mode.extent, mode.stride, &reached)) return false;
    if (reached != after.stride) {
      merged.push(mode.extent, mode.stride);
    } else if (__builtin_mul_overflow(mode.extent, after.extent, &extent)) {
      return false;
    } else {
      after = {extent, mode.stride};
    }
  }
  if (merged.count == 0) merged.push(1, 0);
  std::reverse(merged.at.begin(), merged.at.begin() + static_cast<std::ptrdiff_t>(merged.count));
  return true;
}

class KnownComposer {
 public:
  explicit KnownComposer(const PlainModes& left) : left_(left) {}

  // False where the rule does not apply or a number does not fit.
  bool compose(const Tuple& shape, const Tuple& stride, Tuple& result_shape, Tuple& result_stride) {
    if (shape.is_tuple()) {
      const size_t rank = shape.modes().size();
      std::vector<Tuple> shapes(rank), strides(rank);
      for (size_t i = 0; i < rank; ++i) {
        if (!compose(shape.modes()[i], stride.modes()[i], shapes[i], strides[i])) return false;
      }
      result_shape = Tuple(std::move(shapes));
      result_stride = Tuple(std::move(strides));
      return true;
    }
    if (!stride.is_int() || !shape.value().is_literal() || !stride.value().is_literal())
      return false;
    PlainModes modes;
    if (!leaf(shape.value().value(), stride.value().value(), modes)) return false;
    if (modes.count == 1) {
      result_shape = modes.at[0].extent;
      result_stride = modes.at[0].stride;
      return true;
    }
    std::vector<Tuple> shapes(modes.count), strides(modes.count);
    for (size_t i = 0; i < modes.count; ++i) {
      shapes[i] = modes.at[i].extent;
      strides[i] = modes.at[i].stride;
    }
    result_shape = Tuple(std::move(shapes));
    result_stride = Tuple(std::move(strides));
    return true;
  }

  // Returns true if the modes of the right side together stay inside every mode of the left side
  // but the last.
  bool carries() const {
    if (up_ && down_ && left_.count > 1) return true;
    for (size_t i = 0; i + 1 < left_.count; ++i) {
      if (users_[i] > 1 && reach_[i] >= left_.at[i].extent) return true;
    }
    return false;
  }

 private:
  // The stride of a mode of extent 1, which is never used: CuTe's.
  // ceil_div(step, extent) through every mode but the last, as for a mode that goes over all of
  // them.
  int64_t leftover_step(int64_t step) const {
    for (size_t i = 0; i + 1 < left_.count; ++i) {
      const int64_t c = left_.at[i].extent;
      step = step / c + (step % c > 0);
    }
    return step;
  }

  bool emit(int64_t extent, int64_t step, int64_t stride, PlainModes& modes) const {
    int64_t product;
    return !__builtin_mul_overflow(step, sign_ * stride, &product) && modes.push(extent, product);
  }

  bool use(size_t mode, int64_t extent, int64_t step, PlainModes& modes) {
    reach_[mode] += (extent - 1) * step;  // each is less than the extent of the mode
    if (reach_[mode] < 0) return false;
    ++users_[mode];
    return emit(extent, step, left_.at[mode].stride, modes);
  }

  // One leaf s:d through the modes of the left side, lowest first. At each mode of extent c it
  //
  //     stays inside    (s-1)*d < c: all of its steps are taken here, at d times the mode's stride
  //     goes over       c divides d: no step of it shows here; d/c goes on to the next mode
  //     fills it        d divides c and n = c/d divides s: n steps here, s/n steps of 1 go on
  //
  // and in any other case a step would end inside the mode and carry at an uneven place.
  bool leaf(int64_t s, int64_t d, PlainModes& modes) {
    if (d == 0) return modes.push(s, 0);
    // Its negative is no 64-bit number.
    if (d == INT64_MIN) return false;
    sign_ = d < 0 ? -1 : 1;
    // Below 0 a layout is its mirror image: -i goes where i does, with the sign turned, so a leaf
    // that steps down is computed upwards and negated by `emit`.
    d *= sign_;
    const PlainMode& last = left_.at[left_.count - 1];
    if (last.stride == INT64_MIN) return false;
    if (s != 1) (sign_ < 0 ? down_ : up_) = true;
    if (left_.count == 1 || s == 1) return emit(s, leftover_step(d), last.stride, modes);
    for (size_t i = 0; i + 1 < left_.count; ++i) {
      const auto [c, stride] = left_.at[i];
      if (stride == INT64_MIN) return false;
      int64_t span;
      if (!__builtin_mul_overflow(s - 1, d, &span) && span < c) return use(i, s, d, modes);
      if (d % c == 0) {
        d /= c;
        continue;
      }
      if (c % d != 0) return false;
      const int64_t n = c / d;
      if (s % n != 0 || !use(i, n, d, modes)) return false;
      s /= n;
      d = 1;
      // The last mode takes whatever is left: it has no end.
      if (s == 1) return true;
    }
    return emit(s, d, last.stride, modes);
  }

  const PlainModes& left_;
  std::array<int64_t, kMaxModes> reach_{};
  std::array<int, kMaxModes> users_{};
  int64_t sign_ = 1;
  bool up_ = false, down_ = false;
};

}  // namespace

std::optional<Layout> compose_known(const Layout& a, const Layout& b) {
  PlainModes all, left;
  if (!collect(a.shape, a.stride, all) || !extend(all, left)) return std::nullopt;
  KnownComposer composer(left);
  Layout result;
  if (!composer.compose(b.shape, b.stride, result.shape, result.stride) || composer.carries())
    return std::nullopt;
  return result;
}

}  // namespace lay
