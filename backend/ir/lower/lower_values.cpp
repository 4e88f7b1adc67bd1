#include "backend/ir/lower/lower_values.h"

#include <algorithm>

#include "frontend/algebra/layouts/axes.h"

namespace lay::ir {

namespace {

// Elements whose code compiles in a fraction of the time that the K loop takes.
constexpr int elements_of_a_pass = 32;

class Storing {
 public:
  Storing(Declared& declared, const ThreadValues& held)
      : declared_(declared), b_(declared.b), held_(held) {
    // Outputs may differ in what they write at once: values are made for the widest, and stored in
    // as many accesses as each needs.
    together_ = *std::max_element(held.vectors.begin(), held.vectors.end());
    for (const sema::Assignment& assignment : declared.kernel.assignments) {
      declared.from(assignment.where, "values for one access");
      out_.push_back(b_.registers(declared.fresh("out"), declared.tensor(assignment.target).element,
                                  Layout(together_, 1)));
    }
  }

  void run() {
    declared_.from(declared_.kernel.assignments[0].where, "the elements of this thread");
    passes([&](Term pass, int count) {
      each("i", count, 1, [&](Term i) {
        each("j", held_.extents[2], 1, [&](Term j) {
          each("v", held_.extents[0], together_, [&](Term value) { access(value, pass, i, j); });
        });
      });
    });
  }

 private:
  // The same code for some of the accumulators along i after the others: `body` sees the first i of
  // the pass, and finds its accumulators where those of the first pass were. Registers have no
  // index at run time, so they move.
  template <class Body>
  void passes(Body body) {
    // Values of the atom times atoms along n are made for each atom along m: (4,4,4) has 16 of
    // them, and passes of two along m keep 32 elements of text.
    const int all = held_.extents[1], across = held_.extents[0] * held_.extents[2];
    int count = all;
    while (count > 1 && (count * across > elements_of_a_pass || all % count != 0)) --count;
    const Term zero = b_.constant(std::int64_t{0});
    if (count == all) return body(zero, all);
    b_.loop("pass", zero, b_.constant(std::int64_t{all}), {.step = count}, [&](Term pass) {
      body(pass, count);
      declared_.from(declared_.kernel.assignments[0].where, "the accumulators of the next pass");
      each("i", all - count, 1, [&](Term i) {
        each("j", held_.extents[2], 1, [&](Term j) {
          each("v", held_.extents[0], 1, [&](Term v) {
            b_.assign({held_.accumulators, {v, i, j}},
                      b_.read({held_.accumulators, {v, i + count, j}}));
          });
        });
      });
    });
  }

  template <class Body>
  void each(const char* name, int count, int step, Body body) {
    // One round is no loop.
    if (count == step) return body(b_.constant(std::int64_t{0}));
    b_.loop(name, b_.constant(std::int64_t{0}), b_.constant(std::int64_t{count}),
            {.step = step, .unrolled = true}, body);
  }

  Term position(int axis, Term value, Term i, Term j) {
    const Layout all = lay::along(held_.values, axis);
    const Layout repeats = all[1];
    const auto by = [&](const Layout& layout, Term index) { return b_.at(layout, index); };
    // (value, (i, j)) -> (m, n) is linear: the parts of the value and of both repeats add.
    return held_.first[static_cast<size_t>(axis)] + by(all[0], value) + by(repeats[0], i) +
           by(repeats[1], j);
  }

  void bind(ElementLowering& element, Term m, Term n) {
    element.bind(held_.indices[0], m);
    element.bind(held_.indices[1], n);
    for (size_t i = 0; i < held_.batch.size(); ++i)
      element.bind(held_.batch_indices[i], held_.batch[i]);
  }

  void access(Term value, Term pass, Term i, Term j) {
    const auto& kernel = declared_.kernel;
    const Term m = b_.let(declared_.index_name(held_.indices[0]), position(0, value, pass + i, j));
    const Term n = b_.let(declared_.index_name(held_.indices[1]), position(1, value, pass + i, j));
    b_.when(m < declared_.extent(held_.indices[0]) && n < declared_.extent(held_.indices[1]), [&] {
      // Neighbours along n, whose accumulators are neighbours in the atom's values.
      for (int e = 0; e < together_; ++e) {
        ElementLowering element(declared_, {held_.contraction});
        bind(element, m, n + e);
        element.know(held_.contraction, b_.read({held_.accumulators, {value + e, i, j}}));
        for (size_t o = 0; o < kernel.assignments.size(); ++o) {
          const sema::Assignment& assignment = kernel.assignments[o];
          declared_.from(assignment.where);
          b_.assign({out_[o], {b_.constant(std::int64_t{e})}},
                    element.value(assignment.value, declared_.tensor(assignment.target).element));
        }
      }
      for (size_t o = 0; o < kernel.assignments.size(); ++o) store(o, m, n);
    });
  }

  void store(size_t which, Term m, Term n) {
    const sema::Assignment& assignment = declared_.kernel.assignments[which];
    declared_.from(assignment.where);
    const int vector = held_.vectors[which];
    // The tensor's mode that n runs along: where one access finds its neighbours.
    const auto mode =
        std::find(assignment.indices.begin(), assignment.indices.end(), held_.indices[1]) -
        assignment.indices.begin();
    for (int e = 0; e < together_; e += vector) {
      ElementLowering element(declared_, {held_.contraction});
      bind(element, m, n + e);
      const Ref to = element.element(assignment.target, assignment.indices);
      const Ref from{out_[which], {b_.constant(std::int64_t{e})}};
      if (vector == 1) {
        b_.assign(to, b_.read(from));
      } else {
        b_.copy(to, from, vector, static_cast<int>(mode), 0);
      }
    }
  }

  Declared& declared_;
  Builder& b_;
  const ThreadValues& held_;
  int together_ = 1;
  std::vector<BufferId> out_;  // of each assignment
};

}  // namespace

void store_values(Declared& declared, const ThreadValues& held) {
  Storing(declared, held).run();
}

}  // namespace lay::ir
