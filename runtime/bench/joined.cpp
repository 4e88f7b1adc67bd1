#include "runtime/bench/joined.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace lay::bench {

using enum sema::ReduceFunction;

Joined::Joined(sema::ReduceFunction function, ElementType type) : function_(function), type_(type) {
  const auto first = sema::identity(function, type);
  value_ = std::visit([](auto x) { return static_cast<double>(x); }, first);
}

void Joined::add(const Bounded& term) {
  const double x = term.value;
  error_ = std::max(error_, term.error);
  ++count_;
  if (function_ == argmax || function_ == argmin) terms_.push_back(x);
  switch (function_) {
    case sum:
      value_ += x;
      break;
    case prod:
      value_ *= x;
      largest_ *= std::abs(x) + term.error;
      break;
    case max:
    case argmax:
      value_ = std::isnan(value_) || x <= value_ ? value_ : x;
      break;
    case min:
    case argmin:
      value_ = std::isnan(value_) || x >= value_ ? value_ : x;
      break;
    case any:
      value_ = value_ != 0 || x != 0;
      break;
    case all:
      value_ = value_ != 0 && x != 0;
      break;
  }
}

Bounded Joined::value() const {
  switch (function_) {
    case sum:
      return {value_, count_ * error_};
    case prod:
      return {value_, largest_ - std::abs(value_) + count_ * unit_roundoff(type_) * largest_};
    case max:
    case min:
      return {value_, error_};
    case any:
    case all:
      return {value_, 0};
    case argmax:
    case argmin:
      break;
  }
  return position();
}

// The first position of the extreme. Where the terms are rounded, any that may be the extreme is as
// good.
Bounded Joined::position() const {
  const auto is_extreme = [&](double x, double allowed) {
    return std::isnan(value_) ? std::isnan(x) : x == value_ || std::abs(x - value_) <= allowed;
  };
  const auto first =
      std::find_if(terms_.begin(), terms_.end(), [&](double x) { return is_extreme(x, 0); });
  Bounded made{static_cast<double>(first - terms_.begin()), 0};
  for (std::size_t i = 0; i < terms_.size() && error_ > 0; ++i) {
    if (is_extreme(terms_[i], 2 * error_))
      made.error = std::max(made.error, std::abs(static_cast<double>(i) - made.value));
  }
  return made;
}

}  // namespace lay::bench
