// transpose, from transpose.lay, for sm_90a.
//
// Grid (ceil_div(N,32), ceil_div(M,32), 1), 256 threads a block, 4220 bytes of shared memory.

extern "C" __global__ void __launch_bounds__(256, 1)
lay_transpose(
    const float* __restrict__ X_,  // (M,N):(N,1)
    float* __restrict__ Y_,  // (M,N):(1,M)
    int M_,
    int N_) {
  const int thread = (int)threadIdx.x;
  const int block_x = (int)blockIdx.x;
  const int block_y = (int)blockIdx.y;
  __shared__ __align__(16) float tile_[1055];  // (32,32):(33,1)

  const int row_ = thread / 32;
  const int column_ = thread % 32;
  // transpose.lay:2: the tile of X, row by row
  #pragma unroll
  for (int r_ = 0; r_ < 32; r_ += 8) {
    const int m_ = block_y * 32 + row_ + r_;
    const int n_ = block_x * 32 + column_;
    if (m_ < M_ && n_ < N_) {
      tile_[(row_ + r_) * 33 + column_] = X_[(long long)m_ * N_ + n_];
    }
  }
  __syncthreads();
  // the tile of Y, column by column
  #pragma unroll
  for (int r_ = 0; r_ < 32; r_ += 8) {
    const int m_ = block_y * 32 + column_;
    const int n_ = block_x * 32 + row_ + r_;
    if (m_ < M_ && n_ < N_) {
      Y_[m_ + (long long)n_ * M_] = tile_[column_ * 33 + row_ + r_];
    }
  }
}
