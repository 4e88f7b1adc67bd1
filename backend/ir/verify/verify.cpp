#include "backend/ir/verify/verify.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "backend/ir/text/print.h"
#include "backend/ir/types.h"
#include "backend/ir/verify/verifier.h"
#include "frontend/algebra/layouts/inner_layout.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {
namespace {

constexpr size_t kMostProblems = 100;

bool identifier(const std::string& name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

std::int64_t swizzle_block(const Composed& composed) {
  const auto* swizzle = std::get_if<Swizzle>(&composed.outer);
  const std::int64_t mask =
      swizzle == nullptr ? 0 : swizzle->source_mask() | swizzle->target_mask();
  std::int64_t block = 1;
  while (block <= mask) block *= 2;
  return block;
}

// Elements from the first to the last that a layout of numbers reaches; nothing for others.
std::optional<std::int64_t> extent(const AnyLayout& layout) {
  Facts facts;
  const auto* composed = std::get_if<Composed>(&layout);
  const Layout* plain = inner_layout(layout);
  if (plain == nullptr || !plain->is_known() || plain->has_basis()) return std::nullopt;
  const Int reach = cosize(facts, *plain);
  if (!reach.is_literal()) return std::nullopt;
  if (composed == nullptr) return reach.value();
  if (!composed->offset.is_int() || !composed->offset.value().is_literal()) return std::nullopt;
  const std::int64_t block = swizzle_block(*composed);
  return (reach.value() + composed->offset.value().value() + block - 1) / block * block;
}

}  // namespace

std::string quoted_name(const std::string& name) {
  return "`" + name + "`";
}

Verifier::Verifier(const Kernel& kernel, const Limits& limits)
    : kernel_(kernel),
      limits_(limits),
      alignment_(kernel),
      bound_(kernel.vars.size()),
      in_scope_(kernel.vars.size()),
      static_(kernel.vars.size()) {}

void Verifier::problem(std::string code, std::string message) {
  if (problems_.size() >= kMostProblems) return;
  Problem made{std::move(code), std::move(message), "", 0};
  if (statement_ != nullptr) {
    made.statement = print_first_line(kernel_, *statement_);
    made.statement.erase(0, made.statement.find_first_not_of(' '));
    made.line = statement_->origin.line;
  }
  problems_.push_back(std::move(made));
}

std::vector<Problem> Verifier::run() {
  if (!ids() || !expressions()) return problems_;
  uniform_ = uniformities(kernel_);
  names();
  params();
  buffers();
  shared_memory();
  for (const TensorMap& map : kernel_.tensor_maps) tensor_map(map);
  for (const MmaAtom& atom : kernel_.atoms) mma_atom(atom);
  for (const CopyAtom& atom : kernel_.copy_atoms) copy_atom(atom);
  barriers();
  rings();
  launch();
  roles();
  grid_dependencies_done_ = !overlaps(kernel_);
  block(kernel_.prologue);
  const size_t after_prologue = scope_.size();
  for (const Role& role : kernel_.roles) {
    role_ = &role;
    block(role.body);
    leave(after_prologue);
  }
  role_ = nullptr;
  block(kernel_.epilogue);
  return problems_;
}

// ---- declarations

void Verifier::names() {
  std::map<std::string, std::string_view> seen;
  const auto declare = [&](const std::string& name, std::string_view kind) {
    if (!identifier(name)) problem("name", quoted_name(name) + " is no identifier");
    const auto [at, is_new] = seen.emplace(name, kind);
    if (!is_new) {
      problem("name", "the " + std::string(kind) + " " + quoted_name(name) + " has the name of a " +
                          std::string(at->second));
    }
  };
  if (!identifier(kernel_.name))
    problem("name", "the kernel's name " + quoted_name(kernel_.name) + " is no identifier");
  for (const Param& param : kernel_.params) declare(param.name, "parameter");
  for (const Buffer& buffer : kernel_.buffers) declare(buffer.name, "buffer");
  for (const TensorMap& map : kernel_.tensor_maps) declare(map.name, "tensor map");
  for (const Barrier& barrier : kernel_.barriers) declare(barrier.name, "barrier");
  for (const Ring& ring : kernel_.rings) declare(ring.name, "ring");
  for (const Var& var : kernel_.vars) {
    if (!identifier(var.name))
      problem("name", "the variable " + quoted_name(var.name) + " is no identifier");
    if (const auto at = seen.find(var.name); at != seen.end()) {
      problem("name", "the variable " + quoted_name(var.name) + " has the name of a " +
                          std::string(at->second));
    }
  }
}

void Verifier::params() {
  for (const Param& param : kernel_.params) {
    if (!param.is_size) continue;
    if (!param.symbol.dim_id() || param.symbol.to_string() != param.name) {
      problem("size", quoted_name(param.name) + " does not stand for the dim of its name");
    }
    if (param.type != ElementType::s32)
      problem("size", quoted_name(param.name) + " is a size and not s32");
  }
}

void Verifier::buffer(const Buffer& buffer) {
  const std::string name = quoted_name(buffer.name);
  const auto* composed = std::get_if<Composed>(&buffer.layout);
  const Layout* layout = inner_layout(buffer.layout);
  if (layout == nullptr || layout->has_basis() ||
      (composed != nullptr && !std::holds_alternative<Swizzle>(composed->outer))) {
    return problem("layout", "the layout of " + name + " does not map coordinates to offsets: " +
                                 to_string(buffer.layout));
  }
  const int alignment = buffer.alignment;
  if (alignment < 0 || (alignment & (alignment - 1)) != 0) {
    problem("layout",
            name + " is aligned to " + std::to_string(alignment) + ", which is no power of two");
  }
  if (!buffer.workspace && !buffer.offset.is(0))
    problem("layout", name + " has an offset and is no workspace");
  if (buffer.space == Space::global) return;
  if (buffer.workspace) problem("layout", name + " is workspace and not global");
  if (buffer.space == Space::registers && composed != nullptr) {
    problem("layout", name + " is in registers and has a composed layout");
  }
  const std::optional<std::int64_t> elements = extent(buffer.layout);
  if (!elements)
    return problem("layout", name + " has a layout that is not known: " + to_string(buffer.layout));
  if (buffer.space == Space::registers && *elements * bits(buffer.element) > 32 * 1024) {
    problem("layout", name + " has " + std::to_string(*elements) + " elements a thread");
  }
}

void Verifier::buffers() {
  for (const Buffer& declared : kernel_.buffers) buffer(declared);
}

void Verifier::shared_memory() {
  std::int64_t bytes = 0;
  for (const Buffer& buffer : kernel_.buffers) {
    if (buffer.space != Space::shared) continue;
    const std::int64_t alignment = std::max(buffer.alignment, 1);
    bytes = (bytes + alignment - 1) / alignment * alignment +
            (extent(buffer.layout).value_or(0) * bits(buffer.element) + 7) / 8;
  }
  for (const Barrier& barrier : kernel_.barriers) {
    if (barrier.kind == BarrierKind::mbarrier)
      bytes = (bytes + 7) / 8 * 8 + std::int64_t{8} * barrier.slots;
  }
  if (bytes > limits_.shared_bytes) {
    problem("shared-memory", "a block has " + std::to_string(bytes) +
                                 " bytes of shared memory, of " +
                                 std::to_string(limits_.shared_bytes));
  }
}

void Verifier::rings() {
  for (const Ring& ring : kernel_.rings) {
    if (ring.stages < 1) problem("ring", quoted_name(ring.name) + " has no stages");
    if (ring.initial_phase != 0 && ring.initial_phase != 1) {
      problem("ring", "expected an initial phase of 0 or 1 for " + quoted_name(ring.name) +
                          ", got " + std::to_string(ring.initial_phase));
    }
  }
}

void Verifier::launch() {
  const Launch& launch = kernel_.launch;
  if (launch.threads < 1 || launch.threads > limits_.threads) {
    problem("launch", "a block of " + std::to_string(launch.threads) + " threads, of at most " +
                          std::to_string(limits_.threads));
  }
  std::int64_t cluster = 1;
  for (const int extent : launch.cluster) cluster *= extent < 1 ? limits_.cluster + 1 : extent;
  if (cluster > limits_.cluster) {
    problem("launch", "a cluster has 1 to " + std::to_string(limits_.cluster) + " blocks");
  }
  if (launch.blocks_per_sm < 1) problem("launch", "no block fits an SM");
}

void Verifier::roles() {
  if (kernel_.roles.empty()) problem("role", "there is no role");
  std::vector<bool> taken(static_cast<size_t>(std::max(0, kernel_.launch.threads)));
  for (const Role& role : kernel_.roles) {
    const std::string name = "role " + quoted_name(role.name);
    if (role.first < 0 || role.threads < 1 || role.first + role.threads > kernel_.launch.threads) {
      problem("role", name + " has threads " + std::to_string(role.first) + " to " +
                          std::to_string(role.first + role.threads - 1) + " of " +
                          std::to_string(kernel_.launch.threads));
      continue;
    }
    const int end = role.first + role.threads;
    if (role.first % 32 != 0 || (end % 32 != 0 && end != kernel_.launch.threads)) {
      problem("role", name + " splits a warp");
    }
    for (int t = role.first; t < role.first + role.threads; ++t) {
      if (taken[t]) {
        problem("role", name + " shares thread " + std::to_string(t) + " with another");
        break;
      }
      taken[t] = true;
    }
  }
  role_registers();
}

void Verifier::role_registers() {
  const auto budgeted = [](const Role& role) { return role.registers.has_value(); };
  if (std::none_of(kernel_.roles.begin(), kernel_.roles.end(), budgeted)) return;
  std::int64_t sum = 0;
  for (const Role& role : kernel_.roles) {
    const std::string name = "role " + quoted_name(role.name);
    if (!role.registers) {
      problem("role-registers", name + " has no register budget, and others have one");
      continue;
    }
    const int registers = *role.registers;
    if (registers < 24 || registers > 256 || registers % 8 != 0) {
      problem("role-registers", name + " asks for " + std::to_string(registers) +
                                    " registers; setmaxnreg takes multiples of 8 from 24 to 256");
    }
    if (role.first % 128 != 0 || role.threads % 128 != 0) {
      problem("role-registers", name + " has a register budget and splits a warpgroup");
    }
    sum += std::int64_t{registers} * role.threads;
  }
  // Every thread begins with an equal share of the register file, rounded down to 8. setmaxnreg.inc
  // takes registers that other warps released: an increase beyond their sum blocks forever.
  const std::int64_t threads = std::max(1, kernel_.launch.threads),
                     begun_with = limits_.registers / threads / 8 * 8 * threads;
  if (sum > begun_with) {
    problem("role-registers", "expected at most " + std::to_string(begun_with) +
                                  " registers in all roles, got " + std::to_string(sum) +
                                  ": an increase that no warpgroup has released blocks forever");
  }
}

std::vector<Problem> verify(const Kernel& kernel, const Limits& limits) {
  return Verifier(kernel, limits).run();
}

void verify_after(std::string_view pass, const Kernel& kernel, const Limits& limits) {
  const std::vector<Problem> problems = verify(kernel, limits);
  if (problems.empty()) return;
  const Problem& first = problems[0];
  throw std::logic_error("internal: the kernel is broken after `" + std::string(pass) +
                         "`: " + first.message + " (" + first.code + ")" +
                         (first.statement.empty() ? "" : " in `" + first.statement + "`"));
}

}  // namespace lay::ir
