// Tile programs of kernels that are written in Lay.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "backend/plan/make.h"
#include "backend/tile/form.h"
#include "tests/emitted/emitted.h"

namespace lay::test {

inline tile::Program formed(const sema::KernelPtr& kernel, tile::Columns columns) {
  auto made = tile::form(*kernel, plan::facts_of(*kernel), columns);
  if (const auto* no = std::get_if<tile::NotTiled>(&made)) FAIL(no->reason);
  return std::get<tile::Program>(std::move(made));
}

// The program of the only kernel of a script.
inline tile::Program formed(const std::string& script, tile::Columns columns) {
  const auto kernels = kernels_in("script.lay", script);
  REQUIRE(kernels.size() == 1);
  return formed(kernels[0], columns);
}

// The bound programs of all variants, those of the launches that come first too.
inline std::vector<tile::Program> bound(const plan::Plan& plan) {
  std::vector<tile::Program> programs;
  for (const plan::Variant& variant : plan.variants) {
    for (const auto& before : variant.before)
      for (tile::Program& program : bound(*before)) programs.push_back(std::move(program));
    if (const tile::Program* program = plan::scheduled_program(variant))
      programs.push_back(*program);
  }
  return programs;
}

}  // namespace lay::test
