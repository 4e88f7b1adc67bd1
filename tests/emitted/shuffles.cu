// shuffles, from shuffles.lay, for sm_90a.
//
// Grid (1, 1, 1), 32 threads a block, 0 bytes of shared memory.

extern "C" __global__ void __launch_bounds__(32, 1)
lay_shuffles(
    unsigned short* __restrict__ A_,  // 32:1
    unsigned char* __restrict__ B_,  // 32:1
    signed char* __restrict__ C_,  // 32:1
    unsigned* __restrict__ D_,  // 32:1
    long long* __restrict__ E_,  // 32:1
    unsigned long long* __restrict__ F_,  // 32:1
    unsigned short* __restrict__ G_,  // 32:1
    unsigned short s_) {
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;

  const unsigned short a_ = __shfl_xor_sync(0xffffffffu, A_[lane], 1);
  const unsigned char b_ = __shfl_xor_sync(0xffffffffu, B_[lane], 2);
  const signed char c_ = __shfl_xor_sync(0xffffffffu, C_[lane], 4);
  const unsigned d_ = __shfl_xor_sync(0xffffffffu, D_[lane], 8);
  const long long e_ = __shfl_xor_sync(0xffffffffu, E_[lane], 16);
  const unsigned long long f_ = __shfl_xor_sync(0xffffffffu, F_[lane] + 7, 31);
  const unsigned short g_ = __shfl_xor_sync(0xffffffffu, s_, 3);
  const bool odd_ = __shfl_xor_sync(0xffffffffu, lane % 2 == 1 && d_ < 8, 1);
  const int half_ = __shfl_xor_sync(0xffffffffu, odd_ ? lane : 16, 5);
  A_[lane] = a_;
  B_[lane] = b_;
  C_[lane] = c_;
  D_[lane] = d_;
  E_[lane] = e_ + half_;
  F_[lane] = f_;
  if (odd_) {
    G_[lane] = g_;
  }
}
