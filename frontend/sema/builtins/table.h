// A layout of rank 2 as a table: rows are the coordinates of mode 0, columns those of mode 1,
// natural ones where the mode is nested, cells the values.
//
//   ((2,2),2):((4,1),2)
//            0  1
//     (0,0)  0  2
//     (1,0)  4  6
//     (0,1)  1  3
//     (1,1)  5  7
#pragma once

#include <string>

#include "frontend/sema/values/value.h"

namespace lay::sema {

// A record that an operation gave shows its fields instead, one a line.
// The table after a newline, indented, without a newline at the end; empty for what is no known
// layout of rank 2. Above 32 rows or columns a line says how many there are.
std::string table_below(const Value& value);

}  // namespace lay::sema
