#include <array>

#include "backend/cuda/helpers.h"

namespace lay::cuda {
namespace {

constexpr std::array rows = {
    Helper{"tensor_map", R"(struct __align__(64) tensor_map {  // as the driver encodes it
  unsigned long long words[16];
};
)",
           90},
    Helper{"shared_address",
           R"(static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}
)"},
    Helper{"elect_one", R"(// True in one lane of a converged warp.
static __device__ __forceinline__ bool elect_one() {
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}
)",
           90},
    Helper{"same_in_warp",
           R"(// A number on which the lanes of a warp agree: from here on the compiler knows that
// they do.
static __device__ __forceinline__ int same_in_warp(int value) {
  return (int)__reduce_max_sync(0xffffffff, (unsigned)value);
}
)"},
    Helper{"mbarrier_init",
           R"(static __device__ __forceinline__ void mbarrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
)",
           90},
    Helper{"mbarrier_invalidate",
           R"(static __device__ __forceinline__ void mbarrier_invalidate(unsigned barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
)",
           90},
    Helper{"mbarrier_arrive",
           R"(static __device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
)",
           90},
    Helper{"mbarrier_arrive_remote", R"(// At the same barrier of another block of the cluster.
static __device__ __forceinline__ void mbarrier_arrive_remote(unsigned barrier, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::
          "r"(barrier),
      "r"(rank)
      : "memory");
}
)",
           90},
    Helper{"mbarrier_expect", R"(// Arrives, and expects `bytes` bytes more.
static __device__ __forceinline__ void mbarrier_expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
)",
           90},
    Helper{"mbarrier_wait", R"(// Until the phase of that parity is complete.
static __device__ __forceinline__ void mbarrier_wait(unsigned barrier, int parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; "
      "@done bra passed; bra again; passed: }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
)",
           90},
    Helper{"st_async_1",
           R"(// 32 bits to the same place in a block of the cluster, which counts the bytes at
// its barrier.
static __device__ __forceinline__ void st_async_1(const void* to, unsigned barrier, int rank,
                                                  unsigned a) {
  asm volatile(
      "{ .reg .b32 place, done; mapa.shared::cluster.u32 place, %0, %2; "
      "mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [place], %3, [done]; }" ::
          "r"(shared_address(to)),
      "r"(barrier), "r"(rank), "r"(a)
      : "memory");
}
)",
           90},
    Helper{"st_async_2",
           R"(// 2 x 32 bits to the same place in a block of the cluster, which counts the bytes
// at its barrier.
static __device__ __forceinline__ void st_async_2(const void* to, unsigned barrier, int rank,
                                                  unsigned a, unsigned b) {
  asm volatile(
      "{ .reg .b32 place, done; mapa.shared::cluster.u32 place, %0, %2; "
      "mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 "
      "[place], {%3, %4}, [done]; }" ::
          "r"(shared_address(to)),
      "r"(barrier), "r"(rank), "r"(a), "r"(b)
      : "memory");
}
)",
           90},
    Helper{"st_async_4",
           R"(// 4 x 32 bits to the same place in a block of the cluster, which counts the bytes
// at its barrier.
static __device__ __forceinline__ void st_async_4(const void* to, unsigned barrier, int rank,
                                                  unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile(
      "{ .reg .b32 place, done; mapa.shared::cluster.u32 place, %0, %2; "
      "mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
      "[place], {%3, %4, %5, %6}, [done]; }" ::
          "r"(shared_address(to)),
      "r"(barrier), "r"(rank), "r"(a), "r"(b), "r"(c), "r"(d)
      : "memory");
}
)",
           90},
    Helper{"st_async_1_b64",
           R"(// 64 bits to the same place in a block of the cluster, which counts the bytes at
// its barrier.
static __device__ __forceinline__ void st_async_1_b64(const void* to, unsigned barrier, int rank,
                                                      unsigned long long a) {
  asm volatile(
      "{ .reg .b32 place, done; "
      "mapa.shared::cluster.u32 place, %0, %2; mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [place], %3, [done]; }" ::
          "r"(shared_address(to)),
      "r"(barrier), "r"(rank), "l"(a)
      : "memory");
}
)",
           90},
    Helper{"st_async_2_b64",
           R"(// Twice 64 bits to the same place in a block of the cluster, which counts the
// bytes at its barrier.
static __device__ __forceinline__ void st_async_2_b64(const void* to, unsigned barrier, int rank,
                                                      unsigned long long a, unsigned long long b) {
  asm volatile(
      "{ .reg .b32 place, done; "
      "mapa.shared::cluster.u32 place, %0, %2; mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 "
      "[place], {%3, %4}, [done]; }" ::
          "r"(shared_address(to)),
      "r"(barrier), "r"(rank), "l"(a), "l"(b)
      : "memory");
}
)",
           90},
    Helper{
        "atomic_count",
        R"(// Adds 1 and returns the number before. What this thread has done or seen, also behind a
// barrier, is seen by whoever adds later (PTX ISA, memory consistency model: causality order).
static __device__ __forceinline__ int atomic_count(int* at) {
  int before;
  asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(at))
               : "memory");
  return before;
}
)",
        80},
    Helper{"sync_any",
           R"(// 1 in all threads that meet at the barrier where the value is true in any of them.
template <int threads>
static __device__ __forceinline__ int sync_any(int barrier, bool value) {
  int any;
  asm volatile(
      "{ .reg .pred p; setp.ne.s32 p, %2, 0; bar.red.or.pred p, %1, %3, p; "
      "selp.s32 %0, 1, 0, p; }"
      : "=r"(any)
      : "r"(barrier), "r"((int)value), "n"(threads)
      : "memory");
  return any;
}
)"},
    Helper{"kept",
           R"(// The same value, which the compiler keeps: it would take addresses from special
// registers again in every loop.
static __device__ __forceinline__ unsigned kept(unsigned value) {
  asm volatile("mov.b32 %0, %0;" : "+r"(value));
  return value;
}
)"},
    Helper{
        "matrix_descriptor",
        R"(// A tile in shared memory for wgmma, from its start: rows of one swizzle width, `stride`
// bytes from one group of 8 rows to the next.
static __device__ __forceinline__ unsigned long long matrix_descriptor(unsigned start, int stride,
                                                                       int swizzle) {
  return (unsigned long long)((unsigned)(stride >> 4) | (unsigned)swizzle << 30) << 32 | start;
}
)",
        90},
    Helper{"matrix_start",
           R"(// Where a tile for wgmma begins, in units of 16 bytes, which may be added to it;
// `leading` bytes lie between swizzle widths across the rows.
static __device__ __forceinline__ unsigned matrix_start(const void* tile, int leading) {
  return (shared_address(tile) & 0x3ffff) >> 4 | (unsigned)(leading >> 4) << 16;
}
)",
           90},
};

}  // namespace

std::span<const Helper> machine_helpers() {
  return rows;
}

}  // namespace lay::cuda
