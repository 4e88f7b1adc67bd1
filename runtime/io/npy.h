// NumPy's array files (.npy, versions 1 to 3).
//
//   NpyArray x = read_npy("x.npy");        // x.type = {'f', 4}, x.shape = {1797, 64}
//   write_npy("y.npy", y);
//
// Elements are native little-endian bytes here, in the order the file keeps: the last index fastest
// (C), or the first one (Fortran). NumPy has no bf16, tf32 or 8-bit floats: such arrays travel as
// unsigned integers or as raw `V2`, `V1`.
//
// The header is believed only after it was compared with the size of the file, so no header makes
// the reader allocate more than the file holds. Definition: numpy.lib.format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lay::runtime {

// NumPy's kind letter and bytes an element: b1, i1 i2 i4 i8, u1 u2 u4 u8, f2 f4 f8, V1 V2 (bits of
// a type of ours).
struct NpyType {
  char kind = 'f';
  int size = 4;
  friend bool operator==(const NpyType&, const NpyType&) = default;
};

// An array as a .npy file holds it.
struct NpyArray {
  NpyType type;
  std::vector<std::int64_t> shape;  // empty: a scalar
  bool fortran_order = false;
  // size(shape) * type.size.
  std::vector<std::byte> data;
};

// Throws DiagnosticError: `file` where it cannot be read, `npy` where it is not such an array (the
// message says what was found and what a remedy in NumPy would be).
NpyArray read_npy(const std::string& path);

// Writes version 1.0, atomically.
void write_npy(const std::string& path, const NpyArray& array);

}  // namespace lay::runtime
