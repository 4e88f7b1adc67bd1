#pragma once
// A tree as bytes. The standard library is parsed when Lay is built and archived in the binary,
// because the parser starts cold: in `lay check` of a short script it took half of the time.
//
//   read_tree(archive(tree), 7)     the same tree, with all its spans in file 7
//
// Bytes are read by the build that wrote them only: there is no version in them.

#include <string>
#include <string_view>

#include "frontend/syntax/tree.h"

namespace lay::syntax {

// The tree must be without `broken` names: that of a text without errors.
std::string archive(const Tree& tree);

// Throws std::logic_error where the bytes end inside the tree or go on behind it.
Tree read_tree(std::string_view bytes, int file);

}  // namespace lay::syntax
