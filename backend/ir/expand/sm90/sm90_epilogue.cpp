#include <algorithm>

#include "backend/ir/expand/sm90/sm90_expander.h"
#include "backend/plan/recognise.h"
#include "backend/plan/sm90/sm90_vectors.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

Term Sm90Expander::position(const Tile& tile, int axis, Term value, Term repeat) const {
  const auto at = static_cast<size_t>(axis);
  const Layout values = gemm_.accumulators[1];
  // A coordinate is a sum of four parts: the block's tile, the thread's first element, the value
  // inside the atom, and the repeat of the atom. The layouts are linear in each, so they add.
  Term made = tile.first[at] + held_[at] + b_.at(lay::along(values[0], axis), value);
  if (gemm_.repeats()[at] > 1) made = made + repeat * gemm_.mma.shape[at];
  return made;
}

// Registers for what is read before the arithmetic; other reads must lie inside, and so must inputs
// of whole numbers.
void Sm90Expander::prepare_values() {
  const plan::StagedStore& store = *gemm_.store;
  for (const plan::StagedVector& each : store.vectors) {
    declared_.from(declared_.kernel.node(each.load).where, "read ahead");
    const ElementType type = declared_.tensor(declared_.kernel.load(each.load).tensor).element;
    ahead_.push_back(
        {&each, b_.registers(declared_.fresh("ahead"), type, Layout(size(each.read), 1))});
  }
  // Outside the tensor a vector or an input reads as 0, and floats compute on with it, since the
  // result is not stored. An integer 0 might be divided by, so whole numbers keep the guard.
  const auto read_safely = [&](sema::NodeId load) {
    return std::any_of(ahead_.begin(), ahead_.end(),
                       [&](const Ahead& each) { return each.plan->load == load; }) ||
           std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& each) {
             return each.load == load && is_float(declared_.tensor(each.plan->tensor).element);
           });
  };
  const auto loads = plan::loads_outside(declared_.kernel, gemm_.contractions());
  guarded_ = !std::all_of(loads.begin(), loads.end(), read_safely);
}

// The rows and columns of a step's values, from `base` on; what lies outside is 0.
void Sm90Expander::read_vectors(const Tile& tile, const std::array<Term, 2>& repeat, Term base) {
  for (const Ahead& each : ahead_) {
    const plan::StagedVector& vector = *each.plan;
    const sema::IndexId index = vector.axis == 0 ? gemm_.m : gemm_.n;
    const sema::Load& load = declared_.kernel.load(vector.load);
    declared_.from(declared_.kernel.node(vector.load).where);
    const Term first =
        b_.let(declared_.index_name(index),
               position(tile, vector.axis, base, repeat[static_cast<size_t>(vector.axis)]));
    b_.loop("e", number(0), number(size(vector.read).value()),
            {.step = vector.together, .unrolled = true}, [&](Term e) {
              const Term at = first + b_.at(vector.read, e);
              std::vector<ExprId> element;
              for (const sema::NodeId coordinate : load.coordinate)
                element.push_back(vector_coordinate(coordinate, tile, at));
              PlainCopy& made =
                  b_.copy({each.held, {e}},
                          {declared_.tensors[static_cast<size_t>(load.tensor)], std::move(element)},
                          vector.together);
              // The vector is whole or outside: the plan reads together only where the extent is a
              // multiple.
              made.guard.predicate = at < declared_.extent(index);
              made.guard.zero_fill = true;
            });
  }
}

// A coordinate of an input that is read ahead, at a row or column that may lie outside.
Term Sm90Expander::vector_coordinate(sema::NodeId coordinate, const Tile& tile, Term at) {
  if (gemm_.segments && coordinate == gemm_.segments->by_row) return tile.segment;
  if (!plan::is_row_of_output(declared_.kernel, gemm_, coordinate)) return at;
  const Term inside = b_.min(at, declared_.extent(gemm_.m) - 1);
  return b_.read({declared_.tensors[static_cast<size_t>(gemm_.segments->row_of)], {inside}});
}

Term Sm90Expander::value_at(const sema::Assignment& assignment, const Tile& tile, Term m, Term n,
                            const std::vector<Term>& sums, const Term* v) {
  const std::vector<sema::NodeId> contractions = gemm_.contractions();
  std::vector<sema::NodeId> given = contractions;
  if (gemm_.segments) given.push_back(gemm_.segments->by_row);
  if (v) {
    for (const Ahead& each : ahead_) given.push_back(each.plan->load);
    for (const Input& each : inputs_) given.push_back(each.load);
  }
  ElementLowering element(declared_, given);
  if (v) {
    // The values of a step share what was read ahead: `held` says which of the elements read
    // belongs to value v, for instance two values of each row share the row's scale.
    for (const Ahead& each : ahead_)
      element.know(each.plan->load, b_.read({each.held, {b_.at(each.plan->held, *v)}}));
    for (const Input& each : inputs_) {
      const ElementType type = declared_.kernel.node(each.load).type;
      element.know(each.load, b_.cast(b_.read({each.values, {*v}}), type));
    }
  }
  element.bind(gemm_.m, m);
  element.bind(gemm_.n, n);
  for (size_t i = 0; i < gemm_.batch.size(); ++i) element.bind(gemm_.batch[i], tile.batch[i]);
  for (size_t i = 0; i < sums.size(); ++i) element.know(contractions[i], sums[i]);
  // One segment for all rows of a tile.
  if (gemm_.segments) {
    const sema::NodeId by_row = gemm_.segments->by_row;
    element.know(by_row, b_.cast(tile.segment, declared_.kernel.node(by_row).type));
  }
  return element.value(assignment.value, declared_.tensor(assignment.target).element);
}

// Times that an atom's accumulators are stored.
int Sm90Expander::passes_of_atom() const {
  return gemm_.store ? gemm_.store->passes(gemm_.mma.shape[1]) : 1;
}

// Returns true if an element takes much code.
bool Sm90Expander::much_text() const {
  constexpr int much = 8;  // steps of arithmetic
  int all = 0;
  for (const sema::Assignment& assignment : declared_.kernel.assignments)
    all += plan::arithmetic_outside(declared_.kernel, assignment.value, gemm_.contractions());
  return all >= much;
}

// A rolled loop over halves of the accumulators, which move up in between, where each element takes
// much code: the text is half as long, and the moves are a small part of the work.
bool Sm90Expander::in_halves(int passes) const {
  const auto repeats = gemm_.repeats();
  constexpr int worth = 4;  // passes
  // The second half must repeat the subtiles of the first, width by width: atoms in one line, and
  // an even number of them where each ends in a narrower subtile.
  const bool in_order = repeats[0] == 1 || repeats[1] == 1;
  const bool alike = !gemm_.store || gemm_.store->rest == 0 || repeats[0] * repeats[1] % 2 == 0;
  if (!in_order || !alike || passes < worth || passes % 2 != 0) return false;
  // Stores by threads carry a guard and an address for each access, which is much text as well.
  return (gemm_.store && !gemm_.store->out_by_tma()) || much_text();
}

// The passes of that part of the accumulators: each one, where it is held when the part is the
// first, and its number in the part.
void Sm90Expander::each_pass(Term half, int halves, const PassBody& body) {
  const auto repeats = gemm_.repeats();
  const int of_atom = passes_of_atom(), atoms = repeats[0] * repeats[1] / halves;
  // All subtiles of an atom have one width: number p is subtile p % of_atom of atom p / of_atom.
  if (!gemm_.store || gemm_.store->rest == 0) {
    const int width = gemm_.mma.shape[1] / of_atom,
              passes = of_atom * repeats[0] * repeats[1] / halves;
    return over("pass", passes, [&](Term pass) {
      body(pass_of(half * passes + pass, of_atom, width), pass_of(pass, of_atom, width), pass);
    });
  }
  // The last subtile of each atom is narrower (n = 192 stored 128 columns at a time leaves 64), so
  // it is written out by itself behind the loop over the whole ones.
  over("atom", atoms, [&](Term atom) {
    const auto one = [&](Term pass, int width) {
      const auto of = [&](Term number_of) {
        return Pass{number_of / repeats[1], number_of % repeats[1], pass, width};
      };
      body(of(half * atoms + atom), of(atom), atom * of_atom + pass);
    };
    over("pass", of_atom - 1, [&](Term pass) { one(pass, gemm_.store->width); });
    one(number(of_atom - 1), gemm_.store->rest);
  });
}

void Sm90Expander::epilogue(const Tile& tile) {
  if (!picked_.empty()) return rolled_epilogue(tile);
  const auto repeats = gemm_.repeats();
  const int all = passes_of_atom() * repeats[0] * repeats[1];
  const int halves = in_halves(all) ? 2 : 1, passes = all / halves;
  // Two values a column: 64 rows and 128 threads give a thread 64 * width / 128 = width / 2 values.
  const int of_pass =
      (gemm_.store ? gemm_.store->width : gemm_.mma.shape[1]) / 2;  // values of a whole one
  const auto place_of = [&](const Pass& at, Term value) {
    return std::vector<ExprId>{at.pass * of_pass + value, at.i, at.j};
  };
  const auto half_of_passes = [&](Term half) {
    each_pass(half, halves, [&](const Pass& at, const Pass& held, Term pass) {
      const auto source = [&](Term value) {
        return sums_at(sums_of_products(), place_of(held, value));
      };
      declared_.from(declared_.kernel.assignments.front().where);
      if (!gemm_.store) return store_from_registers(tile, at, at.width / 2, source);
      const plan::StagedStore& store = *gemm_.store;
      // The buffer alternates with the subtile's number. Where the half has a whole number of
      // rounds the number inside the half says the same, and is a constant once the loop is
      // unrolled.
      const Term index = passes % store.buffers == 0 ? pass : half * passes + pass;
      const Term buffer =
          output_stages_.write ? b_.slot(output_stages_.write) : index % store.buffers;
      wait_for_stores(store.buffers - 1);
      store_through_shared(tile, at, buffer, source);
      if (output_stages_.write) b_.emit(Advance{output_stages_.write, {}});
    });
  };
  declared_.from(declared_.kernel.assignments.front().where);
  if (halves == 1) return half_of_passes(number(0));
  // Registers have no addresses, so the loop over halves cannot index them: its body always reads
  // the first half, and the second one is moved there at the end of a round.
  b_.loop("half", number(0), number(halves), {}, [&](Term half) {
    half_of_passes(half);
    declared_.from(declared_.kernel.assignments.front().where, "the other half moves up");
    each_pass(number(1), halves, [&](const Pass& from, const Pass& to, Term) {
      b_.loop("v", number(0), number(to.width / 2), {.unrolled = true}, [&](Term v) {
        for (const BufferId sums : sums_of_products())
          b_.assign({sums, place_of(to, v)}, b_.read({sums, place_of(from, v)}));
      });
    });
  });
}

// Each thread its own elements, two neighbours along n at once where they may be.
void Sm90Expander::store_from_registers(const Tile& tile, const Pass& at, int values,
                                        const Source& source) {
  const auto& kernel = declared_.kernel;
  const int together = *std::max_element(gemm_.vectors.begin(), gemm_.vectors.end());
  b_.loop("v", number(0), number(values), {.step = together, .unrolled = true}, [&](Term v) {
    const Term value = at.pass * values + v;
    declared_.from(kernel.assignments.front().where);
    // One guard for the access: the plan stores two neighbours together only where N is even, so
    // that both are inside or both outside.
    const Term m = b_.let(declared_.index_name(gemm_.m), position(tile, 0, value, at.i));
    const Term n = b_.let(declared_.index_name(gemm_.n), position(tile, 1, value, at.j));
    b_.when(m < tile.end && n < declared_.extent(gemm_.n), [&] {
      for (size_t o = 0; o < kernel.assignments.size(); ++o) {
        declared_.from(kernel.assignments[o].where);
        for (int e = 0; e < together; ++e) {
          const Term value_of = value_at(kernel.assignments[o], tile, m, n + e, source(v + e));
          b_.assign({values_[o], {number(e)}}, value_of);
        }
      }
      // All values before the first store: an assignment may read the element that another one
      // writes.
      const Term row = row_of_output(m);
      for (size_t o = 0; o < kernel.assignments.size(); ++o) {
        const sema::Assignment& assignment = kernel.assignments[o];
        declared_.from(assignment.where);
        const auto place = [&](int e) {
          return Ref{declared_.tensors[static_cast<size_t>(assignment.target)],
                     element_at(assignment.indices, tile, row, n + e)};
        };
        const auto mode = std::find(assignment.indices.begin(), assignment.indices.end(), gemm_.n) -
                          assignment.indices.begin();
        for (int e = 0; e < together; e += gemm_.vectors[o]) {
          if (gemm_.vectors[o] == 1) {
            b_.assign(place(e), b_.read({values_[o], {number(e)}}));
          } else {
            b_.copy(place(e), {values_[o], {number(e)}}, gemm_.vectors[o], static_cast<int>(mode),
                    0);
          }
        }
      }
    });
  });
}

}  // namespace lay::ir
