// Faults planted in the text of a kernel, which a run on the host must find.
#pragma once

#include <string>
#include <vector>

#include "runtime/execute/executor.h"

namespace lay::test {

// The first `from` behind `where` becomes `to`; what is wrong then (`trouble`) begins with `found`.
struct Planted {
  const char *what, *from, *to, *found;
  size_t where = 0;
};

// Checks that the text as it is gives what is expected, and that each fault alone is found.
void find_planted(const std::string& text, const sema::KernelCall& call,
                  const sema::Array& expected, const std::vector<Planted>& faults);

}  // namespace lay::test
