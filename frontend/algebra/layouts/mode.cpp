#include "frontend/algebra/layouts/mode.h"

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {

bool steps_into(const Facts& facts, const Int& extent, const Tuple& stride, const Tuple& next) {
  if (stride.path() != next.path()) return false;
  if (int64_t product; extent.is_literal() && stride.value().is_literal() &&
                       __builtin_mul_overflow(extent.value(), stride.value().value(), &product)) {
    return false;  // no stride is there
  }
  const Int reached = extent * stride.value();
  if (reached == next.value()) return true;
  // Two unequal numbers: nothing to prove.
  if (reached.is_literal() && next.value().is_literal()) return false;
  return facts.proves(equal(reached, next.value()));
}

std::vector<Mode> flat_modes(const Layout& a) {
  const std::vector<Tuple> extents = leaves(a.shape), strides = leaves(a.stride);
  std::vector<Mode> modes;
  for (size_t i = 0; i < extents.size(); ++i) modes.push_back({extents[i].value(), strides[i]});
  return modes;
}

// No modes are 1:0, and one mode is no tuple of one.
Layout from_modes(const std::vector<Mode>& modes, const Units& units) {
  if (modes.empty()) return Layout(1, 0, units);
  if (modes.size() == 1) return Layout(modes[0].extent, modes[0].stride, units);
  std::vector<Tuple> shape, stride;
  for (const Mode& mode : modes) {
    shape.push_back(mode.extent);
    stride.push_back(mode.stride);
  }
  return Layout(Tuple(std::move(shape)), Tuple(std::move(stride)), units);
}

bool is_one(const Facts& facts, const Int& extent) {
  return extent.is(1) || (!extent.is_literal() && facts.proves(equal(extent, 1)));
}

void require_integer_strides(const char* operation, const Layout& a) {
  for (const Mode& mode : flat_modes(a)) {
    if (mode.stride.is_int()) continue;
    throw refusal("not-integer", std::string(operation) + " needs integer strides, and " +
                                     a.to_string() + " has " + mode.stride.to_string());
  }
}

// A selection sort: with symbols the order is partial, and `std::sort` needs a total one. Modes
// that are not comparable stay in the order of the layout.
std::vector<size_t> by_stride(const Facts& facts, const std::vector<Mode>& modes) {
  std::vector<size_t> rest, order;
  for (size_t i = 0; i < modes.size(); ++i) rest.push_back(i);
  const auto before = [&](size_t a, size_t b) {
    const Int &x = modes[a].stride.value(), &y = modes[b].stride.value();
    if (x.is_literal() && y.is_literal()) return x.value() < y.value();
    return facts.proves(less_equal(x, y)) && !facts.proves(less_equal(y, x));
  };
  while (!rest.empty()) {
    auto first = rest.begin();
    for (auto it = rest.begin() + 1; it != rest.end(); ++it) {
      if (before(*it, *first)) first = it;
    }
    order.push_back(*first);
    rest.erase(first);
  }
  return order;
}

}  // namespace lay
