// gated_sm90, for sm_90a.
//
//   // variant sm90
//   // where these are aligned: X to 16 bytes, G to 16 bytes, U to 16 bytes, Y to 16 bytes
//   schedule gated for sm90 when K % 8 == 0 and N % 8 == 0 {
//     name          = "sm90"
//     accesses      = "vectors"
//     tile          = (128,128,64)
//     mma           = sm90.wgmma(n = 128, ab = bf16, acc = f32)
//     groups        = (2,1,1,1)
//     cluster       = (2,1)
//     stages        = 4
//     smem X        = Sw<3,3,3> o 0 o (128,64):(64,1)
//     // X is loaded by TMA: 1 box of 128 m x 64 k a block and K tile, swizzled over 128 bytes
//     smem G        = Sw<3,3,3> o 0 o (128,64):(64,1)
//     // G is loaded by TMA: 1 box of 64 n x 64 k a block and K tile, swizzled over 128 bytes
//     // U is loaded as G, for a further product in the same launch
//     group_m       = 8
//     // accumulators, (thread,value) -> (m,n): (((4,8,4),(2,1)),((2,2,16),(1,1))):(((2@1,1@0,16@0),(64@0,128@1)),((1@1,8@0,8@1),(64@0,128@1)))
//     // Y leaves by sm90.stmatrix(n = 4) and TMA through Sw<3,3,3> o 0 o (64,64):(64,1), 2 buffers a consumer, each warp its own rows
//     // registers: 40 for each producer thread, 232 for each of a consumer
//     // predicted: 232 registers a thread, 230912 bytes of shared memory
//     //   wgmma A: 1 wavefront a matrix, least 1
//     //   wgmma B: 1 wavefront a matrix, least 1
//     //   sm90.stmatrix(n = 4): 4 wavefronts a warp, least 4
//     //   2*M*K*ceil_div(N,128) + 4*N*K*ceil_div(M,256) + 2*M*N bytes through L2
//     //   2*M*N + 2*M*K + 4*N*K bytes of global memory at least, 4*M*N*K floating-point operations
//   }
//
// Grid (2*min(ceil_div(M,256)*ceil_div(N,128),66), 1, 1), 384 threads a block, 229376 bytes of shared memory, asked for at the launch.
// Assumes K % 8 == 0.
// Assumes N % 8 == 0.

static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

// 1 / (1 + exp(-x)), within (7 + 1.3 |x|) * 2^-24 of itself.
static __device__ __forceinline__ float sigmoid_f32(float x) {
  float e, y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-1.44269504f * x));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.0f + e));
  return y;
}

struct __align__(64) tensor_map {  // as the driver encodes it
  unsigned long long words[16];
};

static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}

// True in one lane of a converged warp.
static __device__ __forceinline__ bool elect_one() {
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

// A number on which the lanes of a warp agree: from here on the compiler knows that
// they do.
static __device__ __forceinline__ int same_in_warp(int value) {
  return (int)__reduce_max_sync(0xffffffff, (unsigned)value);
}

static __device__ __forceinline__ void mbarrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// At the same barrier of another block of the cluster.
static __device__ __forceinline__ void mbarrier_arrive_remote(unsigned barrier, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::
          "r"(barrier),
      "r"(rank)
      : "memory");
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

// The same value, which the compiler keeps: it would take addresses from special
// registers again in every loop.
static __device__ __forceinline__ unsigned kept(unsigned value) {
  asm volatile("mov.b32 %0, %0;" : "+r"(value));
  return value;
}

// A tile in shared memory for wgmma, from its start: rows of one swizzle width, `stride`
// bytes from one group of 8 rows to the next.
static __device__ __forceinline__ unsigned long long matrix_descriptor(unsigned start, int stride,
                                                                       int swizzle) {
  return (unsigned long long)((unsigned)(stride >> 4) | (unsigned)swizzle << 30) << 32 | start;
}

// Where a tile for wgmma begins, in units of 16 bytes, which may be added to it;
// `leading` bytes lie between swizzle widths across the rows.
static __device__ __forceinline__ unsigned matrix_start(const void* tile, int leading) {
  return (shared_address(tile) & 0x3ffff) >> 4 | (unsigned)(leading >> 4) << 16;
}

// sm90.wgmma(n = 128, ab = bf16, acc = f32)
static __device__ __forceinline__ void multiply_1(float* d, unsigned long long a, unsigned long long b, int scale) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0; }"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                 "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                 "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                 "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                 "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                 "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                 "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
               : "l"(a), "l"(b), "r"(scale));
}

// Sw<3,3,3>
static __device__ __forceinline__ int swizzle_3_3_3(int x) {
  return x ^ ((x >> 3) & 56);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
lay_gated_sm90(
    const unsigned short* X_,  // (M,K):(K,1)
    const unsigned short* G_,  // (N,K):(K,1)
    const unsigned short* U_,  // (N,K):(K,1)
    unsigned short* Y_,  // (M,N):(N,1)
    int M_,
    int N_,
    int K_,
    const __grid_constant__ tensor_map A_map_,  // boxes of (64,128) of X, bytes swizzled by Sw<3,4,3>
    const __grid_constant__ tensor_map B_map_,  // boxes of (64,64) of G, bytes swizzled by Sw<3,4,3>
    const __grid_constant__ tensor_map B2_map_,  // boxes of (64,64) of U, bytes swizzled by Sw<3,4,3>
    const __grid_constant__ tensor_map C_map_) {  // boxes of (64,16) of Y, bytes swizzled by Sw<3,4,3>
  const int thread = (int)threadIdx.x;
  const int warp = same_in_warp(thread / 32);
  const int warpgroup = same_in_warp(thread / 128);
  int cluster_rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(cluster_rank));
  const int grid_x = (int)gridDim.x;
  const int block_x = (int)blockIdx.x;
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned short* const A_stage_ = (unsigned short*)(shared + 0);  // Sw<3,3,3> o 0 o (128,64,4):(64,1,8192), (m,k,stage)
  unsigned short* const B_stage_ = (unsigned short*)(shared + 65536);  // Sw<3,3,3> o 0 o (128,64,4):(64,1,8192), (n,k,stage)
  unsigned short* const B2_stage_ = (unsigned short*)(shared + 131072);  // Sw<3,3,3> o 0 o (128,64,4):(64,1,8192), (n,k,stage)
  unsigned short* const C_stage_ = (unsigned short*)(shared + 196608);  // Sw<3,3,3> o 0 o (64,64,2,2):(64,1,4096,8192), (m,n,buffer,consumer)
  float acc_[64];  // ((2,2,16),1,1):((1,2,4),0,0), accumulators, (thread,value) -> (m,n): (((4,8,4),(2,1)),((2,2,16),(1,1))):(((2@1,1@0,16@0),(64@0,128@1)),((1@1,8@0,8@1),(64@0,128@1)))
  float acc1_[64];  // ((2,2,16),1,1):((1,2,4),0,0), those of product 2
  __align__(16) unsigned short packed_[8];  // 8:1, (m,n,buffer,consumer)
  float picked_[32];  // 32:1
  float picked1_[32];  // 32:1
  const unsigned A_stage_start_ = kept(matrix_start(A_stage_, 16));
  const unsigned B_stage_start_ = kept(matrix_start(B_stage_, 16));
  const unsigned B2_stage_start_ = kept(matrix_start(B2_stage_, 16));
  __shared__ __align__(8) unsigned long long filled_words_[4];  // 1 arrivals
  const unsigned filled_ = kept(shared_address(filled_words_));
  __shared__ __align__(8) unsigned long long drained_words_[4];  // 4 arrivals
  const unsigned drained_ = kept(shared_address(drained_words_));
  int load_slot = 0, load_phase = 1;
  int use_slot = 0, use_phase = 0;
  int freed_slot = 0, freed_phase = 0;

  if (thread == 0) {
    asm volatile("prefetch.tensormap [%0];" :: "l"(&A_map_) : "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&B_map_) : "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&B2_map_) : "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&C_map_) : "memory");
  }
  if (warp == 0) {
    if (elect_one()) {
      #pragma unroll
      for (int s_ = 0; s_ < 4; ++s_) {
        mbarrier_init(filled_ + s_ * 8, 1);
        mbarrier_init(drained_ + s_ * 8, 4);
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  const int clusters_ = grid_x / 2;
  const int tiles_k_ = (K_ + 63) / 64;
  // tiles: groups of at most 8 rows
  const int tile_rows_ = (M_ + 255) / 256;
  const int tile_columns_ = (N_ + 127) / 128;
  const int groups_ = (tile_rows_ + 7) / 8;
  const int low_rows_ = tile_rows_ / groups_;
  const int high_rows_ = (tile_rows_ - low_rows_ * groups_) * (low_rows_ + 1);
  const int inverse_of_columns_ = 2147483647 / tile_columns_;
  const int inverse_of_low_ = 2147483647 / low_rows_;
  const int high_ = low_rows_ + 1;
  const int inverse_of_high_ = 2147483647 / high_;
  const int high_places_ = high_rows_ * tile_columns_;
  const int tiles_ = (int)(((long long)M_ + 255) / 256 * (((long long)N_ + 127) / 128));
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (warpgroup == 0) {  // producer
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
    if (warp == 0) {
      if (elect_one()) {
        // cluster -> tile: groups of at most 8 rows
        for (int tile_ = block_x / 2; tile_ < tiles_; tile_ += clusters_) {
          const int height_ = tile_ >= high_places_ ? low_rows_ : high_;
          const int inverse_of_height_ = tile_ >= high_places_ ? inverse_of_low_ : inverse_of_high_;
          const int place_ = tile_ - (tile_ >= high_places_ ? high_places_ : 0);
          const int estimate_ = (int)((long long)place_ * inverse_of_height_ / 2147483648LL);
          const int column_ = estimate_ + (place_ - estimate_ * height_ >= height_ ? 1 : 0);
          const int estimate_2_ = (int)((long long)column_ * inverse_of_columns_ / 2147483648LL);
          const int group_ = estimate_2_ + (column_ - estimate_2_ * tile_columns_ >= tile_columns_ ? 1 : 0);
          const int tile_m_ = group_ * height_ + (tile_ >= high_places_
              ? high_rows_ : 0) + place_ - column_ * height_;
          const int tile_n_ = column_ - group_ * tile_columns_;
          const int m_first_ = (tile_m_ * 2 + cluster_rank % 2) * 128;
          const int n_first_ = tile_n_ * 128;
          for (int tile_k_ = 0; tile_k_ < tiles_k_; ++tile_k_) {
            mbarrier_wait(drained_ + load_slot * 8, load_phase);
            mbarrier_expect(filled_ + load_slot * 8, 49152);
            // A: this block's 128 x 64
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                         :: "r"(shared_address(&A_stage_[load_slot * 8192])), "l"(&A_map_), "r"(tile_k_ * 64), "r"(m_first_), "r"(filled_ + load_slot * 8) : "memory");
            // B: this block's 64 x 64, for 2 blocks
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                         :: "r"(shared_address(&B_stage_[cluster_rank % 2 * 64 * 64 + load_slot * 8192])), "l"(&B_map_), "r"(tile_k_ * 64), "r"(n_first_ + cluster_rank % 2 * 64), "r"(filled_ + load_slot * 8), "h"((unsigned short)(3)) : "memory");
            // B2: this block's 64 x 64, for 2 blocks
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                         :: "r"(shared_address(&B2_stage_[cluster_rank % 2 * 64 * 64 + load_slot * 8192])), "l"(&B2_map_), "r"(tile_k_ * 64), "r"(n_first_ + cluster_rank % 2 * 64), "r"(filled_ + load_slot * 8), "h"((unsigned short)(3)) : "memory");
            if (++load_slot == 4) load_slot = 0, load_phase ^= 1;
          }
        }
        // no block leaves before its stages have been given back
        #pragma unroll
        for (int s_ = 0; s_ < 4; ++s_) {
          mbarrier_wait(drained_ + load_slot * 8, load_phase);
          if (++load_slot == 4) load_slot = 0, load_phase ^= 1;
        }
      }
    }
  }
  if (warpgroup >= 1 && warpgroup < 3) {  // consumer
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
    // this consumer's part of the tile
    const int consumer_ = warpgroup - 1;
    // where this lane puts a row of 8: (8,(2,2),4):(1@0,(8@0,8@1),16@0)
    const int staged_row_ = thread % 128 % 16 + thread % 128 / 32 * 16;
    const int staged_column_ = thread % 128 / 16 % 2 * 8;
    // cluster -> tile: groups of at most 8 rows
    for (int tile_ = block_x / 2; tile_ < tiles_; tile_ += clusters_) {
      const int height_ = tile_ >= high_places_ ? low_rows_ : high_;
      const int inverse_of_height_ = tile_ >= high_places_ ? inverse_of_low_ : inverse_of_high_;
      const int place_ = tile_ - (tile_ >= high_places_ ? high_places_ : 0);
      const int estimate_ = (int)((long long)place_ * inverse_of_height_ / 2147483648LL);
      const int column_2_ = estimate_ + (place_ - estimate_ * height_ >= height_ ? 1 : 0);
      const int estimate_2_ = (int)((long long)column_2_ * inverse_of_columns_ / 2147483648LL);
      const int group_ = estimate_2_ + (column_2_ - estimate_2_ * tile_columns_ >= tile_columns_ ? 1 : 0);
      const int tile_m_ = group_ * height_ + (tile_ >= high_places_
          ? high_rows_ : 0) + place_ - column_2_ * height_;
      const int tile_n_ = column_2_ - group_ * tile_columns_;
      const int m_first_ = (tile_m_ * 2 + cluster_rank % 2) * 128;
      const int n_first_ = tile_n_ * 128;
      for (int tile_k_ = 0; tile_k_ < tiles_k_; ++tile_k_) {
        mbarrier_wait(filled_ + use_slot * 8, use_phase);
        #pragma unroll
        for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(acc_[i]) :: "memory");
        #pragma unroll
        for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(acc1_[i]) :: "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        #pragma unroll
        for (int step_ = 0; step_ < 4; ++step_) {
          multiply_1(&acc_[0], matrix_descriptor(A_stage_start_ + consumer_ % 2 * 64 * 8 + step_ * 16 / 8
              + use_slot * 1024, 1024, 1), matrix_descriptor(B_stage_start_ + step_ * 16 / 8
              + use_slot * 1024, 1024, 1), !(tile_k_ == 0 && step_ == 0));
          multiply_1(&acc1_[0], matrix_descriptor(A_stage_start_ + consumer_ % 2 * 64 * 8 + step_ * 16 / 8
              + use_slot * 1024, 1024, 1), matrix_descriptor(B2_stage_start_ + step_ * 16 / 8
              + use_slot * 1024, 1024, 1), !(tile_k_ == 0 && step_ == 0));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        #pragma unroll
        for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(acc_[i]) :: "memory");
        #pragma unroll
        for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(acc1_[i]) :: "memory");
        if (tile_k_ > 0) {
          if (thread % 128 < 2) {
            mbarrier_arrive_remote(drained_ + freed_slot * 8, thread % 128);
          }
          if (++freed_slot == 4) freed_slot = 0, freed_phase ^= 1;
        }
        if (++use_slot == 4) use_slot = 0, use_phase ^= 1;
      }
      // the last stage
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      #pragma unroll
      for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(acc_[i]) :: "memory");
      #pragma unroll
      for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(acc1_[i]) :: "memory");
      if (tiles_k_ > 0) {
        if (thread % 128 < 2) {
          mbarrier_arrive_remote(drained_ + freed_slot * 8, thread % 128);
        }
        if (++freed_slot == 4) freed_slot = 0, freed_phase ^= 1;
      } else {
        // a sum of nothing
        #pragma unroll
        for (int i = 0; i < 64; ++i) acc_[i] = 0.0f;
        #pragma unroll
        for (int i = 0; i < 64; ++i) acc1_[i] = 0.0f;
        asm volatile("");  // stays a branch
      }
      #pragma unroll 1
      for (int pass_ = 0; pass_ < 2; ++pass_) {
        if (elect_one()) {
          asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        }
        __syncwarp();
        // the values of this round
        if (pass_ < 1) {
          #pragma unroll
          for (int v_ = 0; v_ < 32; ++v_) {
            picked_[v_] = acc_[v_];
            picked1_[v_] = acc1_[v_];
          }
          asm volatile("");  // stays a branch
        } else {
          #pragma unroll
          for (int v_ = 0; v_ < 32; ++v_) {
            picked_[v_] = acc_[32 + v_];
            picked1_[v_] = acc1_[32 + v_];
          }
          asm volatile("");  // stays a branch
        }
        #pragma unroll
        for (int step_ = 0; step_ < 4; ++step_) {
          #pragma unroll
          for (int v_ = 0; v_ < 8; ++v_) {
            packed_[v_] = bf16_from_f32(picked_[step_ * 8 + v_] * sigmoid_f32(picked_[step_ * 8
                + v_]) * picked1_[step_ * 8 + v_]);
          }
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                       :: "r"(shared_address(&C_stage_[swizzle_3_3_3(staged_row_ * 64 + staged_column_ + step_ * 8 * 2 + pass_ % 2 * 4096 + consumer_ * 8192)])), "r"(*(unsigned*)&packed_[0]), "r"(*(unsigned*)&packed_[2]), "r"(*(unsigned*)&packed_[4]), "r"(*(unsigned*)&packed_[6]) : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        if (elect_one()) {
          asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                       :: "l"(&C_map_), "r"(n_first_ + pass_ * 64), "r"(m_first_ + consumer_ % 2 * 64 + warp % 4 * 16), "r"(shared_address(&C_stage_[warp % 4 * 16 * 64 + pass_ % 2 * 4096 + consumer_ * 8192])) : "memory");
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
      }
    }
    // what was stored has left shared memory
    if (elect_one()) {
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
}
