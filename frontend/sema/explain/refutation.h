// A refuted claim in words and as facts. Internal to this folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/source/diagnostic.h"

namespace lay::sema {

// The sizes at which it fails, and where at these sizes.
std::vector<Note> counterexample(const Conclusion& refuted);
// The same for tools: name and JSON text of each fact.
std::vector<std::pair<std::string, std::string>> witness(const Conclusion& refuted);

}  // namespace lay::sema
