// sgemm, from sgemm.lay, for sm_90a.
//
// Grid (ceil_div(N,128), ceil_div(M,128), 1), 256 threads a block, 16624 bytes of shared memory.
// Assumes K % 4 == 0.
// Assumes N % 4 == 0.

extern "C" __global__ void __launch_bounds__(256, 1)
lay_sgemm(
    const float* __restrict__ A_,  // (M,K):(K,1)
    const float* __restrict__ B_,  // (N,K):(1,N)
    float* __restrict__ C_,  // (M,N):(N,1)
    int M_,
    int N_,
    int K_,
    float alpha_,
    float beta_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int block_x = (int)blockIdx.x;
  const int block_y = (int)blockIdx.y;
  __shared__ __align__(16) float A_tile_[2108];  // (128,8,2):(1,132,1056)
  __shared__ __align__(16) float B_tile_[2048];  // (128,8,2):(1,128,1024)
  __align__(16) float a_next_[4];  // 4:1
  __align__(16) float b_next_[4];  // 4:1
  __align__(16) float a_[8];  // 8:1
  __align__(16) float b_[8];  // 8:1
  float acc_[64];  // (8,8):(8,1)

  const int m0_ = block_y * 128;
  const int n0_ = block_x * 128;
  const int lane_m_ = lane % 2 + lane / 16 * 2;
  const int lane_n_ = lane / 2 % 8;
  const int row_ = warp % 4 * 32 + lane_m_ * 4;
  const int column_ = warp / 4 * 64 + lane_n_ * 4;
  const int a_row_ = thread / 2;
  const int a_k_ = thread % 2 * 4;
  const int b_k_ = thread / 32;
  const int b_column_ = thread % 32 * 4;
  #pragma unroll
  for (int i = 0; i < 64; ++i) acc_[i] = 0.0f;  // sgemm.lay:5
  // the first tile
  *(float4*)&a_next_[0] = m0_ + a_row_ < M_ && a_k_ < K_
      ? *(const float4*)&A_[(long long)(m0_ + a_row_) * K_ + a_k_] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  *(float4*)&b_next_[0] = n0_ + b_column_ < N_ && b_k_ < K_
      ? *(const float4*)&B_[n0_ + b_column_ + (long long)b_k_ * N_] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  #pragma unroll
  for (int i_ = 0; i_ < 4; ++i_) {
    A_tile_[a_row_ + (a_k_ + i_) * 132] = a_next_[i_];
  }
  *(float4*)&B_tile_[b_column_ + b_k_ * 128] = *(const float4*)&b_next_[0];
  __syncthreads();
  // tiles along k
  for (int t_ = 0; t_ < (K_ + 7) / 8; ++t_) {
    const int stage_ = t_ % 2;
    const int next_ = (t_ + 1) * 8;
    *(float4*)&a_next_[0] = m0_ + a_row_ < M_ && next_ + a_k_ < K_
        ? *(const float4*)&A_[(long long)(m0_ + a_row_) * K_ + (next_ + a_k_)]
        : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    *(float4*)&b_next_[0] = n0_ + b_column_ < N_ && next_ + b_k_ < K_
        ? *(const float4*)&B_[n0_ + b_column_ + (long long)(next_ + b_k_) * N_]
        : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    #pragma unroll
    for (int k_ = 0; k_ < 8; ++k_) {
      #pragma unroll
      for (int i_ = 0; i_ < 2; ++i_) {
        *(float4*)&a_[i_ * 4] = *(const float4*)&A_tile_[row_ + i_ * 16 + k_ * 132 + stage_ * 1056];
        *(float4*)&b_[i_ * 4] = *(const float4*)&B_tile_[column_ + i_ * 32 + k_ * 128 + stage_ * 1024];
      }
      #pragma unroll
      for (int i = 0; i < 8; ++i) {
        #pragma unroll
        for (int to = 0; to < 8; ++to) {
          const int j = i % 2 == 0 ? to : 7 - to;
          acc_[i * 8 + j] = fmaf(a_[i], b_[j], acc_[i * 8 + j]);
        }
      }
    }
    if (t_ + 1 < (K_ + 7) / 8) {
      #pragma unroll
      for (int i_ = 0; i_ < 4; ++i_) {
        A_tile_[a_row_ + (a_k_ + i_) * 132 + (1 - stage_) * 1056] = a_next_[i_];
      }
      *(float4*)&B_tile_[b_column_ + b_k_ * 128 + (1 - stage_) * 1024] = *(const float4*)&b_next_[0];
    }
    __syncthreads();
  }
  // sgemm.lay:6: the epilogue
  #pragma unroll
  for (int i_ = 0; i_ < 8; ++i_) {
    #pragma unroll
    for (int j_ = 0; j_ < 8; ++j_) {
      const int m_ = m0_ + row_ + i_ / 4 * 16 + i_ % 4;
      const int n_ = n0_ + column_ + j_ / 4 * 32 + j_ % 4;
      if (m_ < M_ && n_ < N_) {
        C_[(long long)m_ * N_ + n_] = beta_ == 0.0f
            ? alpha_ * acc_[i_ * 8 + j_] : fmaf(alpha_, acc_[i_ * 8 + j_], beta_ * C_[(long long)m_ * N_
            + n_]);
      }
    }
  }
}
