#include "runtime/bench/host_memory.h"

#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lay::bench {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int never = -1;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, never);
#endif
}

}  // namespace lay::bench
