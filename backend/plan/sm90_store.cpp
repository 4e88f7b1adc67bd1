#include "backend/plan/sm90_store.h"

#include <algorithm>
#include <array>

#include "backend/plan/axes.h"
#include "backend/plan/tma.h"
#include "frontend/algebra/banks.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

namespace {

constexpr int warpgroup = 128, lanes_of_warp = 32, rows_of_atom = 64, widest_span = 128, row_of_stmatrix = 8;

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

// The writes of a warp, as the banks of shared memory see them.
class Writes {
 public:
  Writes(const TmaStore& store, int element_bytes)
      : matrices_(store.matrices),
        vector_(store.vector),
        element_bytes_(element_bytes),
        offsets_(values(store.shared)),
        rows_(values(along(store.lanes, 0))),
        columns_(values(along(store.lanes, 1))) {
    if (matrices_) return;
    held_rows_ = values(along(store.held, 0));
    held_columns_ = values(along(store.held, 1));
  }

  int held() const { return static_cast<int>(held_rows_.size()); }

  Wavefronts worst(const std::optional<TmaStore::Turned>& turned) const {
    Wavefronts found;
    for (int v = 0; v < std::max(1, held()); v += vector_) {
      const Wavefronts one = wavefronts(addresses(v, turned), element_bytes_ * vector_);
      if (one.taken > found.taken) found = one;
    }
    return found;
  }

 private:
  std::vector<std::int64_t> addresses(int v, const std::optional<TmaStore::Turned>& turned) const {
    std::vector<std::int64_t> result;
    for (int lane = 0; lane < lanes_of_warp; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      std::int64_t m = rows_[at], n = columns_[at];
      if (!matrices_) {
        const bool later = turned && (lane >> turned->bit) % 2 == 1;
        const auto value = static_cast<std::size_t>((v + (later ? turned->values : 0)) % held());
        m += held_rows_[value];
        n += held_columns_[value];
      }
      result.push_back(element_bytes_ * offsets_[static_cast<std::size_t>(m + rows_of_atom * n)]);
    }
    return result;
  }

  bool matrices_;
  int vector_, element_bytes_;
  std::vector<std::int64_t> offsets_, rows_, columns_, held_rows_, held_columns_;
};

// Rows whose places fall on the same banks collide where all lanes write the same values of theirs: half of the lanes
// may begin with other ones.
std::optional<TmaStore::Turned> without_conflicts(const Writes& writes, int vector) {
  Wavefronts best = writes.worst({});
  std::optional<TmaStore::Turned> chosen;
  for (int bit = 0; (1 << bit) < lanes_of_warp; ++bit) {
    for (int by = vector; by < writes.held() && best.taken > best.least; by += vector) {
      const TmaStore::Turned turned{bit, by};
      const Wavefronts one = writes.worst(turned);
      if (one.taken >= best.taken) continue;
      best = one;
      chosen = turned;
    }
  }
  return chosen;
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

std::optional<TmaStore> tma_store(const sema::Kernel& kernel, const Sm90Gemm& gemm, const Layout& atom, Facts& facts,
                                  Conditions& conditions) {
  const sema::Assignment& assignment = kernel.assignments.front();
  TmaStore store;
  store.tensor = assignment.target;
  const int element = kernel.tensor(store.tensor).element_bytes();
  if (kernel.assignments.size() != 1 || (element != 2 && element != 4)) return std::nullopt;
  Conditions needed;
  const auto order = tma_order(kernel, assignment.target, facts, needed);
  const sema::IndexId run = order ? assignment.indices[static_cast<std::size_t>(order->front())] : -1;
  if (run != gemm.m && run != gemm.n) return std::nullopt;
  store.order = *order;
  store.along_n = run == gemm.n;
  store.matrices = element == 2;
  const int least = store.matrices ? 2 * row_of_stmatrix : row_of_stmatrix;  // columns of one write
  store.width = pass_width(gemm, least, widest_span / element);
  if (store.width == 0) return std::nullopt;
  const int span = std::min(widest_span, element * (store.along_n ? store.width : rows_of_atom));
  store.shared = operand_layout(rows_of_atom, store.width, store.along_n, span, 8 * element);
  store.box = {store.along_n ? rows_of_atom : span / element, store.along_n ? span / element : store.width};
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
    store.turned = without_conflicts(Writes(store, element), store.vector);
  }
  add(conditions, needed);
  return store;
}

int shared_bytes(const TmaStore& store, const sema::Kernel& kernel) {
  return store.buffers * rows_of_atom * store.width * kernel.tensor(store.tensor).element_bytes();
}

BankConflicts worst_write(const TmaStore& store, const sema::Kernel& kernel) {
  const Wavefronts found = Writes(store, kernel.tensor(store.tensor).element_bytes()).worst(store.turned);
  return {store.matrices ? "stmatrix" : "write " + kernel.tensor(store.tensor).name, found.taken, found.least};
}

}  // namespace lay::plan
