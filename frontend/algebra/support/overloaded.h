// One lambda per alternative of a std::variant: std::visit(overloaded{...}, node). An alternative
// without a lambda does not compile, which names what a new node still lacks.
#pragma once

namespace lay {

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

}  // namespace lay
