// ldmatrix and stmatrix (PTX ISA): matrices of 8 rows of 16 bytes. Lane 8 i + j has the address of
// row j of matrix i; lane 4 j + l holds bytes 4 l to 4 l + 3 of that row, or, transposed, which is
// for elements of 2 bytes, elements 2 l and 2 l + 1 of column j.
#pragma once

#include "backend/interpret/program.h"

namespace lay::interpret::matrix {

// copies[detail]: `count` elements of `bytes` bytes a lane, 4 bytes a matrix; on the host an
// element takes `cell` bytes, as many or 8. `value` is the entry in the statistics of banks. Null
// for what is not there: elements of other sizes than 1, 2 and 4 bytes, transposed ones but of 2.
Handler copy(int bytes, int cell, bool load, bool transpose);

}  // namespace lay::interpret::matrix
