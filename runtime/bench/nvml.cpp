#include "runtime/bench/nvml.h"

namespace lay::bench {

std::optional<Nvml> Nvml::open(const std::string& pci_bus_id, std::string* why_not) {
  Nvml nvml;
  nvml.library_ = runtime::Library::find({"libnvidia-ml.so.1"});
  const runtime::Library& from = nvml.library_;
  int (*init)() = nullptr;
  int (*by_address)(const char*, void**) = nullptr;
  if (!from) {
    *why_not = "no NVML: " + from.why();
  } else if (!from.get(init, "nvmlInit_v2") ||
             !from.get(by_address, "nvmlDeviceGetHandleByPciBusId_v2") ||
             !from.get(nvml.clock_, "nvmlDeviceGetClockInfo") ||
             !from.get(nvml.power_, "nvmlDeviceGetPowerUsage")) {
    *why_not = from.path() + " lacks a function of NVML that this program calls";
  } else if (const int status = init(); status != 0) {
    *why_not = "nvmlInit: status " + std::to_string(status);
  } else if (const int unknown = by_address(pci_bus_id.c_str(), &nvml.device_); unknown != 0) {
    *why_not =
        "NVML does not know the device at " + pci_bus_id + ": status " + std::to_string(unknown);
  } else {
    from.get(nvml.energy_, "nvmlDeviceGetTotalEnergyConsumption");
    return nvml;
  }
  return std::nullopt;
}

std::optional<Reading> Nvml::read() const {
  constexpr int sm_clock = 1;  // NVML_CLOCK_SM
  unsigned megahertz = 0, milliwatts = 0;
  if (clock_(device_, sm_clock, &megahertz) != 0 || power_(device_, &milliwatts) != 0)
    return std::nullopt;
  return Reading{static_cast<double>(megahertz), milliwatts / 1000.0};
}

std::optional<double> Nvml::joules() const {
  unsigned long long millijoules = 0;
  if (!energy_ || energy_(device_, &millijoules) != 0) return std::nullopt;
  return static_cast<double>(millijoules) / 1000;
}

}  // namespace lay::bench
