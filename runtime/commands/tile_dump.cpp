#include "runtime/commands/tile_dump.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "backend/ir/text/print.h"
#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/products/product.h"
#include "backend/tile/roles/print_roles.h"
#include "backend/tile/rows_ahead.h"
#include "backend/tile/text/print.h"
#include "frontend/source/diagnostic.h"
#include "runtime/build/narrow.h"
#include "runtime/execute/stages.h"

namespace lay::runtime {

namespace {

std::vector<const plan::Variant*> variants_named(const plan::Plan& plan, const std::string& name) {
  std::vector<const plan::Variant*> found;
  std::vector<std::string> known;
  for (const plan::Variant& variant : plan.variants) {
    known.push_back(variant.name);
    if (name.empty() || variant.name == name) found.push_back(&variant);
  }
  if (!found.empty() || name.empty()) return found;
  refuse_variant(*plan.kernel, name, known);
}

std::string conditions(const plan::Plan& plan, const plan::Variant& variant) {
  std::string text;
  const auto add = [&](const std::string& condition) {
    text += (text.empty() ? " where " : " and ") + condition;
  };
  for (const Predicate& condition : variant.when) add(condition.to_string());
  for (const plan::Alignment& aligned : variant.aligned)
    add(plan.kernel->tensor(aligned.tensor).name + " is aligned to " +
        std::to_string(aligned.bytes) + " bytes");
  return text;
}

// The programs of all launches of a variant, in order.
std::vector<tile::Program> programs_of(const plan::Variant& variant) {
  std::vector<tile::Program> programs;
  const auto add = [&](const plan::Variant& each) {
    programs.insert(programs.end(), each.programs.begin(), each.programs.end());
  };
  for (const auto& before : variant.before) add(before->variants.at(0));
  add(variant);
  return programs;
}

void unbind(tile::Block& block) {
  for (tile::Stmt& stmt : block) {
    if (auto* loop = std::get_if<tile::For>(&stmt.node)) unbind(loop->body);
    if (auto* copy = std::get_if<tile::Copy>(&stmt.node)) *copy = {copy->dst, copy->src};
    if (auto* mma = std::get_if<tile::Mma>(&stmt.node)) mma->atom.reset();
  }
}

// The program as `form` made it.
tile::Program unbound(tile::Program program) {
  if (program.is_elementwise()) return tile::formed_of(program);
  if (program.is_product())
    return std::get<tile::Program>(tile::form_product(program.kernel, tile::product_of(program)));
  program = tile::without_rows_ahead(std::move(program));
  program.threads.reset();
  program.warpgroups.reset();
  for (tile::Tile& each : program.tiles) each.shared.reset();
  program.blocks_per_sm = 1;
  for (tile::Axis& axis : program.axes) axis.tile = 0;
  unbind(program.body);
  return program;
}

// The programs that the variants are bound from, each once.
std::string formed(const std::vector<const plan::Variant*>& variants) {
  std::vector<std::string> texts;
  const auto add = [&](std::string text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  };
  for (const plan::Variant* variant : variants) {
    for (tile::Program& program : programs_of(*variant))
      add(tile::print(unbound(std::move(program))));
  }
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

// The program after a pass over bound programs.
std::string after(const std::string& pass, const tile::Program& program) {
  if (pass == "pipeline") return tile::print_pipelines(program, tile::pipeline(program));
  if (pass == "specialise") return tile::print_roles(program, tile::specialised(program));
  return tile::print(program);
}

}  // namespace

std::string tile_dump(const Sources& sources, const plan::Plan& plan, const std::string& pass,
                      const std::string& variant) {
  const auto variants = variants_named(plan, variant);
  if (pass == "form") return formed(variants);
  std::string text;
  for (const plan::Variant* each : variants) {
    text += "# variant " + each->name + conditions(plan, *each) + "\n";
    if (pass != "expand") {
      for (const tile::Program& program : programs_of(*each)) text += after(pass, program);
      continue;
    }
    for (const ir::Kernel& kernel : lowered(sources, plan, *each)) text += ir::print(kernel);
  }
  return text;
}

}  // namespace lay::runtime
