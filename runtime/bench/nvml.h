// What the machine's sensors say of the GPU while it works: NVML, loaded at run time. Where it is
// missing, nothing is said.
//
// Source: NVML API reference guide.
#pragma once

#include <optional>
#include <string>

#include "runtime/gpu/library.h"

namespace lay::bench {

struct Reading {
  double sm_mhz = 0;  // of the SMs, now
  double watts = 0;   // of the board, over the last moments as the sensor takes them
};

class Nvml {
 public:
  // For the device with that PCI address. Nothing where there is no NVML, or it does not know the
  // device: then `why_not` says so.
  static std::optional<Nvml> open(const std::string& pci_bus_id, std::string* why_not);

  // Nothing where a sensor does not answer.
  std::optional<Reading> read() const;

 private:
  runtime::Library library_;
  void* device_ = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
};

}  // namespace lay::bench
