// tensor16, for sm_90a.
//
// Grid (1, 1, 1), 32 threads a block, 768 bytes of shared memory.

static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}

// m16n8k16
static __device__ __forceinline__ void multiply_1(float* d, const unsigned* a, const unsigned* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(32, 1)
lay_tensor16(
    const unsigned short* __restrict__ A_,  // (16,16):(16,1)
    const unsigned short* __restrict__ B_,  // (16,8):(8,1)
    float* __restrict__ C_) {  // (16,8):(8,1)
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  __shared__ __align__(16) unsigned short A_shared_[256];  // (16,16):(16,1)
  __shared__ __align__(16) unsigned short B_shared_[128];  // (16,8):(8,1)
  __align__(16) unsigned short a_[8];  // (8,):(1,)
  __align__(16) unsigned short b_[4];  // (4,):(1,)
  __align__(16) float c_[4];  // (4,):(1,)

  *(uint4*)&A_shared_[lane / 2 * 16 + lane % 2 * 8] = *(const uint4*)&A_[lane / 2 * 16 + lane % 2 * 8];
  if (lane < 16) {
    *(uint4*)&B_shared_[lane * 8] = *(const uint4*)&B_[lane * 8];
  }
  __syncthreads();
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(*(unsigned*)&a_[0]), "=r"(*(unsigned*)&a_[2]), "=r"(*(unsigned*)&a_[4]), "=r"(*(unsigned*)&a_[6]) : "r"(shared_address(&A_shared_[lane % 16 * 16 + lane / 16 * 8])) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(*(unsigned*)&b_[0]), "=r"(*(unsigned*)&b_[2]) : "r"(shared_address(&B_shared_[lane % 16 * 8])) : "memory");
  #pragma unroll
  for (int i = 0; i < 4; ++i) if (true) (&c_[0])[i] = 0;
  multiply_1(&c_[0], (const unsigned*)&a_[0], (const unsigned*)&b_[0]);
  multiply_1(&c_[0], (const unsigned*)&a_[0], (const unsigned*)&b_[0]);
  #pragma unroll
  for (int i_ = 0; i_ < 2; ++i_) {
    *(float2*)&C_[(lane / 4 + i_ * 8) * 8 + lane % 4 * 2] = *(const float2*)&c_[i_ * 2];
  }
}
