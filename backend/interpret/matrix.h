// ldmatrix and stmatrix (PTX ISA): matrices of 8 x 8 elements of 16 bits. Lane 8 i + j has the address of row j of
// matrix i; element c of that row is held by lane 4 j + c / 2, or where the matrix is transposed element c of column j.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret::matrix {

// copies[detail]: `count` elements a lane, 2 a matrix. `value` is the entry in the statistics of banks.
Handler copy(bool load, bool transpose);

}  // namespace lay::interpret::matrix
