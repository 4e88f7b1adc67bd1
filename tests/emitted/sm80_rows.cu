// rows_sm80, for sm_80.
//
//   // variant sm80
//   // where these are aligned: A to 16 bytes, B to 16 bytes, C to 4 bytes
//   schedule rows for sm80 when K % 8 == 0 and N % 2 == 0 {
//     name          = "sm80"
//     accesses      = "vectors"
//     tile          = (128,128,32)
//     mma           = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)
//     groups        = (2,4,1,1)
//     stages        = 4
//     smem A        = Sw<2,3,3> o 0 o (128,32):(32,1)
//     // A is read 8 elements at once along k, by sm80.cp_async(bytes = 16); (thread,value) -> (m,k): ((4,64),(8,(1,2))):((8@1,1@0),(1@1,(32@1,64@0)))
//     // fragments by sm75.ldmatrix(n = 4); lane -> row at (m,k): (8,2,2):(1@0,8@0,8@1)
//     smem B        = Sw<2,3,3> o 0 o (128,32):(32,1)
//     // B is read 8 elements at once along k, by sm80.cp_async(bytes = 16); (thread,value) -> (n,k): ((4,64),(8,(1,2))):((8@1,1@0),(1@1,(32@1,64@0)))
//     // fragments by sm75.ldmatrix(n = 2); lane -> row at (n,k): (8,2):(1@0,8@1)
//     group_m       = 8
//     // accumulators, (thread,value) -> (m,n): (((4,8),(2,4)),((2,2),(4,4))):(((2@1,1@0),(64@0,32@1)),((1@1,8@0),(16@0,8@1)))
//     // C is written 2 elements at once along n
//     // predicted: 152 registers a thread, 65536 bytes of shared memory
//     //   write A: 4 wavefronts a warp, least 4
//     //   read A: 4 wavefronts a warp, least 4
//     //   write B: 4 wavefronts a warp, least 4
//     //   read B: 2 wavefronts a warp, least 2
//     //   2*M*K*ceil_div(N,128) + 2*N*K*ceil_div(M,128) + 2*M*N bytes through L2
//     //   2*M*N + 2*M*K + 2*N*K bytes of global memory at least, 2*M*N*K floating-point operations
//   }
//
// Grid (ceil_div(M,128)*ceil_div(N,128), 1, 1), 256 threads a block, 65536 bytes of shared memory, asked for at the launch.
// Assumes K % 8 == 0.
// Assumes N % 2 == 0.

static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
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

// Sw<2,3,3>
static __device__ __forceinline__ int swizzle_2_3_3(int x) {
  return x ^ ((x >> 3) & 24);
}

extern "C" __global__ void __launch_bounds__(256, 1)
lay_rows_sm80(
    const unsigned short* __restrict__ A_,  // (M,K):(K,1)
    const unsigned short* __restrict__ B_,  // (N,K):(K,1)
    unsigned short* __restrict__ C_,  // (M,N):(N,1)
    int M_,
    int N_,
    int K_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int block_x = (int)blockIdx.x;
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned short* const A_shared_ = (unsigned short*)(shared + 0);  // Sw<2,3,3> o 0 o (128,32,4):(32,1,4096), (m,k,stage) -> offset in elements
  unsigned short* const B_shared_ = (unsigned short*)(shared + 32768);  // Sw<2,3,3> o 0 o (128,32,4):(32,1,4096), (n,k,stage) -> offset in elements
  __align__(16) unsigned short a_[64];  // (8,4,2):(1,8,32), (value of the atom, atom, step)
  __align__(16) unsigned short b_[32];  // (4,4,2):(1,4,16), (value of the atom, atom, step)
  float acc_[64];  // (4,4,4):(1,4,16), accumulators, (thread,value) -> (m,n): (((4,8),(2,4)),((2,2),(4,4))):(((2@1,1@0),(64@0,32@1)),((1@1,8@0),(16@0,8@1)))
  __align__(16) unsigned short out1_[2];  // 2:1, values for one access

  // tiles: groups of at most 8 rows
  const int tile_rows_ = (M_ + 127) / 128;
  const int tile_columns_ = (N_ + 127) / 128;
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
  // A: (thread,value) -> (m,k): ((4,64),(8,(1,2))):((8@1,1@0),(1@1,(32@1,64@0)))
  const int a_m_ = thread / 4;
  const int a_k_ = thread % 4 * 8;
  const int a_first_ = tile_m_ * 128 + a_m_;
  const int a_part_ = warp % 2 * 64;
  const int m_tile_ = tile_m_ * 128;
  // the row that this lane names to sm75.ldmatrix(n = 4): (8,2,2):(1@0,8@0,8@1)
  const int a_row_ = a_part_ + lane % 16;
  const int a_row_k_ = lane / 16 * 8;
  // B: (thread,value) -> (n,k): ((4,64),(8,(1,2))):((8@1,1@0),(1@1,(32@1,64@0)))
  const int b_n_ = thread / 4;
  const int b_k_ = thread % 4 * 8;
  const int b_first_ = tile_n_ * 128 + b_n_;
  const int b_part_ = warp / 2 * 32;
  const int n_tile_ = tile_n_ * 128;
  // the row that this lane names to sm75.ldmatrix(n = 2): (8,2):(1@0,8@1)
  const int b_row_ = b_part_ + lane % 16 % 8;
  const int b_row_k_ = lane % 16 / 8 * 8;
  const int tiles_k_ = (K_ + 31) / 32;
  #pragma unroll
  for (int i = 0; i < 64; ++i) acc_[i] = 0.0f;
  #pragma unroll
  for (int s_ = 0; s_ < 3; ++s_) {
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = a_first_ + access_ * 64 < M_ && s_ * 32 + a_k_ < K_;
        const unsigned short* const from = inside
            ? &A_[(long long)(a_first_ + access_ * 64) * K_ + (s_ * 32 + a_k_)] : A_;
        cp_async_16(&A_shared_[swizzle_2_3_3((a_m_ + access_ * 64) * 32 + a_k_) + s_ * 4096], from, inside
            ? 16 : 0);
      }
    }
    // B: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = b_first_ + access_ * 64 < N_ && s_ * 32 + b_k_ < K_;
        const unsigned short* const from = inside
            ? &B_[(long long)(b_first_ + access_ * 64) * K_ + (s_ * 32 + b_k_)] : B_;
        cp_async_16(&B_shared_[swizzle_2_3_3((b_n_ + access_ * 64) * 32 + b_k_) + s_ * 4096], from, inside
            ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  // the next K tile is in shared memory, and the last one is no longer needed
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  __syncthreads();
  // A: shared -> fragments
  #pragma unroll
  for (int i_ = 0; i_ < 4; ++i_) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(*(unsigned*)&a_[i_ * 8]), "=r"(*(unsigned*)&a_[2 + i_ * 8]), "=r"(*(unsigned*)&a_[4 + i_ * 8]), "=r"(*(unsigned*)&a_[6 + i_ * 8]) : "r"(shared_address(&A_shared_[swizzle_2_3_3((a_row_ + i_ * 16) * 32 + a_row_k_)])) : "memory");
  }
  // B: shared -> fragments
  #pragma unroll
  for (int j_ = 0; j_ < 4; ++j_) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(*(unsigned*)&b_[j_ * 4]), "=r"(*(unsigned*)&b_[2 + j_ * 4]) : "r"(shared_address(&B_shared_[swizzle_2_3_3((b_row_ + j_ * 8) * 32 + b_row_k_)])) : "memory");
  }
  // K tile by K tile, 3 on their way
  for (int tile_k_ = 0; tile_k_ < tiles_k_; ++tile_k_) {
    const int stage_ = tile_k_ % 4;
    const int next_ = (tile_k_ + 1) % 4;
    const int filled_ = (tile_k_ + 3) % 4;
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = a_first_ + access_ * 64 < M_ && (tile_k_ + 3) * 32 + a_k_ < K_;
        const unsigned short* const from = inside
            ? &A_[(long long)(a_first_ + access_ * 64) * K_ + ((tile_k_ + 3) * 32 + a_k_)] : A_;
        cp_async_16(&A_shared_[swizzle_2_3_3((a_m_ + access_ * 64) * 32 + a_k_)
            + filled_ * 4096], from, inside ? 16 : 0);
      }
    }
    // B: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 2; ++access_) {
      {
        const bool inside = b_first_ + access_ * 64 < N_ && (tile_k_ + 3) * 32 + b_k_ < K_;
        const unsigned short* const from = inside
            ? &B_[(long long)(b_first_ + access_ * 64) * K_ + ((tile_k_ + 3) * 32 + b_k_)] : B_;
        cp_async_16(&B_shared_[swizzle_2_3_3((b_n_ + access_ * 64) * 32 + b_k_)
            + filled_ * 4096], from, inside ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    // A: shared -> fragments
    #pragma unroll
    for (int i_ = 0; i_ < 4; ++i_) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(*(unsigned*)&a_[i_ * 8 + 32]), "=r"(*(unsigned*)&a_[2 + i_ * 8 + 32]), "=r"(*(unsigned*)&a_[4 + i_ * 8 + 32]), "=r"(*(unsigned*)&a_[6 + i_ * 8 + 32]) : "r"(shared_address(&A_shared_[swizzle_2_3_3((a_row_ + i_ * 16) * 32 + a_row_k_ + 16) + stage_ * 4096])) : "memory");
    }
    // B: shared -> fragments
    #pragma unroll
    for (int j_ = 0; j_ < 4; ++j_) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(*(unsigned*)&b_[j_ * 4 + 16]), "=r"(*(unsigned*)&b_[2 + j_ * 4 + 16]) : "r"(shared_address(&B_shared_[swizzle_2_3_3((b_row_ + j_ * 8) * 32 + b_row_k_ + 16) + stage_ * 4096])) : "memory");
    }
    // products of one step
    #pragma unroll
    for (int i_ = 0; i_ < 4; ++i_) {
      #pragma unroll
      for (int j_ = 0; j_ < 4; ++j_) {
        multiply_1(&acc_[i_ * 4 + j_ * 16], (const unsigned*)&a_[i_ * 8], (const unsigned*)&b_[j_ * 4]);
      }
    }
    // the next K tile is in shared memory, and the last one is no longer needed
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    // A: shared -> fragments
    #pragma unroll
    for (int i_ = 0; i_ < 4; ++i_) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(*(unsigned*)&a_[i_ * 8]), "=r"(*(unsigned*)&a_[2 + i_ * 8]), "=r"(*(unsigned*)&a_[4 + i_ * 8]), "=r"(*(unsigned*)&a_[6 + i_ * 8]) : "r"(shared_address(&A_shared_[swizzle_2_3_3((a_row_ + i_ * 16) * 32 + a_row_k_) + next_ * 4096])) : "memory");
    }
    // B: shared -> fragments
    #pragma unroll
    for (int j_ = 0; j_ < 4; ++j_) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(*(unsigned*)&b_[j_ * 4]), "=r"(*(unsigned*)&b_[2 + j_ * 4]) : "r"(shared_address(&B_shared_[swizzle_2_3_3((b_row_ + j_ * 8) * 32 + b_row_k_) + next_ * 4096])) : "memory");
    }
    // products of one step
    #pragma unroll
    for (int i_ = 0; i_ < 4; ++i_) {
      #pragma unroll
      for (int j_ = 0; j_ < 4; ++j_) {
        multiply_1(&acc_[i_ * 4 + j_ * 16], (const unsigned*)&a_[i_ * 8 + 32], (const unsigned*)&b_[j_ * 4
            + 16]);
      }
    }
  }
  // copies past the last K tile wrote zeros
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  // this thread's first element
  const int m_first_ = m_tile_ + a_part_ + lane / 4;
  const int n_first_ = n_tile_ + b_part_ + lane % 4 * 2;
  // the elements of this thread
  #pragma unroll 1
  for (int pass_ = 0; pass_ < 4; pass_ += 2) {
    #pragma unroll
    for (int i_ = 0; i_ < 2; ++i_) {
      #pragma unroll
      for (int j_ = 0; j_ < 4; ++j_) {
        #pragma unroll
        for (int v_ = 0; v_ < 4; v_ += 2) {
          const int m_ = m_first_ + v_ / 2 * 8 + (pass_ + i_) * 16;
          const int n_ = n_first_ + v_ % 2 + j_ * 8;
          if (m_ < M_ && n_ < N_) {
            out1_[0] = bf16_from_f32(acc_[v_ + i_ * 4 + j_ * 16]);
            out1_[1] = bf16_from_f32(acc_[v_ + 1 + i_ * 4 + j_ * 16]);
            *(unsigned*)&C_[(long long)m_ * N_ + n_] = *(const unsigned*)&out1_[0];
          }
        }
      }
    }
    // the accumulators of the next pass
    #pragma unroll
    for (int i_ = 0; i_ < 2; ++i_) {
      #pragma unroll
      for (int j_ = 0; j_ < 4; ++j_) {
        #pragma unroll
        for (int v_ = 0; v_ < 4; ++v_) {
          acc_[v_ + i_ * 4 + j_ * 16] = acc_[v_ + (i_ + 2) * 4 + j_ * 16];
        }
      }
    }
  }
}
