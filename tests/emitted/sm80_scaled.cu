// sm80_slices_sm80, for sm_80.
//
//   // variant sm80
//   // where these are aligned: X to 16 bytes, W to 16 bytes, Y to 8 bytes
//   schedule sm80_slices for sm80 when N % 2 == 0 {
//     name          = "sm80"
//     accesses      = "vectors"
//     tile          = (16,32,256)
//     mma           = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)
//     groups        = (1,2,4,1)
//     promotion_interval = 64
//     stages        = 3
//     smem X        = Sw<3,3,5> o 0 o (16,256):(256,1)
//     // X is read 8 elements at once along k, by sm80.cp_async(bytes = 16); (thread,value) -> (m,k): ((32,8),(8,(1,2))):((8@1,1@0),(1@1,(256@1,8@0)))
//     // fragments by sm75.ldmatrix(n = 4); lane -> row at (m,k): (8,2,2):(1@0,8@0,8@1)
//     smem W        = Sw<3,4,4> o 0 o (32,256):(256,1)
//     // W is read 16 elements at once along k, by sm80.cp_async(bytes = 16), converted in registers; (thread,value) -> (n,k): ((16,16),(16,(1,2))):((16@1,1@0),(1@1,(256@1,16@0)))
//     group_m       = 8
//     // accumulators, (thread,value) -> (m,n): (((4,8),(1,2)),((2,2),(1,2))):(((2@1,1@0),(16@0,16@1)),((1@1,8@0),(16@0,8@1)))
//     // Y is written 2 elements at once along n
//     // sums of 64 of k are multiplied by
//     //   f32(s[n,k / 128]), 4 numbers a thread
//     // predicted: 96 registers a thread, 55296 bytes of shared memory
//     //   write A: 4 wavefronts a warp, least 4
//     //   read A: 4 wavefronts a warp, least 4
//     //   write B: 4 wavefronts a warp, least 4
//     //   read B: 1 wavefront a warp, least 1
//     //   256*M*K*ceil_div(N,32) + 136*N*K*ceil_div(M,16) + 4*M*N bytes through L2
//     //   4*M*N + 256*M*K + 130*N*K bytes of global memory at least, 256*M*N*K floating-point operations
//   }
//
// Grid (ceil_div(M,16)*ceil_div(N,32), 1, 1), 256 threads a block, 55296 bytes of shared memory, asked for at the launch.
// Assumes N % 2 == 0.

static __device__ __forceinline__ float f32_from_bf16(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

// Of the low byte of each half.
static __device__ __forceinline__ unsigned bf16x2_from_s8x2(unsigned x) {
  unsigned low, sign, y;  // (x & mask) | exponents, as one instruction
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(low) : "r"(x), "r"(0x007f007fu), "r"(0x43004300u));
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(sign) : "r"(x), "r"(0x00800080u), "r"(0xc300c300u));
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(low), "r"(0x3f803f80u), "r"(sign));
  return y;
}

static __device__ __forceinline__ uint2 bf16x4_from_s8x4(unsigned x) {
  return make_uint2(bf16x2_from_s8x2(__byte_perm(x, x, 0x1100)),
      bf16x2_from_s8x2(__byte_perm(x, x, 0x3322)));
}

// sm80.cp_async(bytes = 16); only `bytes` of them are read, the rest is zero.
static __device__ __forceinline__ void cp_async_16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}

// sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)
static __device__ __forceinline__ void multiply_1(float* d, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Sw<3,3,5>
static __device__ __forceinline__ int swizzle_3_3_5(int x) {
  return x ^ ((x >> 5) & 56);
}

// Sw<3,4,4>
static __device__ __forceinline__ int swizzle_3_4_4(int x) {
  return x ^ ((x >> 4) & 112);
}

extern "C" __global__ void __launch_bounds__(256, 1)
lay_sm80_slices_sm80(
    const unsigned short* __restrict__ X_,  // (M,128*K):(128*K,1)
    const signed char* __restrict__ W_,  // (N,128*K):(128*K,1)
    const unsigned short* __restrict__ s_,  // (N,K):(K,1)
    float* __restrict__ Y_,  // (M,N):(N,1)
    int M_,
    int N_,
    int K_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int block_x = (int)blockIdx.x;
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned short* const A_shared_ = (unsigned short*)(shared + 0);  // Sw<3,3,5> o 0 o (16,256,3):(256,1,4096), (m,k,stage) -> offset in elements
  signed char* const B_shared_ = (signed char*)(shared + 24576);  // Sw<3,4,4> o 0 o (32,256,3):(256,1,8192), (n,k,stage) -> offset in elements
  float* const handed_ = (float*)(shared + 49152);  // (8,64,3):(64,1,512), (accumulator,thread of a slice,slice): the sums of all slices but the first
  __align__(16) unsigned short a_[16];  // (8,1,2):(1,0,8), (value of the atom, atom, step)
  __align__(16) unsigned short b_[16];  // (4,2,2):(1,4,8), (value of the atom, atom, step)
  __align__(16) signed char b_stored_[16];  // (4,2,2):(1,4,8), (value of the atom, atom, step)
  float acc_[8];  // (4,1,2):(1,0,4), accumulators, (thread,value) -> (m,n): (((4,8),(1,2)),((2,2),(1,2))):(((2@1,1@0),(16@0,16@1)),((1@1,8@0),(16@0,8@1)))
  float total_[8];  // (4,1,2):(1,0,4), where the accumulators are added up every 64 of K, each multiplied by its scales
  unsigned short scale1_[4];  // 4:1, scales of an interval, number -> (m,n) from this thread's first: (2,2):(1@1,8@1)
  __align__(16) float out1_[2];  // 2:1, values for one access

  // tiles: groups of at most 8 rows
  const int tile_rows_ = (M_ + 15) / 16;
  const int tile_columns_ = (N_ + 31) / 32;
  const int groups_ = (tile_rows_ + 7) / 8;
  const int low_rows_ = tile_rows_ / groups_;
  const int high_rows_ = (tile_rows_ - low_rows_ * groups_) * (low_rows_ + 1);
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
  // the row that this lane names to sm75.ldmatrix(n = 4): (8,2,2):(1@0,8@0,8@1)
  const int a_row_ = a_part_ + lane % 16;
  const int a_row_k_ = lane / 16 * 8 + slice_ * 64;
  // B: (thread,value) -> (n,k): ((16,16),(16,(1,2))):((16@1,1@0),(1@1,(256@1,16@0)))
  const int b_n_ = thread / 16;
  const int b_k_ = thread % 16 * 16;
  const int b_first_ = tile_n_ * 32 + b_n_;
  const int b_part_ = warp % 2 * 16;
  const int n_tile_ = tile_n_ * 32;
  // this lane's values: ((4,8),(2,2)):((2@1,1@0),(1@1,8@1))
  const int b_row_ = b_part_ + lane / 4;
  const int b_row_k_ = lane % 4 * 2 + slice_ * 64;
  // this thread's first element
  const int m_first_ = m_tile_ + a_part_ + lane / 4;
  const int n_first_ = n_tile_ + b_part_ + lane % 4 * 2;
  const int tiles_k_ = (K_ + 1) / 2;
  #pragma unroll
  for (int i = 0; i < 8; ++i) acc_[i] = 0.0f;
  #pragma unroll
  for (int i = 0; i < 8; ++i) total_[i] = 0.0f;
  #pragma unroll
  for (int s_2_ = 0; s_2_ < 2; ++s_2_) {
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = a_first_ + access_ * 8 < M_ && s_2_ * 256 + a_k_ < (int)((long long)K_ * 128);
        const unsigned short* const from = inside
            ? &X_[(a_first_ + access_ * 8) * ((long long)K_ * 128) + (s_2_ * 256 + a_k_)] : X_;
        cp_async_16(&A_shared_[swizzle_3_3_5((a_m_ + access_ * 8) * 256 + a_k_) + s_2_ * 4096], from, inside
            ? 16 : 0);
      }
    }
    // B: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = b_first_ + access_ * 16 < N_ && s_2_ * 256 + b_k_ < (int)((long long)K_ * 128);
        const signed char* const from = inside
            ? &W_[(b_first_ + access_ * 16) * ((long long)K_ * 128) + (s_2_ * 256 + b_k_)] : W_;
        cp_async_16(&B_shared_[swizzle_3_4_4((b_n_ + access_ * 16) * 256 + b_k_)
            + s_2_ * 8192], from, inside ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  // the next K tile is in shared memory, and the last one is no longer needed
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  // A: shared -> fragments
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(*(unsigned*)&a_[0]), "=r"(*(unsigned*)&a_[2]), "=r"(*(unsigned*)&a_[4]), "=r"(*(unsigned*)&a_[6]) : "r"(shared_address(&A_shared_[swizzle_3_3_5(a_row_ * 256 + a_row_k_)])) : "memory");
  // B: shared -> fragments
  #pragma unroll
  for (int j_ = 0; j_ < 2; ++j_) {
    #pragma unroll
    for (int v_ = 0; v_ < 4; v_ += 2) {
      *(unsigned short*)&b_stored_[v_ + j_ * 4] =
          *(const unsigned short*)&B_shared_[swizzle_3_4_4((b_row_ + j_ * 8) * 256 + b_row_k_ + v_ % 2
          + v_ / 2 * 8)];
    }
    #pragma unroll
    for (int v_ = 0; v_ < 4; v_ += 4) {
      *(uint2*)&b_[v_ + j_ * 4] = bf16x4_from_s8x4(*(const unsigned*)&b_stored_[v_ + j_ * 4]);
    }
  }
  // K tile by K tile, 2 on their way
  for (int tile_k_ = 0; tile_k_ < tiles_k_; ++tile_k_) {
    const int stage_ = tile_k_ % 3;
    const int next_ = (tile_k_ + 1) % 3;
    const int filled_ = (tile_k_ + 2) % 3;
    #pragma unroll
    for (int e_ = 0; e_ < 4; ++e_) {
      const int n_ = min(n_first_ + e_ % 2 + e_ / 2 * 8, N_ - 1);
      scale1_[e_] = s_[(long long)n_ * K_ + min((tile_k_ * 4 + slice_) / 2, K_ - 1)];
    }
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = a_first_ + access_ * 8 < M_
            && (tile_k_ + 2) * 256 + a_k_ < (int)((long long)K_ * 128);
        const unsigned short* const from = inside
            ? &X_[(a_first_ + access_ * 8) * ((long long)K_ * 128) + ((tile_k_ + 2) * 256 + a_k_)] : X_;
        cp_async_16(&A_shared_[swizzle_3_3_5((a_m_ + access_ * 8) * 256 + a_k_)
            + filled_ * 4096], from, inside ? 16 : 0);
      }
    }
    // B: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = b_first_ + access_ * 16 < N_
            && (tile_k_ + 2) * 256 + b_k_ < (int)((long long)K_ * 128);
        const signed char* const from = inside
            ? &W_[(b_first_ + access_ * 16) * ((long long)K_ * 128) + ((tile_k_ + 2) * 256 + b_k_)] : W_;
        cp_async_16(&B_shared_[swizzle_3_4_4((b_n_ + access_ * 16) * 256 + b_k_)
            + filled_ * 8192], from, inside ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    #pragma unroll
    for (int step_ = 0; step_ < 3; ++step_) {
      // A: shared -> fragments
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(*(unsigned*)&a_[(step_ + 1) % 2 * 8]), "=r"(*(unsigned*)&a_[2 + (step_ + 1) % 2 * 8]), "=r"(*(unsigned*)&a_[4 + (step_ + 1) % 2 * 8]), "=r"(*(unsigned*)&a_[6 + (step_ + 1) % 2 * 8]) : "r"(shared_address(&A_shared_[swizzle_3_3_5(a_row_ * 256 + a_row_k_ + (step_ + 1) * 16) + stage_ * 4096])) : "memory");
      // B: shared -> fragments
      #pragma unroll
      for (int j_ = 0; j_ < 2; ++j_) {
        #pragma unroll
        for (int v_ = 0; v_ < 4; v_ += 2) {
          *(unsigned short*)&b_stored_[v_ + j_ * 4 + (step_ + 1) % 2 * 8] =
              *(const unsigned short*)&B_shared_[swizzle_3_4_4((b_row_ + j_ * 8) * 256 + b_row_k_ + (step_
              + 1) * 16 + v_ % 2 + v_ / 2 * 8) + stage_ * 8192];
        }
        #pragma unroll
        for (int v_ = 0; v_ < 4; v_ += 4) {
          *(uint2*)&b_[v_ + j_ * 4 + (step_ + 1) % 2 * 8] =
              bf16x4_from_s8x4(*(const unsigned*)&b_stored_[v_ + j_ * 4 + (step_ + 1) % 2 * 8]);
        }
      }
      // products of one step
      #pragma unroll
      for (int j_ = 0; j_ < 2; ++j_) {
        multiply_1(&acc_[j_ * 4], (const unsigned*)&a_[step_ % 2 * 8], (const unsigned*)&b_[j_ * 4
            + step_ % 2 * 8]);
      }
    }
    // the next K tile is in shared memory, and the last one is no longer needed
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    // A: shared -> fragments
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(*(unsigned*)&a_[0]), "=r"(*(unsigned*)&a_[2]), "=r"(*(unsigned*)&a_[4]), "=r"(*(unsigned*)&a_[6]) : "r"(shared_address(&A_shared_[swizzle_3_3_5(a_row_ * 256 + a_row_k_) + next_ * 4096])) : "memory");
    // B: shared -> fragments
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      #pragma unroll
      for (int v_ = 0; v_ < 4; v_ += 2) {
        *(unsigned short*)&b_stored_[v_ + j_ * 4] =
            *(const unsigned short*)&B_shared_[swizzle_3_4_4((b_row_ + j_ * 8) * 256 + b_row_k_ + v_ % 2
            + v_ / 2 * 8) + next_ * 8192];
      }
      #pragma unroll
      for (int v_ = 0; v_ < 4; v_ += 4) {
        *(uint2*)&b_[v_ + j_ * 4] = bf16x4_from_s8x4(*(const unsigned*)&b_stored_[v_ + j_ * 4]);
      }
    }
    // products of one step
    #pragma unroll
    for (int j_ = 0; j_ < 2; ++j_) {
      multiply_1(&acc_[j_ * 4], (const unsigned*)&a_[8], (const unsigned*)&b_[j_ * 4 + 8]);
    }
    // the sums of an interval
    if (tile_k_ * 256 + slice_ * 64 < (int)((long long)K_ * 128)) {
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
          out1_[0] = total_[v_ + j_ * 4];
          out1_[1] = total_[v_ + 1 + j_ * 4];
          *(float2*)&Y_[(long long)m_ * N_ + n_] = *(const float2*)&out1_[0];
        }
      }
    }
  }
}
