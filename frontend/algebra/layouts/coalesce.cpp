#include <algorithm>

#include "frontend/algebra/layouts/mode.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/trace.h"

namespace lay {

Layout coalesce(Facts& facts, const Layout& a) {
  trace::Operation operation("coalesce", a);
  std::vector<Mode> merged;  // last mode first
  const std::vector<Mode> modes = flat_modes(a);
  for (auto mode = modes.rbegin(); mode != modes.rend(); ++mode) {
    // A mode of one coordinate is always at 0.
    if (is_one(facts, mode->extent)) {
      trace::report([&] { return trace::Drop{*mode}; });
      continue;
    }
    //     (4,6):(2,8) -> 24:2, since 4*2 == 8: the right mode goes on where the left one ends
    const bool joins =
        !merged.empty() && steps_into(facts, mode->extent, mode->stride, merged.back().stride);
    if (!merged.empty()) trace::report([&] { return trace::Join{*mode, merged.back(), joins}; });
    if (joins) {
      merged.back() = {mode->extent * merged.back().extent, mode->stride};
    } else {
      merged.push_back(*mode);
    }
  }
  std::reverse(merged.begin(), merged.end());
  Layout result = from_modes(merged, a.units);
  if (a.names) result.names = same_names(result.shape, only_name(a));
  return operation.gives(std::move(result));
}

namespace {

// The operation mode by mode where the profile is a tuple; modes beyond the profile stay.
template <typename Operation>
Layout by_profile(const char* name, const Layout& a, const Tuple& profile,
                  const Operation& operation) {
  // A leaf of the profile stands for a whole mode, however nested that is.
  if (profile.is_leaf()) return operation(a);
  if (profile.rank() > a.rank() || (a.shape.is_leaf() && profile.rank() > 1)) {
    Refusal r = refusal("rank", std::string(name) + ": the profile " + profile.to_string() +
                                    " has more modes than " + a.to_string());
    r.operands = {a.to_string(), profile.to_string()};
    r.mode = a.shape.is_leaf() ? 1 : a.rank();
    throw r;
  }
  std::vector<Layout> modes;
  for (int i = 0; i < a.rank(); ++i) {
    modes.push_back(i < profile.rank() ? by_profile(name, a[i], profile[i], operation) : a[i]);
  }
  return make_layout(modes);
}

}  // namespace

namespace {

// The profile with the modes that the shape has.
// The repair that a refusal offers.
Tuple fitted(const Tuple& profile, const Tuple& shape) {
  if (profile.is_leaf()) return profile;
  if (shape.is_leaf()) return 1;
  std::vector<Tuple> modes;
  for (int i = 0; i < std::min(profile.rank(), shape.rank()); ++i)
    modes.push_back(fitted(profile[i], shape[i]));
  return Tuple(std::move(modes));
}

// The operation by profile; a profile that does not fit is refused with one that does.
template <typename Operation>
Layout by_fitting_profile(const char* name, const Layout& a, const Tuple& profile,
                          const Operation& operation) {
  try {
    return by_profile(name, a, profile, operation);
  } catch (Refusal& r) {
    if (r.code != "rank") throw;
    const trace::Quiet trial;
    const Tuple fit = fitted(profile, a.shape);
    static_cast<void>(by_profile(name, a, fit, operation));
    r.works.push_back("the profile " + fit.to_string());
    throw;
  }
}

}  // namespace

Layout coalesce(Facts& facts, const Layout& a, const Tuple& profile) {
  return by_fitting_profile("coalesce", a, profile,
                            [&](const Layout& mode) { return coalesce(facts, mode); });
}

Layout filter(Facts& facts, const Layout& a) {
  return coalesce(facts, filter_zeros(a));
}

Layout filter(Facts& facts, const Layout& a, const Tuple& profile) {
  return by_fitting_profile("filter", a, profile,
                            [&](const Layout& mode) { return filter(facts, mode); });
}

}  // namespace lay
