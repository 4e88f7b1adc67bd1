// Bank conflicts by counting.
//
// Shared memory has 32 banks of 4 bytes; word w lies in bank w % 32. A warp's access runs in phases of 32 words: all
// lanes at once for 4 bytes a lane or fewer, half the warp for 8, a quarter for 16 (and as many phases as 128 bytes go
// into the whole for other widths). In a phase, lanes that read one word are served together, and each bank serves one
// word a wavefront: a phase takes as many wavefronts as the bank with the most distinct words.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lay::plan {

// Wavefronts of one access. `addresses` holds each active lane's byte address, -1 for a lane that takes no part.
int wavefronts(std::span<const std::int64_t> addresses, int bytes);

// What an access of that width takes without any conflict: its phases.
int least_wavefronts(int bytes);

}  // namespace lay::plan
