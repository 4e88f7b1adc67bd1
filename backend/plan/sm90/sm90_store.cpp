#include "backend/plan/sm90/sm90_store.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "backend/plan/fragments/lane_rows.h"
#include "backend/plan/recognise.h"
#include "backend/plan/sm90/sm90_vectors.h"
#include "backend/plan/sm90/tma.h"
#include "backend/tile/vectors.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/banks.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/library.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128, lanes_of_warp = 32, consumer_warps = 4, columns_of_step = 8;

// Columns of a tensor that shared memory has room for each time.
int shared_columns(const StagedTensor& store) {
  return static_cast<int>(size(std::get<Composed>(store.shared).layout()).value()) / rows_of_atom;
}

// Rows of all four warps, by who has the first element of each in registers of 16 bits: thread 4 r
// of a warp, in value 2 q, that of row r of matrix q. Nothing where the atom's accumulators do not
// go on so far by one layout.
std::optional<Layout> named_by(const sema::CopyInstruction& copy, const Layout& atom,
                               Facts& facts) {
  const auto first = first_of_rows(copy, 16, warpgroup);
  if (!first) return std::nullopt;
  // Lanes beyond the rows name those of the first ones again.
  const std::int64_t repeats = lanes_of_warp / size(first->shape).value();
  std::vector<Tuple> shape, stride;
  for (int mode = 0; mode < first->rank(); ++mode) {
    shape.push_back(first->shape[mode]);
    stride.push_back(first->stride[mode]);
  }
  if (repeats > 1) {
    shape.emplace_back(repeats);
    stride.emplace_back(0);
  }
  shape.emplace_back(consumer_warps);
  stride.emplace_back(lanes_of_warp);
  try {
    return composition(facts, atom, Layout(Tuple(shape), Tuple(stride)));
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

// Returns true if the layout gives the first coordinates that another one has.
bool begins_with(const Layout& all, const Layout& first) {
  for (const int axis : {0, 1}) {
    const auto long_one = values(along(all, axis)), short_one = values(along(first, axis));
    if (short_one.size() > long_one.size() ||
        !std::equal(short_one.begin(), short_one.end(), long_one.begin()))
      return false;
  }
  return true;
}

// Chooses the copies of a warp between shared memory and registers that hold an atom's
// accumulators of 16 bits, and the rows that threads name to them. Returns false where there are
// none for 8 columns, 4 values of a thread, or where the widest has other rows than the others.
//
//   stmatrix(4), (2), (1) and wgmma's accumulators, along n     (8,(2,2),4):(1@0,(8@0,8@1),16@0)
bool choose_copies(StagedTensor& staged, const Layout& atom,
                   std::vector<sema::CopyInstruction> known, Facts& facts) {
  constexpr int bits = 16;
  std::ranges::stable_sort(known, std::ranges::greater(), &sema::CopyInstruction::bits);
  const int run = staged.along_n ? 1 : 0;
  const Layout lanes = composition(facts, atom[0], Layout(lanes_of_warp, 1));
  std::vector<std::pair<int, LaneRows>> rows;  // of the copies: values of a lane
  staged.copies.clear();
  for (const sema::CopyInstruction& copy : known) {
    const int held = static_cast<int>(copy.bits()) / lanes_of_warp / bits;
    if (held == 0 || held > size(atom[1]).value()) continue;
    const Layout first = composition(facts, atom[1], Layout(held, 1));
    const Layout values =
        Layout(tuple(lanes.shape, first.shape), tuple(lanes.stride, first.stride));
    const auto of_copy = lane_rows(copy, values, run, bits);
    if (!of_copy) continue;
    staged.copies.push_back(copy);
    rows.emplace_back(held, *of_copy);
  }
  if (rows.empty() || columns_of_step / 2 % rows.back().first != 0) return false;
  staged.vector = rows.front().second.length;
  // Lanes name their rows once, to whichever copy comes: narrower ones take the first of them.
  const auto serves = [&](const Layout& lanes_named) {
    return std::ranges::all_of(rows, [&](const auto& each) {
      const LaneRows& of_copy = each.second;
      return of_copy.length == staged.vector && begins_with(lanes_named, of_copy.lanes);
    });
  };
  // The widest one may be of more columns than the atom has: what its last lanes name is ignored.
  for (const sema::CopyInstruction& copy : known) {
    const auto named = named_by(copy, atom, facts);
    if (!named || !serves(*named)) continue;
    staged.lanes = *named;
    return true;
  }
  return false;
}

// Returns true if values i, i + 1, ... of every thread are the columns from `width` * i / values
// on, as the passes take them.
bool in_passes(const Layout& atom, int width) {
  const auto columns = values(along(atom[1], 1)), first = values(along(atom[0], 1));
  // wgmma's accumulators go along n in steps of 8 columns, 4 values a thread, so any width of whole
  // steps holds; an atom of one's own may have another order.
  const int held = width * rows_of_atom / warpgroup;
  const auto most = *std::max_element(first.begin(), first.end());
  for (std::size_t v = 0; v < columns.size(); ++v) {
    const auto pass = static_cast<std::int64_t>(v) / held;
    if (columns[v] < pass * width || columns[v] + most >= (pass + 1) * width) return false;
  }
  return true;
}

// Returns true if every second value lies one column after the one before it.
bool in_pairs(const Layout& atom) {
  const auto columns = values(along(atom[1], 1)), rows = values(along(atom[1], 0));
  for (std::size_t v = 0; v + 1 < columns.size(); v += 2) {
    if (columns[v + 1] != columns[v] + 1 || rows[v + 1] != rows[v]) return false;
  }
  return columns.size() % 2 == 0;
}

// The accesses of a warp, as the banks of shared memory see them.
class Accesses {
 public:
  Accesses(const StagedTensor& of, int element_bytes)
      : of_(of), element_bytes_(element_bytes), offsets_(values(of.shared)) {}

  // By the threads that hold the accumulators of `width` columns.
  Wavefronts worst_held(const std::optional<StagedTensor::Rotated>& rotated, int width) const {
    const int all = of_.matrices ? 1 : width * rows_of_atom / warpgroup;
    const auto rows = values(along(of_.lanes, 0)), columns = values(along(of_.lanes, 1));
    const auto held_rows = values(along(of_.held, 0)), held_columns = values(along(of_.held, 1));
    Wavefronts found;
    for (int v = 0; v < all; v += of_.vector) {
      const auto place = [&](int lane) {
        const auto at = static_cast<std::size_t>(lane);
        if (of_.matrices) return std::pair{rows[at], columns[at]};
        // The same rotation that the lowering emits (place_of).
        const bool later = rotated && (lane >> rotated->bit) % 2 == 1;
        const auto value = static_cast<std::size_t>((v + (later ? rotated->values : 0)) % all);
        return std::pair{rows[at] + held_rows[value], columns[at] + held_columns[value]};
      };
      keep_worse(found, place, of_.vector);
    }
    return found;
  }

  // By threads whose elements are neighbours in memory.
  Wavefronts worst_run() const {
    // Threads that copy runs between shared and global memory touch shared memory in rows of the
    // tensor.
    const auto rows = values(along(of_.runs, 0)), columns = values(along(of_.runs, 1));
    Wavefronts found;
    // The layout's thread mode is fastest: each 32 values are one access of one warp.
    for (std::size_t first = 0; first < rows.size(); first += lanes_of_warp) {
      const auto place = [&](int lane) {
        const auto at = first + static_cast<std::size_t>(lane);
        return std::pair{rows[at], columns[at]};
      };
      keep_worse(found, place, of_.run);
    }
    return found;
  }

 private:
  template <class Place>
  void keep_worse(Wavefronts& found, const Place& place, int elements) const {
    std::vector<std::int64_t> addresses;
    for (int lane = 0; lane < lanes_of_warp; ++lane) {
      const auto [m, n] = place(lane);
      addresses.push_back(element_bytes_ *
                          offsets_[static_cast<std::size_t>(m + rows_of_atom * n)]);
    }
    const Wavefronts one = wavefronts(addresses, element_bytes_ * elements);
    if (one.taken > found.taken) found = one;
  }

  const StagedTensor& of_;
  int element_bytes_;
  std::vector<std::int64_t> offsets_;
};

// Rows whose places fall on the same banks collide where all lanes begin with the same values of
// theirs: half of the lanes may begin with other ones.
std::optional<StagedTensor::Rotated> without_conflicts(const Accesses& accesses,
                                                       const StagedTensor& of, int width) {
  Wavefronts best = accesses.worst_held({}, width);
  std::optional<StagedTensor::Rotated> chosen;
  const int all = static_cast<int>(size(of.held).value());
  // Five bits of a lane's number times a handful of distances: all are counted, and the first that
  // removes every conflict ends the search.
  for (int bit = 0; (1 << bit) < lanes_of_warp; ++bit) {
    for (int by = of.vector; by < all && best.taken > best.least; by += of.vector) {
      const StagedTensor::Rotated rotated{bit, by};
      const Wavefronts one = accesses.worst_held(rotated, width);
      if (one.taken >= best.taken) continue;
      best = one;
      chosen = rotated;
    }
  }
  return chosen;
}

// The elements of an access along the tensor's mode `fastest`, at most 8 bytes, and what they need.
int widest_run(const sema::Tensor& tensor, sema::TensorId id, int fastest, Facts& facts,
               Conditions& conditions) {
  constexpr int most_bytes = 8;  // whole 16 bytes are TMA's
  const int element = tensor.element_bytes();
  for (int run = most_bytes / element; run > 1; run /= 2) {
    // Halves the width until the tensor's strides allow it for some sizes.
    const Conditions needed{tile::vector_conditions(facts, tensor.layout, fastest, run),
                            {{id, run * element}}};
    if (is_never(needed)) continue;
    add(conditions, needed);
    return run;
  }
  return 1;
}

// Lanes of a warp side by side along memory, as far as the 64 rows and the columns of shared memory
// go; warps and accesses cover the rest.
Layout runs_of(const StagedTensor& store) {
  const int columns = shared_columns(store);
  const int extent = store.along_n ? columns : rows_of_atom,
            others = store.along_n ? rows_of_atom : columns;
  // bf16 along n, runs of 4 elements and 64 columns: 16 lanes fill a row, a warp has two rows, four
  // warps eight, and 64 / 8 = 8 accesses of a thread cover the 64 rows.
  const int side_by_side = std::min(lanes_of_warp, extent / store.run),
            above = lanes_of_warp / side_by_side;
  constexpr int warps = warpgroup / lanes_of_warp;
  const int axis = store.along_n ? 1 : 0;
  const auto forth = [&](int by) { return Tuple::basis(by, {axis}); };
  const auto across = [&](int by) { return Tuple::basis(by, {1 - axis}); };
  return Layout(tuple(tuple(side_by_side, above, warps),
                      tuple(extent / (side_by_side * store.run), others / (above * warps))),
                tuple(tuple(forth(store.run), across(1), across(above)),
                      tuple(forth(side_by_side * store.run), across(above * warps))));
}

// How a tensor can travel, as far as the width of a pass does not count.
struct Route {
  StagedTensor staged;
  int fastest = -1;
  Conditions tma;  // conditions that TMA needs
};

// `by_tma`: whether it may travel that way.
std::optional<Route> route_of(const sema::Kernel& kernel, const Sm90Gemm& gemm, sema::TensorId id,
                              const std::vector<sema::IndexId>& indices, bool by_tma,
                              Facts& facts) {
  const sema::Tensor& tensor = kernel.tensor(id);
  const int element = bits(tensor.element);
  // The widths that the accesses of threads and the swizzles are made for.
  if (element != 8 && element != 16 && element != 32) return std::nullopt;
  Route route;
  route.staged.tensor = id;
  route.staged.indices = indices;
  route.staged.matrices = element == 16;
  if (by_tma) {
    const auto order = tma_order(kernel, id, facts, route.tma);
    if (order && !is_never(route.tma)) route.staged.order = *order;
  }
  route.staged.tma = !route.staged.order.empty();
  route.fastest =
      route.staged.tma ? route.staged.order.front() : tile::unit_mode(facts, tensor.layout);
  // A tensor that runs along a batch, or along nothing, has no neighbours in a tile.
  const sema::IndexId run =
      route.fastest < 0 ? -1 : indices[static_cast<std::size_t>(route.fastest)];
  if (run != gemm.m && run != gemm.n) return std::nullopt;
  route.staged.along_n = run == gemm.n;
  return route;
}

// Chooses the columns of a pass: whole spans of a swizzle of the widest elements; the last pass
// takes the columns that are left. Where blocks share K, or half of the lanes would begin with
// values that the last pass does not have, every pass has the same number of columns.
void choose_widths(StagedStore& store, const Sm90Gemm& gemm,
                   const std::vector<const StagedTensor*>& all, int most) {
  const int columns = gemm.mma.shape[1];
  bool matrices = true, equal = gemm.cluster[2] > 1;
  for (const StagedTensor* each : all) {
    matrices = matrices && each->matrices;
    equal = equal || (!each->matrices && !each->along_n);
  }
  if (equal) {
    const int least =
        matrices && columns % (2 * columns_of_step) == 0 ? 2 * columns_of_step : columns_of_step;
    store.width = pass_width(gemm, least, most);
  } else {
    store.width = std::min(columns, most);
  }
  if (store.width > 0) store.rest = columns % store.width;
}

// In what rows of shared memory.
void choose_rows(StagedTensor& staged, const StagedStore& store, ElementType type) {
  const int element = bits(type) / 8, row = element * store.width;
  const std::vector<int>& widths = box_widths();  // widest first
  constexpr int together = 2 * columns_of_step;   // columns of the rows that lanes name
  // Along m a row of shared memory is a column of the tile: 64 elements, at most one swizzle width.
  staged.span = std::min(widths.front(), rows_of_atom * element);
  int held = (store.width + together - 1) / together * together;
  if (staged.along_n) {
    // Along n the row is the subtile's, rounded up to a swizzle width: 40 columns of bf16 are 80
    // bytes, in rows of 128.
    for (const int width : widths)
      if (width >= row) staged.span = width;
    held = staged.span / element;
  }
  staged.shared = operand_layout(rows_of_atom, held, staged.along_n, staged.span, type);
}

// Returns true if each warp of a consumer has its own rows travel. tile::moves_parts_by_warps finds
// the same from the program (tests/tile/roles).
bool stores_by_warps(const StagedStore& store, const Sm90Gemm& gemm) {
  // With split K a consumer waits for its sums as a whole. wgmma gives a warp 16 whole rows: along
  // n a warp can store its rows alone, along m a box needs columns of all four.
  const auto alone = [](const StagedTensor& each) { return each.tma && each.along_n; };
  return gemm.cluster[2] == 1 && std::ranges::all_of(store.outputs, alone) &&
         std::ranges::all_of(store.inputs, alone);
}

}  // namespace

bool choose_values(StagedTensor& staged, const StagedStore& store, const Layout& atom, int element,
                   bool stored, const std::vector<sema::CopyInstruction>& copies) {
  using enum sema::CopySpace;
  Facts facts;  // the layouts are of literals
  if (staged.matrices) {
    const sema::CopySpace from = stored ? registers : shared, to = stored ? shared : registers;
    // A set of copies has one number of columns each, so that those of the library stay apart.
    return choose_copies(staged, atom, warp_copies(copies, from, to), facts) ||
           choose_copies(staged, atom, sema::library_copies(from, to, sm90_capability), facts);
  }
  if (!in_passes(atom, store.width)) return false;
  staged.lanes = atom[0];
  staged.held = composition(facts, atom[1], Layout(store.width * rows_of_atom / warpgroup, 1));
  staged.vector = staged.along_n && in_pairs(atom) ? 2 : 1;
  staged.rotated = without_conflicts(Accesses(staged, element), staged, store.width);
  const int all = static_cast<int>(size(staged.held).value());
  // Few at a time of small elements, which have a register each.
  staged.step = element == 1 && !staged.rotated ? std::min(all, staged.step) : all;
  return true;
}

void each_copy(const StagedTensor& staged, int values,
               const std::function<void(const sema::CopyInstruction&, int, int)>& f) {
  constexpr int bits = 16;
  // 12 values are one copy of four matrices, 8 values, and one of two.
  for (int value = 0; value < values;) {
    const auto held = [&](const sema::CopyInstruction& copy) {
      return static_cast<int>(copy.bits()) / lanes_of_warp / bits;
    };
    const auto copy = std::ranges::find_if(staged.copies, [&](const sema::CopyInstruction& each) {
      return held(each) <= values - value;
    });
    if (copy == staged.copies.end()) throw std::logic_error("internal: values that no copy holds");
    f(*copy, value, held(*copy));
    value += held(*copy);
  }
}

int StagedTensor::runs_together() const {
  constexpr int most = 8;
  return std::min(static_cast<int>(size(runs[1]).value()), most);
}

int StagedTensor::run_columns() const {
  return static_cast<int>(size(runs).value()) * run / rows_of_atom;
}

int StagedStore::step() const {
  int most = 0;
  for (const StagedTensor& each : outputs) most = std::max(most, each.step);
  for (const StagedTensor& each : inputs) most = std::max(most, each.step);
  return most;
}

bool StagedStore::out_by_tma() const {
  return std::any_of(outputs.begin(), outputs.end(),
                     [](const StagedTensor& each) { return each.tma; });
}

bool StagedStore::in_by_tma() const {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const StagedTensor& each) { return each.tma; });
}

std::vector<sema::NodeId> full_loads(const sema::Kernel& kernel, const Sm90Gemm& gemm) {
  // An element for each accumulator: bare, distinct indices that cover the tensor, m and n among
  // them. An inout tensor counts only where it is read at the element that is assigned.
  const auto is_full = [&](const sema::Load& load) {
    const sema::Tensor& tensor = kernel.tensor(load.tensor);
    std::vector<sema::IndexId> met;
    for (std::size_t i = 0; i < load.coordinate.size(); ++i) {
      const sema::IndexId index = bare_index(kernel, load.coordinate[i]);
      const auto mode = static_cast<int>(i);
      if (index < 0 || std::count(met.begin(), met.end(), index) > 0) return false;
      if (load.coordinate.size() != static_cast<std::size_t>(tensor.layout.rank())) return false;
      if (!(size(tensor.layout[mode]) == kernel.index(index).extent)) return false;
      met.push_back(index);
    }
    if (std::count(met.begin(), met.end(), gemm.m) == 0 ||
        std::count(met.begin(), met.end(), gemm.n) == 0)
      return false;
    if (tensor.is_swizzled()) return false;
    return std::all_of(kernel.assignments.begin(), kernel.assignments.end(),
                       [&](const sema::Assignment& each) {
                         return each.target != load.tensor || each.indices == met;
                       });
  };
  std::vector<sema::NodeId> found;
  for (const sema::NodeId id : loads_outside(kernel, gemm.contractions())) {
    if (is_full(kernel.load(id))) found.push_back(id);
  }
  return found;
}

int pass_width(const Sm90Gemm& gemm, int least, int most) {
  const int columns = gemm.mma.shape[1], all = gemm.repeats()[0] * gemm.repeats()[1] * columns;
  int best = 0, cost = 0;
  for (int width = most; width >= least; width /= 2) {
    if (columns % width != 0) continue;
    // Columns that the busiest block adds up. 256 columns over 3 blocks: 128 at a time give one
    // block 128, 32 at a time 96.
    const int each = (all / width + gemm.cluster[2] - 1) / gemm.cluster[2] * width;
    if (gemm.cluster[2] == 1 && best > 0) break;
    if (best == 0 || each < cost) {
      best = width;
      cost = each;
    }
  }
  return best;
}

std::optional<StagedStore> staged_store(const sema::Kernel& kernel, const Sm90Gemm& gemm,
                                        const Layout& atom, const std::vector<sema::NodeId>& loads,
                                        Width width, Facts& facts, Conditions& conditions,
                                        int widest) {
  // A route is what a tensor's layout allows; what the pass' width allows comes after it (take).
  std::vector<Route> outputs, inputs;
  for (const sema::Assignment& assignment : kernel.assignments) {
    // Every output has to take this way, or none does: the passes are common.
    // The last tile of a segment ends within a box, behind which are rows of the next segment.
    auto route = route_of(kernel, gemm, assignment.target, assignment.indices,
                          width == Width::vectors && !gemm.segments, facts);
    // Neighbours along m of which some are stored and others are not.
    if (!route || (gemm.segments && !route->staged.along_n)) return std::nullopt;
    outputs.push_back(std::move(*route));
  }
  std::vector<sema::NodeId> of_inputs;
  for (const sema::NodeId id : loads) {
    const sema::Load& load = kernel.load(id);
    std::vector<sema::IndexId> indices;
    for (const sema::NodeId coordinate : load.coordinate)
      indices.push_back(bare_index(kernel, coordinate));
    auto route = route_of(kernel, gemm, load.tensor, indices, width == Width::vectors, facts);
    // An input that cannot stays with the epilogue, which reads it element by element.
    if (!route) continue;
    inputs.push_back(std::move(*route));
    of_inputs.push_back(id);
  }
  StagedStore store;
  int most_bytes = 1;
  std::vector<const StagedTensor*> all;
  for (const std::vector<Route>* routes : {&outputs, &inputs}) {
    for (const Route& each : *routes) {
      most_bytes = std::max(most_bytes, kernel.tensor(each.staged.tensor).element_bytes());
      all.push_back(&each.staged);
    }
  }
  choose_widths(store, gemm, all, widest / most_bytes);
  if (store.width == 0) return std::nullopt;
  Conditions needed;
  const auto take = [&](Route& route, bool stored) {
    StagedTensor& staged = route.staged;
    const sema::Tensor& tensor = kernel.tensor(staged.tensor);
    const int element = tensor.element_bytes();
    // Subtiles of 8 columns of 8-bit elements are 8 bytes a row: threads store them.
    constexpr int tma_row = 16;  // bytes of which a row of a box is a multiple
    if (staged.along_n &&
        (store.width * element % tma_row != 0 || store.rest * element % tma_row != 0))
      staged.tma = false;
    if (!staged.tma) staged.order.clear();
    choose_rows(staged, store, tensor.element);
    if (!choose_values(staged, store, atom, element, stored, gemm.copies)) return false;
    if (staged.tma) {
      add(needed, route.tma);
      return true;
    }
    if (width == Width::vectors)
      staged.run = widest_run(tensor, staged.tensor, route.fastest, facts, needed);
    staged.runs = runs_of(staged);
    return true;
  };
  for (Route& each : outputs) {
    if (!take(each, true)) return std::nullopt;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!take(inputs[i], false)) return std::nullopt;
    store.inputs.push_back({inputs[i].staged, of_inputs[i]});
  }
  for (Route& each : outputs) store.outputs.push_back(std::move(each.staged));
  store.by_warps = stores_by_warps(store, gemm);
  // Threads bring a pass when it begins.
  if (!store.in_by_tma()) store.loads_ahead = 1;
  // A warp's box has its 16 rows; a consumer's has all 64, or as many as a swizzle width holds.
  const auto choose_box = [&](StagedTensor& each) {
    const int rows = each.span / kernel.tensor(each.tensor).element_bytes();
    if (each.tma)
      each.box = {store.by_warps ? rows_of_warp : std::min(rows, rows_of_atom), store.width};
  };
  for (StagedTensor& each : store.outputs) choose_box(each);
  for (StagedTensor& each : store.inputs) choose_box(each);
  store.vectors = staged_vectors(kernel, gemm, atom, store.step(), width, facts, needed);
  add(conditions, needed);
  return store;
}

int shared_bytes(const StagedStore& store, const sema::Kernel& kernel) {
  int bytes = 0;
  const auto one = [&](const StagedTensor& each, int buffers) {
    bytes +=
        buffers * rows_of_atom * shared_columns(each) * kernel.tensor(each.tensor).element_bytes();
  };
  for (const StagedTensor& each : store.outputs) one(each, store.buffers);
  for (const StagedTensor& each : store.inputs) one(each, each.tma ? store.loads_ahead : 1);
  return bytes;
}

std::vector<BankConflicts> conflicts(const StagedStore& store, const sema::Kernel& kernel) {
  std::vector<BankConflicts> found;
  const auto one = [&](const StagedTensor& each, const char* held, const char* runs) {
    const sema::Tensor& tensor = kernel.tensor(each.tensor);
    const Accesses accesses(each, tensor.element_bytes());
    Wavefronts by_values = accesses.worst_held(each.rotated, store.width);
    // The last subtile has other offsets within a row: the worse of both counts.
    if (store.rest > 0) {
      const Wavefronts last = accesses.worst_held(each.rotated, store.rest);
      if (last.taken > by_values.taken) by_values = last;
    }
    found.push_back({each.matrices ? each.copies.front().name : held + tensor.name, by_values.taken,
                     by_values.least});
    if (each.tma) return;
    const Wavefronts by_runs = accesses.worst_run();
    found.push_back({runs + tensor.name, by_runs.taken, by_runs.least});
  };
  for (const StagedTensor& each : store.outputs) one(each, "write ", "read ");
  for (const StagedTensor& each : store.inputs) one(each, "read ", "write ");
  return found;
}

}  // namespace lay::plan
