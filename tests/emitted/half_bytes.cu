// groups_sm80_few_rows, for sm_80.
//
//   // variant sm80_few_rows
//   // where these are aligned: X to 16 bytes, W to 16 bytes, Y to 4 bytes
//   schedule groups for sm80 when M <= 16 and N % 2 == 0 {
//     name          = "sm80_few_rows"
//     accesses      = "vectors"
//     tile          = (16,32,256)
//     mma           = sm80.mma_pair(ab = bf16, acc = f32)
//     groups        = (1,2,4,1)
//     promotion_interval = 32
//     stages        = 6
//     smem X        = Sw<3,3,3> o 0 o (16,256):(256,1)
//     // X is read 8 elements at once along k, by sm80.cp_async(bytes = 16); (thread,value) -> (m,k): ((32,8),(8,(1,2))):((8@1,1@0),(1@1,(256@1,8@0)))
//     smem W        = Sw<3,5,3> o 0 o (32,256):(256,1)
//     // W is read 32 elements at once along k, by sm80.cp_async(bytes = 16), converted in registers; (thread,value) -> (n,k): ((8,32),(32,(1,1))):((32@1,1@0),(1@1,(256@1,32@0)))
//     group_m       = 1
//     // accumulators, (thread,value) -> (m,n): (((4,8),(1,2)),((2,2),(1,2))):(((2@1,1@0),(16@0,16@1)),((1@1,8@0),(16@0,8@1)))
//     // Y is written 2 elements at once along n
//     // sums of 32 of k are multiplied by
//     //   f32(s[n,k / 32]), 4 numbers a thread
//     // predicted: 112 registers a thread, 79872 bytes of shared memory
//     //   write A: 4 wavefronts a warp, least 4
//     //   read A: 4 wavefronts a warp, least 4
//     //   write B: 4 wavefronts a warp, least 4
//     //   read B: 1 wavefront a warp, least 1
//     //   64*M*K*ceil_div(N,32) + 20*N*K*ceil_div(M,16) + 2*M*N bytes through L2
//     //   2*M*N + 64*M*K + 18*N*K bytes of global memory at least, 64*M*N*K floating-point operations
//   }
//
// Grid (ceil_div(M,16)*ceil_div(N,32), 1, 1), 256 threads a block, 79872 bytes of shared memory, asked for at the launch.
// Assumes M <= 16.
// Assumes N % 2 == 0.

static __device__ __forceinline__ float f32_from_bf16(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

static __device__ __forceinline__ uint2 bf16x4_from_s4x4(unsigned x) {
  const unsigned pairs = x | x << 12;  // 0 and 1 16 bits apart, 2 and 3 as well, 8 bits further up
  uint2 y;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y.x) : "r"((pairs & 0x000f000fu) ^ 0x43084308u),
      "r"(0x3f803f80u), "r"(0xc308c308u));
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y.y) : "r"((pairs >> 8 & 0x000f000fu) ^ 0x43084308u),
      "r"(0x3f803f80u), "r"(0xc308c308u));
  return y;
}

static __device__ __forceinline__ uint4 bf16x8_from_s4x8(unsigned x) {
  const uint2 low = bf16x4_from_s4x4(x & 0xffffu), high = bf16x4_from_s4x4(x >> 16);
  return make_uint4(low.x, low.y, high.x, high.y);
}

// sm80.cp_async(bytes = 16); only `bytes` of them are read, the rest is zero.
static __device__ __forceinline__ void cp_async_16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

// sm80.mma_pair(ab = bf16, acc = f32)
static __device__ __forceinline__ void multiply_1(float* d, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %8, %5, %9}, {%12, %13}, {%0, %1, %2, %3}; mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%6, %10, %7, %11}, {%14, %15}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
}

// Sw<3,3,3>
static __device__ __forceinline__ int swizzle_3_3_3(int x) {
  return x ^ ((x >> 3) & 56);
}

// Sw<3,5,3>
static __device__ __forceinline__ int swizzle_3_5_3(int x) {
  return x ^ ((x >> 3) & 224);
}

extern "C" __global__ void __launch_bounds__(256, 1)
lay_groups_sm80_few_rows(
    const unsigned short* __restrict__ X_,  // (M,32*K):(32*K,1)
    const unsigned char* __restrict__ W_,  // (N,32*K):(32*K,1)
    const unsigned short* __restrict__ s_,  // (N,K):(K,1)
    unsigned short* __restrict__ Y_,  // (M,N):(N,1)
    int M_,
    int N_,
    int K_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int block_x = (int)blockIdx.x;
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned short* const A_shared_ = (unsigned short*)(shared + 0);  // Sw<3,3,3> o 0 o (16,256,6):(256,1,4096), (m,k,stage) -> offset in elements
  unsigned char* const B_shared_ = (unsigned char*)(shared + 49152);  // Sw<3,5,3> o 0 o (32,256,6):(256,1,8192), (n,k,stage) -> offset in elements
  float* const handed_ = (float*)(shared + 73728);  // (8,64,3):(64,1,512), (accumulator,thread of a slice,slice): the sums of all slices but the first
  __align__(16) unsigned short a_[32];  // (16,1,2):(1,0,16), (value of the atom, atom, step)
  __align__(16) unsigned short b_[32];  // (8,2,2):(1,8,16), (value of the atom, atom, step)
  __align__(16) unsigned char b_stored_[16];  // (8,2,2):(1,8,16), (value of the atom, atom, step)
  float acc_[8];  // (4,1,2):(1,0,4), accumulators, (thread,value) -> (m,n): (((4,8),(1,2)),((2,2),(1,2))):(((2@1,1@0),(16@0,16@1)),((1@1,8@0),(16@0,8@1)))
  float total_[8];  // (4,1,2):(1,0,4), where the accumulators are added up every 32 of K, each multiplied by its scales
  unsigned short scale1_[4];  // 4:1, scales of an interval, number -> (m,n) from this thread's first: (2,2):(1@1,8@1)
  __align__(16) unsigned short out1_[2];  // 2:1, values for one access

  // tiles: groups of at most 1 row
  const int tile_rows_ = (M_ + 15) / 16;
  const int tile_columns_ = (N_ + 31) / 32;
  const int low_rows_ = tile_rows_ / tile_rows_;
  const int high_rows_ = (tile_rows_ - low_rows_ * tile_rows_) * (low_rows_ + 1);
  const int high_ = low_rows_ + 1;
  const int high_places_ = high_rows_ * tile_columns_;
  const int height_ = block_x >= high_places_ ? low_rows_ : high_;
  const int place_ = block_x - (block_x >= high_places_ ? high_places_ : 0);
  const int column_ = place_ / height_;
  const int group_ = column_ / tile_columns_;
  const int tile_m_ = group_ * height_ + (block_x >= high_places_
      ? high_rows_ : 0) + place_ - column_ * height_;
  const int tile_n_ = column_ - group_ * tile_columns_;
  // which part of every K tile
  const int slice_ = warp / 2;
  // A: (thread,value) -> (m,k): ((32,8),(8,(1,2))):((8@1,1@0),(1@1,(256@1,8@0)))
  const int a_m_ = thread / 32;
  const int a_k_ = thread % 32 * 8;
  const int a_first_ = tile_m_ * 16 + a_m_;
  const int a_part_ = 0;
  const int m_tile_ = tile_m_ * 16;
  // this lane's values: ((4,8),(8,2)):((8@1,1@0),(1@1,8@0))
  const int a_row_ = a_part_ + lane / 4;
  const int a_row_k_ = lane % 4 * 8 + slice_ * 64;
  // B: (thread,value) -> (n,k): ((8,32),(32,(1,1))):((32@1,1@0),(1@1,(256@1,32@0)))
  const int b_n_ = thread / 8;
  const int b_k_ = thread % 8 * 32;
  const int b_first_ = tile_n_ * 32 + b_n_;
  const int b_part_ = warp % 2 * 16;
  const int n_tile_ = tile_n_ * 32;
  // this lane's values: ((4,8),8):((8@1,1@0),1@1)
  const int b_row_ = b_part_ + lane / 4;
  const int b_row_k_ = lane % 4 * 8 + slice_ * 64;
  // this thread's first element
  const int m_first_ = m_tile_ + a_part_ + lane / 4;
  const int n_first_ = n_tile_ + b_part_ + lane % 4 * 2;
  const int tiles_k_ = (K_ + 7) / 8;
  #pragma unroll
  for (int i = 0; i < 8; ++i) acc_[i] = 0.0f;
  #pragma unroll
  for (int i = 0; i < 8; ++i) total_[i] = 0.0f;
  #pragma unroll
  for (int s_2_ = 0; s_2_ < 5; ++s_2_) {
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = a_first_ + access_ * 8 < M_ && s_2_ * 256 + a_k_ < (int)((long long)K_ * 32);
        const unsigned short* const from = inside
            ? &X_[(a_first_ + access_ * 8) * ((long long)K_ * 32) + (s_2_ * 256 + a_k_)] : X_;
        cp_async_16(&A_shared_[swizzle_3_3_3((a_m_ + access_ * 8) * 256 + a_k_) + s_2_ * 4096], from, inside
            ? 16 : 0);
      }
    }
    // B: global -> shared
    {
      const bool inside = b_first_ < N_ && s_2_ * 256 + b_k_ < (int)((long long)K_ * 32);
      const unsigned char* const from = inside
          ? &W_[(b_first_ * ((long long)K_ * 32) + (s_2_ * 256 + b_k_)) >> 1] : W_;
      cp_async_16(&B_shared_[(swizzle_3_5_3(b_n_ * 256 + b_k_) + s_2_ * 8192) >> 1], from, inside ? 16 : 0);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  // the next K tile is in shared memory, and the last one is no longer needed
  asm volatile("cp.async.wait_group 4;" ::: "memory");
  __syncthreads();
  // A: shared -> fragments
  #pragma unroll
  for (int v_ = 0; v_ < 16; v_ += 8) {
    *(uint4*)&a_[v_] = *(const uint4*)&A_shared_[swizzle_3_3_3((a_row_ + v_ / 8 * 8) * 256 + a_row_k_
        + v_ % 8)];
  }
  // B: shared -> fragments
  #pragma unroll
  for (int j_ = 0; j_ < 2; ++j_) {
    *(unsigned*)&b_stored_[(j_ * 8) >> 1] =
        *(const unsigned*)&B_shared_[swizzle_3_5_3((b_row_ + j_ * 8) * 256 + b_row_k_) >> 1];
    #pragma unroll
    for (int v_ = 0; v_ < 8; v_ += 8) {
      *(uint4*)&b_[v_ + j_ * 8] = bf16x8_from_s4x8(*(const unsigned*)&b_stored_[(v_ + j_ * 8) >> 1]);
    }
  }
  // K tile by K tile, 5 on their way
  for (int tile_k_ = 0; tile_k_ < tiles_k_; ++tile_k_) {
    const int stage_ = tile_k_ % 6;
    const int next_ = (tile_k_ + 1) % 6;
    const int filled_ = (tile_k_ + 5) % 6;
    #pragma unroll
    for (int e_ = 0; e_ < 4; ++e_) {
      const int n_ = min(n_first_ + e_ % 2 + e_ / 2 * 8, N_ - 1);
      scale1_[e_] = s_[(long long)n_ * K_ + min(tile_k_ * 8 + slice_ * 2, K_ - 1)];
    }
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = a_first_ + access_ * 8 < M_
            && (tile_k_ + 5) * 256 + a_k_ < (int)((long long)K_ * 32);
        const unsigned short* const from = inside
            ? &X_[(a_first_ + access_ * 8) * ((long long)K_ * 32) + ((tile_k_ + 5) * 256 + a_k_)] : X_;
        cp_async_16(&A_shared_[swizzle_3_3_3((a_m_ + access_ * 8) * 256 + a_k_)
            + filled_ * 4096], from, inside ? 16 : 0);
      }
    }
    // B: global -> shared
    {
      const bool inside = b_first_ < N_ && (tile_k_ + 5) * 256 + b_k_ < (int)((long long)K_ * 32);
      const unsigned char* const from = inside
          ? &W_[(b_first_ * ((long long)K_ * 32) + ((tile_k_ + 5) * 256 + b_k_)) >> 1] : W_;
      cp_async_16(&B_shared_[(swizzle_3_5_3(b_n_ * 256 + b_k_) + filled_ * 8192) >> 1], from, inside
          ? 16 : 0);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    // A: shared -> fragments
    #pragma unroll
    for (int v_ = 0; v_ < 16; v_ += 8) {
      *(uint4*)&a_[v_ + 16] = *(const uint4*)&A_shared_[swizzle_3_3_3((a_row_ + v_ / 8 * 8) * 256 + a_row_k_
          + 32 + v_ % 8) + stage_ * 4096];
    }
    // B: shared -> fragments
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      *(unsigned*)&b_stored_[(j_ * 8 + 16) >> 1] =
          *(const unsigned*)&B_shared_[(swizzle_3_5_3((b_row_ + j_ * 8) * 256 + b_row_k_ + 32)
          + stage_ * 8192) >> 1];
      #pragma unroll
      for (int v_ = 0; v_ < 8; v_ += 8) {
        *(uint4*)&b_[v_ + j_ * 8 + 16] = bf16x8_from_s4x8(*(const unsigned*)&b_stored_[(v_ + j_ * 8
            + 16) >> 1]);
      }
    }
    // products of one step
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      multiply_1(&acc_[j_ * 4], (const unsigned*)&a_[0], (const unsigned*)&b_[j_ * 8]);
    }
    // the sums of an interval
    if (tile_k_ * 256 + slice_ * 2 * 32 < (int)((long long)K_ * 32)) {
      #pragma unroll
      for (int j_ = 0; j_ < 2; ++j_) {
        #pragma unroll
        for (int v_ = 0; v_ < 4; ++v_) {
          total_[v_ + j_ * 4] = fmaf(f32_from_bf16(scale1_[v_ % 2 + j_ * 2]), acc_[v_ + j_ * 4], total_[v_
              + j_ * 4]);
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) acc_[i] = 0.0f;
    #pragma unroll
    for (int e_ = 0; e_ < 4; ++e_) {
      const int n_ = min(n_first_ + e_ % 2 + e_ / 2 * 8, N_ - 1);
      scale1_[e_] = s_[(long long)n_ * K_ + min(tile_k_ * 8 + slice_ * 2 + 1, K_ - 1)];
    }
    // the next K tile is in shared memory, and the last one is no longer needed
    asm volatile("cp.async.wait_group 4;" ::: "memory");
    __syncthreads();
    // A: shared -> fragments
    #pragma unroll
    for (int v_ = 0; v_ < 16; v_ += 8) {
      *(uint4*)&a_[v_] = *(const uint4*)&A_shared_[swizzle_3_3_3((a_row_ + v_ / 8 * 8) * 256 + a_row_k_
          + v_ % 8) + next_ * 4096];
    }
    // B: shared -> fragments
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      *(unsigned*)&b_stored_[(j_ * 8) >> 1] =
          *(const unsigned*)&B_shared_[(swizzle_3_5_3((b_row_ + j_ * 8) * 256 + b_row_k_)
          + next_ * 8192) >> 1];
      #pragma unroll
      for (int v_ = 0; v_ < 8; v_ += 8) {
        *(uint4*)&b_[v_ + j_ * 8] = bf16x8_from_s4x8(*(const unsigned*)&b_stored_[(v_ + j_ * 8) >> 1]);
      }
    }
    // products of one step
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      multiply_1(&acc_[j_ * 4], (const unsigned*)&a_[16], (const unsigned*)&b_[j_ * 8 + 16]);
    }
    // the sums of an interval
    if (tile_k_ * 256 + (slice_ * 2 + 1) * 32 < (int)((long long)K_ * 32)) {
      #pragma unroll
      for (int j_ = 0; j_ < 2; ++j_) {
        #pragma unroll
        for (int v_ = 0; v_ < 4; ++v_) {
          total_[v_ + j_ * 4] = fmaf(f32_from_bf16(scale1_[v_ % 2 + j_ * 2]), acc_[v_ + j_ * 4], total_[v_
              + j_ * 4]);
        }
      }
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) acc_[i] = 0.0f;
  }
  // copies past the last K tile wrote zeros
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  const int thread_of_slice_ = thread % 64;
  // all slices but the first hand over their sums
  if (slice_ > 0) {
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      #pragma unroll
      for (int v_ = 0; v_ < 4; ++v_) {
        handed_[(v_ + j_ * 4) * 64 + thread_of_slice_ + (slice_ - 1) * 512] = total_[v_ + j_ * 4];
      }
    }
  }
  __syncthreads();
  // the first slice adds them up
  if (slice_ == 0) {
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      #pragma unroll
      for (int v_ = 0; v_ < 4; ++v_) {
        total_[v_ + j_ * 4] = total_[v_ + j_ * 4] + handed_[(v_ + j_ * 4) * 64 + thread_of_slice_];
      }
    }
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      #pragma unroll
      for (int v_ = 0; v_ < 4; ++v_) {
        total_[v_ + j_ * 4] = total_[v_ + j_ * 4] + handed_[(v_ + j_ * 4) * 64 + thread_of_slice_ + 512];
      }
    }
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      #pragma unroll
      for (int v_ = 0; v_ < 4; ++v_) {
        total_[v_ + j_ * 4] = total_[v_ + j_ * 4] + handed_[(v_ + j_ * 4) * 64 + thread_of_slice_ + 1024];
      }
    }
  }
  if (slice_ == 0) {
    // the elements of this thread
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      #pragma unroll
      for (int v_ = 0; v_ < 4; v_ += 2) {
        const int m_ = m_first_ + v_ / 2 * 8;
        const int n_ = n_first_ + v_ % 2 + j_ * 8;
        if (m_ < M_ && n_ < N_) {
          out1_[0] = bf16_from_f32(total_[v_ + j_ * 4]);
          out1_[1] = bf16_from_f32(total_[v_ + 1 + j_ * 4]);
          *(unsigned*)&Y_[(long long)m_ * N_ + n_] = *(const unsigned*)&out1_[0];
        }
      }
    }
  }
}
