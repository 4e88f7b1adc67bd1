#include "frontend/picture/axis.h"

#include <algorithm>

#include "frontend/algebra/layouts/operations.h"

namespace lay::picture {
namespace {

struct Digit {
  std::int64_t extent;
  std::string caption;
};

// The leaves of the mode, fastest first, without those of extent 1 (unless there is no other).
std::vector<Digit> digits_of(const Layout& mode) {
  const std::vector<Tuple> extents = leaves(mode.shape), strides = leaves(mode.stride);
  std::vector<Digit> digits;
  for (size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t extent = extents[i].value().value();
    if (extent != 1)
      digits.push_back({extent, extents[i].to_string() + ":" + strides[i].to_string()});
  }
  if (digits.empty()) digits.push_back({1, mode.to_string()});
  return digits;
}

// Positions per step of each digit, as far as `count` reaches.
std::vector<std::int64_t> steps_of(const std::vector<Digit>& digits, int count) {
  std::vector<std::int64_t> steps = {1};
  for (const Digit& digit : digits) {
    const bool beyond = steps.back() > count / std::max<std::int64_t>(digit.extent, 1);
    steps.push_back(beyond ? std::int64_t{count} + 1 : steps.back() * digit.extent);
  }
  return steps;
}

}  // namespace

Side::Side(const Layout& mode, int count) {
  Facts facts;
  for (int k = 0; k < count; ++k) {
    const Tuple coordinate = idx2crd(facts, k, mode.shape);
    coordinates_.push_back(coordinate.to_string());
    values_.push_back(evaluate(facts, mode, coordinate));
  }
  const std::vector<Digit> digits = digits_of(mode);
  const std::vector<std::int64_t> steps = steps_of(digits, count);
  axis_.weight.assign(static_cast<size_t>(count), 0);
  for (size_t level = digits.size(); level-- > 0;) {
    const std::int64_t step = steps[level];
    Level header{digits[level].caption, {}};
    for (std::int64_t at = 0; at < count; at += step) {
      const auto end = static_cast<int>(std::min<std::int64_t>(at + step, count));
      header.bands.push_back(
          {static_cast<int>(at), end, std::to_string(at / step % digits[level].extent)});
      if (level > 0 && at > 0) ++axis_.weight[static_cast<size_t>(at)];
    }
    axis_.levels.push_back(std::move(header));
  }
}

Axis counting(int count, std::int64_t first, std::int64_t step, const std::string& caption) {
  Axis axis;
  axis.weight.assign(static_cast<size_t>(count), 0);
  Level level{caption, {}};
  for (int k = 0; k < count; ++k)
    level.bands.push_back({k, k + 1, std::to_string(first + k * step)});
  axis.levels.push_back(std::move(level));
  return axis;
}

}  // namespace lay::picture
