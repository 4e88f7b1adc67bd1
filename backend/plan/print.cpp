#include "backend/plan/print.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <set>
#include <type_traits>

#include "backend/plan/chosen_copies.h"
#include "backend/plan/conditions.h"
#include "backend/plan/launches/permuted_outputs.h"
#include "backend/plan/operand_repack.h"
#include "backend/plan/permute/print_permute.h"
#include "backend/plan/scales/print_scales.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "backend/plan/sm90/sm90_tail.h"
#include "backend/plan/text.h"
#include "backend/plan/tiles/print_chained.h"
#include "backend/tile/held_values.h"
#include "backend/tile/products/product.h"
#include "backend/tile/rows_ahead.h"
#include "backend/tile/text/value_text.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/stdlib.h"

namespace lay::plan {

namespace {

std::string accesses_text(Width width) {
  return width == Width::vectors ? "\"vectors\"" : "\"elements\"";
}

std::string written(const sema::Kernel& kernel, std::size_t assignment, int vector) {
  return "  // " + kernel.tensor(kernel.assignments[assignment].target).name + " is written " +
         elements(vector) + " at once";
}

const std::string& index_name(const sema::Kernel& kernel, sema::IndexId index) {
  return kernel.index(index).name;
}

template <class Gemm>
std::string accumulator_line(const sema::Kernel& kernel, const Gemm& gemm) {
  return "  // accumulators, (thread,value) -> (" + index_name(kernel, gemm.m) + "," +
         index_name(kernel, gemm.n) + "): " + gemm.accumulators.to_string();
}

// "128 m x 64 k a block and K tile, swizzled over 128 bytes"
std::string box_text(const std::array<int, 2>& box, const std::string& outer, const std::string& k,
                     int span) {
  return std::to_string(box[0]) + " " + outer + " x " + std::to_string(box[1]) + " " + k +
         " a block and K tile" +
         (span > 16 ? ", swizzled over " + std::to_string(span) + " bytes" : "");
}

// Adds one operand's `smem` entry, and below it how the operand gets there: the accesses follow
// from the tile, the threads and the tensor's layout.
void operand_lines(const sema::Kernel& kernel, const OperandCopy& copy, sema::IndexId k_index,
                   const std::string& name, std::vector<std::string>& lines) {
  lines.push_back(entry("smem " + name, to_string(copy.shared)));
  const std::string &outer = index_name(kernel, copy.outer), &k = index_name(kernel, k_index);
  // Boxes are of rows as they lie: 16 bytes is no swizzle.
  if (copy.boxes) {
    lines.push_back("  // " + kernel.loaded(copy.load).name + " is loaded by TMA: boxes of " +
                    box_text(copy.boxes->box, outer, k, 16));
    return;
  }
  // Comment lines hold what follows from the entries and the tensors; entries hold what was chosen.
  lines.push_back("  // " + kernel.loaded(copy.load).name + " is read " + elements(copy.vector) +
                  " at once along " + (copy.along_k ? k : outer) + "; (thread,value) -> (" + outer +
                  "," + k + "): " + copy.threads.to_string());
}

// The names that `smem` gives the two operands: their tensors' names in the script; A and B where
// one tensor is both. An operand that a launch before has stored has the name of its role, or of
// the other role where the script's tensor is called that.
using OperandNames = std::array<std::string, 2>;

template <class Gemm>
OperandNames operand_names(const Plan& plan, const Variant& variant, const Gemm& gemm) {
  // Names are of the kernel that is scheduled, not the one that is executed: a repacked X is
  // X_rows there.
  const sema::Kernel& kernel = scheduled(plan, variant);
  const std::string &a = kernel.loaded(gemm.a.load).name, &b = kernel.loaded(gemm.b.load).name;
  if (a == b) return {"A", "B"};
  const auto of_script = [&](const std::string& name) {
    return std::any_of(plan.kernel->tensors.begin(), plan.kernel->tensors.end(),
                       [&](const sema::Tensor& tensor) { return tensor.name == name; });
  };
  OperandNames names{of_script(a) ? a : "A", of_script(b) ? b : "B"};
  if (names[0] == names[1]) names[of_script(a) ? 1 : 0] = names[0] == "A" ? "B" : "A";
  return names;
}

std::string split_line(int blocks, int added, int held) {
  return "  // K is split over " + std::to_string(blocks) + " blocks, each of which adds up " +
         std::to_string(added) + " of a thread's " + std::to_string(held) + " accumulators";
}

void gemm_lines(const sema::Kernel& kernel, const OperandNames& names, const SimtGemm& gemm,
                std::vector<std::string>& lines) {
  lines.push_back(entry("tile", tuple_text(gemm.tile)));
  lines.push_back(entry("groups", tuple_text(gemm.groups)));
  lines.push_back(entry("lanes", gemm.lanes.to_string()));
  lines.push_back(entry("lane_tile", tuple_text(gemm.lane_tile)));
  if (gemm.parts > 1) lines.push_back(entry("cluster", tuple_text(std::array{1, 1, gemm.parts})));
  lines.push_back(entry("stages", std::to_string(gemm.stages)));
  operand_lines(kernel, gemm.a, gemm.k, names[0], lines);
  operand_lines(kernel, gemm.b, gemm.k, names[1], lines);
  lines.push_back(std::apply(entry, order_entry(gemm.order)));
  lines.push_back(accumulator_line(kernel, gemm));
  if (gemm.parts > 1) {
    const int across = gemm.held()[1 - gemm.shared_out()];
    lines.push_back(
        split_line(gemm.parts, gemm.stored_of_part() * across, gemm.held()[0] * gemm.held()[1]));
  }
  for (const OutputStore& store : gemm.stores) {
    lines.push_back(written(kernel, static_cast<std::size_t>(store.assignment), store.vector) +
                    " along " + index_name(kernel, store.along_n ? gemm.n : gemm.m));
  }
}

// The tile program's choices: threads of a tile of rows and columns, and the elements of accesses.
void program_lines(const tile::Program& program, std::vector<std::string>& lines) {
  const tile::Axis &across = program.axis(tile::row_axis), &along = program.axis(tile::column_axis);
  bool whole = false;
  tile::for_each(program.body, [&](const tile::Stmt& stmt) {
    const auto* loop = std::get_if<tile::For>(&stmt.node);
    // A walk over whole rows is one tile along the columns, kept in registers.
    whole = whole || (loop && loop->walk == tile::Walk::whole);
  });
  lines.push_back(entry("threads", program.threads->layout.to_string()));
  if (program.parts > 1) lines.push_back(entry("parts", std::to_string(program.parts)));
  lines.push_back(entry("columns", whole ? "\"kept\"" : "\"streamed\""));
  if (whole) lines.push_back(entry("stages", std::to_string(tile::stages_ahead(program))));
  lines.push_back("  // a tile: " + std::to_string(across.tile) + " rows " + across.name + ", " +
                  std::to_string(along.tile) + " columns " + along.name +
                  (whole ? ", whole rows" : ", one after the other"));
  // A tensor that several reductions walk is named once.
  std::set<std::string> said;
  tile::for_each(program.body, [&](const tile::Stmt& stmt) {
    const auto* copy = std::get_if<tile::Copy>(&stmt.node);
    if (!copy || tile::is_ahead(program.tile(copy->src))) return;
    const bool out = program.tile(copy->dst).space == tile::Space::global;
    const std::string& name = program.tile(out ? copy->dst : copy->src).name;
    const std::string line =
        "  // " + name + (out ? " is written " : " is read ") + elements(copy->vector) + " at once";
    if (said.insert(line).second) lines.push_back(line);
  });
}

// The program of the launch that reduces parts of the columns, where one comes first: the schedule
// says what that does, and how its parts are joined follows.
std::optional<const tile::Program*> split_program(const Variant& variant) {
  if (variant.is_stage || variant.before.size() != 1 || variant.before[0]->variants.size() != 1 ||
      !scheduled_program(variant) || elementwise(variant))
    return std::nullopt;
  const tile::Program* program = scheduled_program(variant.before[0]->variants.at(0));
  return program && !program->is_elementwise() ? std::optional(program) : std::nullopt;
}

void fragment_line(const Fragment& fragment, const std::string& outer, const std::string& k,
                   std::vector<std::string>& lines) {
  // Element by element there is no row to name.
  if (!fragment.copy) return;
  lines.push_back("  // fragments by " + fragment.copy->name + "; lane -> row at (" + outer + "," +
                  k + "): " + fragment.rows.to_string());
}

void operand_lines(const sema::Kernel& kernel, const Sm80Gemm& gemm, const Sm80Operand& operand,
                   const std::string& name, std::vector<std::string>& lines) {
  // Where lanes copy it, its layout in shared memory follows from its threads.
  lines.push_back(operand.own ? entry("private " + name, "1")
                              : entry("smem " + name, to_string(operand.shared)));
  const std::string &outer = index_name(kernel, operand.outer), &k = index_name(kernel, gemm.k);
  lines.push_back("  // " + kernel.loaded(operand.load).name + " is read " +
                  elements(operand.vector) + " at once along " + (operand.along_k ? k : outer) +
                  (operand.async ? ", by " + operand.async->name : "") +
                  (operand.converted ? ", converted in registers" : "") + "; (thread,value) -> (" +
                  outer + "," + k + "): " + operand.threads.to_string());
  if (operand.own) {
    const KOrder order = *gemm.order_of_k();
    lines.push_back("  // steps take the " + k + " of a block of " + std::to_string(order.block()) +
                    " as its lanes have them, step -> first " + k + ": " +
                    steps_of(order, gemm.steps()).to_string());
    return;
  }
  fragment_line(operand.fragment, outer, k, lines);
}

void operand_lines(const sema::Kernel& kernel, const Sm90Gemm& gemm, const TmaOperand& operand,
                   const std::string& name, std::vector<std::string>& lines) {
  lines.push_back(entry("smem " + name, to_string(operand.shared)));
  const std::string &outer = index_name(kernel, operand.outer), &k = index_name(kernel, gemm.k);
  // Copies that one block issues for a K tile: its slice of the tile, cut into boxes.
  const int boxes = operand.slice[0] / operand.box[0] * (operand.slice[1] / operand.box[1]);
  lines.push_back(
      "  // " + kernel.loaded(operand.load).name + " is loaded by TMA: " + std::to_string(boxes) +
      (boxes == 1 ? " box of " : " boxes of ") + box_text(operand.box, outer, k, operand.span));
  if (operand.view && !operand.view->order.empty())
    lines.push_back("  // its windows are columns of pixels, by im2col mode");
  if (operand.fragment) {
    const int together = operand.fragment->together;
    if (!operand.fragment->copy)
      lines.push_back("  // fragments " +
                      (together == 1 ? "element by element" : elements(together) + " at once") +
                      (operand.converted ? ", converted in registers" : "") +
                      ", (lane,value) -> (" + outer + "," + k +
                      "): " + operand.fragment->held.to_string());
    fragment_line(*operand.fragment, outer, k, lines);
  }
}

// How a tensor travels through shared memory, and what its accesses to memory are where threads
// make them.
void staged_line(const sema::Kernel& kernel, const Sm90Gemm& gemm, const StagedTensor& staged,
                 bool out, const std::string& buffers, std::vector<std::string>& lines) {
  const std::string& name = kernel.tensor(staged.tensor).name;
  // Two steps: between registers and shared memory by a copy of a warp where elements have 16 bits,
  // between shared and global memory by TMA or by threads that take neighbours.
  const std::string by = (staged.matrices ? staged.copies.front().name + " and " : "") +
                         (staged.tma ? "TMA" : "neighbours");
  lines.push_back("  // " + name + (out ? " leaves by " : " comes by ") + by + " through " +
                  to_string(staged.shared) + buffers);
  if (staged.tma) return;
  const std::string &m = index_name(kernel, gemm.m), &n = index_name(kernel, gemm.n);
  lines.push_back("  // " + name + (out ? " is written " : " is read ") + elements(staged.run) +
                  " at once along " + (staged.along_n ? n : m) + "; (thread,value) -> (" + m + "," +
                  n + "): " + staged.runs.to_string());
}

void staged_lines(const sema::Kernel& kernel, const Sm90Gemm& gemm, const StagedStore& store,
                  std::vector<std::string>& lines) {
  const auto buffers = [&](int count) {
    return ", " + std::to_string(count) + (count == 1 ? " buffer" : " buffers") + " a consumer" +
           (store.by_warps ? ", each warp its own rows" : "");
  };
  for (const StagedInput& each : store.inputs)
    staged_line(kernel, gemm, each, false, buffers(each.tma ? store.loads_ahead : 1), lines);
  for (const StagedTensor& each : store.outputs)
    staged_line(kernel, gemm, each, true, buffers(store.buffers), lines);
  // An atom of 200 columns stored 128 at a time leaves 72.
  if (store.rest > 0) {
    lines.push_back("  // " + std::to_string(store.width) + " columns at a time, then " +
                    std::to_string(store.rest));
  }
}

void hopper_lines(const sema::Kernel& kernel, const Sm90Gemm& gemm,
                  std::vector<std::string>& lines) {
  if (gemm.accumulator_sets > 1) {
    lines.push_back("  // " + std::to_string(gemm.accumulator_sets) +
                    " sets of accumulators: the sums of one are added to totals while the next "
                    "products fill the other");
  }
  if (gemm.store) staged_lines(kernel, gemm, *gemm.store, lines);
  if (gemm.split) {
    lines.push_back(split_line(gemm.cluster[2], gemm.split->each * gemm.split->values,
                               gemm.split->passes * gemm.split->values));
  }
  if (gemm.registers) {
    lines.push_back("  // registers: " + std::to_string((*gemm.registers)[0]) +
                    " for each producer thread, " + std::to_string((*gemm.registers)[1]) +
                    " for each of a consumer");
  }
}

template <std::derived_from<TensorGemm> Gemm>
void gemm_lines(const sema::KernelPtr& executed, const OperandNames& names, const Gemm& gemm,
                std::vector<std::string>& lines) {
  const sema::Kernel& kernel = *executed;
  constexpr bool hopper = std::is_same_v<Gemm, Sm90Gemm>;
  lines.push_back(entry("tile", tuple_text(gemm.tile)));
  lines.push_back(entry("mma", gemm.mma.name));
  lines.push_back(entry("groups", tuple_text(gemm.groups)));
  if constexpr (hopper) {
    lines.push_back(
        // A third number means split K: without it two are the usual form.
        entry("cluster", gemm.split ? tuple_text(gemm.cluster)
                                    : tuple_text(std::array{gemm.cluster[0], gemm.cluster[1]})));
  }
  // Entries whose value is the default are not printed.
  if (gemm.swap_ab) lines.push_back(entry("swap_ab", "1"));
  if constexpr (hopper) {
    if (gemm.alternate_k) lines.push_back(entry("alternate_k", "1"));
    if (gemm.tail > 1) lines.push_back(entry("tail", std::to_string(gemm.tail)));
  }
  if (!gemm.copies.empty()) lines.push_back(entry("copies", copies_text(gemm.copies)));
  if (gemm.promotion_interval)
    lines.push_back(entry("promotion_interval", std::to_string(gemm.promotion_interval)));
  lines.push_back(entry("stages", std::to_string(gemm.stages)));
  operand_lines(kernel, gemm, gemm.a, names[0], lines);
  operand_lines(kernel, gemm, gemm.b, names[1], lines);
  if constexpr (hopper)
    for (const FurtherGemm& each : gemm.further)
      lines.push_back("  // " + kernel.loaded(each.b.load).name + " is loaded as " + names[1] +
                      ", for a further product in the same launch");
  lines.push_back(std::apply(entry, order_entry(gemm.order)));
  // The accumulators follow from tile, atom and groups: a comment, for readers who check an
  // epilogue.
  lines.push_back(accumulator_line(kernel, gemm));
  // Only where outputs leave from registers: `vectors` is empty where they go through shared
  // memory.
  for (std::size_t i = 0; i < gemm.vectors.size(); ++i) {
    lines.push_back(written(kernel, i, gemm.vectors[i]) + " along " + index_name(kernel, gemm.n));
  }
  const std::vector<std::string> scales = scale_lines(executed, gemm);
  lines.insert(lines.end(), scales.begin(), scales.end());
  if constexpr (hopper) hopper_lines(kernel, gemm, lines);
}

// Which operands a first launch repacks: their tensors are other ones in the kernel that follows.
void repack_lines(const Plan& plan, const Variant& variant, const Sm90Gemm& gemm,
                  std::vector<std::string>& lines) {
  const auto copying = std::find_if(variant.before.begin(), variant.before.end(),
                                    [](const auto& each) { return each->variants.at(0).copies; });
  if (copying == variant.before.end()) return;
  // All copies of a launch have accesses of one width.
  const int bytes = (*copying)->variants.at(0).access_bytes;
  const Width width = bytes > 0 ? Width::vectors : Width::elements;
  const OperandNames names = operand_names(plan, variant, gemm);
  const std::array<sema::NodeId, 2> loads{gemm.a.load, gemm.b.load};
  for (std::size_t i = 0; i < 2; ++i)
    if (variant.kernel->loaded(loads[i]).name != scheduled(plan, variant).loaded(loads[i]).name)
      lines.push_back(entry("repack " + names[i], accesses_text(width)));
}

// Adds the lines that are the same on every GPU that has this plan.
void prediction_lines(const Prediction& prediction, std::vector<std::string>& lines) {
  lines.push_back("  // predicted: " + std::to_string(prediction.registers) +
                  " registers a thread, " + std::to_string(prediction.shared_bytes) +
                  " bytes of shared memory");
  // Counted on the plan's layouts, access by access: 4 wavefronts of a 16-byte access are the
  // least.
  for (const BankConflicts& access : prediction.conflicts) {
    lines.push_back("  //   " + access.access + ": " + std::to_string(access.wavefronts) +
                    (access.wavefronts == 1 ? " wavefront " : " wavefronts ") + access.unit +
                    ", least " + std::to_string(access.least));
  }
  lines.push_back("  //   " + prediction.cache_bytes.to_string() + " bytes through L2");
  lines.push_back("  //   " + prediction.global_bytes.to_string() +
                  " bytes of global memory at least, " + prediction.flops.to_string() +
                  " floating-point operations");
}

// Alignment is a condition that no `when` can say: it is about pointers, which a script does not
// see.
std::string alignment_text(const sema::Kernel& kernel, const Variant& variant) {
  std::string text;
  for (const Alignment& alignment : variant.aligned) {
    text += (text.empty() ? "" : ", ") + kernel.tensor(alignment.tensor).name + " to " +
            std::to_string(alignment.bytes) + " bytes";
  }
  return text;
}

std::string declared(const sema::Tensor& tensor) {
  return tensor.name + ": " + std::string(element_name(tensor.element)) + " " +
         to_string(tensor.memory());
}

// Each copy as a kernel and its schedule.
void copies_lines(const sema::Kernel& kernel, const Variant& variant,
                  std::vector<std::string>& lines) {
  // The kernel of a repack has the dims and guards of the kernel that it serves, whether it uses
  // them or not: its variants are planned under the same facts.
  std::string dims, where;
  for (const sema::Dim& dim : kernel.dims) dims += (dims.empty() ? "" : ", ") + dim.name;
  // The guards that the caller has on the dims hold for a repack as well, and its plan depends on
  // them.
  for (const Guard& guard : kernel.guards)
    where += (where.empty() ? " where " : " and ") + guard.predicate.to_string();
  // One launch, but each copy printed as a kernel of its own that a script can hold:
  //   kernel linear_repack_X<M, K>(X: bf16 (M,K):(K,1)) -> X_rows: bf16 (M,K):(64*ceil_div(K,64),1)
  //   { X_rows[m,k] = X[m,k] }
  for (std::size_t i = 0; i < variant.programs.size(); ++i) {
    const sema::Assignment& assignment = kernel.assignments[i];
    const sema::Tensor& source = kernel.loaded(assignment.value);
    const sema::Tensor& target = kernel.tensor(assignment.target);
    const std::string name = repack_name(kernel, source);
    const std::string at = "[" + index_names(variant.programs[i]) + "]";
    lines.push_back("kernel " + name + (dims.empty() ? "" : "<" + dims + ">") + "(" +
                    declared(source) + ") -> " + declared(target) + where);
    lines.push_back("{ " + target.name + at + " = " + source.name + at + " }");
    lines.push_back("schedule " + name + " for simt {");
    permute_lines(variant.programs[i], variant.access_bytes, lines);
    lines.push_back("}");
  }
}

// Which tensors a launch writes to or finds in workspace.
void workspace_lines(const sema::Kernel& kernel, const Variant& variant,
                     const std::optional<Sm90Gemm>& hopper, std::vector<std::string>& lines) {
  if (variant.workspace_tensors.empty()) return;
  std::vector<sema::Tensor> tensors = kernel.tensors;
  if (hopper && hopper->tail > 1) {
    const TailTensors tail = tail_tensors(kernel, *hopper);
    for (const TailTensor& each : {tail.counts, tail.sums})
      tensors.push_back({each.name, each.element, each.layout, sema::Access::inout, kernel.where});
  }
  lines.push_back("// in " + variant.workspace.to_string() + " bytes of workspace:");
  for (const WorkspaceTensor& held : variant.workspace_tensors) {
    for (const sema::Tensor& tensor : tensors) {
      if (tensor.name != held.name) continue;
      lines.push_back("//   " + declared(tensor) + ", from byte " + held.offset.to_string() +
                      " on");
    }
  }
}

}  // namespace

std::vector<std::string> schedule_lines(const Plan& plan, const Variant& variant) {
  const sema::Kernel& kernel = executed(plan, variant);
  std::vector<std::string> lines;
  const tile::Program* program = scheduled_program(variant);
  const bool scheduled = !variant.is_stage && program;
  const bool is_chained = program && program->is_chain();
  const auto hopper = sm90_of(variant);
  const std::string target = is_chained || hopper           ? "sm90"
                             : program && is_sm80(*program) ? "sm80"
                                                            : "simt";
  lines.push_back("// variant " + variant.name);
  if (const std::string aligned = alignment_text(kernel, variant); !aligned.empty()) {
    lines.push_back("// where these are aligned: " + aligned);
  }
  for (const auto& before : variant.before)
    lines.push_back("// after " + (before->variants.size() == 1 ? before->variants[0].name
                                                                : before->kernel->name));
  workspace_lines(kernel, variant, hopper, lines);
  for (const std::string& note : variant.notes) lines.push_back("// " + note);
  if (scheduled) {
    // Scalar kernels have no schedule, and repacks print several: their conditions are comments.
    lines.push_back("schedule " + kernel.name + " for " + target +
                    (variant.when.empty() ? "" : " when " + conditions_text(variant.when)) + " {");
    lines.push_back(entry("name", "\"" + variant.name + "\""));
    // A permute kernel says its accesses in bytes, beside the tile (permute_lines).
    if (!elementwise(variant) && !is_chained)
      lines.push_back(entry("accesses", accesses_text(variant.accesses)));
    cost_lines(plan.variants, variant, lines);
    if (variant.stores_operands) lines.push_back(entry("operands", "\"stored\""));
    if (hopper) repack_lines(plan, variant, *hopper, lines);
  } else if (!variant.when.empty()) {
    lines.push_back("// when " + conditions_text(variant.when));
  }
  const std::size_t entries = lines.size();
  const sema::KernelPtr& own = variant.kernel ? variant.kernel : plan.kernel;
  if (variant.copies) {
    copies_lines(kernel, variant, lines);
  } else if (!program) {
    lines.push_back("// " + std::to_string(variant.programs.front().grid->threads) +
                    " threads a block");
  } else if (is_chained) {
    chained_lines(*program, lines);
  } else if (hopper) {
    gemm_lines(own, operand_names(plan, variant, *hopper), *hopper, lines);
  } else if (is_sm80(*program)) {
    const Sm80Gemm gemm = sm80_of(*program);
    gemm_lines(own, operand_names(plan, variant, gemm), gemm, lines);
  } else if (program->is_product()) {
    const SimtGemm gemm = simt_of(*program);
    gemm_lines(kernel, operand_names(plan, variant, gemm), gemm, lines);
  } else if (program->is_elementwise()) {
    permute_lines(*program, variant.access_bytes, lines);
  } else {
    program_lines(*split_program(variant).value_or(program), lines);
  }
  prediction_lines(variant.prediction, lines);
  for (std::size_t i = entries; variant.is_stage && i < lines.size(); ++i)
    if (!lines[i].starts_with("//")) lines[i].insert(0, "//");
  if (scheduled) lines.push_back("}");
  return lines;
}

namespace {

std::string rounded(double number) {
  return std::to_string(std::llround(number));
}

// Returns the line about the GPU that is planned for.
std::string machine_line(const Prediction& prediction) {
  // Behind the schedule, since it depends on the GPU: the text of a schedule does not.
  std::string line = "// an SM has room for " + std::to_string(prediction.blocks) +
                     (prediction.blocks == 1 ? " block" : " blocks");
  if (prediction.tile) {
    line += "; a K tile: " + rounded(prediction.tile->bytes) + " bytes in " +
            rounded(prediction.tile->cache_clocks) + " clocks of its share of L2, products in " +
            rounded(prediction.tile->product_clocks);
  }
  return line;
}

// Returns the `use` statements that the printed schedules need, each once: those of the parts of
// the library that their atoms and copies come from.
std::set<std::string> use_lines(const Plan& plan) {
  std::set<std::string> lines;
  const auto add = [&](const std::string& name) {
    // "sm90.wgmma(n = 256, ...)" is a record of `atoms.sm90`.
    const std::string library = "atoms." + name.substr(0, name.find('.'));
    if (sema::stdlib_text(library)) lines.insert("use " + library);
  };
  for (const Variant& variant : plan.variants) {
    const tile::Program* program = scheduled_program(variant);
    if (!program || !program->is_product()) continue;
    if (const auto& atom = tile::parts_of(*program).mma->atom) add(atom->name);
    for (const sema::CopyInstruction& each : program->copies) add(each.name);
  }
  return lines;
}

// A launch before, in comments: it is a kernel that the script does not have.
std::string launch_text(const Plan& plan) {
  const sema::Kernel& kernel = *plan.kernel;
  tile::Program program;
  program.kernel = plan.kernel;
  const tile::ValueText text(program);
  const tile::HeldValues none(program);
  std::string made;
  const auto is_output = [&](sema::NodeId id) {
    return std::any_of(kernel.assignments.begin(), kernel.assignments.end(),
                       [&](const sema::Assignment& each) { return each.value == id; });
  };
  for (const sema::NodeId id : text.written())
    if (!is_output(id)) made += "\n// with %" + std::to_string(id) + " = " + text(id, none);
  for (const sema::Assignment& assignment : kernel.assignments) {
    std::string at;
    for (const sema::IndexId index : assignment.indices)
      at += (at.empty() ? "" : ",") + kernel.index(index).name;
    made += "\n// before: " + kernel.tensor(assignment.target).name + "[" + at +
            "] = " + text(assignment.value, none) + ", as " +
            declared(kernel.tensor(assignment.target));
  }
  made += "\n";
  for (const Variant& variant : plan.variants) {
    made += "//\n";
    for (const std::string& line : schedule_lines(plan, variant)) made += line + "\n";
  }
  return made;
}

// `after` says what stands behind a variant.
std::string print_with(const Plan& plan,
                       const std::function<std::vector<std::string>(const Variant&)>& after) {
  std::string text;
  for (const std::string& note : plan.notes) text += "// " + note + "\n";
  for (const std::string& line : use_lines(plan)) text += line + "\n";
  // Twenty rows of a policy share two repacks: each is printed at the first variant that needs it.
  std::set<std::string> said;  // launches that several variants begin with
  // A variant with its own launches before it: a blank line, the schedule, what the machine makes
  // of it.
  const auto say = [&](const Plan& of, const Variant& variant) {
    if (!text.empty()) text += "\n";
    for (const std::string& line : schedule_lines(of, variant)) text += line + "\n";
    text += machine_line(variant.prediction) + "\n";
  };
  for (const Variant& variant : plan.variants) {
    const std::vector<std::string> permuted = permuted_lines(plan, variant);
    for (const auto& before : variant.before) {
      if (split_program(variant)) continue;  // the variant's own schedule says it
      // A launch's work for a product is printed with it, and so is a product whose outputs the
      // variant permutes; stages of reductions are printed alone.
      const bool computes =
          before->variants[0].is_stage && (!variant.is_stage || !permuted.empty());
      if (computes) {
        if (!said.insert(before->kernel->name).second) continue;
        text += launch_text(*before);
        for (const std::string& line : permuted) text += line + "\n";
      } else if (said.insert(before->variants[0].name).second) {
        say(*before, before->variants[0]);
      }
    }
    say(plan, variant);
    for (const std::string& line : after(variant)) text += line + "\n";
  }
  return text;
}

}  // namespace

std::string print_plan(const Plan& plan) {
  return print_with(plan, [](const Variant&) -> std::vector<std::string> { return {}; });
}

std::string print_plan(const Plan& plan, const Binding& sizes, const Target& target) {
  return print_with(
      plan, [&](const Variant& variant) { return forecast_lines(plan, variant, sizes, target); });
}

}  // namespace lay::plan
