// Rows that lie side by side in segments, each of which has what it meets:
//
//   Y[t,n] = sum[k](X[t,k] * W[segment_of[e](start[e], t), n, k])
//
// The segment of t is the number of starts that are at most t, less 1.
#pragma once

#include <optional>

#include "frontend/sema/kernel/kernel.h"

namespace lay::bench {

struct SegmentOf {
  // Where the segments begin, and the index that runs over them.
  sema::TensorId starts = -1;
  sema::IndexId segment = -1;
  // t
  sema::NodeId position = -1;
};

// Returns the segment that a coordinate is; nothing for any other coordinate.
std::optional<SegmentOf> segment_of(const sema::Kernel& kernel, sema::NodeId coordinate);

}  // namespace lay::bench
