// Memory of the host for what is checked: hundreds of megabytes, again and again.
#pragma once

namespace lay::bench {

// Freed memory stays with the process from here on, for its next large allocation: the pages of
// fresh memory cost more time than what is done with them (300 MB: 0.27 s fresh, 0.01 s kept). No
// effect where the C library has no such wish.
void keep_freed_memory();

}  // namespace lay::bench
