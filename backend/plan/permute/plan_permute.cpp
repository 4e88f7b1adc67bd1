#include "backend/plan/permute/plan_permute.h"

#include <algorithm>
#include <bit>

#include "backend/plan/conditions.h"
#include "backend/plan/model/predict.h"
#include "backend/plan/permute/permute_smem.h"
#include "backend/plan/permute/permute_tile.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/shared_layout.h"
#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

// Bytes of a tile that lie side by side in memory: whole sectors, and as many as keep a page of
// DRAM open, of which a tile that is transposed in shared memory has some on both sides; and the
// bytes of a tile, which are on their way at once: a block's share of what hides the latency of
// memory.
constexpr int staged_run_bytes = 256, plain_run_bytes = 512, tile_bytes = 16384;
constexpr int accesses_wanted = 4;  // of a thread, 16 bytes each
constexpr std::int64_t most_staged_bytes = 65536;
constexpr std::int64_t most_elements = 1 << 16;
constexpr int most_ahead = 96;  // registers of a thread for what it reads ahead

class PermutePlanner {
 public:
  PermutePlanner(const sema::KernelPtr& kernel, const PermuteForm& form, Facts& facts,
                 const PermuteSchedule& schedule, int bytes, const Target& target,
                 std::vector<Problem>& problems)
      : executed_(kernel),
        kernel_(*kernel),
        form_(form),
        known_(facts),
        facts_(facts),
        schedule_(schedule),
        bytes_(bytes),
        target_(target),
        problems_(problems) {}

  std::optional<Variant> run() {
    const AffineAccess& output = form_.outputs[0];
    made_.threads.along =
        output.run_axis >= 0 ? output.run_axis : static_cast<int>(form_.indices.size()) - 1;
    shape();
    if (!check_shape()) return std::nullopt;
    choose_vectors();
    // A variant of wide accesses in which nothing is wide is the variant "any".
    const bool narrow =
        made_.threads.vector == 1 && std::all_of(made_.loads.begin(), made_.loads.end(),
                                                 [](const auto& l) { return l.vector == 1; });
    if (bytes_ > 0 && narrow) return std::nullopt;
    // Threads stand in the order of the output's memory, unless another order touches fewer sectors
    // of all tensors that are accessed in that order (permute_sectors.cpp).
    const Sharing sharing{&output, made_.tile, made_.threads.along, made_.threads.vector,
                          made_.grid.threads};
    made_.threads.layout = share(sharing, parts_for_all(kernel_, sharing, in_order()));
    if (!stage_inputs() || !place_blocks()) return std::nullopt;
    return variant();
  }

 private:
  const sema::Tensor& tensor(sema::TensorId id) const { return kernel_.tensor(id); }
  int element_bytes(sema::TensorId id) const { return std::max(1, bits(tensor(id).element) / 8); }
  const Layout& layout(sema::TensorId id) const { return tensor(id).layout; }
  // Runs along another index than the outputs, so that its tile is transposed in shared memory.
  bool is_staged(const AffineAccess& way) const {
    // Y[i,j] = X[j,i] + b[i]: X is staged; b, which does not move along the run, is read as it is.
    return way.run_axis >= 0 && way.run_axis != made_.threads.along &&
           way.depends_on(made_.threads.along);
  }
  bool problem(const char* code, const char* entry, std::string message, std::string help) {
    problems_.push_back(
        {code, std::move(message), schedule_.at(entry), {}, {{"help", std::move(help)}}, {}});
    return false;
  }

  // The tensors that are accessed in the order of the outputs.
  std::vector<PermuteSide> in_order() const {
    std::vector<PermuteSide> sides;
    for (const AffineAccess& way : form_.outputs)
      sides.push_back({&way, element_bytes(way.tensor)});
    for (const auto& input : form_.inputs) {
      if (!is_staged(input.way)) sides.push_back({&input.way, element_bytes(input.way.tensor)});
    }
    return sides;
  }

  void shape() {
    std::vector<PermuteSide> sides;
    for (const AffineAccess& way : form_.outputs)
      sides.push_back({&way, element_bytes(way.tensor)});
    bool staged = false;
    std::int64_t staged_element = 0;  // bytes of all staged inputs at one element
    for (const auto& input : form_.inputs) {
      sides.push_back({&input.way, element_bytes(input.way.tensor)});
      if (!is_staged(input.way)) continue;
      staged = true;
      staged_element += element_bytes(input.way.tensor);
    }
    const std::int64_t inputs =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(form_.inputs.size()));
    const std::int64_t wanted =
        // 16 KiB in flight a block, shared by the inputs. Latency times bandwidth is about 25 KiB
        // an SM of an H200 (700 ns at 36 bytes a ns), so that two blocks an SM keep memory busy.
        std::max<std::int64_t>(1024, tile_bytes / inputs / sides[0].element_bytes);
    int run = staged ? staged_run_bytes : plain_run_bytes;
    const auto count = [&] {
      std::int64_t product = 1;
      for (int extent : made_.tile) product *= extent;
      return product;
    };
    // Tries shorter runs until shared memory, the tile's size and a thread's registers all hold.
    do {
      made_.tile = schedule_.tile ? *schedule_.tile
                                  : default_tile(kernel_, form_.indices, sides, run, wanted);
      // Four 16-byte accesses a thread: a power of two of threads from 64 to 512.
      const std::int64_t accesses = count() * sides[0].element_bytes / 16 / accesses_wanted;
      made_.grid.threads = schedule_.threads.value_or(static_cast<int>(std::clamp<std::int64_t>(
          static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(accesses + 1))), 64,
          512)));
      run /= 2;
    } while (!schedule_.tile && run >= 4 &&
             (count() * staged_element > most_staged_bytes ||
              count() > 4 * std::max<std::int64_t>(wanted, 4096) ||
              registers_of_staged(count()) > most_ahead));
  }

  // Registers of a thread for what it reads ahead of a tile of `elements`: an access takes one at
  // least.
  std::int64_t registers_of_staged(std::int64_t elements) const {
    constexpr std::int64_t register_bytes = 4;
    std::int64_t registers = 0;
    for (const auto& input : form_.inputs) {
      if (!is_staged(input.way)) continue;
      const std::int64_t element = element_bytes(input.way.tensor),
                         vector = std::max<std::int64_t>(1, bytes_ / element);
      const std::int64_t each = std::max<std::int64_t>(1, vector * element / register_bytes);
      registers += elements / made_.grid.threads / vector * each;
    }
    return registers;
  }

  bool check_shape() {
    std::int64_t elements = 1;
    for (int extent : made_.tile) elements = std::min(elements * extent, 2 * most_elements);
    if (elements > most_elements || elements > 256L * made_.grid.threads) {
      return problem("schedule-registers", "tile",
                     "no " + std::to_string(made_.grid.threads) +
                         " threads have registers for a tile of this size",
                     "a smaller tile");
    }
    if (made_.grid.threads > target_.block_threads) {
      return problem("schedule-threads", "threads",
                     "a block has at most " + std::to_string(target_.block_threads) + " threads",
                     "fewer threads");
    }
    return true;
  }

  // Returns how many elements go in one access: the tile is a multiple of their number, and the
  // tensor's layout admits them.
  int widest(const AffineAccess& way, int axis, int most) {
    int vector = std::max(1, std::min(bytes_ / element_bytes(way.tensor), most));
    if (way.run_axis != axis || !way.bare) return 1;
    // Sw<b,m,s> moves groups of 2^m elements as they are.
    const Swizzle& swizzle = tensor(way.tensor).swizzle;  // keeps 2^m neighbours together
    while (swizzle.b > 0 && swizzle.m < 16 && vector > 1 << swizzle.m) vector /= 2;
    const int extent = made_.tile[static_cast<std::size_t>(axis)];
    const auto fits = [&] {
      return extent % vector == 0 &&
             !contradicts(facts_,
                          tile::vector_conditions(facts_, layout(way.tensor), way.mode, vector));
    };
    while (vector > 1 && !fits()) vector /= 2;
    return vector;
  }

  void need(const AffineAccess& way, int vector) {
    if (vector == 1) return;
    for (const Predicate& p :
         tile::vector_conditions(facts_, layout(way.tensor), way.mode, vector)) {
      // A condition that holds for one tensor is a fact for the next: K % 8 == 0 is asked once.
      if (std::find(when_.begin(), when_.end(), p) != when_.end()) continue;
      when_.push_back(p);
      facts_.assume(p);
    }
    const int bytes = vector * element_bytes(way.tensor);
    const auto found = std::find_if(aligned_.begin(), aligned_.end(),
                                    [&](const Alignment& a) { return a.tensor == way.tensor; });
    if (found == aligned_.end()) {
      aligned_.push_back({way.tensor, bytes});
    } else {
      found->bytes = std::max(found->bytes, bytes);
    }
  }

  // A thread's elements are those of one access of the widest type, in global and in shared memory,
  // so that neighbours' accesses are neighbours.
  void choose_vectors() {
    int most = bytes_;
    std::vector<const AffineAccess*> direct;
    for (const AffineAccess& way : form_.outputs) direct.push_back(&way);
    for (const auto& input : form_.inputs) direct.push_back(&input.way);
    // 16 bytes are two s64 or four f32: the fewest elements count, so that one access of each
    // tensor covers the same elements.
    for (const AffineAccess* way : direct) {
      if (way->run_axis == made_.threads.along || is_staged(*way))
        most = std::min(most, bytes_ / element_bytes(way->tensor));
    }
    for (const AffineAccess* way : direct)
      made_.threads.vector =
          std::max(made_.threads.vector, widest(*way, made_.threads.along, most));
    for (const AffineAccess& way : form_.outputs) {
      const int vector = widest(way, made_.threads.along, made_.threads.vector);
      made_.stores.push_back({std::max(0, way.mode), vector});
      need(way, vector);
    }
    // Elements read ahead stay in registers until the tile is computed: elements of a thread, in 32
    // bits.
    std::int64_t ahead = 0, per_thread = 1;
    for (int extent : made_.tile) per_thread *= extent;
    per_thread = (per_thread + made_.grid.threads - 1) / made_.grid.threads;
    for (const auto& input : form_.inputs) {
      const AffineAccess& way = input.way;
      tile::ElementwiseLoad load;
      load.load = input.load;
      if (is_staged(way)) load.staged.emplace();
      // A broadcast input, X[i] in Y[i,j], is one value for a whole access: nothing to read ahead.
      if (!load.staged && way.run_axis != made_.threads.along) continue;  // read where it is used
      if (!load.staged && !way.bare && neighbours(way.tensor) > 1) continue;
      ahead += per_thread * std::max(8, bits(tensor(way.tensor).element)) / 32;
      // Further inputs are read when the output is computed.
      if (ahead > most_ahead) break;
      load.vector_mode = std::max(0, way.mode);
      load.vector = widest(way, way.run_axis, load.staged ? largest_vector : made_.threads.vector);
      need(way, load.vector);
      made_.loads.push_back(load);
    }
    // No wider than what the variant's conditions are about: they leave out an input that is not
    // read ahead.
    made_.threads.vector = 1;
    for (const tile::ElementwiseStore& store : made_.stores)
      made_.threads.vector = std::max(made_.threads.vector, store.vector);
    for (const tile::ElementwiseLoad& load : made_.loads)
      if (!load.staged) made_.threads.vector = std::max(made_.threads.vector, load.vector);
  }

  // Loads of the tensor at sums of indices: those of a stencil share elements, which the cache
  // keeps.
  std::int64_t neighbours(sema::TensorId id) const {
    return std::count_if(form_.inputs.begin(), form_.inputs.end(), [&](const auto& input) {
      return input.way.tensor == id && !input.way.bare;
    });
  }

  // Chooses for every input that is transposed the threads that load it and its layout in shared
  // memory, or takes the layout that the schedule says.
  bool stage_inputs() {
    for (const auto& [name, layout] : schedule_.shared) {
      // An entry for what does not go through shared memory would do nothing: an error, not
      // silence.
      const bool transposed = std::any_of(
          form_.inputs.begin(), form_.inputs.end(), [&, &name = name](const auto& input) {
            return tensor(input.way.tensor).name == name && is_staged(input.way);
          });
      if (transposed) continue;
      return problem("schedule-entry", (name.empty() ? "smem" : "smem " + name).c_str(),
                     name.empty()
                         ? "`smem` names an input that is transposed: smem X = ..."
                         : "`smem` takes an input that is transposed, and " + name + " is not",
                     "leave it out: only what runs along another index than the outputs goes "
                     "through shared memory");
    }
    std::map<std::string, AnyLayout> first;  // of a tensor that is read at several places
    std::int64_t bytes = 0;
    for (tile::ElementwiseLoad& load : made_.loads) {
      if (!load.staged) continue;
      const AffineAccess& way = way_of(load);
      const sema::Tensor& tensor = this->tensor(way.tensor);
      // The schedule's layout is checked as a user's: known, of the tile's shape, injective.
      const std::string entry = "smem " + tensor.name;
      const auto tile = staged_tile(made_.tile, way);
      std::optional<AnyLayout> asked;
      if (const auto given = schedule_.shared.find(tensor.name); given != schedule_.shared.end()) {
        asked = given->second;
        if (const auto fault = shared_fault(tile, *asked)) {
          return problem("schedule-smem", entry.c_str(),
                         "the layout " + to_string(*asked) + " of " + tensor.name + " " + *fault,
                         "for instance " + packed_tile(tile, way, made_.threads.along).to_string());
        }
      } else if (const auto before = first.find(tensor.name);
                 before != first.end() && !shared_fault(tile, before->second)) {
        // X[i,j] and X[i,j+1] share one layout, as the `smem` entry of their tensor says.
        asked = before->second;
      }
      const Staging staging = stage(made_, way, load.vector, tensor.element, asked);
      first.emplace(tensor.name, staging.how.shared);
      load.staged = staging.how;
      for (const BankConflicts* access : {&staging.write, &staging.read}) {
        conflicts_.push_back(
            {access->access + " " + tensor.name, access->wavefronts, access->least});
      }
      bytes += tile::staged_bytes(load.staged->shared, tensor.element);
      wavefronts_ += staging.wavefronts;
    }
    if (bytes <= target_.block_shared) return true;
    return problem("schedule-shared", "tile",
                   "the tile takes " + std::to_string(bytes) +
                       " bytes of shared memory, and a block has " +
                       std::to_string(target_.block_shared),
                   "a smaller tile");
  }

  const AffineAccess& way_of(const tile::ElementwiseLoad& load) const {
    return std::find_if(form_.inputs.begin(), form_.inputs.end(),
                        [&](const auto& i) { return i.load == load.load; })
        ->way;
  }

  bool place_blocks() {
    const auto usual = default_order(kernel_, form_.indices, made_.tile, form_.outputs[0]);
    // Checked below only where the schedule says it: the usual order visits every tile once by its
    // form.
    const Layout order = schedule_.order.value_or(usual);
    made_.grid.order = order;
    if (!schedule_.order) return true;
    const auto wrong = [&](std::string message, std::string at) {
      std::vector<std::pair<std::string, std::string>> notes;
      if (!at.empty()) notes.emplace_back("at", std::move(at));
      notes.emplace_back("works", usual.to_string());
      problems_.push_back({"schedule-rasterization",
                           std::move(message),
                           schedule_.at("rasterization"),
                           {},
                           std::move(notes),
                           {}});
      return false;
    };
    const int axes = static_cast<int>(form_.indices.size());
    const std::string text = "the rasterization " + order.to_string();
    if (!is_onto_axes(order, axes)) {
      return wrong(
          text + " does not map blocks to the " + std::to_string(axes) + " coordinates of a tile",
          "");
    }
    std::vector<TileAxis> grid;
    for (std::size_t i = 0; i < made_.tile.size(); ++i)
      grid.push_back({form_.indices[i], made_.tile[i]});
    const auto fault = order_fault(kernel_, order, grid);
    return !fault || wrong(text + " does not visit every tile exactly once", fault->words());
  }

  Variant variant() {
    Variant result;
    result.name = schedule_.name;
    result.when = without_implied(known_, when_);
    result.aligned = aligned_;
    tile::Program program = tile::bind_elementwise(executed_, made_);
    result.prediction = predict(program, target_);
    result.prediction.conflicts = conflicts_;
    // The launch bound that keeps ptxas from taking more registers than the prediction.
    program.blocks_per_sm = result.prediction.blocks;
    result.programs = {std::move(program)};
    result.access_bytes = bytes_;
    result.notes.push_back(bound());
    if (schedule_.of_script) result.schedule = schedule_.where;
    return result;
  }

  // Which memory is the bottleneck, by the cycles of an SM that a tile takes of each.
  std::string bound() const {
    std::int64_t bytes = 0, elements = 1;
    for (int extent : made_.tile) elements *= extent;
    for (const AffineAccess& way : form_.outputs) bytes += elements * element_bytes(way.tensor);
    for (const auto& input : form_.inputs) {
      std::int64_t part = 1;
      for (int extent : staged_tile(made_.tile, input.way)) part *= extent;
      bytes += part * element_bytes(input.way.tensor);
    }
    // Bytes a clock of one SM: 4.8 TB/s shared by 132 SMs at 1.8 GHz are about 20.
    const double share = target_.memory_rate / target_.hertz / target_.sms;
    const auto cycles = static_cast<std::int64_t>(static_cast<double>(bytes) / share);
    return std::string("bound by ") + (wavefronts_ > cycles ? "shared" : "global") +
           " memory: a tile moves " + std::to_string(bytes) + " bytes of global memory, " +
           std::to_string(cycles) + " cycles of an SM's share, and takes " +
           std::to_string(wavefronts_) + " wavefronts of shared memory";
  }

  static constexpr int largest_vector = 16;

  const sema::KernelPtr& executed_;
  const sema::Kernel& kernel_;
  const PermuteForm& form_;
  const Facts& known_;
  Facts facts_;  // with the conditions of this variant
  const PermuteSchedule& schedule_;
  int bytes_;
  const Target& target_;
  std::vector<Problem>& problems_;
  // What tile::bind_elementwise is told, as it is decided: first the tile and the threads of a
  // block, then the elements of accesses, then which thread has which element, last the order.
  tile::Elementwise made_;
  std::vector<Predicate> when_;
  std::vector<Alignment> aligned_;
  std::vector<BankConflicts> conflicts_;
  std::int64_t wavefronts_ = 0;
};

}  // namespace

std::optional<Variant> plan_permute(const sema::KernelPtr& kernel, const PermuteForm& form,
                                    Facts& facts, const PermuteSchedule& schedule, int bytes,
                                    const Target& target, std::vector<Problem>& problems) {
  return PermutePlanner(kernel, form, facts, schedule, bytes, target, problems).run();
}

Layout default_order(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices,
                     const std::vector<int>& tile, const AffineAccess& output) {
  std::vector<int> axes;
  const auto add = [&](int axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  };
  const auto in_tile = [&](const AffineAccess::Leaf& leaf) {
    return leaf.extent.is_literal() && leaf.step.is_literal() &&
           leaf.step.value() * leaf.extent.value() <= tile[static_cast<std::size_t>(leaf.axis)];
  };
  // Blocks go along the output's memory, fastest mode first; leaves that lie inside a tile are no
  // axis.
  for (const AffineAccess::Leaf& leaf : output.leaves) {
    if (!in_tile(leaf)) add(leaf.axis);
  }
  for (std::size_t axis = 0; axis < indices.size(); ++axis) add(static_cast<int>(axis));
  std::vector<Tuple> shape, stride;
  for (int axis : axes) {
    const auto i = static_cast<std::size_t>(axis);
    shape.emplace_back(tiles(kernel, indices[i], tile[i]));
    stride.push_back(Tuple::basis(1, {axis}));
  }
  if (axes.size() == 1) return Layout(shape[0], stride[0]);
  return Layout(Tuple(shape), Tuple(stride));
}

}  // namespace lay::plan
