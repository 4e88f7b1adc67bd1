// One lambda per alternative of a std::variant: std::visit(overloaded{...}, value).
#pragma once

namespace lay::plan {

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

}  // namespace lay::plan
