#include "backend/plan/sm90_store.h"

#include <algorithm>
#include <array>
#include <bit>

#include "backend/plan/axes.h"
#include "backend/plan/tma.h"
#include "backend/plan/vectors.h"
#include "frontend/algebra/banks.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128, lanes_of_warp = 32, rows_of_atom = 64, rows_of_warp = 16, widest_span = 128,
              narrowest_span = 32, row_of_stmatrix = 8;

// Columns that shared memory has room for each time.
int shared_columns(const StagedStore& store) {
  return static_cast<int>(size(std::get<Composed>(store.shared).layout()).value()) / rows_of_atom;
}

// A fragment of 8x8 matrices holds, of matrix j, values 2j and 2j+1 of a quad of threads, and row r in the threads 4r
// to 4r+3 of a warp (PTX ISA, stmatrix); lane l of the warp names row l % 8 of matrix l / 8. Transposed, rows in memory
// are the fragment's columns. Nothing where the atom's accumulators are no such matrices.
std::optional<Layout> rows_of_stmatrix(Facts& facts, const Layout& atom, bool along_n) {
  const Layout quad = composition(facts, atom, Layout(tuple(4, 8, 2), tuple(1, 4, warpgroup)));
  const Tuple matrix = tuple(Tuple::basis(2, {1}), Tuple::basis(1, {0}), Tuple::basis(1, {1}));
  if (!(coalesce(facts, quad) == Layout(tuple(4, 8, 2), matrix))) return std::nullopt;
  return composition(facts, atom,
                     along_n ? Layout(tuple(8, 4, 4), tuple(4, 2 * warpgroup, 32))
                             : Layout(tuple(2, 4, 4, 4), tuple(warpgroup, 1, 2 * warpgroup, 32)));
}

// Whether values i, i + 1, ... of every thread are the columns from `width` * i / values on, as the passes take them.
bool in_passes(const Layout& atom, int width) {
  const auto columns = values(along(atom[1], 1)), first = values(along(atom[0], 1));
  const int held = width * rows_of_atom / warpgroup;
  const auto most = *std::max_element(first.begin(), first.end());
  for (std::size_t v = 0; v < columns.size(); ++v) {
    const auto pass = static_cast<std::int64_t>(v) / held;
    if (columns[v] < pass * width || columns[v] + most >= (pass + 1) * width) return false;
  }
  return true;
}

// Whether every second value lies one column after the one before it.
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
  Accesses(const StagedStore& store, int element_bytes)
      : store_(store), element_bytes_(element_bytes), offsets_(values(store.shared)) {}

  // Values that a thread writes in a step for so many columns.
  int held(int width) const { return store_.matrices ? 1 : width * rows_of_atom / warpgroup; }

  Wavefronts worst_write(const std::optional<StagedStore::Turned>& turned, int width) const {
    const auto rows = values(along(store_.lanes, 0)), columns = values(along(store_.lanes, 1));
    const auto held_rows = values(along(store_.held, 0)), held_columns = values(along(store_.held, 1));
    Wavefronts found;
    for (int v = 0; v < held(width); v += store_.vector) {
      const auto place = [&](int lane) {
        const auto at = static_cast<std::size_t>(lane);
        if (store_.matrices) return std::pair{rows[at], columns[at]};
        const bool later = turned && (lane >> turned->bit) % 2 == 1;
        const auto value = static_cast<std::size_t>((v + (later ? turned->values : 0)) % held(width));
        return std::pair{rows[at] + held_rows[value], columns[at] + held_columns[value]};
      };
      take_worse(found, place, store_.vector);
    }
    return found;
  }

  Wavefronts worst_read() const {
    const auto rows = values(along(store_.runs, 0)), columns = values(along(store_.runs, 1));
    Wavefronts found;
    for (std::size_t first = 0; first < rows.size(); first += lanes_of_warp) {
      const auto place = [&](int lane) {
        const auto at = first + static_cast<std::size_t>(lane);
        return std::pair{rows[at], columns[at]};
      };
      take_worse(found, place, store_.run);
    }
    return found;
  }

 private:
  template <class Place>
  void take_worse(Wavefronts& found, const Place& place, int elements) const {
    std::vector<std::int64_t> addresses;
    for (int lane = 0; lane < lanes_of_warp; ++lane) {
      const auto [m, n] = place(lane);
      addresses.push_back(element_bytes_ * offsets_[static_cast<std::size_t>(m + rows_of_atom * n)]);
    }
    const Wavefronts one = wavefronts(addresses, element_bytes_ * elements);
    if (one.taken > found.taken) found = one;
  }

  const StagedStore& store_;
  int element_bytes_;
  std::vector<std::int64_t> offsets_;
};

// Rows whose places fall on the same banks collide where all lanes write the same values of theirs: half of the lanes
// may begin with other ones.
std::optional<StagedStore::Turned> without_conflicts(const Accesses& accesses, const StagedStore& store) {
  Wavefronts best = accesses.worst_write({}, store.width);
  std::optional<StagedStore::Turned> chosen;
  for (int bit = 0; (1 << bit) < lanes_of_warp; ++bit) {
    for (int by = store.vector; by < store.values() && best.taken > best.least; by += store.vector) {
      const StagedStore::Turned turned{bit, by};
      const Wavefronts one = accesses.worst_write(turned, store.width);
      if (one.taken >= best.taken) continue;
      best = one;
      chosen = turned;
    }
  }
  return chosen;
}

// The elements of an access along the tensor's mode `fastest`, at most 8 bytes, and what they need.
int widest_run(const sema::Tensor& tensor, sema::TensorId id, int fastest, Facts& facts, Conditions& conditions) {
  constexpr int most_bytes = 8;  // whole 16 bytes are TMA's
  const int element = tensor.element_bytes();
  for (int run = most_bytes / element; run > 1; run /= 2) {
    const Conditions needed{vector_conditions(facts, tensor.layout, fastest, run), {{id, run * element}}};
    if (is_never(needed)) continue;
    add(conditions, needed);
    return run;
  }
  return 1;
}

// Lanes of a warp side by side along memory, as far as the 64 rows and the columns of shared memory go; warps and
// accesses cover the rest.
Layout runs_of(const StagedStore& store) {
  const int columns = shared_columns(store);
  const int extent = store.along_n ? columns : rows_of_atom, others = store.along_n ? rows_of_atom : columns;
  const int side_by_side = std::min(lanes_of_warp, extent / store.run), above = lanes_of_warp / side_by_side;
  constexpr int warps = warpgroup / lanes_of_warp;
  const int axis = store.along_n ? 1 : 0;
  const auto forth = [&](int by) { return Tuple::basis(by, {axis}); };
  const auto across = [&](int by) { return Tuple::basis(by, {1 - axis}); };
  return Layout(
      tuple(tuple(side_by_side, above, warps), tuple(extent / (side_by_side * store.run), others / (above * warps))),
      tuple(tuple(forth(store.run), across(1), across(above)),
            tuple(forth(side_by_side * store.run), across(above * warps))));
}

// How many columns at a time, and in what rows of shared memory: whole spans of a swizzle, of which the last time takes
// what is left. Where blocks share K, or half of the lanes would begin with values that the last time does not have, as
// many each time.
void take_widths(StagedStore& store, const Sm90Gemm& gemm, int element, int widest) {
  const int columns = gemm.mma.shape[1], most = widest / element;
  if (gemm.cluster[2] > 1 || (!store.matrices && !store.along_n)) {
    const int least = store.matrices && columns % (2 * row_of_stmatrix) == 0 ? 2 * row_of_stmatrix : row_of_stmatrix;
    store.width = pass_width(gemm, least, most);
  } else {
    store.width = std::min(columns, most);
    store.rest = columns % store.width;
  }
  const int row = element * store.width;
  constexpr int together = 2 * row_of_stmatrix;  // columns that lanes name to stmatrix
  store.span = widest_span;
  int held = (store.width + together - 1) / together * together;
  if (store.along_n) {
    store.span = std::max(narrowest_span, static_cast<int>(std::bit_ceil(static_cast<unsigned>(row))));
    held = store.span / element;
  }
  store.shared = operand_layout(rows_of_atom, held, store.along_n, store.span, 8 * element);
  store.by_warps = store.tma && store.along_n && gemm.cluster[2] == 1;
  if (store.tma) store.box = {store.by_warps ? rows_of_warp : store.span / element, store.width};
}

}  // namespace

int pass_width(const Sm90Gemm& gemm, int least, int most) {
  const int columns = gemm.mma.shape[1], all = gemm.repeats()[0] * gemm.repeats()[1] * columns;
  int best = 0, cost = 0;
  for (int width = most; width >= least; width /= 2) {
    if (columns % width != 0) continue;
    const int each = (all / width + gemm.cluster[2] - 1) / gemm.cluster[2] * width;
    if (gemm.cluster[2] == 1 && best > 0) break;
    if (best == 0 || each < cost) {
      best = width;
      cost = each;
    }
  }
  return best;
}

std::optional<StagedStore> staged_store(const sema::Kernel& kernel, const Sm90Gemm& gemm, const Layout& atom,
                                        Width width, Facts& facts, Conditions& conditions, int widest) {
  const sema::Assignment& assignment = kernel.assignments.front();
  StagedStore store;
  store.tensor = assignment.target;
  const sema::Tensor& tensor = kernel.tensor(store.tensor);
  const int element = tensor.element_bytes();
  if (kernel.assignments.size() != 1 || (element != 2 && element != 4)) return std::nullopt;
  Conditions needed;
  if (width == Width::vectors) {
    const auto order = tma_order(kernel, assignment.target, facts, needed);
    if (order) store.order = *order;
  }
  store.tma = !store.order.empty();
  if (!store.tma) needed = {};
  const int fastest = store.tma ? store.order.front() : unit_mode(facts, tensor.layout);
  const sema::IndexId run = fastest < 0 ? -1 : assignment.indices[static_cast<std::size_t>(fastest)];
  if (run != gemm.m && run != gemm.n) return std::nullopt;
  store.along_n = run == gemm.n;
  store.matrices = element == 2;
  take_widths(store, gemm, element, widest);
  if (store.matrices) {
    const auto rows = rows_of_stmatrix(facts, atom, store.along_n);
    if (!rows) return std::nullopt;
    store.lanes = *rows;
    store.vector = row_of_stmatrix;
  } else {
    if (!in_passes(atom, store.width)) return std::nullopt;
    store.lanes = atom[0];
    store.held = composition(facts, atom[1], Layout(store.width * rows_of_atom / warpgroup, 1));
    store.vector = store.along_n && in_pairs(atom) ? 2 : 1;
    store.turned = without_conflicts(Accesses(store, element), store);
  }
  if (!store.tma) {
    if (width == Width::vectors) store.run = widest_run(tensor, store.tensor, fastest, facts, needed);
    store.runs = runs_of(store);
  }
  add(conditions, needed);
  return store;
}

int shared_bytes(const StagedStore& store, const sema::Kernel& kernel) {
  return store.buffers * rows_of_atom * shared_columns(store) * kernel.tensor(store.tensor).element_bytes();
}

std::vector<BankConflicts> conflicts(const StagedStore& store, const sema::Kernel& kernel) {
  const sema::Tensor& tensor = kernel.tensor(store.tensor);
  const Accesses accesses(store, tensor.element_bytes());
  Wavefronts write = accesses.worst_write(store.turned, store.width);
  if (store.rest > 0) {
    const Wavefronts last = accesses.worst_write(store.turned, store.rest);
    if (last.taken > write.taken) write = last;
  }
  std::vector<BankConflicts> found{{store.matrices ? "stmatrix" : "write " + tensor.name, write.taken, write.least}};
  if (store.tma) return found;
  const Wavefronts read = accesses.worst_read();
  found.push_back({"read " + tensor.name, read.taken, read.least});
  return found;
}

}  // namespace lay::plan
