// Between NumPy's files and the arrays of a script.
#pragma once

#include <cstdint>
#include <string>

#include "frontend/algebra/memory/element.h"
#include "frontend/sema/values/array.h"

namespace lay::runtime {

// bool becomes pred, float16 f16, int32 s32 and so on; `V2` and `V1` become b16 and b8, the bits of
// a type that NumPy lacks. A name that ends in .csv is a table of numbers as text. Errors are those
// of read_npy and read_csv.
sema::Array load_array(const std::string& path);

// bf16, tf32 and the 8-bit floats are written as float32; bits as `V2`, `V1`. Types that neither
// has: error `npy`.
void save_array(const std::string& path, const sema::Array& array);

// Numbers for trying a kernel out: floats uniform in [-1, 1), integers in [-8, 8), unsigned ones in
// [0, 16). Element i depends on seed and i alone.
sema::Array random_array(ElementType element, const std::vector<std::int64_t>& shape,
                         std::uint64_t seed);

}  // namespace lay::runtime
