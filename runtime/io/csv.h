// Tables of numbers as text: one row a line, numbers between commas. Blank lines are skipped.
//
//   0, 1, 2
//   8, 9, 10
//
// One line, or one number a line, is an array of one index. Integers become s64; where one number
// has a point or an exponent all are f64.
#pragma once

#include <string>
#include <string_view>

#include "frontend/sema/values/array.h"

namespace lay::runtime {

// Throws DiagnosticError `file` where the file cannot be read (above 64 MiB it is not), `csv` where
// it is no such table: the message names line and column.
sema::Array read_csv(const std::string& path);

}  // namespace lay::runtime
