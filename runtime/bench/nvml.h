// The GPU's sensors, read by NVML, which is loaded at run time.
//
// Source: NVML API reference guide.
#pragma once

#include <optional>
#include <string>

#include "runtime/gpu/library.h"

namespace lay::bench {

struct Reading {
  // The SM clock at the moment.
  double sm_mhz = 0;
  // The power of the board, averaged over an interval that the sensor chooses.
  double watts = 0;
  // The mean power while the device worked, by the counter of energy; nothing where that was not
  // updated often enough, or there is none.
  std::optional<double> mean_watts{};
};

class Nvml {
 public:
  // Opens the device at this PCI address. Returns nothing if there is no NVML, or if it does not
  // know the device; `why_not` then says which.
  static std::optional<Nvml> open(const std::string& pci_bus_id, std::string* why_not);

  // Reads clock and power; nothing if one does not answer.
  std::optional<Reading> read() const;
  // Returns the energy that the board has taken since the driver was loaded; nothing from a board
  // that does not count it.
  std::optional<double> joules() const;

 private:
  runtime::Library library_;
  void* device_ = nullptr;
  // nvmlDeviceGetClockInfo and nvmlDeviceGetPowerUsage.
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  // nvmlDeviceGetTotalEnergyConsumption; null where NVML lacks it.
  int (*energy_)(void*, unsigned long long*) = nullptr;
};

}  // namespace lay::bench
