#include "backend/interpret/compile.h"

#include <algorithm>

#include "backend/interpret/control.h"
#include "backend/interpret/statements.h"
#include "backend/interpret/values/codec.h"
#include "backend/interpret/warp.h"

namespace lay::interpret {
namespace {

// Bytes of an element in field mode: of a field::Number, or of an integer.
constexpr int field_cell = 8;

void plan_buffers(Program& program, const Binding& sizes, const Options& options,
                  ExpressionCompiler& expr) {
  int global = 0;
  std::int64_t device_bytes = 0;  // of shared memory
  const bool as_on_device =
      program.arithmetic == Arithmetic::ieee &&
      std::none_of(program.kernel->buffers.begin(), program.kernel->buffers.end(),
                   [](const ir::Buffer& each) { return is_half_byte(each.element); });
  for (const ir::Buffer& buffer : program.kernel->buffers) {
    BufferPlan plan;
    plan.space = buffer.space;
    plan.element = buffer.element;
    plan.alignment = buffer.alignment;
    if (!storable(buffer.element)) {
      expr.refuse(FaultCode::unsupported, "buffers of " +
                                              std::string(element_name(buffer.element)) +
                                              " are not executed on the host");
    }
    plan.bits = buffer.element == ElementType::pred ? 8 : bits(buffer.element);
    plan.cell =
        program.arithmetic == Arithmetic::field ? field_cell : static_cast<int>(plan.bytes(1));
    auto placed = place(buffer.layout, sizes);
    if (!placed) {
      expr.refuse(FaultCode::unsupported, "the layout of `" + buffer.name + "`, " +
                                              to_string(buffer.layout) +
                                              ", is not executed on the host with these sizes");
    }
    plan.placement = std::move(*placed);
    const std::int64_t elements = plan.placement.cosize;
    if (buffer.space == ir::Space::global) {
      plan.global = global++;
    } else if (elements > options.max_memory / plan.cell) {
      expr.refuse(FaultCode::limit,
                  "`" + buffer.name + "` has " + std::to_string(elements) + " elements");
    } else if (buffer.space == ir::Space::registers) {
      plan.place = (program.register_bytes + 7) / 8 * 8;
      plan.shadow = program.register_elements;
      program.register_bytes = (plan.place + elements * plan.cell + 7) / 8 * 8;
      program.register_elements += elements;
    } else {
      const std::int64_t unit = std::max<std::int64_t>(128, buffer.alignment);
      plan.start = (device_bytes + unit - 1) / unit * unit;
      device_bytes = plan.start + plan.bytes(elements);
      plan.place = as_on_device ? plan.start : program.shared_bytes;
      plan.shadow = program.shared_elements;
      program.shared_bytes = plan.place + elements * plan.cell;
      program.shared_elements += elements;
    }
    program.buffers.push_back(std::move(plan));
  }
}

void check_memory(const Program& program, const Options& options, ExpressionCompiler& expr) {
  const std::int64_t warps = (program.kernel->launch.threads + kLanes - 1) / kLanes;
  const std::int64_t slots = warps * program.slots * static_cast<std::int64_t>(sizeof(Lanes));
  const std::int64_t registers =
      warps * kLanes * (program.register_bytes + program.register_elements);
  const std::int64_t shared =
      program.shared_bytes + program.shared_elements * static_cast<std::int64_t>(sizeof(Shadow));
  if (slots + registers + shared >
      options.max_memory / std::max(1, options.threads) / program.cluster_blocks) {
    expr.refuse(FaultCode::limit, "a block needs " + std::to_string(slots + registers + shared) +
                                      " bytes on the host");
  }
}

void assign_roles(Program& program) {
  const int warps = (program.kernel->launch.threads + kLanes - 1) / kLanes;
  program.role_of_warp.assign(static_cast<size_t>(warps), -1);
  for (size_t r = 0; r < program.kernel->roles.size(); ++r) {
    const ir::Role& role = program.kernel->roles[r];
    for (int w = role.first / kLanes; w * kLanes < role.first + role.threads && w < warps; ++w) {
      program.role_of_warp[w] = static_cast<int>(r);
    }
  }
}

}  // namespace

Program compile(const ir::Kernel& kernel, const Binding& sizes,
                const std::vector<Argument>& arguments, const Options& options) {
  Program program;
  program.kernel = &kernel;
  program.checks = options.checks;
  program.write_once = options.write_once;
  program.bank_conflicts = options.bank_conflicts;
  program.arithmetic = options.arithmetic;
  ExpressionCompiler expr(program, sizes, arguments);
  plan_buffers(program, sizes, options, expr);
  assign_roles(program);
  int slots = 0;
  for (const ir::Barrier& barrier : kernel.barriers) {
    program.first_slot.push_back(slots);
    slots += barrier.slots;
  }
  program.barrier_slots = slots;
  for (const int extent : kernel.launch.cluster) program.cluster_blocks *= extent;
  Statements statements(program, expr);
  statements.block(kernel.prologue);
  statements.emit(control::enter_role);
  std::vector<int> exits;
  for (const ir::Role& role : kernel.roles) {
    program.role_entry.push_back(expr.next());
    statements.scope(role.body);
    exits.push_back(statements.emit(control::jump));
  }
  program.epilogue_entry = expr.next();
  for (const int exit : exits) program.code[exit].target = program.epilogue_entry;
  statements.block(kernel.epilogue);
  statements.emit(control::finish);
  check_memory(program, options, expr);
  return program;
}

}  // namespace lay::interpret
