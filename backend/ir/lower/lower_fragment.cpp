#include "backend/ir/lower/lower_fragment.h"

#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

LanePlace lane_place(Builder& b, const plan::Fragment& fragment) {
  // Of a copy the first lanes name rows, ldmatrix.x2 those of 16 lanes; the addresses of the others
  // are ignored, so they repeat those of the first.
  constexpr int lanes = 32;
  const Layout from = fragment.copy ? fragment.rows : fragment.held[0];
  const int rows = static_cast<int>(size(from.shape).value());
  const Term lane = b.special(Builtin::lane), which = rows < lanes ? lane % rows : lane;
  return {b.at(along(from, 0), which), b.at(along(from, 1), which)};
}

void read_fragment(Builder& b, const plan::Fragment& fragment, const FragmentRead& read) {
  const int values = fragment.values();
  // One instruction for all values: a lane names one row, and receives the values that the atom's
  // layout gives it.
  if (fragment.copy) {
    b.copy({read.registers, {b.constant(std::int64_t{0}), read.held[0], read.held[1]}},
           {read.shared, {read.outer, read.k, read.stage}},
           WarpCopy{{values, 0, fragment.along_k ? 1 : 0}, b.atom(*fragment.copy)});
    return;
  }
  // Types that no copy moves, or layouts that are not its own: each value by itself, or with its
  // neighbours.
  const auto one = [&](Term value) {
    const Term outer = read.outer + b.at(along(fragment.held[1], 0), value);
    const Term k = read.k + b.at(along(fragment.held[1], 1), value);
    b.copy({read.registers, {value, read.held[0], read.held[1]}},
           {read.shared, {outer, k, read.stage}}, fragment.together, 0, fragment.along_k ? 1 : 0);
  };
  if (values == fragment.together) return one(b.constant(std::int64_t{0}));
  b.loop("v", b.constant(std::int64_t{0}), b.constant(std::int64_t{values}),
         {.step = fragment.together, .unrolled = true}, one);
}

void convert_fragment(Declared& declared, const plan::Fragment& fragment,
                      const FragmentConversion& how) {
  Builder& b = declared.b;
  const auto one = [&](Term value) {
    const auto with = [&](const std::vector<ExprId>& behind) {
      std::vector<ExprId> all{value};
      all.insert(all.end(), behind.begin(), behind.end());
      return all;
    };
    ElementLowering conversion(declared, {how.load});
    conversion.know(how.load, b.read({how.from, with(how.from_at)}));
    b.assign({how.to, with(how.to_at)}, b.cast(conversion.value(how.value), how.type));
  };
  const int values = fragment.values();
  if (values == 1) return one(b.constant(std::int64_t{0}));
  b.loop("v", b.constant(std::int64_t{0}), b.constant(std::int64_t{values}), {.unrolled = true},
         one);
}

}  // namespace lay::ir
