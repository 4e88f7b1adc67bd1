#pragma once
// The one formatting of Lay text: what `lay fmt` writes. It keeps every comment and the lines the
// author broke, and it is idempotent: format(format(t)) == format(t). The result is parsed again
// and compared with the tree of the input.

#include <string>

#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"
#include "frontend/syntax/tree.h"

namespace lay::syntax {

struct Formatted {
  std::string text;  // empty where there are errors
  Diagnostics diagnostics;

  bool ok() const { return diagnostics.ok(); }
};

// Text with syntax errors is refused with them, never touched.
Formatted format(const Sources& sources, int file);

// The tree as nested words, one statement a line, without places: `(let r (: (tuple 4 2) (tuple 1
// 4)))`. Two texts mean the same exactly if their dumps are equal.
std::string dump(const Tree& tree);

}  // namespace lay::syntax
