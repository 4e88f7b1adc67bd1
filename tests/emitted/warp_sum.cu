// warp_sum, from warp_sum.lay, for sm_90a.
//
// Grid (ceil_div(M,4), 1, 1), 128 threads a block, 0 bytes of shared memory.

extern "C" __global__ void __launch_bounds__(128, 1)
lay_warp_sum(
    const float* __restrict__ X_,  // (M,32):(32,1)
    const double* __restrict__ Y_,  // (M,32):(32,1)
    float* __restrict__ S_,  // (M,):(1,)
    double* __restrict__ T_,  // (M,):(1,)
    int M_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  const int warp = thread / 32;
  const int block_x = (int)blockIdx.x;

  const int m_ = block_x * 4 + warp;
  // warp_sum.lay:2: one warp a row
  if (m_ < M_) {
    const float x_ = X_[(long long)m_ * 32 + lane];  // warp_sum.lay:3
    const float x_16_ = __shfl_xor_sync(0xffffffffu, x_, 16);
    const float x_of_2_ = x_ + x_16_;
    const float x_8_ = __shfl_xor_sync(0xffffffffu, x_of_2_, 8);
    const float x_of_4_ = x_of_2_ + x_8_;
    const float x_4_ = __shfl_xor_sync(0xffffffffu, x_of_4_, 4);
    const float x_of_8_ = x_of_4_ + x_4_;
    const float x_2_ = __shfl_xor_sync(0xffffffffu, x_of_8_, 2);
    const float x_of_16_ = x_of_8_ + x_2_;
    const float x_1_ = __shfl_xor_sync(0xffffffffu, x_of_16_, 1);
    const double y_ = Y_[(long long)m_ * 32 + lane];  // warp_sum.lay:4
    const double y_16_ = __shfl_xor_sync(0xffffffffu, y_, 16);
    const double y_of_2_ = y_ + y_16_;
    const double y_8_ = __shfl_xor_sync(0xffffffffu, y_of_2_, 8);
    const double y_of_4_ = y_of_2_ + y_8_;
    const double y_4_ = __shfl_xor_sync(0xffffffffu, y_of_4_, 4);
    const double y_of_8_ = y_of_4_ + y_4_;
    const double y_2_ = __shfl_xor_sync(0xffffffffu, y_of_8_, 2);
    const double y_of_16_ = y_of_8_ + y_2_;
    const double y_1_ = __shfl_xor_sync(0xffffffffu, y_of_16_, 1);
    if (lane == 0) {
      S_[m_] = x_of_16_ + x_1_;  // warp_sum.lay:3
      T_[m_] = y_of_16_ + y_1_;  // warp_sum.lay:4
    }
  }
}
