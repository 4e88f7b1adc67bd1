// How the host works through hundreds of megabytes of operands: in threads, in memory that it
// keeps.
#pragma once

#include <cstdint>
#include <functional>

namespace lay::bench {

// Splits 0 .. count - 1 into parts of at least `least` and calls run(part, begin, end) for each, in
// threads. Returns the number of parts, at most most_parts(). Rethrows the first exception of a
// part after all parts have ended.
int in_parts(std::int64_t count, std::int64_t least,
             const std::function<void(int, std::int64_t, std::int64_t)>& run);

// Returns how many parts in_parts makes at most: one a core.
int most_parts();

// Keeps freed memory in the process for its next large allocation. The pages of fresh memory cost
// more time than the work on them (300 MB: 0.27 s fresh, 0.01 s kept). Does nothing with a C
// library that has no such option.
void keep_freed_memory();

}  // namespace lay::bench
