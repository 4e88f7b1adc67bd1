#pragma once

// The table of all vectors by operation and class. docs/conformance.md says what each class means;
// nothing may be `different`.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/conformance/answer.h"

namespace conformance {

using Table = std::map<std::string, std::map<std::string, int>>;

// The columns of both tables, in order.
const std::vector<std::string>& classes();
const std::vector<std::string>& symbolic_classes();

// The class of one case, and what was said.
std::string classify(Lay& lay, const Case& c, std::string& detail);
// The same on symbols, with or without symbolic strides.
std::string classify_symbolic(Lay& lay, const Case& c, bool strides, std::string& detail);

void print_table(const Table& table, const std::vector<std::string>& columns);

// Cases for which the test with symbols has a meaning: layouts go in, and a layout comes out.
bool has_symbolic_form(const Case& c);

}  // namespace conformance
