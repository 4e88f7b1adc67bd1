#include "frontend/algebra/memory/access_pattern.h"

#include <algorithm>

#include "frontend/algebra/claims/judge.h"
#include "frontend/algebra/layouts/codomain.h"
#include "frontend/algebra/layouts/operations.h"

namespace lay {
namespace {

// Elements of one access that are counted.
constexpr int64_t kMost = int64_t{1} << 20;

[[noreturn]] void leaves_tile(int64_t thread, int64_t value, const std::string& element,
                              const Tuple& tile) {
  throw refusal("bounds", "thread " + std::to_string(thread) + ", value " + std::to_string(value) +
                              " of the access is " + element + ", outside the tile " +
                              tile.to_string());
}

// The tile's elements at the coordinates that basis strides make.
// An odometer over the access's modes: coordinates follow by additions, and each is checked against
// the tile's side and turned into the element's number, left-most fastest.
std::vector<int64_t> elements_at(const Layout& access, const Tuple& tile, int64_t threads) {
  const auto known = known_layout(access);
  if (!known)
    throw refusal("symbolic", "the coordinates of " + access.to_string() + " are not known");
  const std::vector<Side> sides = sides_of(*known, tile);
  std::vector<int64_t> at(known->paths.size(), 0), digits(known->modes.size(), 0), elements;
  for (int64_t i = 0; i < known->size; ++i) {
    int64_t element = 0;
    for (const Side& side : sides) {
      if (!side.axis) continue;
      const int64_t part = at[*side.axis];
      if (part < 0 || part >= side.extent)
        leaves_tile(i % threads, i / threads, value_text(access, i), tile);
      element += part * side.radix;
    }
    elements.push_back(element);
    for (size_t k = 0; k < digits.size(); ++k) {
      const KnownMode& mode = known->modes[k];
      at[mode.axis] = checked_add(at[mode.axis], mode.stride);
      if (++digits[k] < mode.extent) break;
      // The digit returns to 0, and the next one takes a step.
      at[mode.axis] -= mode.stride * mode.extent;
      digits[k] = 0;
    }
  }
  return elements;
}

// One access of a warp after the other: f(warp, first value, byte address of each lane).
template <typename F>
// A warp's instruction is one vector of each lane: `values / vector` instructions a warp.
void for_each_access(const AccessPattern& pattern, const Placement& where, int64_t vector,
                     int lanes, const F& f) {
  std::vector<int64_t> addresses;
  for (int64_t first = 0; first < pattern.threads; first += lanes) {
    for (int64_t value = 0; value < pattern.values; value += vector) {
      addresses.clear();
      for (int64_t thread = first; thread < std::min(first + lanes, pattern.threads); ++thread) {
        const int64_t offset = where.offsets[static_cast<size_t>(pattern.element(thread, value))];
        // Elements below a byte: the byte that they lie in.
        addresses.push_back(checked_mul(offset, where.bits) / 8);
      }
      if (!f(first / lanes, value, addresses)) return;
    }
  }
}

int bytes_of(int64_t vector, int bits) {
  return std::max(1, static_cast<int>(vector * bits / 8));
}

// The vector asked for, which must be contiguous and aligned under this layout; else the widest
// that is.
int64_t chosen_vector(const AccessPattern& pattern, const Placement& where,
                      std::optional<int64_t> vector) {
  if (!vector) return widest_vector(pattern, where);
  if (!moves_as_one(pattern, where, *vector)) {
    const int64_t widest = widest_vector(pattern, where);
    throw refusal("vector",
                  "vectors of " + std::to_string(*vector) + " elements are not contiguous here",
                  "the widest contiguous vector is " + std::to_string(widest) +
                      (widest == 1 ? " element" : " elements"));
  }
  return *vector;
}

}  // namespace

AccessPattern access_pattern(const AnyLayout& access, const Tuple& tile) {
  const Tuple* shape = shape_of(access);
  if (!shape) throw refusal("no-shape", "a swizzle alone says of no thread what it takes");
  const Int total = size(*shape), room = size(tile);
  if (!total.is_literal()) {
    throw refusal("symbolic", "an access is counted with known sizes, and " + to_string(access) +
                                  " is not known yet");
  }
  if (!room.is_literal()) {
    throw refusal(
        "symbolic",
        "the elements of the shape " + tile.to_string() + " are not numbered before it is known",
        "an access by coordinates, with basis strides, needs to know only as far as it reaches");
  }
  if (total.value() > kMost)
    throw refusal("too-many", "an access of more than 2^20 elements is not counted");
  AccessPattern pattern;
  // Mode 0 counts threads, all others together the values of one.
  pattern.threads = size(shape->is_tuple() ? (*shape)[0] : *shape).value();
  pattern.values = total.value() / pattern.threads;
  const auto* plain = std::get_if<Layout>(&access);
  if (plain && plain->has_basis()) {
    pattern.elements = elements_at(*plain, tile, pattern.threads);
    return pattern;
  }
  // By 1-D indices: the access gives numbers of elements of the tile, left-most fastest.
  pattern.elements = values(access);
  for (int64_t i = 0; i < total.value(); ++i) {
    const int64_t element = pattern.elements[static_cast<size_t>(i)];
    if (element < 0 || element >= room.value()) {
      leaves_tile(i % pattern.threads, i / pattern.threads, std::to_string(element), tile);
    }
  }
  return pattern;
}

namespace {

[[noreturn]] void before_memory(const AnyLayout& layout, int64_t element, int64_t offset) {
  throw refusal("bounds", "element " + place_text(layout, element).substr(3) + " lies at " +
                              std::to_string(offset) + ", before the beginning of memory");
}

}  // namespace

Placement placement_of(const AnyLayout& layout, int bits) {
  Placement where{values(layout), bits};
  const auto negative =
      std::find_if(where.offsets.begin(), where.offsets.end(), [](int64_t o) { return o < 0; });
  if (negative != where.offsets.end())
    before_memory(layout, negative - where.offsets.begin(), *negative);
  return where;
}

// A large tile of which an access touches little: only those elements are evaluated.
Placement placement_of(const AnyLayout& layout, int bits, AccessPattern& touched) {
  std::vector<int64_t> distinct = touched.elements;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  Placement where{{}, bits};
  Facts facts;
  for (const int64_t element : distinct) {
    const Tuple offset = evaluate(facts, layout, element);
    if (!offset.is_int()) {
      throw refusal("not-integer", "memory is addressed by integers, and " + to_string(layout) +
                                       " gives " + offset.to_string());
    }
    if (!offset.is_known())
      throw refusal("symbolic", "the offsets of " + to_string(layout) + " are not known");
    if (offset.value().value() < 0) before_memory(layout, element, offset.value().value());
    where.offsets.push_back(offset.value().value());
  }
  // From numbers in the tile to places in the list of distinct elements, which alone are evaluated.
  for (int64_t& element : touched.elements) {
    element = std::lower_bound(distinct.begin(), distinct.end(), element) - distinct.begin();
  }
  return where;
}

// A power of two that divides the values of a thread, up to 16 bytes (PTX ISA: ld and st .v4.b32).
int64_t widest_possible(const AccessPattern& pattern, int bits) {
  int64_t vector = 1;
  while (pattern.values % (2 * vector) == 0 && 2 * vector * bits <= 8 * kWidestAccess) vector *= 2;
  return vector;
}

// Every vector of every thread begins at a multiple of its length and is contiguous in memory.
bool moves_as_one(const AccessPattern& pattern, const Placement& where, int64_t vector) {
  if (vector < 1 || pattern.values % vector != 0 || vector > 8 * kWidestAccess / where.bits)
    return vector == 1;
  if (vector == 1) return true;
  if ((vector & (vector - 1)) != 0) return false;
  for (int64_t thread = 0; thread < pattern.threads; ++thread) {
    for (int64_t value = 0; value < pattern.values; value += vector) {
      const int64_t begin = where.offsets[static_cast<size_t>(pattern.element(thread, value))];
      if (begin % vector != 0) return false;
      for (int64_t k = 1; k < vector; ++k) {
        if (where.offsets[static_cast<size_t>(pattern.element(thread, value + k))] != begin + k)
          return false;
      }
    }
  }
  return true;
}

// Halved until every vector moves as one; 1 always does.
int64_t widest_vector(const AccessPattern& pattern, const Placement& where) {
  int64_t vector = widest_possible(pattern, where.bits);
  while (!moves_as_one(pattern, where, vector)) vector /= 2;
  return vector;
}

Service shared_service(const AccessPattern& pattern, const Placement& where,
                       std::optional<int64_t> vector, const SharedMemory& memory, int64_t enough) {
  Service sum;
  sum.vector = chosen_vector(pattern, where, vector);
  const int bytes = bytes_of(sum.vector, where.bits);
  sum.phases = memory.phases(bytes);
  for_each_access(pattern, where, sum.vector, memory.lanes,
                  [&](int64_t warp, int64_t value, const auto& addresses) {
                    const Wavefronts one = wavefronts(addresses, bytes, memory);
                    sum.accesses += 1;
                    sum.taken += one.taken;
                    sum.least += one.least;
                    if (one.worst > sum.worst) {
                      sum.worst_warp = warp;
                      sum.worst_value = value;
                      sum.worst_phases = phase_wavefronts(addresses, bytes, memory);
                    }
                    sum.worst = std::max(sum.worst, one.worst);
                    // A search asks only whether a candidate is better than the best so far.
                    return sum.taken <= enough;
                  });
  return sum;
}

Service global_service(const AccessPattern& pattern, const Placement& where,
                       std::optional<int64_t> vector, const GlobalMemory& memory) {
  Service sum;
  sum.vector = chosen_vector(pattern, where, vector);
  const int bytes = bytes_of(sum.vector, where.bits);
  for_each_access(pattern, where, sum.vector, memory.lanes,
                  [&](int64_t warp, int64_t value, const auto& addresses) {
                    const Sectors one = sectors(addresses, bytes, memory);
                    sum.accesses += 1;
                    sum.taken += one.taken;
                    sum.least += one.least;
                    sum.bytes += one.bytes;
                    if (one.taken > sum.worst) {
                      sum.worst_warp = warp;
                      sum.worst_value = value;
                    }
                    sum.worst = std::max(sum.worst, one.taken);
                    return true;
                  });
  return sum;
}

// No layout takes less: each phase of each instruction takes a wavefront at least.
int64_t fewest_wavefronts(const AccessPattern& pattern, int bits, std::optional<int64_t> vector,
                          const SharedMemory& memory) {
  const int64_t width = vector ? *vector : widest_possible(pattern, bits);
  const int phases = memory.phases(bytes_of(width, bits));
  const int64_t lanes = std::max(1, memory.lanes / phases);
  int64_t sum = 0;
  for (int64_t first = 0; first < pattern.threads; first += memory.lanes) {
    const int64_t here = std::min<int64_t>(memory.lanes, pattern.threads - first);
    sum += (here + lanes - 1) / lanes * (pattern.values / width);
  }
  return sum;
}

}  // namespace lay
