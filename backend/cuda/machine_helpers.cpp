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
    Helper{"shared_address", R"(static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}
)"},
    Helper{"elect_one", R"(// True in one lane of a converged warp.
static __device__ __forceinline__ bool elect_one() {
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected != 0;
}
)",
           90},
    Helper{"mbarrier_init",
           R"(static __device__ __forceinline__ void mbarrier_init(unsigned long long* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}
)",
           90},
    Helper{"mbarrier_invalidate",
           R"(static __device__ __forceinline__ void mbarrier_invalidate(unsigned long long* barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}
)",
           90},
    Helper{"mbarrier_arrive", R"(static __device__ __forceinline__ void mbarrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
)",
           90},
    Helper{"mbarrier_arrive_remote", R"(// At the same barrier of another block of the cluster.
static __device__ __forceinline__ void mbarrier_arrive_remote(unsigned long long* barrier, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::
          "r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}
)",
           90},
    Helper{"mbarrier_expect", R"(// Arrives, and expects so many bytes more.
static __device__ __forceinline__ void mbarrier_expect(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
)",
           90},
    Helper{"mbarrier_wait", R"(// Until the phase of that parity is complete.
static __device__ __forceinline__ void mbarrier_wait(unsigned long long* barrier, int parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @done bra passed; bra again; "
      "passed: }" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
)",
           90},
    Helper{"st_async_1",
           R"(// A word to the same place in a block of the cluster, which counts the bytes at its barrier.
static __device__ __forceinline__ void st_async_1(const void* to, unsigned long long* barrier, int rank,
                                                  unsigned a) {
  asm volatile(
      "{ .reg .b32 place, done; mapa.shared::cluster.u32 place, %0, %2; mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [place], %3, [done]; }" ::
          "r"(shared_address(to)),
      "r"(shared_address(barrier)), "r"(rank), "r"(a)
      : "memory");
}
)",
           90},
    Helper{"st_async_2",
           R"(// 2 words to the same place in a block of the cluster, which counts the bytes at its barrier.
static __device__ __forceinline__ void st_async_2(const void* to, unsigned long long* barrier, int rank,
                                                  unsigned a, unsigned b) {
  asm volatile(
      "{ .reg .b32 place, done; mapa.shared::cluster.u32 place, %0, %2; mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [place], {%3, %4}, [done]; }" ::
          "r"(shared_address(to)),
      "r"(shared_address(barrier)), "r"(rank), "r"(a), "r"(b)
      : "memory");
}
)",
           90},
    Helper{"st_async_4",
           R"(// 4 words to the same place in a block of the cluster, which counts the bytes at its barrier.
static __device__ __forceinline__ void st_async_4(const void* to, unsigned long long* barrier, int rank,
                                                  unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile(
      "{ .reg .b32 place, done; mapa.shared::cluster.u32 place, %0, %2; mapa.shared::cluster.u32 done, %1, %2; "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [place], {%3, %4, %5, %6}, [done]; }" ::
          "r"(shared_address(to)),
      "r"(shared_address(barrier)), "r"(rank), "r"(a), "r"(b), "r"(c), "r"(d)
      : "memory");
}
)",
           90},
    Helper{
        "matrix_descriptor",
        R"(// A tile in shared memory for wgmma: rows of one swizzle span, `stride` bytes from one group of 8 rows to the next, and
// `leading` bytes from one span to the next across the rows.
static __device__ __forceinline__ unsigned long long matrix_descriptor(const void* tile, int leading, int stride,
                                                                       int swizzle) {
  return (unsigned long long)((shared_address(tile) & 0x3ffff) >> 4) | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | (unsigned long long)swizzle << 62;
}
)",
        90},
};

}  // namespace

std::span<const Helper> machine_helpers() {
  return rows;
}

}  // namespace lay::cuda
