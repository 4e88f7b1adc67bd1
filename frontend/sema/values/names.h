// The names that an expression mentions and does not bind itself. Internal to this folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/syntax/tree.h"

namespace lay::sema {

using NameVisitor = std::function<void(const std::string& name, Span where)>;
// A test that is true if a call binds the names in its brackets: sum[k](x), softmax[n](x).
using OverIndices = std::function<bool(const syntax::Call& call)>;
void for_each_free_name(const syntax::Tree& tree, syntax::ExpressionId id,
                        const std::vector<std::string>& bound, const NameVisitor& visit,
                        const OverIndices& over_indices);

// The direct parts of an expression, left to right.
std::vector<syntax::ExpressionId> parts_of(const syntax::Expression& e);

}  // namespace lay::sema
