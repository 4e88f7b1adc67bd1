// last_block, from last_block.lay, for sm_90a.
//
// Grid (B, 1, 1), 128 threads a block, 0 bytes of shared memory.

// A number on which the lanes of a warp agree: from here on the compiler knows that
// they do.
static __device__ __forceinline__ int same_in_warp(int value) {
  return (int)__reduce_max_sync(0xffffffff, (unsigned)value);
}

// Adds 1 and returns the number before. What this thread has done or seen, also behind a
// barrier, is seen by whoever adds later (PTX ISA, memory consistency model: causality order).
static __device__ __forceinline__ int atomic_count(int* at) {
  int before;
  asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(at))
               : "memory");
  return before;
}

// 1 in all threads that meet at the barrier where the value is true in any of them.
template <int threads>
static __device__ __forceinline__ int sync_any(int barrier, bool value) {
  int any;
  asm volatile(
      "{ .reg .pred p; setp.ne.s32 p, %2, 0; bar.red.or.pred p, %1, %3, p; "
      "selp.s32 %0, 1, 0, p; }"
      : "=r"(any)
      : "r"(barrier), "r"((int)value), "n"(threads)
      : "memory");
  return any;
}

extern "C" __global__ void __launch_bounds__(128, 1)
lay_last_block(
    const float* X_,  // (B,128):(128,1)
    float* Y_,  // 128:1
    float* W_,  // (B,128):(128,1)
    int* counts_,  // 2:1
    int B_) {
  const int thread = (int)threadIdx.x;
  const int block_x = (int)blockIdx.x;
  float sum_[1];  // 1:1
  int before_[1];  // 1:1

  // last_block.lay:2: each block its part
  W_[(long long)block_x * 128 + thread] = X_[(long long)block_x * 128 + thread];
  // last_block.lay:3: which one this block is
  before_[0] = -1;
  asm volatile("bar.sync 1, 128;" ::: "memory");  // met
  if (thread == 0) {
    const int counted_ = atomic_count(&counts_[1]);
    before_[0] = counted_;
  }
  const bool last_ = same_in_warp(sync_any<128>(1, before_[0] == B_ - 1)) != 0;  // met
  // last_block.lay:4: the last block adds all up, in order
  if (last_) {
    sum_[0] = 0.0f;
    for (int b_ = 0; b_ < B_; ++b_) {
      sum_[0] = sum_[0] + W_[(long long)b_ * 128 + thread];
    }
    Y_[thread] = sum_[0];
  }
}
