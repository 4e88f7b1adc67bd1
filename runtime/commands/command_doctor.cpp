#include <algorithm>
#include <iostream>

#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/gpu/device.h"

namespace lay::runtime {

int examine_machine() {
  const auto found = findings();
  std::size_t width = 0;
  for (const auto& finding : found) width = std::max(width, finding.what.size());
  for (const auto& finding : found)
    std::cout << (finding.found ? "found    " : "missing  ") << finding.what
              << std::string(width + 2 - finding.what.size(), ' ') << finding.text << "\n";
  std::string why_not;
  if (const auto target = device_target(&why_not))
    std::cout << "kernels run on the GPU (" << target->architecture << ")\n";
  else
    std::cout << "kernels run in the host interpreter: " << why_not << "\n";
  return exit_ok;
}

}  // namespace lay::runtime
