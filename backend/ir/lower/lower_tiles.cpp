#include "backend/ir/lower/lower_tiles.h"

#include <algorithm>
#include <stdexcept>

#include "backend/plan/recognise.h"
#include "backend/plan/schedule/order.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay::ir {

void with_tile(Declared& declared, const TileOrder& tiles,
               const std::function<void(const std::vector<Term>&)>& body) {
  Builder& b = declared.b;
  // Decodes the block's number digit by digit: (8,C,R):(1@0,1@1,8@0) takes b % 8 as the row inside
  // a group, b / 8 % C as the column and b / 8 / C as the group of eight rows, so row = b % 8 + 8 *
  // that.
  const auto extents = leaves(tiles.order.shape), strides = leaves(tiles.order.stride);
  const size_t axes = 2 + tiles.batch.size();
  declared.from(declared.kernel.where, "block -> tile: " + tiles.order.to_string());
  std::vector<Term> tile(axes, b.constant(std::int64_t{0}));
  Term rest = b.special(Builtin::block_x);
  for (size_t i = 0; i < extents.size(); ++i) {
    const bool last = i + 1 == extents.size();
    const Term extent = b.size(extents[i].value());
    const Term here = last ? rest : rest % extent;
    // A stride e@a adds digit * e to coordinate a; a plain 0 repeats tiles along no axis.
    if (strides[i].is_basis()) {
      Term& at = tile[static_cast<size_t>(strides[i].path()[0])];
      at = at + here * b.size(strides[i].value());
    }
    if (!last) rest = b.let(declared.fresh("rest"), rest / extent);
  }
  const char* const names[] = {"tile_m", "tile_n"};
  for (size_t i = 0; i < axes; ++i) {
    tile[i] =
        b.let(i < 2 ? declared.name(names[i]) : declared.index_name(tiles.batch[i - 2]), tile[i]);
  }
  // Orders in groups round up, so some blocks lie outside the output.
  Term real = b.constant(std::int64_t{0}) == 0;
  for (size_t i = 0; i < axes; ++i) {
    const Int count = i < 2
                          ? plan::tiles(declared.kernel, i == 0 ? tiles.m : tiles.n, tiles.tile[i])
                          : declared.kernel.indices[static_cast<size_t>(tiles.batch[i - 2])].extent;
    real = real && tile[i] < b.size(count);
  }
  b.when(real, [&] { body(tile); });
}

Ref element_at(const Declared& declared, sema::NodeId load,
               const std::vector<std::pair<sema::IndexId, Term>>& indices) {
  // Factors are read at bare indices (A[m,k], not A[m+1,k]): coordinates are looked up, not
  // computed.
  const auto& what = std::get<sema::Load>(declared.kernel.node(load).what);
  Ref made{declared.tensors[static_cast<size_t>(what.tensor)], {}};
  for (const sema::NodeId coordinate : what.coordinate) {
    const sema::IndexId index = plan::bare_index(declared.kernel, coordinate);
    const auto at = std::find_if(indices.begin(), indices.end(),
                                 [&](const auto& each) { return each.first == index; });
    if (at == indices.end()) throw std::logic_error("internal: a factor's index has no value");
    made.coordinate.push_back(at->second);
  }
  return made;
}

}  // namespace lay::ir
