// Work on the host that is split among its cores.
#pragma once

#include <cstdint>
#include <functional>

namespace lay::bench {

// run(part, begin, end) for parts of 0 .. count - 1 that hold at least `least` each, in threads;
// returns the number of parts, at most `most_parts()`. The first exception of a part goes on up
// when all are done.
int in_parts(std::int64_t count, std::int64_t least,
             const std::function<void(int, std::int64_t, std::int64_t)>& run);
int most_parts();

}  // namespace lay::bench
