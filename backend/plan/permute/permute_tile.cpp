#include "backend/plan/permute/permute_tile.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "frontend/algebra/layouts/operations.h"

namespace lay::plan {

namespace {

constexpr std::int64_t unknown = std::int64_t{1} << 30;

std::int64_t round_up(std::int64_t value) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

std::int64_t literal_or(const Int& value, std::int64_t otherwise) {
  return value.is_literal() ? value.value() : otherwise;
}

class TileGrower {
 public:
  TileGrower(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices)
      : tile_(indices.size(), 1) {
    for (sema::IndexId index : indices) {
      limits_.push_back(
          literal_or(kernel.indices[static_cast<std::size_t>(index)].extent, unknown));
    }
  }

  // At least `elements` that follow each other in the tensor's memory.
  void run(const AffineAccess& way, std::int64_t elements) {
    // A run of 256 elements in leaves (8, stride 1), (M, stride 8) is 8 of the first and 32 of the
    // second.
    std::int64_t rest = elements;
    for (const AffineAccess::Leaf& leaf : way.leaves) {
      if (rest <= 1 || leaf.stride.is(0) || !leaf.step.is_literal()) return;
      const std::int64_t extent = literal_or(leaf.extent, unknown), taken = std::min(extent, rest);
      auto& here = tile_[static_cast<std::size_t>(leaf.axis)];
      // `step` is what a leaf counts in: the leaf i / 8 of an index with step 8 needs 8 * taken
      // elements.
      here = std::max(
          here, std::min(limits_[static_cast<std::size_t>(leaf.axis)], leaf.step.value() * taken));
      rest = round_up((rest + taken - 1) / taken);
    }
  }

  // Grows along the way's indices, the one that it runs along last.
  // Powers of two: threads, accesses and lanes divide them.
  void fill(const AffineAccess& way, std::int64_t elements) {
    std::vector<int> axes;
    for (const AffineAccess::Leaf& leaf : way.leaves) {
      if (leaf.axis != way.run_axis &&
          std::find(axes.begin(), axes.end(), leaf.axis) == axes.end()) {
        axes.push_back(leaf.axis);
      }
    }
    if (way.run_axis >= 0) axes.push_back(way.run_axis);
    for (int axis : axes) {
      auto& here = tile_[static_cast<std::size_t>(axis)];
      // Never beyond a literal extent: a tile of 64 along 5 channels would be mostly outside.
      const std::int64_t room = (limits_[static_cast<std::size_t>(axis)] + here - 1) / here;
      const std::int64_t wanted = std::max<std::int64_t>(1, elements / size());
      here *=
          std::min(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(wanted))),
                   round_up(room));
    }
  }

  std::vector<int> tile() const {
    std::vector<int> result;
    for (std::int64_t extent : tile_) result.push_back(static_cast<int>(extent));
    return result;
  }

 private:
  std::int64_t size() const {
    std::int64_t product = 1;
    for (std::int64_t extent : tile_) product *= extent;
    return product;
  }

  std::vector<std::int64_t> tile_, limits_;
};

std::int64_t largest_divisor(std::int64_t of, std::int64_t most) {
  for (std::int64_t d = std::min(of, most); d > 1; --d) {
    if (of % d == 0) return d;
  }
  return 1;
}

// A mode of parts; nothing of them is one element that stays.
std::pair<Tuple, Tuple> mode(const std::vector<Part>& parts) {
  std::vector<Tuple> extents, strides;
  for (const Part& part : parts) {
    extents.emplace_back(part.extent);
    strides.push_back(Tuple::basis(part.step, {part.axis}));
  }
  if (parts.empty()) return {Tuple(1), Tuple(0)};
  if (parts.size() == 1) return {extents[0], strides[0]};
  return {Tuple(extents), Tuple(strides)};
}

}  // namespace

std::vector<int> default_tile(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices,
                              const std::vector<PermuteSide>& sides, int run_bytes,
                              std::int64_t elements) {
  TileGrower grower(kernel, indices);
  // Each tensor gets its run, along its own memory: a transpose has a run of both sides.
  for (const PermuteSide& side : sides)
    grower.run(*side.way, std::max(1, run_bytes / side.element_bytes));
  grower.fill(*sides[0].way, elements);
  return grower.tile();
}

std::vector<Part> parts_of(const Sharing& sharing) {
  std::vector<Part> parts;
  std::vector<std::int64_t> covered(sharing.tile.size(), 1);
  // One access takes the first `vector` elements of the run: parts begin above them.
  covered[static_cast<std::size_t>(sharing.run_axis)] = sharing.vector;
  const auto add = [&](int axis, std::int64_t extent) {
    auto& done = covered[static_cast<std::size_t>(axis)];
    const std::int64_t whole = sharing.tile[static_cast<std::size_t>(axis)];
    std::int64_t taken = std::min(extent, whole / done);
    // A part that does not divide what is left takes all of it.
    if (whole / done % taken != 0) taken = whole / done;
    if (taken > 1) parts.push_back({axis, taken, done});
    done *= taken;
  };
  for (const AffineAccess::Leaf& leaf : sharing.way->leaves) {
    const std::int64_t extent = literal_or(leaf.extent, unknown),
                       step = literal_or(leaf.step, unknown);
    const auto done = covered[static_cast<std::size_t>(leaf.axis)];
    // A leaf counts from its own step on; what lies below it in the index has been taken or will
    // be.
    if (extent < unknown && step < unknown && done < step * extent && step <= done) {
      add(leaf.axis, step * extent / done);
    } else if (extent == unknown || step == unknown) {
      add(leaf.axis, unknown);
    }
  }
  // Axes that the tensor does not run along come last, so that every element of the tile has a
  // place.
  for (std::size_t axis = 0; axis < sharing.tile.size(); ++axis)
    add(static_cast<int>(axis), unknown);
  return parts;
}

std::vector<Part> interleaved(const std::vector<Part>& parts, std::size_t first, std::int64_t side,
                              std::size_t second, std::int64_t high) {
  if (parts[first].extent % side != 0 || parts[second].extent % high != 0) return {};
  std::vector<Part> result;
  const auto add = [&](const Part& part) {
    if (part.extent > 1) result.push_back(part);
  };
  const auto low = [](const Part& part, std::int64_t n) { return Part{part.axis, n, part.step}; };
  const auto rest = [](const Part& part, std::int64_t n) {
    return Part{part.axis, part.extent / n, part.step * n};
  };
  // Lanes alternate: `side` along the first part, then `high` along the second, then what is left
  // of both. A warp then touches a block of side x high accesses in place of a line of 32.
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == first) {
      add(low(parts[i], side));
      add(low(parts[second], high));
      add(rest(parts[i], side));
    } else {
      add(i == second ? rest(parts[i], high) : parts[i]);
    }
  }
  return result;
}

Layout share(const Sharing& sharing, const std::vector<Part>& parts) {
  std::vector<Part> threads, rest;
  std::int64_t left = sharing.threads;
  // Threads take parts in order until there are none left; what remains of a part are accesses.
  for (const Part& part : parts) {
    const std::int64_t taken = largest_divisor(part.extent, left);
    if (taken > 1) threads.push_back({part.axis, taken, part.step});
    if (taken < part.extent) rest.push_back({part.axis, part.extent / taken, part.step * taken});
    left /= taken;
  }
  const auto [thread_shape, thread_stride] = mode(threads);
  const auto [rest_shape, rest_stride] = mode(rest);
  const Tuple element = sharing.vector == 1 ? Tuple(0) : Tuple::basis(1, {sharing.run_axis});
  return Layout(tuple(thread_shape, tuple(sharing.vector, rest_shape)),
                tuple(thread_stride, tuple(element, rest_stride)));
}

}  // namespace lay::plan
