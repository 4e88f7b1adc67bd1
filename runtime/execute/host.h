// The world as scripts see it, but for the kernels that they call (program.h): printing, arrays on
// disk, files that are used.
#pragma once

#include <functional>
#include <string>

#include "frontend/sema/evaluator.h"

namespace lay::runtime {

using Printer = std::function<void(const std::string&)>;

// `folder` is where `use "mine.lay"` looks: nothing outside it is read, and symbolic links do not
// lead out of it. Arrays are found from the working directory.
sema::Host make_host(Printer print, const std::string& folder = ".");

// The folder of a script, as make_host takes it.
std::string folder_of(const std::string& file);

// Escapes control and bidirectional characters for a terminal; newlines and tabs are kept.
std::string printable(const std::string& text);

// Prints to standard output, printable.
void print_line(const std::string& text);

}  // namespace lay::runtime
