// cluster_sum, from cluster_sum.lay, for sm_90a.
//
// Grid (4*M, 1, 1), 32 threads a block, 64 bytes of shared memory.

static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}

static __device__ __forceinline__ void mbarrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// Arrives, and expects `bytes` bytes more.
static __device__ __forceinline__ void mbarrier_expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Until the phase of that parity is complete.
static __device__ __forceinline__ void mbarrier_wait(unsigned barrier, int parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; "
      "@done bra passed; bra again; passed: }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// 32 bits to the same place in a block of the cluster, which counts the bytes at
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

// 64 bits to the same place in a block of the cluster, which counts the bytes at
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

// The same value, which the compiler keeps: it would take addresses from special
// registers again in every loop.
static __device__ __forceinline__ unsigned kept(unsigned value) {
  asm volatile("mov.b32 %0, %0;" : "+r"(value));
  return value;
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(32, 1)
lay_cluster_sum(
    const float* __restrict__ X_,  // (M,128):(128,1)
    const double* __restrict__ Y_,  // (M,128):(128,1)
    const int* __restrict__ Z_,  // (M,128):(128,1)
    float* __restrict__ S_,  // (M,4):(4,1), the sum of a row, from each block of the cluster
    double* __restrict__ T_,  // (M,4):(4,1)
    int* __restrict__ U_,  // (M,4):(4,1)
    int M_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  int cluster_rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(cluster_rank));
  const int block_x = (int)blockIdx.x;
  __shared__ __align__(16) float x_parts_[4];  // (4,):(1,)
  __shared__ __align__(16) double y_parts_[4];  // (4,):(1,)
  __shared__ __align__(16) int z_parts_[4];  // (4,):(1,)
  float x_part_[1];  // (1,):(1,)
  double y_part_[1];  // (1,):(1,)
  int z_part_[1];  // (1,):(1,)
  __shared__ __align__(8) unsigned long long arrived_words_[1];  // 1 arrivals
  const unsigned arrived_ = kept(shared_address(arrived_words_));

  if (thread == 0) {
    mbarrier_init(arrived_, 1);
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  const int m_ = block_x / 4;
  const int column_ = cluster_rank * 32 + lane;
  const float x_of_1_ = X_[(long long)m_ * 128 + column_];  // cluster_sum.lay:2
  const float x_16_ = __shfl_xor_sync(0xffffffffu, x_of_1_, 16);
  const float x_of_2_ = x_of_1_ + x_16_;
  const float x_8_ = __shfl_xor_sync(0xffffffffu, x_of_2_, 8);
  const float x_of_4_ = x_of_2_ + x_8_;
  const float x_4_ = __shfl_xor_sync(0xffffffffu, x_of_4_, 4);
  const float x_of_8_ = x_of_4_ + x_4_;
  const float x_2_ = __shfl_xor_sync(0xffffffffu, x_of_8_, 2);
  const float x_of_16_ = x_of_8_ + x_2_;
  const float x_1_ = __shfl_xor_sync(0xffffffffu, x_of_16_, 1);
  x_part_[0] = x_of_16_ + x_1_;
  const double y_of_1_ = Y_[(long long)m_ * 128 + column_];  // cluster_sum.lay:3
  const double y_16_ = __shfl_xor_sync(0xffffffffu, y_of_1_, 16);
  const double y_of_2_ = y_of_1_ + y_16_;
  const double y_8_ = __shfl_xor_sync(0xffffffffu, y_of_2_, 8);
  const double y_of_4_ = y_of_2_ + y_8_;
  const double y_4_ = __shfl_xor_sync(0xffffffffu, y_of_4_, 4);
  const double y_of_8_ = y_of_4_ + y_4_;
  const double y_2_ = __shfl_xor_sync(0xffffffffu, y_of_8_, 2);
  const double y_of_16_ = y_of_8_ + y_2_;
  const double y_1_ = __shfl_xor_sync(0xffffffffu, y_of_16_, 1);
  y_part_[0] = y_of_16_ + y_1_;
  const int z_of_1_ = Z_[(long long)m_ * 128 + column_];  // cluster_sum.lay:4
  const int z_16_ = __shfl_xor_sync(0xffffffffu, z_of_1_, 16);
  const int z_of_2_ = z_of_1_ + z_16_;
  const int z_8_ = __shfl_xor_sync(0xffffffffu, z_of_2_, 8);
  const int z_of_4_ = z_of_2_ + z_8_;
  const int z_4_ = __shfl_xor_sync(0xffffffffu, z_of_4_, 4);
  const int z_of_8_ = z_of_4_ + z_4_;
  const int z_2_ = __shfl_xor_sync(0xffffffffu, z_of_8_, 2);
  const int z_of_16_ = z_of_8_ + z_2_;
  const int z_1_ = __shfl_xor_sync(0xffffffffu, z_of_16_, 1);
  z_part_[0] = z_of_16_ + z_1_;
  if (lane == 0) {
    mbarrier_expect(arrived_, 64);
  }
  // cluster_sum.lay:6: to every block of the cluster, to this one too
  if (lane < 4) {
    st_async_1(&x_parts_[cluster_rank], arrived_, lane, __float_as_uint(x_part_[0]));
    st_async_1_b64(&y_parts_[cluster_rank], arrived_, lane,
        (unsigned long long)__double_as_longlong(y_part_[0]));
    st_async_1(&z_parts_[cluster_rank], arrived_, lane, (unsigned)z_part_[0]);
  }
  mbarrier_wait(arrived_, 0);
  if (lane == 0) {
    S_[(long long)m_ * 4 + cluster_rank] = x_parts_[0] + x_parts_[1] + x_parts_[2] + x_parts_[3];  // cluster_sum.lay:7
    T_[(long long)m_ * 4 + cluster_rank] = y_parts_[0] + y_parts_[1] + y_parts_[2] + y_parts_[3];
    U_[(long long)m_ * 4 + cluster_rank] = z_parts_[0] + z_parts_[1] + z_parts_[2] + z_parts_[3];
  }
}
