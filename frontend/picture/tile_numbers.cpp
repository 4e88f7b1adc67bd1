#include "frontend/picture/tile_numbers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "frontend/algebra/layouts/operations.h"

namespace lay::picture {
namespace {

// Which parts of the result's coordinate number the tile. `blocks`: how many whole operands lie
// before it, mode by mode.
enum class Counts : uint8_t { second_mode, modes_beyond, second_parts, first_parts, blocks };

struct Rule {
  std::string_view operation;
  Counts whole, by_mode;  // for one tiler, for a tuple of them
  bool product;
};

constexpr std::array<Rule, 12> kRules = {{
    {"logical_divide", Counts::second_mode, Counts::second_parts, false},
    {"zipped_divide", Counts::second_mode, Counts::second_mode, false},
    {"divide_exactly", Counts::second_mode, Counts::second_mode, false},
    {"tiled_divide", Counts::modes_beyond, Counts::modes_beyond, false},
    {"flat_divide", Counts::modes_beyond, Counts::modes_beyond, false},
    {"logical_product", Counts::second_mode, Counts::second_parts, true},
    {"zipped_product", Counts::second_mode, Counts::second_mode, true},
    {"tiled_product", Counts::modes_beyond, Counts::modes_beyond, true},
    {"flat_product", Counts::modes_beyond, Counts::modes_beyond, true},
    {"blocked_product", Counts::second_parts, Counts::second_parts, true},
    {"raked_product", Counts::first_parts, Counts::first_parts, true},
    {"tile_to_shape", Counts::blocks, Counts::blocks, true},
}};

const Rule* rule_of(const std::string& operation) {
  const auto at = std::find_if(kRules.begin(), kRules.end(),
                               [&](const Rule& r) { return r.operation == operation; });
  return at == kRules.end() ? nullptr : &*at;
}

// Into how many modes a flat divide or product opens its tile.
int modes_of_tile(const Operation& operation, const Rule& rule) {
  if (operation.tiler_modes > 0) return operation.tiler_modes;
  const size_t tile = rule.product ? 0 : 1;
  if (tile >= operation.operands.size()) return 1;  // a number
  return domain_of(operation.operands[tile].layout).rank();
}

std::vector<std::vector<int>> tile_paths(const Operation& operation, const Rule& rule) {
  const Tuple& shape = domain_of(operation.result.layout).shape;
  const int modes = operation.tiler_modes;
  std::vector<std::vector<int>> paths;
  switch (modes ? rule.by_mode : rule.whole) {
    case Counts::second_mode:
      if (shape.rank() > 1) paths.push_back({1});
      break;
    case Counts::modes_beyond:
      for (int m = rule.operation.substr(0, 4) == "flat" ? modes_of_tile(operation, rule) : 1;
           m < shape.rank(); ++m)
        paths.push_back({m});
      break;
    case Counts::blocks:
      for (int m = 0; m < shape.rank(); ++m) paths.push_back({m});
      break;
    case Counts::second_parts:
    case Counts::first_parts:
      for (int m = 0; m < shape.rank(); ++m) {
        const bool tiled = (modes == 0 || m < modes) && shape[m].is_tuple() && shape[m].rank() == 2;
        if (tiled) paths.push_back({m, rule.whole == Counts::first_parts ? 0 : 1});
      }
      break;
  }
  return paths;
}

}  // namespace

std::optional<TileNumbers> TileNumbers::of_operation(const Operation& operation) {
  const Rule* rule = rule_of(operation.name);
  if (!rule || operation.operands.empty()) return std::nullopt;
  TileNumbers numbers;
  numbers.shape_ = domain_of(operation.result.layout).shape;
  numbers.copies_ = rule->product;
  const Tuple& operand = domain_of(operation.operands.front().layout).shape;
  for (const std::vector<int>& path : tile_paths(operation, *rule)) {
    const bool blocks = rule->whole == Counts::blocks && path[0] < operand.rank();
    numbers.parts_.push_back({path, blocks ? size(operand[path[0]]).value() : 1});
  }
  if (numbers.parts_.empty()) return std::nullopt;  // nothing was divided
  return numbers;
}

std::int64_t TileNumbers::of(std::int64_t index) const {
  Facts facts;
  const Tuple coordinate = idx2crd(facts, index, shape_);
  std::int64_t number = 0, step = 1;
  for (const Part& part : parts_) {
    const std::int64_t at =
        crd2idx(facts, get(coordinate, part.path), get(shape_, part.path)).value() / part.block;
    number = checked_add(number, checked_mul(step, at));
    const std::int64_t extent = size(get(shape_, part.path)).value();
    step = checked_mul(step, extent / part.block + (extent % part.block != 0));
  }
  return number;
}

std::int64_t TileNumbers::element(std::int64_t index) const {
  Facts facts;
  const Tuple coordinate = idx2crd(facts, index, shape_);
  std::int64_t number = 0, step = 1;
  const auto count = [&](std::int64_t at, std::int64_t extent) {
    number = checked_add(number, checked_mul(step, at));
    step = checked_mul(step, extent);
  };
  const auto position = [&](const std::vector<int>& path) {
    return crd2idx(facts, get(coordinate, path), get(shape_, path)).value();
  };
  for (int m = 0; m < shape_.rank(); ++m) {
    const std::vector<int> whole = {m};
    const auto part = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& p) { return p.path.front() == m; });
    if (part == parts_.end()) {
      count(position(whole), size(shape_[m]).value());
    } else if (part->path.size() == 2) {
      const std::vector<int> other = {m, 1 - part->path.back()};
      count(position(other), size(get(shape_, other)).value());
    } else if (part->block > 1) {
      count(position(whole) % part->block, part->block);
    }
  }
  return number;
}

}  // namespace lay::picture
