#include "tests/conformance/tiling.h"

#include <algorithm>

namespace conformance {
namespace {

using namespace lay;

constexpr int64_t kMost = int64_t{1} << 17;

// The values of one mode, by 1-D index; the first `tile` of them are the tile (of a product: the
// block).
struct Piece {
  std::function<Tuple(int64_t)> value;
  int64_t tile, rest;
};

Layout leaf_tile(const Tiler& t) {
  return t.layout();
}

Piece kept(Facts& facts, const Layout& a, int64_t tile) {
  return {[&facts, a](int64_t i) { return evaluate(facts, a, i); }, tile, size(a).value() / tile};
}

// a o (tile, complement).
Piece divided(Facts& facts, const Layout& a, const Layout& tile) {
  const Layout both =
      make_layout(std::vector<Layout>{tile, complement(facts, tile, coalesce(facts, a).shape)});
  return {[&facts, a, both](int64_t i) { return evaluate(facts, a, evaluate(facts, both, i)); },
          size(tile).value(), size(both).value() / size(tile).value()};
}

// Where copies of a block go: as far as CuTe looks, and further if that is too short.
Layout places(Facts& facts, const Layout& a, const Layout& tile) {
  const Int copies = cosize(facts, tile);
  const Layout near = complement(facts, a, size(a) * copies);
  return size(near).value() < copies.value() ? complement(facts, a, cosize(facts, a) * copies)
                                             : near;
}

Piece multiplied(Facts& facts, const Layout& a, const Layout& tile) {
  const Layout to = places(facts, a, tile);
  const int64_t n = size(a).value();
  return {[&facts, a, tile, to, n](int64_t i) {
            return add(evaluate(facts, a, i % n),
                       evaluate(facts, to, evaluate(facts, tile, i / n)));
          },
          n, size(tile).value()};
}

void collect(Facts& facts, const Layout& a, const Tiler& t, bool product, bool zipped,
             std::vector<Piece>& pieces) {
  if (std::holds_alternative<Tiler::Keep>(t.value)) {
    const bool pair = zipped && !a.shape.is_leaf() && a.rank() == 2;
    pieces.push_back(kept(facts, a, (pair ? size(a[0]) : size(a)).value()));
    return;
  }
  if (const auto* modes = std::get_if<std::vector<Tiler>>(&t.value)) {
    for (int k = 0; k < a.rank(); ++k) {
      if (k < static_cast<int>(modes->size())) {
        collect(facts, a[k], (*modes)[static_cast<size_t>(k)], product, zipped, pieces);
      } else {
        pieces.push_back(kept(facts, a[k], 1));
      }
    }
    return;
  }
  pieces.push_back(product ? multiplied(facts, a, leaf_tile(t)) : divided(facts, a, leaf_tile(t)));
}

// The extents in the order of R's modes: which piece, and whether its tile or its rest.
struct Digit {
  size_t piece;
  bool tile;
  int64_t extent;
};

bool has_values(Facts& facts, const std::vector<Piece>& pieces, bool zipped, const Layout& r) {
  std::vector<Digit> digits;
  for (size_t k = 0; k < pieces.size(); ++k) {
    digits.push_back({k, true, pieces[k].tile});
    digits.push_back({k, false, pieces[k].rest});
  }
  if (zipped)
    std::stable_sort(digits.begin(), digits.end(),
                     [](auto& x, auto& y) { return x.tile > y.tile; });
  int64_t total = 1;
  for (const Piece& piece : pieces) total *= piece.tile * piece.rest;
  if (!size(r).is(total)) return false;
  for (int64_t i = 0; i < std::min(total, kMost); ++i) {
    std::vector<int64_t> index(pieces.size(), 0);
    int64_t left = i;
    for (const Digit& digit : digits) {
      index[digit.piece] += left % digit.extent * (digit.tile ? 1 : pieces[digit.piece].tile);
      left /= digit.extent;
    }
    Tuple expected = 0;
    for (size_t k = 0; k < pieces.size(); ++k) expected = add(expected, pieces[k].value(index[k]));
    if (!same_value(evaluate(facts, r, i), expected)) return false;
  }
  return true;
}

// Mode i of the result is (block_i, tile_i), or the other way round.
bool interleaves(Facts& facts, const Layout& a, const Layout& t, bool raked, const Layout& r) {
  const Layout one(1, 0);
  const int rank = std::max(a.rank(), t.rank());
  const Layout block = append(a, one, rank), tile = append(t, one, rank);
  const Piece all = multiplied(facts, block, tile);
  const int64_t total = all.tile * all.rest;
  if (!size(r).is(total)) return false;
  for (int64_t i = 0; i < std::min(total, kMost); ++i) {
    int64_t left = i, in_block = 0, in_tile = 0, blocks = 1, tiles = 1;
    for (int k = 0; k < rank; ++k) {
      for (const bool of_block : {!raked, raked}) {
        int64_t &index = of_block ? in_block : in_tile, &scale = of_block ? blocks : tiles;
        const int64_t extent = size(of_block ? block[k] : tile[k]).value();
        index += left % extent * scale;
        scale *= extent;
        left /= extent;
      }
    }
    if (!(evaluate(facts, r, i) == all.value(in_block + all.tile * in_tile))) return false;
  }
  return true;
}

bool ends_with_any(const std::string& op, std::initializer_list<const char*> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](const char* end) { return op.ends_with(end); });
}

}  // namespace

std::optional<bool> keeps_tiling(Facts& facts, const Case& c, const Layout& r) {
  if (c.op == "tile_to_shape") {
    const Layout a = as_layout(c.in.at(0));
    const Tuple target = as_tuple(c.args.at("target"));
    if (target.is_leaf()) return std::nullopt;
    const Layout block = append(a, Layout(1, 0), target.rank());
    const Tuple blocks = ceil_div(facts, product_each(target), product_each(block.shape));
    const Json& order = c.args.at("order");
    const Layout tiles =
        order.is_null() ? make_layout(blocks) : make_ordered_layout(blocks, as_tuple(order));
    return interleaves(facts, block, tiles, false, r);
  }
  if (!c.args.contains("tiler")) return std::nullopt;
  const Tiler tiler = as_tiler(c.args.at("tiler"));
  const Layout a = as_layout(c.in.at(0));
  if (c.op == "blocked_product" || c.op == "raked_product") {
    return interleaves(facts, a, leaf_tile(tiler), c.op == "raked_product", r);
  }
  const bool zipped = !c.op.ends_with("logical_divide") && !c.op.ends_with("logical_product");
  const bool product = c.op.ends_with("_product");
  if (!product && !ends_with_any(c.op, {"_divide"})) return std::nullopt;
  std::vector<Piece> pieces;
  collect(facts, a, tiler, product, zipped, pieces);
  return has_values(facts, pieces, zipped, r);
}

}  // namespace conformance
