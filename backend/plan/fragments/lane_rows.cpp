#include "backend/plan/fragments/lane_rows.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/copy_rows.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::plan {

namespace {

constexpr int lanes_of_warp = 32, widest_row = 128, register_bits = 32, byte_bits = 8;

// The side on which a thread's bits lie one behind the other, from the address that it names on.
const Layout& memory_side(const sema::CopyInstruction& copy) {
  return copy.from == sema::CopySpace::shared ? copy.source : copy.destination;
}
const Layout& register_side(const sema::CopyInstruction& copy) {
  return copy.from == sema::CopySpace::shared ? copy.destination : copy.source;
}

// A warp's copy between shared memory and registers, in elements of that many bits.
std::optional<CopyRows> rows_of(const sema::CopyInstruction& copy, int element_bits) {
  const bool loads = copy.from == sema::CopySpace::shared && copy.to == sema::CopySpace::registers,
             stores = copy.from == sema::CopySpace::registers && copy.to == sema::CopySpace::shared;
  if (copy.kind != "warp" || (!loads && !stores) || element_bits < byte_bits) return std::nullopt;
  return copy_rows(memory_side(copy), register_side(copy), element_bits);
}

// Returns the rows whose elements are in the first register of some lane: the 8 of a matrix, which
// ldmatrix gives a register of 32 bits each. Transposed, a lane has elements of two of them there.
int rows_of_register(const CopyRows& rows, int element_bits) {
  std::vector<bool> met(static_cast<std::size_t>(rows.rows), false);
  int count = 0;
  for (int value = 0; value < std::min(rows.values, std::max(1, register_bits / element_bits));
       ++value) {
    for (int lane = 0; lane < rows.threads; ++lane) {
      const auto row = static_cast<std::size_t>(rows.place(lane, value).row);
      count += !met[row];
      met[row] = true;
    }
  }
  return count;
}

using Coordinate = std::array<std::int64_t, 2>;

// Returns a layout of that many modes of basis strides through the points; nothing where there is
// none. The first mode has `first` points, the others two each, or one has all where they are no
// power of two.
std::optional<Layout> through(const std::vector<Coordinate>& points, int first) {
  const int all = static_cast<int>(points.size());
  if (all % first != 0 || points[0] != Coordinate{0, 0}) return std::nullopt;
  const int registers = all / first;
  std::vector<Tuple> shape, stride;
  std::vector<int> extents{first};
  if ((registers & (registers - 1)) == 0)
    for (int left = registers; left > 1; left /= 2) extents.push_back(2);
  else
    extents.push_back(registers);
  int step = 1;
  for (const int extent : extents) {
    // The stride of a mode is where its second coordinate lies, along one axis.
    const Coordinate by = extent > 1 ? points[static_cast<std::size_t>(step)] : Coordinate{0, 0};
    if (by[0] != 0 && by[1] != 0) return std::nullopt;
    shape.emplace_back(extent);
    stride.push_back(by[1] != 0 ? Tuple::basis(by[1], {1}) : Tuple::basis(by[0], {0}));
    step *= extent;
  }
  const Layout made{Tuple(shape), Tuple(stride)};
  // Four matrices at (0,0), (8,0), (0,8) and (8,8) are two modes; the last at (8,16) were none.
  const auto outer = values(along(made, 0)), k = values(along(made, 1));
  for (std::size_t i = 0; i < points.size(); ++i)
    if (outer[i] != points[i][0] || k[i] != points[i][1]) return std::nullopt;
  return made;
}

}  // namespace

std::vector<sema::CopyInstruction> warp_copies(std::span<const sema::CopyInstruction> chosen,
                                               sema::CopySpace from, sema::CopySpace to) {
  std::vector<sema::CopyInstruction> found;
  for (const sema::CopyInstruction& each : chosen)
    if (each.kind == "warp" && each.from == from && each.to == to) found.push_back(each);
  return found;
}

std::optional<LaneRows> lane_rows(const sema::CopyInstruction& copy, const Layout& held, int run,
                                  int element_bits) {
  // Copies are told apart by the number of values before anything is listed: m16n8k16 has 8 values
  // of A, 128 bits of a lane, which of ldmatrix only that of four matrices has.
  const Int values_held = size(held.shape[1]), bits_held = size(register_side(copy).shape[1]);
  if (!(values_held * element_bits == bits_held)) return std::nullopt;
  const auto rows = rows_of(copy, element_bits);
  if (!rows || rows->threads != lanes_of_warp || rows->length * element_bits > widest_row)
    return std::nullopt;
  const std::array<std::vector<std::int64_t>, 2> at{values(along(held, 0)), values(along(held, 1))};
  // A row begins where its elements say, of whatever lane and value they are.
  std::vector<std::optional<Coordinate>> begins(static_cast<std::size_t>(rows->rows));
  for (std::size_t i = 0; i < rows->places.size(); ++i) {
    const RowPlace& place = rows->places[i];
    Coordinate begin{at[0][i], at[1][i]};
    begin[static_cast<std::size_t>(run)] -= place.element;
    auto& known = begins[static_cast<std::size_t>(place.row)];
    if (known && *known != begin) return std::nullopt;
    known = begin;
  }
  // Lane 8 q + r names row r of matrix q: a mode of rows, then modes of matrices.
  std::vector<Coordinate> points;
  for (const auto& begin : begins) points.push_back(*begin);
  const auto lanes = through(points, rows_of_register(*rows, element_bits));
  return lanes ? std::optional(LaneRows{*lanes, rows->length}) : std::nullopt;
}

std::optional<Layout> first_of_rows(const sema::CopyInstruction& copy, int element_bits,
                                    int threads) {
  const auto rows = rows_of(copy, element_bits);
  if (!rows) return std::nullopt;
  Facts facts;
  // The row's first bit is its thread's value 0 in memory; the inverse of the registers says which
  // lane has it.
  // Row -> lane + 32 * bit of the lane: stmatrix(4) has (8,4):(4,32*32).
  const Layout first = composition(
      facts, composition(facts, right_inverse(facts, register_side(copy)), memory_side(copy)[0]),
      Layout(rows->rows, 1));
  bool whole = true;
  const Tuple strides = transform(first.stride, [&](const Tuple& stride) {
    const std::int64_t step = stride.value().value();
    whole = whole && (step < lanes_of_warp || step % (lanes_of_warp * element_bits) == 0);
    return step < lanes_of_warp ? stride : Tuple(step / (lanes_of_warp * element_bits) * threads);
  });
  return whole ? std::optional(Layout(first.shape, strides)) : std::nullopt;
}

}  // namespace lay::plan
