// scale, from scale.lay, for sm_90a.
//
// Grid (ceil_div(M*N,128), 1, 1), 128 threads a block, 0 bytes of shared memory.

extern "C" __global__ void __launch_bounds__(128, 1)
lay_scale(
    const float* __restrict__ X_,  // (M,N):(N,1)
    float* __restrict__ Y_,  // (M,N):(N,1)
    int M_,
    int N_,
    float alpha_) {
  const int thread = (int)threadIdx.x;
  const int block_x = (int)blockIdx.x;
  float x_[1];  // 1:0

  const int i_ = block_x * 128 + thread;
  // scale.lay:2: one thread an element
  if (i_ < (int)((long long)M_ * N_)) {
    const int m_ = i_ / N_;
    x_[0] = X_[(long long)m_ * N_ + i_ % N_];  // scale.lay:3
    Y_[(long long)m_ * N_ + i_ % N_] = alpha_ * x_[0];
  }
}
