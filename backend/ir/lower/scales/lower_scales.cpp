#include "backend/ir/lower/scales/lower_scales.h"

#include <algorithm>

#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

namespace {

bool is_zero(const Layout& layout) {
  const auto all = values(layout);
  return std::all_of(all.begin(), all.end(), [](std::int64_t value) { return value == 0; });
}

}  // namespace

void ScaleLowering::declare() {
  for (std::vector<BufferId>& set : numbers_) {
    for (const plan::ProductScale& scale : gemm_.scales) {
      declared_.from(declared_.kernel.node(scale.factor.value).where,
                     std::string("scales of ") + (stages_ > 1 ? "intervals" : "an interval") +
                         ", number -> (m,n) from this thread's first: " + scale.read.to_string());
      const Layout numbers =
          stages_ > 1 ? make_layout(tuple(scale.count, stages_)) : Layout(scale.count, 1);
      set.push_back(b_.registers(declared_.fresh("scale"), kept_type(scale), numbers));
    }
  }
}

sema::NodeId ScaleLowering::kept(const plan::ProductScale& scale) const {
  const sema::NodeId value = scale.factor.value;
  const auto* apply = std::get_if<sema::Apply>(&declared_.kernel.node(value).what);
  const bool is_cast = apply && apply->function == ElementFunction::cast;
  if (!is_cast || outside_ == OutsideNumbers::zero) return value;
  // Registers hold whole bytes.
  const sema::NodeId cast = apply->operands[0];
  return bits(declared_.kernel.node(cast).type) >= 8 ? cast : value;
}

ElementType ScaleLowering::kept_type(const plan::ProductScale& scale) const {
  const sema::NodeId value = kept(scale);
  return value == scale.factor.value ? gemm_.total : declared_.kernel.node(value).type;
}

void ScaleLowering::over(const char* name, int count, const std::function<void(Term)>& body) {
  if (count == 1) return body(number(0));
  b_.loop(name, number(0), number(count), {.unrolled = true}, body);
}

// Elements of K from which parts of a K tile count: all of it where intervals are whole K tiles.
int ScaleLowering::interval_of_tile() const {
  const int k = gemm_.tile[2];
  return gemm_.promotion_interval >= k ? k : std::min(gemm_.promotion_interval, gemm_.part_of_k());
}

// The group of an interval: K tile `k_tile` has parts of an interval each, or intervals have whole
// K tiles. A group is whole intervals: those of 32 in groups of 64, four a K tile of 128, are in
// group (k_tile * 4 + part) / 2.
Term ScaleLowering::group_of(const plan::GroupScale::Quotient& quotient, const Place& at) {
  const int k = gemm_.tile[2], interval = interval_of_tile();
  const auto group = [&] {
    if (!quotient.group.is_literal())
      return (at.k_tile * k + at.part * interval) / b_.size(quotient.group);
    const int parts = k / interval, size = static_cast<int>(quotient.group.value());
    return (at.k_tile * parts + at.part) / (size / interval);
  };
  const bool may_be_behind = may_be_behind_k() || stages_ > 1;
  if (outside_ == OutsideNumbers::zero || !may_be_behind) return group();
  const Int groups = ceil_div(declared_.kernel.index(gemm_.k).extent, quotient.group);
  return b_.min(group(), b_.size(groups - 1));
}

Ref ScaleLowering::held(const HeldScales& of, size_t scale, Term at) const {
  std::vector<ExprId> place{at};
  if (stages_ > 1) place.push_back(of.stage);
  return {numbers_[of.set][scale], place};
}

void ScaleLowering::read(const Place& at, const HeldScales& to) {
  for (size_t i = 0; i < gemm_.scales.size(); ++i) {
    const plan::ProductScale& scale = gemm_.scales[i];
    declared_.from(declared_.kernel.node(scale.factor.value).where);
    over("e", scale.count, [&](Term e) { read_number(scale, held(to, i, e), e, at); });
  }
}

Term ScaleLowering::is_inside_k(const Place& at) {
  return at.k_tile * gemm_.tile[2] + at.part * interval_of_tile() < declared_.extent(gemm_.k);
}

void ScaleLowering::read_one(const plan::ProductScale& scale, const Ref& to,
                             const std::array<Term, 2>& place, const Place& at) {
  ElementLowering element(declared_);
  const std::array<sema::IndexId, 2> indices{gemm_.m, gemm_.n};
  for (size_t axis = 0; axis < 2; ++axis)
    if (scale.varies[axis]) element.bind(indices[axis], place[axis]);
  for (size_t i = 0; i < gemm_.batch.size(); ++i) element.bind(gemm_.batch[i], at.batch[i]);
  for (const plan::GroupScale::Quotient& each : scale.factor.quotients)
    element.know(each.node, group_of(each, at));
  b_.assign(to, element.value(kept(scale), kept_type(scale)));
}

void ScaleLowering::read_number(const plan::ProductScale& scale, const Ref& to, Term e,
                                const Place& at) {
  const std::array<sema::IndexId, 2> indices{gemm_.m, gemm_.n};
  const bool clamps = outside_ == OutsideNumbers::last;
  std::array<Term, 2> place;
  Term inside = number(0) == 0;
  for (size_t axis = 0; axis < 2; ++axis) {
    if (!scale.varies[axis]) continue;
    const Term extent = declared_.extent(indices[axis]);
    const Term there = at.first[axis] + b_.at(along(scale.read, static_cast<int>(axis)), e);
    place[axis] =
        b_.let(declared_.index_name(indices[axis]), clamps ? b_.min(there, extent - 1) : there);
    inside = inside && place[axis] < extent;
  }
  const bool is_guarded = scale.varies[0] || scale.varies[1] || may_be_behind_k();
  if (clamps || !is_guarded) return read_one(scale, to, place, at);
  if (may_be_behind_k()) inside = inside && is_inside_k(at);
  b_.when(
      inside, [&] { read_one(scale, to, place, at); },
      [&] { b_.assign(to, b_.constant(0.0, gemm_.total)); });
}

// The product of the scales of an accumulator.
Term ScaleLowering::product_at(const HeldScales& by, Term v, Term i, Term j) {
  Term made;
  for (size_t s = 0; s < gemm_.scales.size(); ++s) {
    const auto& numbers = gemm_.scales[s].held;
    Term at = number(0);
    const std::array<Term, 3> places{v, i, j};
    // A layout whose every value is 0 needs no arithmetic.
    for (size_t part = 0; part < places.size(); ++part)
      if (!is_zero(numbers[part])) at = at + b_.at(numbers[part], places[part]);
    const Term each = b_.cast(b_.read(held(by, s, at)), gemm_.total);
    made = s == 0 ? each : made * each;
  }
  return made;
}

void ScaleLowering::add(BufferId totals, BufferId sums, const HeldScales& by) {
  const auto repeats = gemm_.repeats();
  const int values = static_cast<int>(size(gemm_.mma.c.shape[1]).value());
  over("i", repeats[0], [&](Term i) {
    over("j", repeats[1], [&](Term j) {
      b_.loop("v", number(0), number(values), {.unrolled = true}, [&](Term v) {
        const std::vector<ExprId> at{v, i, j};
        const Term total = b_.read({totals, at}), sum = b_.read({sums, at});
        if (!any()) return b_.assign({totals, at}, total + sum);
        b_.assign({totals, at}, b_.fma(product_at(by, v, i, j), b_.cast(sum, gemm_.total), total));
      });
    });
  });
}

}  // namespace lay::ir
