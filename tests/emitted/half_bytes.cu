// groups_sm80_few_rows_8, for sm_80.
//
//   // variant sm80_few_rows_8
//   // where these are aligned: W to 4 bytes, X to 16 bytes
//   schedule groups for sm80 when M <= 8 {
//     name          = "sm80_few_rows_8"
//     accesses      = "vectors"
//     tile          = (16,8,512)
//     mma           = sm80.mma_pair(ab = bf16, acc = f32)
//     groups        = (1,1,4,1)
//     swap_ab       = 1
//     promotion_interval = 32
//     stages        = 4
//     private W     = 1
//     // W is read 8 elements at once along k, by sm80.cp_async(bytes = 4), converted in registers; (thread,value) -> (n,k): (((4,8),1,4),(8,(2,1,4))):(((8@1,1@0),16@0,128@1),(1@1,(8@0,16@0,32@1)))
//     // steps take the k of a block of 32 as its lanes have them, step -> first k: (1,4):(8,32)
//     smem X        = Sw<3,3,3> o 0 o (8,(32,16)):(32,(1,256))
//     // X is read 8 elements at once along k, by sm80.cp_async(bytes = 16); (thread,value) -> (m,k): ((32,4),(8,(2,2))):((8@1,1@0),(1@1,(256@1,4@0)))
//     group_m       = 1
//     // accumulators, (thread,value) -> (n,m): (((4,8),(1,1)),((2,2),(1,1))):(((2@1,1@0),(16@0,8@1)),((1@1,8@0),(16@0,8@1)))
//     // Y is written 1 element at once along m
//     // sums of 32 of k are multiplied by
//     //   f32(s[n,k / 32]), 2 numbers a thread
//     // predicted: 98 registers a thread, 50688 bytes of shared memory
//     //   write B: 4 wavefronts a warp, least 4
//     //   read B: 4 wavefronts a warp, least 4
//     //   64*M*K*ceil_div(N,16) + 20*N*K*ceil_div(M,8) + 2*M*N bytes through L2
//     //   2*M*N + 64*M*K + 18*N*K bytes of global memory at least, 64*M*N*K floating-point operations
//   }
//
// Grid (ceil_div(M,8)*ceil_div(N,16), 1, 1), 128 threads a block, 50688 bytes of shared memory, asked for at the launch.
// Assumes M <= 8.

static __device__ __forceinline__ float f32_from_bf16(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

// Of the low four bits of each half.
static __device__ __forceinline__ unsigned bf16x2_from_s4x2(unsigned x) {
  unsigned y;  // (x & 0x000f000f) ^ 0x43084308, as one instruction
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(y) : "r"(x), "r"(0x000f000fu), "r"(0x43084308u));
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(y), "r"(0x3f803f80u), "r"(0xc308c308u));
  return y;
}

static __device__ __forceinline__ uint4 bf16x8_from_s4x8(unsigned x) {
  const unsigned odd = x >> 4;
  return make_uint4(bf16x2_from_s4x2(__byte_perm(x, odd, 0x4400)),
      bf16x2_from_s4x2(__byte_perm(x, odd, 0x5511)),
      bf16x2_from_s4x2(__byte_perm(x, odd, 0x6622)),
      bf16x2_from_s4x2(__byte_perm(x, odd, 0x7733)));
}

// sm80.cp_async(bytes = 4); only `bytes` of them are read, the rest is zero.
static __device__ __forceinline__ void cp_async_4(void* to, const void* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
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

extern "C" __global__ void __launch_bounds__(128, 4)
lay_groups_sm80_few_rows_8(
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
  unsigned char* const A_shared_ = (unsigned char*)(shared + 0);  // ((8,2),(8,4,4,4),4):((32,1024),(1,8,2048,256),8192), (m,k,stage) -> offset in elements
  unsigned short* const B_shared_ = (unsigned short*)(shared + 16384);  // Sw<3,3,3> o 0 o (8,(32,16),4):(32,(1,256),4096), (n,k,stage) -> offset in elements
  float* const handed_ = (float*)(shared + 49152);  // (4,32,3):(32,1,128), (accumulator,thread of a slice,slice): the sums of all slices but the first
  __align__(16) unsigned short a_[16];  // (16,1,1):(1,0,0), (value of the atom, atom, step)
  __align__(16) unsigned char a_own_[32];  // (8,8):(1,8), (element,access) of what this thread has of a K tile
  __align__(16) unsigned short b_[16];  // (8,1,2):(1,0,8), (value of the atom, atom, step)
  float acc_[4];  // (4,1,1):(1,0,0), accumulators, (thread,value) -> (m,n): (((4,8),(1,1)),((2,2),(1,1))):(((2@1,1@0),(16@0,8@1)),((1@1,8@0),(16@0,8@1)))
  float total_[4];  // (4,1,1):(1,0,0), where the accumulators are added up every 32 of K, each multiplied by its scales
  unsigned short scale1_[16];  // (2,8):(1,2), scales of intervals, number -> (m,n) from this thread's first: 2:8@0
  unsigned short out1_[1];  // 1:1, values for one access

  // tiles: groups of at most 1 row
  const int tile_rows_ = (N_ + 15) / 16;
  const int tile_columns_ = (M_ + 7) / 8;
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
  const int slice_ = warp;
  // A: (thread,value) -> (m,k): (((4,8),1,4),(8,(2,1,4))):(((8@1,1@0),16@0,128@1),(1@1,(8@0,16@0,32@1)))
  const int a_m_ = thread / 4 % 8;
  const int a_k_ = thread % 4 * 8 + thread / 32 * 128;
  const int a_first_ = tile_m_ * 16 + a_m_;
  const int a_part_ = 0;
  const int m_tile_ = tile_m_ * 16;
  // B: (thread,value) -> (n,k): ((32,4),(8,(2,2))):((8@1,1@0),(1@1,(256@1,4@0)))
  const int b_n_ = thread / 32;
  const int b_k_ = thread % 32 * 8;
  const int b_first_ = tile_n_ * 8 + b_n_;
  const int b_part_ = 0;
  const int n_tile_ = tile_n_ * 8;
  // this lane's values: ((4,8),8):((8@1,1@0),1@1)
  const int b_row_ = b_part_ + lane / 4;
  const int b_row_k_ = lane % 4 * 8 + slice_ * 128;
  // this thread's first element
  const int m_first_ = m_tile_ + a_part_ + lane / 4;
  const int n_first_ = n_tile_ + b_part_ + lane % 4 * 2;
  const int tiles_k_ = (K_ + 15) / 16;
  #pragma unroll
  for (int i = 0; i < 4; ++i) acc_[i] = 0.0f;
  #pragma unroll
  for (int i = 0; i < 4; ++i) total_[i] = 0.0f;
  #pragma unroll
  for (int s_2_ = 0; s_2_ < 3; ++s_2_) {
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 8; ++access_) {
      {
        const bool inside = a_first_ + access_ % 2 * 8 < N_
            && s_2_ * 512 + a_k_ + access_ / 2 * 32 < (int)((long long)K_ * 32);
        const unsigned char* const from = inside
            ? &W_[((a_first_ + access_ % 2 * 8) * ((long long)K_ * 32) + (s_2_ * 512 + a_k_
            + access_ / 2 * 32)) >> 1] : W_;
        cp_async_4(&A_shared_[((a_m_ + access_ % 2 * 8) % 8 * 32 + (a_m_ + access_ % 2 * 8) / 8 * 1024
            + (a_k_ + access_ / 2 * 32) % 32 + (a_k_ + access_ / 2 * 32) / 32 % 4 * 2048 + (a_k_
            + access_ / 2 * 32) / 128 * 256 + s_2_ * 8192) >> 1], from, inside ? 4 : 0);
      }
    }
    // B: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      {
        const bool inside = b_first_ + access_ / 2 * 4 < M_
            && s_2_ * 512 + b_k_ + access_ % 2 * 256 < (int)((long long)K_ * 32);
        const unsigned short* const from = inside
            ? &X_[(b_first_ + access_ / 2 * 4) * ((long long)K_ * 32) + (s_2_ * 512 + b_k_
            + access_ % 2 * 256)] : X_;
        cp_async_16(&B_shared_[swizzle_3_3_3((b_n_ + access_ / 2 * 4) * 32 + (b_k_ + access_ % 2 * 256) % 32
            + (b_k_ + access_ % 2 * 256) / 32 * 256) + s_2_ * 4096], from, inside ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  #pragma unroll
  for (int s_2_ = 0; s_2_ < 2; ++s_2_) {
    if (s_2_ < tiles_k_) {
      #pragma unroll
      for (int part_ = 0; part_ < 4; ++part_) {
        #pragma unroll
        for (int e_ = 0; e_ < 2; ++e_) {
          const int n_ = min(m_first_ + e_ * 8, N_ - 1);
          scale1_[e_ + (s_2_ * 4 + part_) * 2] =
              s_[(long long)n_ * K_ + min(s_2_ * 16 + slice_ * 4 + part_, K_ - 1)];
        }
      }
    }
  }
  // the next K tile is in shared memory, and the last one is no longer needed
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  __syncthreads();
  // A: shared -> registers
  #pragma unroll
  for (int access_ = 0; access_ < 8; ++access_) {
    *(unsigned*)&a_own_[(access_ * 8) >> 1] =
        *(const unsigned*)&A_shared_[((a_m_ + access_ % 2 * 8) % 8 * 32 + (a_m_
        + access_ % 2 * 8) / 8 * 1024 + (a_k_ + access_ / 2 * 32) % 32 + (a_k_
        + access_ / 2 * 32) / 32 % 4 * 2048 + (a_k_ + access_ / 2 * 32) / 128 * 256) >> 1];
  }
  // B: shared -> fragments
  *(uint4*)&b_[0] = *(const uint4*)&B_shared_[swizzle_3_3_3(b_row_ * 32 + b_row_k_ % 32
      + b_row_k_ / 32 * 256)];
  // K tile by K tile, 3 on their way
  for (int first_k_ = 0; first_k_ < tiles_k_; first_k_ += 2) {
    #pragma unroll
    for (int round_ = 0; round_ < 2; ++round_) {
      const int tile_k_ = first_k_ + round_;
      if (tile_k_ < tiles_k_) {
        const int stage_ = tile_k_ % 4;
        const int next_ = (tile_k_ + 1) % 4;
        const int filled_ = (tile_k_ + 3) % 4;
        // A: global -> shared
        #pragma unroll
        for (int access_ = 0; access_ < 8; ++access_) {
          {
            const bool inside = a_first_ + access_ % 2 * 8 < N_
                && (tile_k_ + 3) * 512 + a_k_ + access_ / 2 * 32 < (int)((long long)K_ * 32);
            const unsigned char* const from = inside
                ? &W_[((a_first_ + access_ % 2 * 8) * ((long long)K_ * 32) + ((tile_k_ + 3) * 512 + a_k_
                + access_ / 2 * 32)) >> 1] : W_;
            cp_async_4(&A_shared_[((a_m_ + access_ % 2 * 8) % 8 * 32 + (a_m_ + access_ % 2 * 8) / 8 * 1024
                + (a_k_ + access_ / 2 * 32) % 32 + (a_k_ + access_ / 2 * 32) / 32 % 4 * 2048 + (a_k_
                + access_ / 2 * 32) / 128 * 256 + filled_ * 8192) >> 1], from, inside ? 4 : 0);
          }
        }
        // B: global -> shared
        #pragma unroll
        for (int access_ = 0; access_ < 4; ++access_) {
          {
            const bool inside = b_first_ + access_ / 2 * 4 < M_
                && (tile_k_ + 3) * 512 + b_k_ + access_ % 2 * 256 < (int)((long long)K_ * 32);
            const unsigned short* const from = inside
                ? &X_[(b_first_ + access_ / 2 * 4) * ((long long)K_ * 32) + ((tile_k_ + 3) * 512 + b_k_
                + access_ % 2 * 256)] : X_;
            cp_async_16(&B_shared_[swizzle_3_3_3((b_n_ + access_ / 2 * 4) * 32 + (b_k_
                + access_ % 2 * 256) % 32 + (b_k_ + access_ % 2 * 256) / 32 * 256)
                + filled_ * 4096], from, inside ? 16 : 0);
          }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        #pragma unroll
        for (int part_ = 0; part_ < 3; ++part_) {
          // B: shared -> fragments
          *(uint4*)&b_[(part_ + 1) % 2 * 8] = *(const uint4*)&B_shared_[swizzle_3_3_3(b_row_ * 32
              + (b_row_k_ + (part_ + 1) * 32) % 32 + (b_row_k_ + (part_ + 1) * 32) / 32 * 256)
              + stage_ * 4096];
          // A: registers -> fragments
          #pragma unroll
          for (int row_ = 0; row_ < 2; ++row_) {
            #pragma unroll
            for (int v_ = 0; v_ < 8; v_ += 8) {
              *(uint4*)&a_[v_ + row_ * 8] = bf16x8_from_s4x8(*(const unsigned*)&a_own_[(v_ + (row_
                  + part_ * 2) * 8) >> 1]);
            }
          }
          // products of one step
          multiply_1(&acc_[0], (const unsigned*)&a_[0], (const unsigned*)&b_[part_ % 2 * 8]);
          // the sums of an interval
          if (tile_k_ * 512 + (slice_ * 4 + part_) * 32 < (int)((long long)K_ * 32)) {
            #pragma unroll
            for (int v_ = 0; v_ < 4; ++v_) {
              total_[v_] = fmaf(f32_from_bf16(scale1_[v_ / 2 + (round_ * 4
                  + part_) * 2]), acc_[v_], total_[v_]);
            }
          }
          #pragma unroll
          for (int i = 0; i < 4; ++i) acc_[i] = 0.0f;
          #pragma unroll
          for (int e_ = 0; e_ < 2; ++e_) {
            const int n_ = min(m_first_ + e_ * 8, N_ - 1);
            scale1_[e_ + (round_ * 4 + part_) * 2] =
                s_[(long long)n_ * K_ + min((tile_k_ + 2) * 16 + slice_ * 4 + part_, K_ - 1)];
          }
        }
        // A: registers -> fragments
        #pragma unroll
        for (int row_ = 0; row_ < 2; ++row_) {
          #pragma unroll
          for (int v_ = 0; v_ < 8; v_ += 8) {
            *(uint4*)&a_[v_ + row_ * 8] = bf16x8_from_s4x8(*(const unsigned*)&a_own_[(v_ + (row_
                + 6) * 8) >> 1]);
          }
        }
        // the next K tile is in shared memory, and the last one is no longer needed
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        // A: shared -> registers
        #pragma unroll
        for (int access_ = 0; access_ < 8; ++access_) {
          *(unsigned*)&a_own_[(access_ * 8) >> 1] =
              *(const unsigned*)&A_shared_[((a_m_ + access_ % 2 * 8) % 8 * 32 + (a_m_
              + access_ % 2 * 8) / 8 * 1024 + (a_k_ + access_ / 2 * 32) % 32 + (a_k_
              + access_ / 2 * 32) / 32 % 4 * 2048 + (a_k_ + access_ / 2 * 32) / 128 * 256
              + next_ * 8192) >> 1];
        }
        // B: shared -> fragments
        *(uint4*)&b_[0] = *(const uint4*)&B_shared_[swizzle_3_3_3(b_row_ * 32 + b_row_k_ % 32
            + b_row_k_ / 32 * 256) + next_ * 4096];
        // products of one step
        multiply_1(&acc_[0], (const unsigned*)&a_[0], (const unsigned*)&b_[8]);
        // the sums of an interval
        if (tile_k_ * 512 + (slice_ * 4 + 3) * 32 < (int)((long long)K_ * 32)) {
          #pragma unroll
          for (int v_ = 0; v_ < 4; ++v_) {
            total_[v_] = fmaf(f32_from_bf16(scale1_[v_ / 2 + (round_ * 4 + 3) * 2]), acc_[v_], total_[v_]);
          }
        }
        #pragma unroll
        for (int i = 0; i < 4; ++i) acc_[i] = 0.0f;
        #pragma unroll
        for (int e_ = 0; e_ < 2; ++e_) {
          const int n_ = min(m_first_ + e_ * 8, N_ - 1);
          scale1_[e_ + (round_ * 4 + 3) * 2] =
              s_[(long long)n_ * K_ + min((tile_k_ + 2) * 16 + slice_ * 4 + 3, K_ - 1)];
        }
      }
    }
  }
  // copies past the last K tile wrote zeros
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  const int thread_of_slice_ = thread % 32;
  // all slices but the first hand over their sums
  if (slice_ > 0) {
    #pragma unroll
    for (int v_ = 0; v_ < 4; ++v_) {
      handed_[v_ * 32 + thread_of_slice_ + (slice_ - 1) * 128] = total_[v_];
    }
  }
  __syncthreads();
  // the first slice adds them up
  if (slice_ == 0) {
    #pragma unroll
    for (int v_ = 0; v_ < 4; ++v_) {
      total_[v_] = total_[v_] + handed_[v_ * 32 + thread_of_slice_];
    }
    #pragma unroll
    for (int v_ = 0; v_ < 4; ++v_) {
      total_[v_] = total_[v_] + handed_[v_ * 32 + thread_of_slice_ + 128];
    }
    #pragma unroll
    for (int v_ = 0; v_ < 4; ++v_) {
      total_[v_] = total_[v_] + handed_[v_ * 32 + thread_of_slice_ + 256];
    }
  }
  if (slice_ == 0) {
    // the elements of this thread
    #pragma unroll
    for (int v_ = 0; v_ < 4; ++v_) {
      const int n_ = m_first_ + v_ / 2 * 8;
      const int m_ = n_first_ + v_ % 2;
      if (n_ < N_ && m_ < M_) {
        out1_[0] = bf16_from_f32(total_[v_]);
        Y_[(long long)m_ * N_ + n_] = out1_[0];
      }
    }
  }
}
