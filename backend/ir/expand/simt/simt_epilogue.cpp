#include "backend/ir/expand/simt/simt_expander.h"

namespace lay::ir {

namespace {
// The elements of a pass: what compiles in a fraction of the time that the K loop takes. Measured
// on an H200 for f32: passes of 32 where elements are stored in vectors cost the K loop registers
// (251 instead of 213) and 4 % of the speed; where they are stored one by one, passes of 32 are 1
// to 5 % faster than passes of 64.
constexpr int vector_elements_of_a_pass = 64, single_elements_of_a_pass = 32;
}  // namespace

void SimtExpander::bind(ElementLowering& element, Term m, Term n, Term accumulator) {
  element.bind(gemm_.m, m);
  element.bind(gemm_.n, n);
  for (size_t i = 0; i < gemm_.batch.size(); ++i) element.bind(gemm_.batch[i], batch_[i]);
  element.know(gemm_.contraction, accumulator);
}

// The element is one of the output, and one that this block stores.
Term SimtExpander::to_store(const std::array<Term, 2>& at, Term shared) const {
  const Term inside = at[0] < extent(gemm_.m) && at[1] < extent(gemm_.n);
  const auto stored = is_stored(shared);
  return stored ? inside && *stored : inside;
}

void SimtExpander::epilogue() {
  const bool vectors = gemm_.stores.size() == 1 && gemm_.stores[0].vector > 1;
  if (vectors) {
    store_vectors(gemm_.stores[0]);
  } else {
    store_elements();
  }
}

// The accumulators in passes of the same code along an axis, of at most `most` elements: `body`
// sees the first element of the pass, and finds its accumulators where those of the first pass
// were. Registers have no index at run time, so they move.
void SimtExpander::passes(size_t axis, int most, const std::function<void(Term, int)>& body) {
  const int all = stored_[axis], across = stored_[1 - axis];
  // The most rows that divide all of them and keep a pass within `most` elements: 16 x 4
  // accumulators and 32 elements give passes of 8 rows.
  int count = all;
  while (count > 1 && (count * across > most || all % count != 0)) --count;
  if (count == all) return body(number(0), all);
  b_.loop("pass", number(0), number(all), {.step = count}, [&](Term first) {
    body(first, count);
    declared_.from(declared_.kernel.assignments[0].where, "the accumulators of the next pass");
    // After the last pass this moves accumulators that nobody reads; the loop body is the same each
    // time.
    std::array<int, 2> left = stored_;
    left[axis] -= count;
    b_.loop("i", number(0), number(left[0]), {.unrolled = true}, [&](Term i) {
      b_.loop("j", number(0), number(left[1]), {.unrolled = true}, [&](Term j) {
        const Term next_i = axis == 0 ? i + count : i, next_j = axis == 1 ? j + count : j;
        b_.assign({accumulators_, {i, j}}, b_.read({accumulators_, {next_i, next_j}}));
      });
    });
  });
}

// One output, `vector` elements at once along n or m: what they were, where that matters, and their
// new values in registers, each with one access.
void SimtExpander::store_vectors(const plan::OutputStore& store) {
  const sema::Assignment& assignment =
      declared_.kernel.assignments[static_cast<size_t>(store.assignment)];
  const size_t run = store.along_n ? 1 : 0, across = 1 - run;
  const std::array<sema::IndexId, 2> index{gemm_.m, gemm_.n};
  const ElementType type = declared_.tensor(assignment.target).element;
  const auto old = source_operands(declared_.kernel, assignment);
  std::vector<sema::NodeId> given{gemm_.contraction};
  for (const SourceOperand& value : old) given.push_back(value.load);
  declared_.from(assignment.where, "values for one access");
  const BufferId values = b_.registers(declared_.name("out"), type, Layout(store.vector, 1));
  const BufferId before =
      old.empty() ? BufferId{} : b_.registers(declared_.name("old"), type, Layout(store.vector, 1));
  declared_.from(assignment.where, "the elements of this thread, " + std::to_string(store.vector) +
                                       " at once along " + declared_.index_name(index[run]));
  passes(across, vector_elements_of_a_pass, [&](Term pass, int count) {
    b_.loop("i", number(0), number(count), {.unrolled = true}, [&](Term i) {
      std::array<Term, 2> at;
      at[across] =
          b_.let(declared_.index_name(index[across]), position(static_cast<int>(across), pass + i));
      b_.loop("j", number(0), number(stored_[run]), {.step = store.vector, .unrolled = true},
              [&](Term j) {
                at[run] =
                    b_.let(declared_.index_name(index[run]), position(static_cast<int>(run), j));
                b_.when(to_store(at, pass + i), [&] {
                  // The access begins at the vector's first element, and a predicate on that one
                  // stands for all.
                  ElementLowering first(declared_, given);
                  bind(first, at[0], at[1], number(0));
                  const Ref output = first.element(assignment.target, assignment.indices);
                  // C of the whole vector is read before any element is stored, in one access.
                  for (const SourceOperand& value : old)
                    read_old(first, value, output, before, store);
                  b_.loop("v", number(0), number(store.vector), {.unrolled = true}, [&](Term v) {
                    std::array<Term, 2> here = at, held;
                    here[run] = at[run] + v;
                    held[across] = i;
                    held[run] = j + v;
                    ElementLowering element(declared_, given);
                    bind(element, here[0], here[1], b_.read({accumulators_, {held[0], held[1]}}));
                    for (const SourceOperand& value : old)
                      element.know(value.load, b_.read({before, {v}}));
                    b_.assign({values, {v}}, element.value(assignment.value, type));
                  });
                  b_.copy(output, {values, {number(0)}}, store.vector, store.vector_mode, 0);
                });
              });
    });
  });
}

void SimtExpander::read_old(ElementLowering& element, const SourceOperand& value, const Ref& output,
                            BufferId before, const plan::OutputStore& store) {
  const Span& where = declared_.kernel.node(value.load).where;
  if (value.condition < 0) {
    declared_.from(where);
    b_.copy({before, {number(0)}}, output, store.vector, 0, store.vector_mode);
    return;
  }
  const Term condition = element.value(value.condition);
  declared_.from(where, "read only where it counts");
  PlainCopy& made = b_.copy({before, {number(0)}}, output, store.vector, 0, store.vector_mode);
  made.guard.predicate = value.when ? condition : !condition;
  made.guard.zero_fill = true;
}

// Element by element; of several outputs all values first, then all stores.
void SimtExpander::store_elements() {
  declared_.from(declared_.kernel.assignments[0].where, "the elements of this thread");
  passes(0, single_elements_of_a_pass, [&](Term pass, int count) {
    b_.loop("i", number(0), number(count), {.unrolled = true}, [&](Term i) {
      const Term m = b_.let(declared_.index_name(gemm_.m), position(0, pass + i));
      b_.loop("j", number(0), number(stored_[1]), {.unrolled = true}, [&](Term j) {
        const Term n = b_.let(declared_.index_name(gemm_.n), position(1, j));
        b_.when(to_store({m, n}, gemm_.shared_out() == 0 ? pass + i : j), [&] {
          ElementLowering element(declared_, {gemm_.contraction});
          bind(element, m, n, b_.read({accumulators_, {i, j}}));
          store_values(element);
        });
      });
    });
  });
}

void SimtExpander::store_values(ElementLowering& element) {
  const auto& kernel = declared_.kernel;
  std::vector<Term> values;
  for (const sema::Assignment& assignment : kernel.assignments) {
    declared_.from(assignment.where);
    const Term value = element.value(assignment.value, declared_.tensor(assignment.target).element);
    values.push_back(kernel.assignments.size() > 1 ? b_.let(declared_.fresh("value"), value)
                                                   : value);
  }
  for (size_t o = 0; o < values.size(); ++o) {
    const sema::Assignment& assignment = kernel.assignments[o];
    declared_.from(assignment.where);
    b_.assign(element.element(assignment.target, assignment.indices), values[o]);
  }
}

}  // namespace lay::ir
