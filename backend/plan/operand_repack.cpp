#include "backend/plan/operand_repack.h"

#include <algorithm>
#include <set>

#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/permute/plan_permute.h"
#include "backend/plan/schedule/library_rows.h"
#include "backend/plan/sm90/tma.h"
#include "backend/plan/tensor_variant.h"
#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int line_bits = 1024;  // of what memory moves at once: rows begin on whole lines
constexpr int threads_of_copies = 256;
// Tile of a copy that is not transposed, element by element: a thread has an element of each row.
// More rows take registers for their addresses, and so leave fewer blocks that keep memory busy.
constexpr int tile_run = 256, tile_rows = 8;

const sema::Tensor& tensor_of(const sema::Kernel& kernel, sema::TensorId id) {
  return kernel.tensor(id);
}

// A factor as it lies, and what TMA would ask for.
struct Factor {
  const sema::Load* load = nullptr;
  bool copyable = false;
  bool unreadable = false;      // by TMA or by the atom, at all sizes
  bool transposed = false;      // it runs along the outer index, which the atom does not take
  int run_mode = 0;             // the mode along which the copy runs
  std::vector<Predicate> open;  // on the sizes, for it to be readable

  sema::TensorId tensor() const { return load->tensor; }
};

Factor factor_of(const sema::Kernel& kernel, sema::NodeId node, sema::IndexId outer,
                 sema::IndexId k, bool takes_outer, const Facts& known) {
  Factor made;
  made.load = &std::get<sema::Load>(kernel.node(node).what);
  const sema::Tensor& tensor = tensor_of(kernel, made.tensor());
  const auto index_at = [&](int mode) {
    return bare_index(kernel, made.load->coordinate[static_cast<std::size_t>(mode)]);
  };
  Facts facts = known;
  Conditions conditions;
  // TMA takes tensors of 2 to 5 modes with one contiguous mode, the other strides multiples of 16
  // bytes.
  const auto order = tma_order(kernel, made.tensor(), facts, conditions);
  const sema::IndexId run = order ? index_at(order->front()) : -1;
  // 8-bit wgmma reads both operands along k only: an operand along its outer index is unreadable
  // for it.
  made.unreadable = !order || (run != k && (run != outer || !takes_outer));
  made.open = conditions.when;
  constexpr int least_modes = 2, most_modes = 5;  // of a tensor that TMA takes
  const int rank = tensor.layout.rank();
  // A repack is written element by element, and whole bytes.
  made.copyable = tensor.access == sema::Access::input && rank >= least_modes &&
                  rank <= most_modes && !is_half_byte(tensor.element);
  const int unit = tile::unit_mode(facts, tensor.layout);
  const bool runs_outside = unit >= 0 && index_at(unit) == outer;
  made.transposed = runs_outside && !takes_outer;
  // The copy keeps the direction where the atom takes it, and turns it along k where not.
  for (int mode = 0; mode < rank; ++mode) {
    if (index_at(mode) == (runs_outside && takes_outer ? outer : k)) made.run_mode = mode;
  }
  return made;
}

// In whole lines.
struct Pitched {
  Layout layout;
  Int bytes;
};

// Every mode one extent with one stride: the run first, then the other mode of the matrix, then the
// batches.
Pitched pitched(const sema::Kernel& kernel, const Factor& factor, sema::IndexId outer,
                sema::IndexId k) {
  const sema::Tensor& tensor = tensor_of(kernel, factor.tensor());
  const int rank = tensor.layout.rank(), unit = line_bits / bits(tensor.element);
  std::vector<Tuple> extents, strides(static_cast<std::size_t>(rank), Tuple(1));
  for (int mode = 0; mode < rank; ++mode) extents.emplace_back(size(tensor.layout[mode].shape));
  const auto extent = [&](int mode) { return extents[static_cast<std::size_t>(mode)].value(); };
  // Rows are padded to whole lines of 128 bytes: (M,K) of bf16 becomes (M,K):(64*ceil_div(K,64),1),
  // whatever K is, so the conditions on strides hold for all sizes.
  Int step = ceil_div(extent(factor.run_mode), unit) * unit;
  const auto place = [&](int mode) {
    strides[static_cast<std::size_t>(mode)] = Tuple(step);
    step *= extent(mode);
  };
  const auto of_matrix = [&](int mode) {
    const auto index = bare_index(kernel, factor.load->coordinate[static_cast<std::size_t>(mode)]);
    return index == outer || index == k;
  };
  // The matrix's other mode before the batches, so that a batch's matrix is one piece of memory.
  for (const bool matrix : {true, false}) {
    for (int mode = rank - 1; mode >= 0; --mode) {
      if (mode != factor.run_mode && of_matrix(mode) == matrix) place(mode);
    }
  }
  return {Layout(Tuple(extents), Tuple(strides)), step * (bits(tensor.element) / 8)};
}

class Maker {
 public:
  Maker(const sema::Kernel& kernel, const GemmForm& form) : kernel_(kernel), form_(form) {
    for (const auto& dim : kernel.dims) taken_.insert(dim.name);
    for (const auto& tensor : kernel.tensors) taken_.insert(tensor.name);
    for (const auto& scalar : kernel.scalars) taken_.insert(scalar.name);
    main_ = std::make_shared<sema::Kernel>(kernel);
    copies_ = std::make_shared<sema::Kernel>();
    copies_->name = kernel.name;
    copies_->dims = kernel.dims;
    copies_->guards = kernel.guards;
    copies_->where = kernel.where;
  }

  void copy(const Factor& factor, sema::IndexId outer) {
    // A tensor that is both factors is copied once, and both loads read the copy.
    const auto id = static_cast<std::size_t>(factor.tensor());
    if (std::find(copied_.begin(), copied_.end(), factor.tensor()) != copied_.end()) return;
    copied_.push_back(factor.tensor());
    sema::Tensor& moved = main_->tensors[id];
    const Pitched made = pitched(kernel_, factor, outer, form_.k);
    moved.layout = made.layout;
    moved.name += factor.transposed ? "_transposed" : "_rows";
    while (!taken_.insert(moved.name).second) moved.name += "_";
    // Workspace tensors lie one behind the other, each at a multiple of 128 bytes.
    end_ = aligned_up(end_);
    workspace_tensors_.push_back({moved.name, end_});
    end_ += made.bytes;
    add_assignment(tensor_of(kernel_, factor.tensor()), moved, *factor.load);
  }

  const sema::KernelPtr main() const { return main_; }
  const sema::KernelPtr copies() const { return copies_; }
  const std::vector<sema::TensorId>& copied() const { return copied_; }
  const std::vector<WorkspaceTensor>& workspace_tensors() const { return workspace_tensors_; }
  const Int& workspace() const { return end_; }

  // Read and written by the copies.
  Int traffic() const {
    Int bytes = 0;
    for (const sema::TensorId id : copied_) {
      const sema::Tensor& tensor = tensor_of(kernel_, id);
      bytes += size(tensor.layout) * (bits(tensor.element) / 8) * 2;
    }
    return bytes;
  }

 private:
  void add_assignment(const sema::Tensor& source, const sema::Tensor& target,
                      const sema::Load& load) {
    sema::Kernel& made = *copies_;
    const auto from = static_cast<sema::TensorId>(made.tensors.size()), to = from + 1;
    made.tensors.push_back(source);
    made.tensors.push_back(target);
    made.tensors.back().access = sema::Access::output;
    made.signature.push_back({false, from});
    made.signature.push_back({false, to});
    // Builds the checked kernel that the script would have written: target[i,j] = source[i,j], over
    // indices of its own with the tensor's extents.
    sema::Load read{from, {}};
    sema::Assignment assignment{to, {}, -1, source.where};
    for (int mode = 0; mode < source.layout.rank(); ++mode) {
      const sema::IndexId index =
          bare_index(kernel_, load.coordinate[static_cast<std::size_t>(mode)]);
      assignment.indices.push_back(static_cast<sema::IndexId>(made.indices.size()));
      sema::Index named = kernel_.indices[static_cast<std::size_t>(index)];
      named.extent = size(source.layout[mode].shape);
      named.summed = false;
      made.indices.push_back(named);
      read.coordinate.push_back(static_cast<sema::NodeId>(made.nodes.size()));
      made.nodes.push_back(
          {sema::IndexValue{assignment.indices.back()}, ElementType::s64, source.where});
    }
    assignment.value = static_cast<sema::NodeId>(made.nodes.size());
    made.nodes.push_back({read, source.element, source.where});
    made.assignments.push_back(assignment);
  }

  const sema::Kernel& kernel_;
  const GemmForm& form_;
  std::shared_ptr<sema::Kernel> main_, copies_;
  std::vector<sema::TensorId> copied_;
  std::vector<WorkspaceTensor> workspace_tensors_;
  Int end_ = 0;
  std::set<std::string> taken_;
};

// The tile of a copy that runs as its source does; nothing for others.
std::optional<std::vector<int>> straight_tile(const PermuteForm& form) {
  const AffineAccess& to = form.outputs.front();
  if (form.inputs.empty() || form.inputs.front().way.run_axis != to.run_axis || to.run_axis < 0)
    return std::nullopt;
  std::vector<int> tile(form.indices.size(), 1);
  // One row of 256 elements at a time, an element a thread, and eight rows of the next fastest
  // mode.
  tile[static_cast<std::size_t>(to.run_axis)] = tile_run;
  for (const AffineAccess::Leaf& leaf : to.leaves) {
    if (leaf.axis == to.run_axis) continue;
    tile[static_cast<std::size_t>(leaf.axis)] = tile_rows;
    break;
  }
  return tile;
}

// All copies in one launch: each a permute kernel of its own that takes its share of the blocks.
std::optional<Variant> copies_variant(const sema::KernelPtr& copies, int bytes,
                                      const Target& target, const Facts& facts,
                                      std::vector<Problem>& problems) {
  Variant made;
  made.copies = true;
  for (std::size_t i = 0; i < copies->assignments.size(); ++i) {
    // The planner sees one copy at a time.
    const auto one = tile::with_assignments(*copies, {copies->assignments[i]});
    Facts known = facts;
    const auto form = recognise_permute(*one, known);
    if (!std::holds_alternative<PermuteForm>(form)) return std::nullopt;
    PermuteSchedule schedule;
    schedule.threads = threads_of_copies;
    schedule.where = copies->where;
    if (bytes == 0) schedule.tile = straight_tile(std::get<PermuteForm>(form));
    auto part =
        plan_permute(one, std::get<PermuteForm>(form), known, schedule, bytes, target, problems);
    if (!part) return std::nullopt;
    made.programs.push_back(std::move(part->programs.front()));
    made.when.insert(made.when.end(), part->when.begin(), part->when.end());
    made.aligned.insert(made.aligned.end(), part->aligned.begin(), part->aligned.end());
    made.prediction.registers = std::max(made.prediction.registers, part->prediction.registers);
    // One kernel declares the shared memory of all its parts.
    made.prediction.shared_bytes += part->prediction.shared_bytes;
    made.prediction.blocks = resident_blocks(threads_of_copies, made.prediction.registers,
                                             made.prediction.shared_bytes, target);
    const auto& conflicts = part->prediction.conflicts;
    made.prediction.conflicts.insert(made.prediction.conflicts.end(), conflicts.begin(),
                                     conflicts.end());
  }
  made.access_bytes = bytes;
  return made;
}

void add_new(std::vector<Predicate>& to, const std::vector<Predicate>& more) {
  for (const Predicate& p : more) {
    if (std::find(to.begin(), to.end(), p) == to.end()) to.push_back(p);
  }
}

bool all_of(const std::vector<Predicate>& some, const std::vector<Predicate>& in) {
  return std::all_of(some.begin(), some.end(), [&](const Predicate& p) {
    return std::find(in.begin(), in.end(), p) != in.end();
  });
}

struct Factors {
  Factor a, b;
};

// The factors, the product's first and second, that the atom takes along m and along n.
struct Takes {
  bool a, b;
};

// With swap_ab the atom's first operand is the product's second factor.
Takes takes_of(const TensorSchedule& schedule) {
  const Takes made{schedule.mma->takes_transposed_a(), schedule.mma->takes_transposed_b()};
  return schedule.swap_ab ? Takes{made.b, made.a} : made;
}

Factors factors_of(const sema::Kernel& kernel, const GemmForm& form, const TensorSchedule& schedule,
                   const Facts& facts) {
  const Takes takes = takes_of(schedule);
  return {factor_of(kernel, form.a, form.m, form.k, takes.a, facts),
          factor_of(kernel, form.b, form.n, form.k, takes.b, facts)};
}

}  // namespace

sema::ProblemSize size_on_copies(const sema::Kernel& kernel, const GemmForm& form, Facts& facts,
                                 const CopiedFactors& factors, const Target& target) {
  sema::ProblemSize made = product_size(kernel, form, target);
  const sema::ProductKind kind = product_kind(kernel, form, facts, false, target);
  if (!factors.a || !factors.b || !kind.a_along_k || !kind.b_along_k) return made;
  const int line = line_bits / bits(kernel.loaded(form.a).element);
  made.k = ceil_div(made.k, line) * line;
  return made;
}

CopyChoices copy_choices(const sema::Kernel& kernel, const GemmForm& form,
                         const TensorSchedule& schedule, const Facts& facts) {
  CopyChoices made;
  if (!schedule.mma) return made;
  const auto [a, b] = factors_of(kernel, form, schedule, facts);
  made.needed = a.unreadable || b.unreadable;
  if ((a.unreadable && !a.copyable) || (b.unreadable && !b.copyable)) return made;
  const bool same = a.tensor() == b.tensor();
  // Copying one factor alone helps where the other can be read as it lies: at all sizes, or under
  // conditions that leave something for the copy to open.
  const auto alone = [](const Factor& copied, const Factor& other) {
    return copied.copyable && !other.unreadable &&
           (copied.unreadable || !all_of(copied.open, other.open));
  };
  if (!same && alone(a, b)) made.all.push_back({true, false, a.transposed});
  if (!same && alone(b, a)) made.all.push_back({false, true, b.transposed});
  if (a.copyable && b.copyable && (!same || a.run_mode == b.run_mode))
    made.all.push_back({true, true, a.transposed && b.transposed});
  return made;
}

std::optional<CopiedFactors> said_factors(const sema::Kernel& kernel, const GemmForm& form,
                                          const TensorSchedule& schedule, const Facts& facts,
                                          std::vector<Problem>& problems) {
  // The schedule names operands of the instruction.
  // With swap_ab the first operand of the instruction is the product's second factor.
  const bool first = schedule.repack_a.has_value(), second = schedule.repack_b.has_value();
  const bool a = schedule.swap_ab ? second : first, b = schedule.swap_ab ? first : second;
  const CopyChoices choices = copy_choices(kernel, form, schedule, facts);
  const auto found =
      std::find_if(choices.all.begin(), choices.all.end(),
                   [&](const CopiedFactors& each) { return each.a == a && each.b == b; });
  const bool wide = schedule.repack_a == Width::vectors || schedule.repack_b == Width::vectors;
  if (found != choices.all.end() && (!wide || found->transposed)) return *found;
  std::string what, works;
  for (const CopiedFactors& each : choices.all) {
    const std::string &of_a = kernel.loaded(form.a).name, &of_b = kernel.loaded(form.b).name;
    works += (works.empty() ? "" : "; ") + (each.a ? of_a : "") +
             (each.a && each.b && of_a != of_b ? " and " : "") +
             (each.b && of_a != of_b ? of_b
              : each.a               ? ""
                                     : of_b);
  }
  // These factors can be copied, but not in the accesses that were asked for.
  const bool only_wide = found != choices.all.end();
  problems.push_back(
      {"schedule-entry",
       only_wide ? "`repack` in vectors is for operands that are transposed on the way, and these "
                   "rows only get another pitch"
                 : "`repack` takes operands that are worth a copy for some sizes",
       schedule.at(first ? "repack A" : "repack B"),
       {},
       {{"works", only_wide       ? "\"elements\""
                  : works.empty() ? "no `repack`"
                                  : works}},
       {}});
  return std::nullopt;
}

std::optional<Variant> copying_variant(const sema::Kernel& kernel, const GemmForm& form,
                                       const TensorSchedule& schedule, const CopiedFactors& factors,
                                       int bytes, Width width, const Target& target,
                                       const Facts& facts, KnownCopies& known,
                                       std::vector<Problem>& problems) {
  const auto [a, b] = factors_of(kernel, form, schedule, facts);
  Maker maker(kernel, form);
  if (factors.a) maker.copy(a, form.m);
  if (factors.b) maker.copy(b, form.n);
  const Takes takes = takes_of(schedule);
  // Rows of the library share their repacks: what is copied depends on the factors, on what the
  // atom takes and on the access width only.
  const auto [found, fresh] =
      known.try_emplace({factors.a, factors.b, takes.a, takes.b, bytes}, std::nullopt);
  if (fresh) found->second = copies_variant(maker.copies(), bytes, target, facts, problems);
  std::optional<Variant> copies = found->second;
  if (!copies) return std::nullopt;
  auto made = tensor_variant("sm90", maker.main(), form, schedule, width, target, facts, problems);
  if (!made) return std::nullopt;
  std::string suffix = "_repack";
  for (const sema::TensorId id : maker.copied()) suffix += "_" + tensor_of(kernel, id).name;
  copies->name = suffix.substr(1) + (bytes > 0 ? "_bytes" + std::to_string(bytes) : "");
  made->name += suffix;
  if (bytes > 0) made->name += "_bytes" + std::to_string(bytes);
  // Workspace that the launcher keeps is aligned. The alignment that copies ask of the caller's
  // tensors becomes a condition of this variant.
  const auto is_copied = [&](sema::TensorId id) {
    return std::find(maker.copied().begin(), maker.copied().end(), id) != maker.copied().end();
  };
  // Pointers: the main launch reads copies in workspace, which are aligned. The repack reads the
  // caller's tensors, and its own conditions on them (even ids are sources, odd ones targets)
  // become the variant's.
  std::erase_if(made->aligned, [&](const Alignment& each) { return is_copied(each.tensor); });
  add_new(made->when, copies->when);
  std::erase_if(copies->aligned, [](const Alignment& each) { return each.tensor % 2 != 0; });
  for (const Alignment& each : copies->aligned) {
    made->aligned.push_back(
        {maker.copied()[static_cast<std::size_t>(each.tensor / 2)], each.bytes});
  }
  copies->prediction.global_bytes = copies->prediction.cache_bytes = maker.traffic();
  copies->workspace_tensors = maker.workspace_tensors();
  copies->workspace = maker.workspace();
  // What the product has in workspace itself lies behind the copies.
  if (made->workspace_tensors.empty())
    made->workspace = maker.workspace();
  else
    move_in_workspace(*made, aligned_up(maker.workspace()));
  made->workspace_tensors.insert(made->workspace_tensors.begin(), maker.workspace_tensors().begin(),
                                 maker.workspace_tensors().end());
  made->kernel = maker.main();
  made->before.insert(made->before.begin(),
                      std::make_shared<Plan>(Plan{maker.copies(), {std::move(*copies)}, {}}));
  return made;
}

std::string repack_name(const sema::Kernel& repack, const sema::Tensor& source) {
  return repack.name + "_repack_" + source.name;
}

std::set<std::string> repack_names(const Plan& plan) {
  std::set<std::string> names;
  for (const Variant& variant : plan.variants)
    for (const auto& before : variant.before)
      if (before->variants[0].copies)
        for (const sema::Assignment& each : before->kernel->assignments)
          names.insert(repack_name(*before->kernel, before->kernel->loaded(each.value)));
  return names;
}

}  // namespace lay::plan
