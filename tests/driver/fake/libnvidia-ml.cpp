// Sensors that always say the same.
#include <chrono>
#include <cstring>

extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  constexpr int not_found = 6;
  return *device = device, std::strcmp(address, "0000:01:00.0") == 0 ? 0 : not_found;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* megahertz) {
  return *megahertz = type == 1 ? 1700 : 0, 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  return *milliwatts = 650'000, 0;
}
// 500 W, counted in steps of a millisecond.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return *millijoules = 500 * static_cast<unsigned long long>(ms), 0;
}

}  // extern "C"
