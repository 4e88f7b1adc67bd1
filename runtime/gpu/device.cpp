#include "runtime/gpu/device.h"

#include "frontend/source/diagnostic.h"
#include "runtime/compile/cache.h"
#include "runtime/compile/nvcc.h"
#include "runtime/compile/nvrtc.h"
#include "runtime/gpu/driver.h"

namespace lay::runtime {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::optional<Target> target_of_device(const DeviceInfo& device) {
  return target_of(device.name, 10 * device.major + device.minor, device.sms);
}

std::string describe(const DeviceInfo& device) {
  const auto target = target_of_device(device);
  return device.name + ", compute capability " + std::to_string(device.major) + "." +
         std::to_string(device.minor) + ", " + std::to_string(device.sms) + " SMs, " +
         std::to_string(device.memory_bytes >> 30) + " GiB" +
         (target ? ", planned for as " + target->name +
                       (measured_target(device.name) ? " as `lay calibrate` measured it" : "") +
                       ", compiled for as " + target->architecture
                 : ", older than any target: kernels run on the host");
}

void add_devices(std::vector<Finding>& all) {
  std::string why;
  if (!driver_present(&why)) {
    all.push_back({"driver", false, why + "; kernels run on the host"});
    return;
  }
  all.push_back({"driver", true, "CUDA " + version_text(driver_version())});
  const int count = device_count();
  if (count == 0)
    all.push_back({"device", false, "the driver shows no GPU; kernels run on the host"});
  for (int i = 0; i < count; ++i) {
    const std::string what = "device " + std::to_string(i);
    try {
      all.push_back({what, true, describe(device_info(i))});
    } catch (const DriverError& error) {
      all.push_back({what, false, error.text});
    }
  }
}

}  // namespace

std::vector<Finding> findings() {
  std::vector<Finding> all;
  add_devices(all);
  const bool nvrtc = !nvrtc_version().empty(), nvcc = !nvcc_path().empty();
  all.push_back({"NVRTC", nvrtc, nvrtc ? "version " + nvrtc_version() : nvrtc_why_not()});
  all.push_back({"nvcc", nvcc, nvcc ? nvcc_path() : "not in PATH, CUDA_HOME or /usr/local/cuda"});
  if (!nvrtc && !nvcc)
    all.push_back(
        {"compiler", false,
         "CUDA source can be emitted but not compiled; install NVIDIA's CUDA toolkit (its "
         "NVRTC library is enough)"});
  const Cache cache;
  all.push_back({"cache", cache.usable(),
                 cache.usable() ? cache.path() : cache.why_not() + "; kernels are compiled anew"});
  return all;
}

Target target_named(const std::string& name) {
  if (const Target* found = find_target(name)) return *found;
  if (const auto measured = measured_target(name)) return *measured;
  std::string known;
  std::string_view last;
  for (const Target& target : targets()) {
    if (target.architecture != last)
      known += (known.empty() ? "" : "; ") + target.architecture + " with";
    last = target.architecture;
    known += " " + target.name;
  }
  throw DiagnosticError("unknown-target",
                        "there is no target `" + name + "`: the targets are " + known);
}

std::optional<Target> device_target(std::string* why_not, int ordinal) {
  std::string why;
  std::optional<Target> target;
  if (!driver_present(&why)) {
  } else if (device_count() == 0) {
    why = "the driver shows no GPU";
  } else if (ordinal < 0 || ordinal >= device_count()) {
    why = "there is no GPU " + std::to_string(ordinal) + ": the driver shows " +
          std::to_string(device_count());
  } else {
    try {
      const DeviceInfo device = device_info(ordinal);
      target = target_of_device(device);
      if (!target) why = device.name + " is older than any target";
    } catch (const DriverError& error) {
      why = error.text;
    }
  }
  if (why_not) *why_not = why;
  return target;
}

}  // namespace lay::runtime
