#include "backend/plan/copies.h"

#include <algorithm>
#include <optional>

#include "backend/plan/shared_layout.h"
#include "backend/plan/simt/simt_ring.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr int widest_access = 16;  // bytes

const sema::Tensor& tensor_of(const sema::Kernel& kernel, const OperandCopy& copy) {
  const auto& load = std::get<sema::Load>(kernel.node(copy.load).what);
  return kernel.tensor(load.tensor);
}

// How the threads share an operand's tile: accesses of `vector` elements, `side` of them side by
// side, then across.
struct Sharing {
  int outer, k;
  bool along_k;
  int vector, threads;

  int run() const {
    return (along_k ? k : outer) / vector;
  }  // accesses along the vectors' direction
};

// (thread, (element, access)) -> (outer, k). Nothing if the threads do not divide the tile that
// way.
// A K-major 128 x 16 tile in vectors of 4 by 256 threads, side = 4: 64 rows at once, 2 accesses, so
// ((4,64),(4,2)):((4@1,1@0),(1@1,64@0)).
std::optional<Layout> share(const Sharing& tile, int side) {
  const int run = tile.run(), across = tile.along_k ? tile.outer : tile.k;
  if ((tile.along_k ? tile.k : tile.outer) % tile.vector != 0 || run % side != 0 ||
      tile.threads % side != 0) {
    return std::nullopt;
  }
  const auto along = [&](int value) { return Tuple::basis(value, {tile.along_k ? 1 : 0}); };
  const auto step = [&](int value) { return Tuple::basis(value, {tile.along_k ? 0 : 1}); };
  const int rows = tile.threads / side;
  if (across % rows != 0) return std::nullopt;
  const Tuple threads = rows == 1 ? Tuple(side) : tuple(side, rows);
  const Tuple thread_strides = rows == 1 ? along(tile.vector) : tuple(along(tile.vector), step(1));
  if (run == side) {
    return Layout(tuple(threads, tuple(tile.vector, across / rows)),
                  tuple(thread_strides, tuple(along(1), step(rows))));
  }
  return Layout(
      tuple(threads, tuple(tile.vector, tuple(run / side, across / rows))),
      tuple(thread_strides, tuple(along(1), tuple(along(side * tile.vector), step(rows)))));
}

// Returns the accesses side by side, at most one a thread.
std::optional<Layout> share(const Sharing& tile) {
  return share(tile, std::min(tile.run(), tile.threads));
}

struct Wish {
  OperandCopy copy;
  Conditions conditions;
};

// Direction and width for one operand: the widest access up to 16 bytes that the threads can share.
std::optional<Wish> plan_operand(const SimtGemm& gemm, const sema::Kernel& kernel, Facts& facts,
                                 OperandCopy copy, Width width) {
  const sema::Tensor& tensor = tensor_of(kernel, copy);
  const auto& load = std::get<sema::Load>(kernel.node(copy.load).what);
  const int outer_tile = copy.outer == gemm.m ? gemm.tile[0] : gemm.tile[1];
  const int unit = tile::unit_mode(facts, tensor.layout);
  const sema::IndexId run =
      unit < 0 ? -1 : bare_index(kernel, load.coordinate[static_cast<std::size_t>(unit)]);
  // Single elements are read along k or along the outer index as well, whichever is contiguous.
  copy.along_k = run == gemm.k;
  const bool can = width == Width::vectors && (run == gemm.k || run == copy.outer);
  for (std::size_t i = 0; i < load.coordinate.size(); ++i) {
    const auto index = bare_index(kernel, load.coordinate[i]);
    if (index == (copy.along_k ? gemm.k : copy.outer)) copy.vector_mode = static_cast<int>(i);
  }
  const int bytes = tensor.element_bytes();
  // Halves until the threads can share the tile and the strides allow it for some sizes.
  for (int vector = can ? widest_access / bytes : 1; vector >= 1; vector /= 2) {
    auto threads = share({outer_tile, gemm.tile[2], copy.along_k, vector, gemm.producer_threads()});
    if (!threads) continue;
    Wish wish{copy, {}};
    if (vector > 1) {
      wish.conditions.when = tile::vector_conditions(facts, tensor.layout, unit, vector);
      if (is_never(wish.conditions)) continue;
      wish.conditions.aligned = {{load.tensor, vector * bytes}};
    }
    wish.copy.vector = vector;
    wish.copy.threads = *threads;
    return wish;
  }
  return std::nullopt;
}

OutputStore plan_store(const SimtGemm& gemm, const sema::Kernel& kernel, Facts& facts,
                       int assignment, Width width, Conditions& conditions) {
  const sema::Assignment& target = kernel.assignments[static_cast<std::size_t>(assignment)];
  const sema::Tensor& tensor = kernel.tensor(target.target);
  const int unit = tile::unit_mode(facts, tensor.layout);
  const sema::IndexId run = unit < 0 ? -1 : target.indices[static_cast<std::size_t>(unit)];
  OutputStore store{assignment, 0, run != gemm.m, 1};
  const auto mode =
      std::find(target.indices.begin(), target.indices.end(), store.along_n ? gemm.n : gemm.m);
  store.vector_mode = static_cast<int>(mode - target.indices.begin());
  if (width == Width::elements || (run != gemm.m && run != gemm.n)) return store;
  const int bytes = bits(tensor.element) / 8, held = gemm.lane_tile[store.along_n ? 1 : 0];
  int vector = widest_access / bytes;
  // A thread writes vectors of its lane tile: 4 f32 of a tile of 4, 2 of one of 6.
  while (held % vector != 0) vector /= 2;
  Conditions needed{tile::vector_conditions(facts, tensor.layout, unit, vector),
                    {{target.target, vector * bytes}}};
  if (vector == 1 || is_never(needed)) return store;
  store.vector = vector;
  add(conditions, needed);
  return store;
}

// Rows of the tile, one K step after the other, with `pad` elements between them.
Layout padded(int outer, int k, int pad) {
  return Layout(tuple(outer, k), tuple(1, outer + pad));
}

// The layouts of shared memory to choose from: the one asked for, or rows with more and more
// padding.
// Padding in steps of a fragment's vector, which has to stay aligned.
std::vector<AnyLayout> shared_candidates(const Sharing& tile, int step,
                                         const std::optional<AnyLayout>& asked) {
  if (asked) return {*asked};
  constexpr int most = 32;
  std::vector<AnyLayout> result;
  for (int pad = 0; pad <= most; pad += step) result.emplace_back(padded(tile.outer, tile.k, pad));
  return result;
}

// Chooses the layout, and for transposed operands the number of accesses side by side, with the
// fewest wavefronts over a K tile. Among equals it takes the most side by side (at least the 32
// bytes that memory gives), and the smallest padding. A K-major operand is written transposed:
// elements of one access go to rows `outer + pad` apart. With pad = 4, 8 rows of k and 4 of m touch
// 32 banks.
void choose_shared(const sema::Kernel& kernel, const SimtGemm& gemm, OperandCopy& copy, bool is_a,
                   const std::optional<AnyLayout>& asked) {
  constexpr int sector = 32;
  const int lane_tile = gemm.lane_tile[is_a ? 0 : 1],
            element = std::max(1, bits(tensor_of(kernel, copy).element) / 8);
  const Sharing tile{gemm.tile[is_a ? 0 : 1], gemm.tile[2], copy.along_k, copy.vector,
                     gemm.producer_threads()};
  const auto layouts = shared_candidates(tile, fragment_vector(gemm.accumulator, lane_tile), asked);
  std::optional<std::pair<long, OperandCopy>> best;
  // Fewer accesses side by side spread a warp over more rows: a transposing store then meets fewer
  // banks twice, and memory still gives whole sectors.
  for (int side = std::min(tile.run(), tile.threads); side >= 1; side /= 2) {
    const auto threads = share(tile, side);
    if (!threads || (best && (!copy.along_k || side * copy.vector * element < sector))) continue;
    OperandCopy candidate = copy;
    candidate.threads = *threads;
    for (const AnyLayout& layout : layouts) {
      candidate.shared = layout;
      const SharedTraffic traffic = shared_traffic(kernel, gemm, candidate, is_a);
      if (!best || traffic.total < best->first) best = {traffic.total, candidate};
      // No conflicts: later candidates cannot be better.
      if (traffic.total == traffic.least) {
        copy = best->second;
        return;
      }
    }
  }
  copy = best->second;
}

// A user's layout of shared memory: known, for the tile, one-to-one, and holding a fragment's
// vectors together.
bool check_shared(const SimtGemm& gemm, const AnyLayout& shared, bool is_a,
                  const SimtSchedule& schedule, std::vector<Problem>& problems) {
  const int outer = gemm.tile[is_a ? 0 : 1], k = gemm.tile[2];
  const std::string name = is_a ? "A" : "B";
  const auto problem = [&](std::string message,
                           std::vector<std::pair<std::string, std::string>> notes) {
    problems.push_back({"schedule-smem",
                        std::move(message),
                        schedule.at("smem " + name),
                        {},
                        std::move(notes),
                        {}});
    return false;
  };
  if (const auto fault = shared_fault({outer, k}, shared)) {
    return problem("the layout " + to_string(shared) + " of " + name + " " + *fault,
                   {{"works", padded(outer, k, 0).to_string()}});
  }
  const auto offsets = values(shared);
  // Offsets are listed with the outer index fastest, so a fragment's vector is `vector` places in a
  // row.
  const int vector = fragment_vector(gemm.accumulator, gemm.lane_tile[is_a ? 0 : 1]);
  for (std::size_t i = 0; i < offsets.size(); i += static_cast<std::size_t>(vector)) {
    bool together = offsets[i] % vector == 0;
    for (int j = 1; j < vector; ++j)
      together = together && offsets[i + static_cast<std::size_t>(j)] == offsets[i] + j;
    if (!together) {
      return problem("a lane reads " + std::to_string(vector) + " elements of " + name +
                         " at once along its first mode, which the layout " + to_string(shared) +
                         " does not keep together",
                     {{"at", "element (" + std::to_string(i % static_cast<std::size_t>(outer)) +
                                 "," + std::to_string(i / static_cast<std::size_t>(outer)) + ")"},
                      {"works", padded(outer, k, 0).to_string()}});
    }
  }
  return true;
}

}  // namespace

void add(Conditions& to, const Conditions& more) {
  for (const Predicate& p : more.when) {
    if (std::find(to.when.begin(), to.when.end(), p) == to.when.end()) to.when.push_back(p);
  }
  for (const Alignment& a : more.aligned) {
    auto same = std::find_if(to.aligned.begin(), to.aligned.end(),
                             [&](const Alignment& b) { return b.tensor == a.tensor; });
    if (same == to.aligned.end()) {
      to.aligned.push_back(a);
    } else {
      same->bytes = std::max(same->bytes, a.bytes);
    }
  }
}

bool is_never(const Conditions& conditions) {
  return std::any_of(conditions.when.begin(), conditions.when.end(),
                     [](const Predicate& p) { return p.is_never(); });
}

// K-major, in the words of the field.
bool runs_along_k(const sema::Kernel& kernel, Facts& facts, sema::NodeId load, sema::IndexId k) {
  const int unit = tile::unit_mode(facts, kernel.loaded(load).layout);
  return unit >= 0 &&
         bare_index(kernel, kernel.load(load).coordinate[static_cast<std::size_t>(unit)]) == k;
}

int fragment_vector(ElementType accumulator, int lane_tile) {
  // A lane reads its tile in one access of 16 bytes where it has as many elements.
  int vector = widest_access * 8 / bits(accumulator);
  while (lane_tile % vector != 0) vector /= 2;
  return vector;
}

int shared_store_vector(const sema::Kernel& kernel, const SimtGemm& gemm, const OperandCopy& copy) {
  // Elements that are transposed or converted are stored one by one.
  const bool plain = copy.value == copy.load && tensor_of(kernel, copy).element == gemm.accumulator;
  if (copy.along_k || !plain) return 1;
  const bool is_a = copy.outer == gemm.m;
  return std::min(copy.vector, fragment_vector(gemm.accumulator, gemm.lane_tile[is_a ? 0 : 1]));
}

int stage_elements(const OperandCopy& copy) {
  const auto offsets = values(copy.shared);
  return static_cast<int>(*std::max_element(offsets.begin(), offsets.end())) + 1;
}

int shared_bytes(const SimtGemm& gemm) {
  // Slices of K hand over their sums through one more buffer of the tile's size.
  const int handed = gemm.groups[2] > 1 ? gemm.tile[0] * gemm.tile[1] : 0;
  // What the blocks with the other parts of K send: of two blocks with 64 x 64 sums each gets half
  // of the other's, 32 x 64.
  const int given = (gemm.parts - 1) * gemm.stored_of_part() * gemm.held()[1 - gemm.shared_out()] *
                    gemm.slice_threads();
  return (gemm.stages * (stage_elements(gemm.a) + stage_elements(gemm.b)) + handed + given) *
         bits(gemm.accumulator) / 8;
}

bool plan_copies(SimtGemm& gemm, const sema::Kernel& kernel, const GemmForm& form, Facts& facts,
                 const Target& target, Width width, const SimtSchedule& schedule,
                 Conditions& conditions, std::vector<Problem>& problems) {
  for (const bool is_a : {true, false}) {
    OperandCopy& copy = is_a ? gemm.a : gemm.b;
    copy.value = is_a ? form.a_value : form.b_value;
    copy.load = is_a ? form.a : form.b;
    copy.outer = is_a ? gemm.m : gemm.n;
  }
  if (gemm.ring() &&
      !choose_ring(gemm, kernel, facts, target, width, schedule, conditions, problems))
    return false;
  for (const bool is_a : {true, false}) {
    OperandCopy& copy = is_a ? gemm.a : gemm.b;
    if (copy.boxes) continue;
    auto wish = plan_operand(gemm, kernel, facts, copy, width);
    if (!wish) {
      problems.push_back(
          {"schedule-copy",
           std::to_string(gemm.producer_threads()) + " threads cannot share a tile of " +
               std::to_string(gemm.tile[is_a ? 0 : 1]) + " x " + std::to_string(gemm.tile[2]) +
               " elements evenly",
           schedule.at("tile"),
           {},
           {{"works", "tile extents that are powers of two, with at least one element a thread"}},
           {}});
      return false;
    }
    copy = wish->copy;
    add(conditions, wish->conditions);
    const auto& asked = is_a ? schedule.shared_a : schedule.shared_b;
    if (asked && !check_shared(gemm, *asked, is_a, schedule, problems)) return false;
    choose_shared(kernel, gemm, copy, is_a, asked);
  }
  for (int i = 0; i < static_cast<int>(kernel.assignments.size()); ++i) {
    // Several outputs are written together, element by element: all are read before one is written.
    const Width store_width = kernel.assignments.size() > 1 ? Width::elements : width;
    gemm.stores.push_back(plan_store(gemm, kernel, facts, i, store_width, conditions));
  }
  return true;
}

}  // namespace lay::plan
