// s8_tt_sm80_64x64, for sm_80.
//
//   // variant sm80_64x64
//   // where these are aligned: A to 16 bytes, B to 16 bytes, C to 8 bytes
//   schedule s8_tt for sm80 when K % 16 == 0 and N % 2 == 0 {
//     name          = "sm80_64x64"
//     accesses      = "vectors"
//     cost          = 34565*ceil_div(ceil_div(M,64)*ceil_div(N,64),108) + 60000*ceil_div(ceil_div(M,64)*ceil_div(N,64),324) + (3*min(ceil_div(K,128)*max(56449*ceil_div(ceil_div(M,64)*ceil_div(N,64),108),6 ...
//     tile          = (64,64,128)
//     mma           = sm80.mma(m = 16, k = 32, ab = s8, acc = s32)
//     groups        = (2,2,1,1)
//     stages        = 3
//     smem A        = Sw<3,4,3> o 0 o (64,128):(128,1)
//     // A is read 16 elements at once along k, by sm80.cp_async(bytes = 16); (thread,value) -> (m,k): ((8,16),(16,(1,4))):((16@1,1@0),(1@1,(128@1,16@0)))
//     // fragments by sm75.ldmatrix(n = 4); lane -> row at (m,k): (8,2,2):(1@0,8@0,16@1)
//     smem B        = Sw<3,4,3> o 0 o (64,128):(128,1)
//     // B is read 16 elements at once along k, by sm80.cp_async(bytes = 16); (thread,value) -> (n,k): ((8,16),(16,(1,4))):((16@1,1@0),(1@1,(128@1,16@0)))
//     // fragments by sm75.ldmatrix(n = 2); lane -> row at (n,k): (8,2):(1@0,16@1)
//     group_m       = 8
//     // accumulators, (thread,value) -> (m,n): (((4,8),(2,2)),((2,2),(2,4))):(((2@1,1@0),(32@0,32@1)),((1@1,8@0),(16@0,8@1)))
//     // C is written 2 elements at once along n
//     // predicted: 104 registers a thread, 49152 bytes of shared memory
//     //   write A: 4 wavefronts a warp, least 4
//     //   read A: 4 wavefronts a warp, least 4
//     //   write B: 4 wavefronts a warp, least 4
//     //   read B: 2 wavefronts a warp, least 2
//     //   M*K*ceil_div(N,64) + N*K*ceil_div(M,64) + 4*M*N bytes through L2
//     //   4*M*N + M*K + N*K bytes of global memory at least, 2*M*N*K floating-point operations
//   }
//
// Grid (ceil_div(M,64)*ceil_div(N,64), 1, 1), 128 threads a block, 49152 bytes of shared memory.
// Assumes K % 16 == 0.
// Assumes N % 2 == 0.

// sm80.cp_async(bytes = 16); only `bytes` of them are read, the rest is zero.
static __device__ __forceinline__ void cp_async_16(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}

// sm80.mma(m = 16, k = 32, ab = s8, acc = s32)
static __device__ __forceinline__ void multiply_1(int* d, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Sw<3,4,3>
static __device__ __forceinline__ int swizzle_3_4_3(int x) {
  return x ^ ((x >> 3) & 112);
}

extern "C" __global__ void __launch_bounds__(128, 1)
lay_s8_tt_sm80_64x64(
    const signed char* __restrict__ A_,  // (M,K):(K,1)
    const signed char* __restrict__ B_,  // (N,K):(K,1)
    int* __restrict__ C_,  // (M,N):(N,1)
    int M_,
    int N_,
    int K_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int block_x = (int)blockIdx.x;
  __shared__ __align__(128) signed char A_shared_[24576];  // Sw<3,4,3> o 0 o (64,128,3):(128,1,8192), (m,k,stage) -> offset in elements
  __shared__ __align__(128) signed char B_shared_[24576];  // Sw<3,4,3> o 0 o (64,128,3):(128,1,8192), (n,k,stage) -> offset in elements
  __align__(16) signed char a_[64];  // (16,2,2):(1,16,32), (value of the atom, atom, step)
  __align__(16) signed char b_[64];  // (8,4,2):(1,8,32), (value of the atom, atom, step)
  int acc_[32];  // (4,2,4):(1,4,8), accumulators, (thread,value) -> (m,n): (((4,8),(2,2)),((2,2),(2,4))):(((2@1,1@0),(32@0,32@1)),((1@1,8@0),(16@0,8@1)))
  __align__(16) int out1_[2];  // 2:1, values for one access

  // tiles: groups of at most 8 rows
  const int tile_rows_ = (M_ + 63) / 64;
  const int tile_columns_ = (N_ + 63) / 64;
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
  // A: (thread,value) -> (m,k): ((8,16),(16,(1,4))):((16@1,1@0),(1@1,(128@1,16@0)))
  const int a_m_ = thread / 8;
  const int a_k_ = thread % 8 * 16;
  const int a_first_ = tile_m_ * 64 + a_m_;
  const int a_part_ = warp % 2 * 32;
  const int m_tile_ = tile_m_ * 64;
  // the row that this lane names to sm75.ldmatrix(n = 4): (8,2,2):(1@0,8@0,16@1)
  const int a_row_ = a_part_ + lane % 16;
  const int a_row_k_ = lane / 16 * 16;
  // B: (thread,value) -> (n,k): ((8,16),(16,(1,4))):((16@1,1@0),(1@1,(128@1,16@0)))
  const int b_n_ = thread / 8;
  const int b_k_ = thread % 8 * 16;
  const int b_first_ = tile_n_ * 64 + b_n_;
  const int b_part_ = warp / 2 * 32;
  const int n_tile_ = tile_n_ * 64;
  // the row that this lane names to sm75.ldmatrix(n = 2): (8,2):(1@0,16@1)
  const int b_row_ = b_part_ + lane % 16 % 8;
  const int b_row_k_ = lane % 16 / 8 * 16;
  const int tiles_k_ = (K_ + 127) / 128;
  #pragma unroll
  for (int i = 0; i < 32; ++i) acc_[i] = 0;
  #pragma unroll
  for (int s_ = 0; s_ < 2; ++s_) {
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      {
        const bool inside = a_first_ + access_ * 16 < M_ && s_ * 128 + a_k_ < K_;
        const signed char* const from = inside
            ? &A_[(long long)(a_first_ + access_ * 16) * K_ + (s_ * 128 + a_k_)] : A_;
        cp_async_16(&A_shared_[swizzle_3_4_3((a_m_ + access_ * 16) * 128 + a_k_) + s_ * 8192], from, inside
            ? 16 : 0);
      }
    }
    // B: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      {
        const bool inside = b_first_ + access_ * 16 < N_ && s_ * 128 + b_k_ < K_;
        const signed char* const from = inside
            ? &B_[(long long)(b_first_ + access_ * 16) * K_ + (s_ * 128 + b_k_)] : B_;
        cp_async_16(&B_shared_[swizzle_3_4_3((b_n_ + access_ * 16) * 128 + b_k_) + s_ * 8192], from, inside
            ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  // the next K tile is in shared memory, and the last one is no longer needed
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncthreads();
  // A: shared -> fragments
  #pragma unroll
  for (int i_ = 0; i_ < 2; ++i_) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(*(unsigned*)&a_[i_ * 16]), "=r"(*(unsigned*)&a_[4 + i_ * 16]), "=r"(*(unsigned*)&a_[8 + i_ * 16]), "=r"(*(unsigned*)&a_[12 + i_ * 16]) : "r"(shared_address(&A_shared_[swizzle_3_4_3((a_row_ + i_ * 16) * 128 + a_row_k_)])) : "memory");
  }
  // B: shared -> fragments
  #pragma unroll
  for (int j_ = 0; j_ < 4; ++j_) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(*(unsigned*)&b_[j_ * 8]), "=r"(*(unsigned*)&b_[4 + j_ * 8]) : "r"(shared_address(&B_shared_[swizzle_3_4_3((b_row_ + j_ * 8) * 128 + b_row_k_)])) : "memory");
  }
  // K tile by K tile, 2 on their way
  for (int tile_k_ = 0; tile_k_ < tiles_k_; ++tile_k_) {
    const int stage_ = tile_k_ % 3;
    const int next_ = (tile_k_ + 1) % 3;
    const int filled_ = (tile_k_ + 2) % 3;
    // A: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      {
        const bool inside = a_first_ + access_ * 16 < M_ && (tile_k_ + 2) * 128 + a_k_ < K_;
        const signed char* const from = inside
            ? &A_[(long long)(a_first_ + access_ * 16) * K_ + ((tile_k_ + 2) * 128 + a_k_)] : A_;
        cp_async_16(&A_shared_[swizzle_3_4_3((a_m_ + access_ * 16) * 128 + a_k_)
            + filled_ * 8192], from, inside ? 16 : 0);
      }
    }
    // B: global -> shared
    #pragma unroll
    for (int access_ = 0; access_ < 4; ++access_) {
      {
        const bool inside = b_first_ + access_ * 16 < N_ && (tile_k_ + 2) * 128 + b_k_ < K_;
        const signed char* const from = inside
            ? &B_[(long long)(b_first_ + access_ * 16) * K_ + ((tile_k_ + 2) * 128 + b_k_)] : B_;
        cp_async_16(&B_shared_[swizzle_3_4_3((b_n_ + access_ * 16) * 128 + b_k_)
            + filled_ * 8192], from, inside ? 16 : 0);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    #pragma unroll
    for (int step_ = 0; step_ < 3; ++step_) {
      // A: shared -> fragments
      #pragma unroll
      for (int i_ = 0; i_ < 2; ++i_) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(*(unsigned*)&a_[i_ * 16 + (step_ + 1) % 2 * 32]), "=r"(*(unsigned*)&a_[4 + i_ * 16 + (step_ + 1) % 2 * 32]), "=r"(*(unsigned*)&a_[8 + i_ * 16 + (step_ + 1) % 2 * 32]), "=r"(*(unsigned*)&a_[12 + i_ * 16 + (step_ + 1) % 2 * 32]) : "r"(shared_address(&A_shared_[swizzle_3_4_3((a_row_ + i_ * 16) * 128 + a_row_k_ + (step_ + 1) * 32) + stage_ * 8192])) : "memory");
      }
      // B: shared -> fragments
      #pragma unroll
      for (int j_ = 0; j_ < 4; ++j_) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(*(unsigned*)&b_[j_ * 8 + (step_ + 1) % 2 * 32]), "=r"(*(unsigned*)&b_[4 + j_ * 8 + (step_ + 1) % 2 * 32]) : "r"(shared_address(&B_shared_[swizzle_3_4_3((b_row_ + j_ * 8) * 128 + b_row_k_ + (step_ + 1) * 32) + stage_ * 8192])) : "memory");
      }
      // products of one step
      #pragma unroll
      for (int i_ = 0; i_ < 2; ++i_) {
        #pragma unroll
        for (int j_ = 0; j_ < 4; ++j_) {
          multiply_1(&acc_[i_ * 4 + j_ * 8], (const unsigned*)&a_[i_ * 16
              + step_ % 2 * 32], (const unsigned*)&b_[j_ * 8 + step_ % 2 * 32]);
        }
      }
    }
    // the next K tile is in shared memory, and the last one is no longer needed
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    // A: shared -> fragments
    #pragma unroll
    for (int i_ = 0; i_ < 2; ++i_) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(*(unsigned*)&a_[i_ * 16]), "=r"(*(unsigned*)&a_[4 + i_ * 16]), "=r"(*(unsigned*)&a_[8 + i_ * 16]), "=r"(*(unsigned*)&a_[12 + i_ * 16]) : "r"(shared_address(&A_shared_[swizzle_3_4_3((a_row_ + i_ * 16) * 128 + a_row_k_) + next_ * 8192])) : "memory");
    }
    // B: shared -> fragments
    #pragma unroll
    for (int j_ = 0; j_ < 4; ++j_) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(*(unsigned*)&b_[j_ * 8]), "=r"(*(unsigned*)&b_[4 + j_ * 8]) : "r"(shared_address(&B_shared_[swizzle_3_4_3((b_row_ + j_ * 8) * 128 + b_row_k_) + next_ * 8192])) : "memory");
    }
    // products of one step
    #pragma unroll
    for (int i_ = 0; i_ < 2; ++i_) {
      #pragma unroll
      for (int j_ = 0; j_ < 4; ++j_) {
        multiply_1(&acc_[i_ * 4 + j_ * 8], (const unsigned*)&a_[i_ * 16 + 32], (const unsigned*)&b_[j_ * 8
            + 32]);
      }
    }
  }
  // copies past the last K tile wrote zeros
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  // this thread's first element
  const int m_first_ = m_tile_ + a_part_ + lane / 4;
  const int n_first_ = n_tile_ + b_part_ + lane % 4 * 2;
  // the elements of this thread
  #pragma unroll
  for (int i_ = 0; i_ < 2; ++i_) {
    #pragma unroll
    for (int j_ = 0; j_ < 4; ++j_) {
      #pragma unroll
      for (int v_ = 0; v_ < 4; v_ += 2) {
        const int m_ = m_first_ + v_ / 2 * 8 + i_ * 16;
        const int n_ = n_first_ + v_ % 2 + j_ * 8;
        if (m_ < M_ && n_ < N_) {
          out1_[0] = acc_[v_ + i_ * 4 + j_ * 8];
          out1_[1] = acc_[v_ + 1 + i_ * 4 + j_ * 8];
          *(uint2*)&C_[(long long)m_ * N_ + n_] = *(const uint2*)&out1_[0];
        }
      }
    }
  }
}
