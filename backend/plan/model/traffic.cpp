// The wavefronts of every access of a K tile to shared memory, counted.
#include <algorithm>
#include <array>

#include "backend/plan/copies.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/banks.h"
#include "frontend/algebra/support/memo.h"

namespace lay::plan {

namespace {

constexpr std::size_t lanes = 32;

// Counts accesses of a warp: `element(lane)` is the 1-D index (outer, k) at which the lane's access
// begins.
class Counter {
 public:
  Counter(const AnyLayout& shared, int element_bytes, int vector)
      : offsets_(values(shared)), element_bytes_(element_bytes), bytes_(element_bytes * vector) {}

  // `times` such accesses.
  template <class Element>
  void count(Element element, long times = 1) {
    std::array<std::int64_t, lanes> addresses;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      addresses[lane] = offsets_[static_cast<std::size_t>(element(lane))] * element_bytes_;
    }
    const int taken = is_as_before(addresses) ? taken_ : wavefronts(addresses, bytes_).taken;
    before_ = addresses;
    taken_ = taken;
    // The worst for the plan's text, the total for choosing among layouts.
    worst_ = std::max(worst_, taken);
    total_ += times * taken;
    accesses_ += times;
  }

  BankConflicts worst(std::string access) const {
    return {std::move(access), worst_, SharedMemory{}.phases(bytes_)};
  }
  long total() const { return total_; }
  long least() const { return accesses_ * SharedMemory{}.phases(bytes_); }

 private:
  // Addresses that all moved by the same number of words lie in banks that are as distinct: a warp
  // most often accesses its part as the warp before did, which takes a tenth of the time to see.
  bool is_as_before(const std::array<std::int64_t, lanes>& addresses) const {
    const std::int64_t moved = addresses[0] - before_[0];
    if (taken_ == 0 || moved % SharedMemory{}.bank_bytes != 0) return false;
    for (std::size_t lane = 1; lane < lanes; ++lane)
      if (addresses[lane] - before_[lane] != moved) return false;
    return true;
  }

  std::vector<std::int64_t> offsets_;
  int element_bytes_, bytes_;
  std::array<std::int64_t, lanes> before_{};
  int taken_ = 0;  // by the access before; 0: there was none
  int worst_ = 0;
  long total_ = 0, accesses_ = 0;
};

SharedTraffic counted_traffic(const sema::Kernel& kernel, const SimtGemm& gemm,
                              const OperandCopy& copy, bool is_a) {
  const int axis = is_a ? 0 : 1, outer = gemm.tile[static_cast<std::size_t>(axis)],
            k_tile = gemm.tile[2];
  const int element_bytes = bits(gemm.accumulator) / 8, threads = gemm.producer_threads();
  const std::string name = is_a ? "A" : "B";

  const int store = copy.boxes ? 1 : shared_store_vector(kernel, gemm, copy);
  Counter write(copy.shared, element_bytes, store);
  std::vector<std::int64_t> at_outer, at_k;
  if (!copy.boxes) {
    at_outer = values(along(copy.threads, 0));
    at_k = values(along(copy.threads, 1));
  }
  // (thread, value) -> (outer, k), threads fastest: value v of thread t is at t + threads * v.
  const auto held = at_outer.size() / static_cast<std::size_t>(threads);
  for (std::size_t value = 0; value < held; value += static_cast<std::size_t>(store)) {
    for (int warp = 0; warp < threads / static_cast<int>(lanes); ++warp) {
      write.count([&](std::size_t lane) {
        const std::size_t i = static_cast<std::size_t>(warp) * lanes + lane +
                              value * static_cast<std::size_t>(threads);
        return at_outer[i] + at_k[i] * outer;
      });
    }
  }

  const int lane_tile = gemm.lane_tile[static_cast<std::size_t>(axis)];
  const int vector = fragment_vector(gemm.accumulator, lane_tile);
  Counter read(copy.shared, element_bytes, vector);
  const auto places = values(along(gemm.lanes, axis));
  const int groups = gemm.groups[static_cast<std::size_t>(axis)], part = outer / groups;
  const int step = gemm.lane_grid[static_cast<std::size_t>(axis)] * lane_tile;
  // Every read of a K tile: for each k, warp row or column, repeat of the lane tile and vector in
  // it. Without a swizzle the next k moves all addresses by the same number of words, and so to
  // banks that are as distinct.
  const bool alike = std::holds_alternative<Layout>(copy.shared);
  for (int k = 0; k < (alike ? 1 : k_tile); ++k) {
    for (int group = 0; group < groups; ++group) {
      for (int start = 0; start < part; start += step) {
        for (int i = 0; i < lane_tile; i += vector) {
          read.count(
              [&](std::size_t lane) {
                return group * part + start + places[lane] * lane_tile + i +
                       static_cast<std::int64_t>(k) * outer;
              },
              alike ? k_tile : 1);
        }
      }
    }
  }
  // The warps that share a part read it once each.
  const long multicast_size = gemm.groups[0] * gemm.groups[1] / groups;
  return {write.worst("write " + name), read.worst("read " + name),
          write.total() + multicast_size * read.total(),
          write.least() + multicast_size * read.least()};
}

}  // namespace

// Rows of the library differ in what the count does not depend on, such as the parts of K: it is
// asked for again and again, and takes longer than the rest of a plan.
SharedTraffic shared_traffic(const sema::Kernel& kernel, const SimtGemm& gemm,
                             const OperandCopy& copy, bool is_a) {
  static Memo<std::string, SharedTraffic> known;
  std::string key = to_string(copy.shared) + gemm.lanes.to_string();
  if (!copy.boxes) key += copy.threads.to_string();
  for (const int number :
       {gemm.tile[0], gemm.tile[1], gemm.tile[2], gemm.groups[0], gemm.groups[1], gemm.lane_tile[0],
        gemm.lane_tile[1], bits(gemm.accumulator), gemm.producer_threads(),
        copy.boxes ? 0 : shared_store_vector(kernel, gemm, copy), is_a ? 1 : 0})
    key += "," + std::to_string(number);
  return known(key, [&] { return counted_traffic(kernel, gemm, copy, is_a); });
}

}  // namespace lay::plan
