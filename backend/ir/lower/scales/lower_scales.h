// Sums of promotion intervals on their way to the totals of a product on tensor cores, and the
// factors that are constant within intervals: each thread reads the numbers that its accumulators
// take, once an interval, and multiplies the interval's sums by them.
//
//   C[m,n] = sum[k](a[m,k//128] * b[n//128,k//128] * A[m,k] * B[n,k]), tiles of 128 x 128 x 128
//
//   two numbers of a, those of the thread's rows, and one of b; for each accumulator
//   total = fma(a * b, acc, total)
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "backend/ir/lower/lower_parts.h"
#include "backend/plan/tensor_gemm.h"

namespace lay::ir {

// How numbers outside the output or behind the end of K are read, whose sums are 0 or are stored
// nowhere: not at all, each behind a condition, as 0; or the last ones that there are, without a
// branch, in the type in which memory has them. Nothing waits for the latter before they are used.
enum class OutsideNumbers { zero, last };

// One of the intervals whose numbers are held: a set and, where it has several, a stage of it.
struct HeldScales {
  size_t set = 0;
  Term stage = {};
};

class ScaleLowering {
 public:
  // `sets`: numbers of so many intervals are held at once. `stages`: of a set, numbers of that many
  // intervals, which are read before it is known that K has them.
  ScaleLowering(Declared& declared, const plan::TensorGemm& gemm, OutsideNumbers outside,
                int sets = 1, int stages = 1)
      : declared_(declared),
        b_(declared.b),
        gemm_(gemm),
        outside_(outside),
        stages_(stages),
        numbers_(sets) {}

  // Returns true if sums are multiplied by anything.
  bool any() const { return !gemm_.scales.empty(); }
  // Declares the registers of a thread's numbers.
  void declare();

  // An interval of a tile: its K tile in the whole sum, of several the first, and its part of that
  // K tile, counted in intervals or, where a group of threads has less of a tile, in what it has.
  struct Place {
    std::array<Term, 2> first;  // this thread's first accumulator, in the output
    const std::vector<Term>& batch;
    Term k_tile, part;
  };
  // Reads the numbers of an interval.
  void read(const Place& at, const HeldScales& to = {});

  // Adds each sum of an interval to its total, multiplied by the scales that were read last; both
  // are (value of the atom, atom along m, atom along n).
  void add(BufferId totals, BufferId sums, const HeldScales& by = {});

  // Returns whether an interval that is a part of a K tile may begin behind the end of K, and the
  // condition that it does not. With `last`, sums are added only where it holds: the number read
  // is another interval's, and 0 times infinity is NaN.
  bool may_be_behind_k() const { return interval_of_tile() < gemm_.tile[2]; }
  Term is_inside_k(const Place& at);

 private:
  // Reads number e of a scale.
  void read_number(const plan::ProductScale& scale, const Ref& to, Term e, const Place& at);
  void read_one(const plan::ProductScale& scale, const Ref& to, const std::array<Term, 2>& place,
                const Place& at);
  // The node whose value is kept, and as what: with `last` what a cast is of.
  sema::NodeId kept(const plan::ProductScale& scale) const;
  ElementType kept_type(const plan::ProductScale& scale) const;
  Term group_of(const plan::GroupScale::Quotient& quotient, const Place& at);
  Term product_at(const HeldScales& by, Term v, Term i, Term j);
  Ref held(const HeldScales& of, size_t scale, Term at) const;
  int interval_of_tile() const;
  void over(const char* name, int count, const std::function<void(Term)>& body);
  Term number(std::int64_t value) { return b_.constant(value); }

  Declared& declared_;
  Builder& b_;
  const plan::TensorGemm& gemm_;
  OutsideNumbers outside_;
  int stages_;
  std::vector<std::vector<BufferId>> numbers_;  // of this thread: of each set and scale
};

}  // namespace lay::ir
