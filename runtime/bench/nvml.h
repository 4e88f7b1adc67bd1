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
};

class Nvml {
 public:
  // Opens the device at this PCI address. Returns nothing if there is no NVML, or if it does not
  // know the device; `why_not` then says which.
  static std::optional<Nvml> open(const std::string& pci_bus_id, std::string* why_not);

  // Reads both sensors; nothing if one does not answer.
  std::optional<Reading> read() const;

 private:
  runtime::Library library_;
  void* device_ = nullptr;
  // nvmlDeviceGetClockInfo and nvmlDeviceGetPowerUsage.
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
};

}  // namespace lay::bench
