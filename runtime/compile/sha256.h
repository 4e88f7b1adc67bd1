// SHA-256 (FIPS 180-4), for the names and the digests of cache entries.
//
//   hex(sha256("abc"))    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lay::runtime {

// 256 bits.
using Digest = std::array<std::uint8_t, 32>;

// Returns the hash of the bytes (FIPS 180-4), and a hash in hexadecimal.
Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);

}  // namespace lay::runtime
