// K shared by the blocks of a cluster: what each has of the sums, given to the block that adds it
// up.
//
// Each block has multiplied its part of K, and of a thread's sums each block adds up some: those it
// has itself stay in registers (`own`), the others' come by st.async into its shared memory, to the
// thread of the same number. They are added up in the order of parts, so that the bits are the same
// every time. Which sums a block adds up, and the barriers, are the kernel's.
#pragma once

#include <functional>

#include "backend/ir/lower/lower_parts.h"

namespace lay::ir {

class PartSums {
 public:
  struct Shape {
    ElementType type = ElementType::f32;
    int parts = 2;    // of K, a block each
    int values = 1;   // of a thread, that one block adds up
    int vector = 1;   // of them that go together: a divisor of values, at most 16 bytes
    int threads = 1;  // that have sums
  };

  // Declares the buffers: (value, thread, from) in shared memory, and registers.
  void declare(Builder& b, Declared& declared, const Shape& shape);

  // This block's value `at`.
  Ref own(Term at) const { return {own_, {at}}; }
  // The values from `at` on of a thread of the block that `slot` says, in the block that adds them
  // up.
  Ref given(Term at, Term thread, Term slot) const { return {given_, {at, thread, slot}}; }
  // The slot of block `part` in the block `owner`, which is another one: the owner has none itself.
  Term slot_in(Builder& b, Declared& declared, Term part, Term owner) const;

  // In the block `part`: adds up a vector of values from `at` on of all parts, and calls put(e,
  // sum) for each of them.
  void add_up(Builder& b, Term part, Term at, Term thread,
              const std::function<void(Term, Term)>& put) const;

 private:
  Shape shape_;
  BufferId given_, own_, piece_, sum_;
};

}  // namespace lay::ir
