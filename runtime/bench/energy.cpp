#include "runtime/bench/energy.h"

namespace lay::bench {

void EnergyMeter::add(double seconds, double joules) {
  const bool is_update = latest_ && joules != *latest_;
  latest_ = joules;
  if (!is_update) return;
  last_ = Update{seconds, joules};
  if (!first_) first_ = last_;
}

std::optional<double> EnergyMeter::watts() const {
  if (!first_ || last_->seconds <= first_->seconds) return std::nullopt;
  return (last_->joules - first_->joules) / (last_->seconds - first_->seconds);
}

}  // namespace lay::bench
