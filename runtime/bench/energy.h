// Power from a counter of energy that a sensor updates now and then.
//
//   EnergyMeter meter;
//   while (works()) meter.add(seconds(), *nvml.joules());
//   if (const auto watts = meter.watts()) ...
#pragma once

#include <optional>

namespace lay::bench {

// The counter stands still between updates, which are up to 100 ms apart: what it gains between two
// of them, over the time between them, is the mean power. What it gains between any two readings is
// wrong by as much as an update.
class EnergyMeter {
 public:
  // A reading of the counter; times never decrease.
  void add(double seconds, double joules);

  // Returns the mean power from the first update that was seen to the last one; nothing before two
  // were seen.
  std::optional<double> watts() const;

 private:
  struct Update {
    double seconds, joules;
  };
  std::optional<double> latest_;
  std::optional<Update> first_, last_;
};

}  // namespace lay::bench
