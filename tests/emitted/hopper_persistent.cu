// linear_sm90, from linear.lay, for sm_90a.
//
//   schedule linear for sm90 {
//     tile    = (128, 256, 64)
//     mma     = sm90.wgmma(n = 256, ab = bf16, acc = f32)
//     groups  = (2,1,1,1)
//     cluster = (2,1)
//     stages  = 4
//     rasterization   = (8,ceil_div(N,256),ceil_div(M,2048)):(1@0,1@1,8@0)
//   }
//
// Grid (132, 1, 1), 384 threads a block, 229376 bytes of shared memory, asked for at the launch.
// Assumes K % 8 == 0.
// Assumes N % 8 == 0.

static __device__ __forceinline__ unsigned short bf16_from_f32(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

struct __align__(64) tensor_map {  // as the driver encodes it
  unsigned long long words[16];
};

static __device__ __forceinline__ unsigned shared_address(const void* at) {
  return (unsigned)__cvta_generic_to_shared(at);
}

// True in one lane of a converged warp.
static __device__ __forceinline__ bool elect_one() {
  unsigned elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(elected));
  return elected != 0;
}

// A number on which the lanes of a warp agree: from here on the compiler knows that
// they do.
static __device__ __forceinline__ int same_in_warp(int value) {
  return (int)__reduce_max_sync(0xffffffff, (unsigned)value);
}

static __device__ __forceinline__ void mbarrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// At the same barrier of another block of the cluster.
static __device__ __forceinline__ void mbarrier_arrive_remote(unsigned barrier, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::
          "r"(barrier),
      "r"(rank)
      : "memory");
}

// Arrives, and expects `bytes` bytes more.
static __device__ __forceinline__ void mbarrier_expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// Until the phase of that parity is complete.
static __device__ __forceinline__ void mbarrier_wait(unsigned barrier, int parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; "
      "@done bra passed; bra again; passed: }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// The same value, which the compiler keeps: it would take addresses from special
// registers again in every loop.
static __device__ __forceinline__ unsigned kept(unsigned value) {
  asm volatile("mov.b32 %0, %0;" : "+r"(value));
  return value;
}

// A tile in shared memory for wgmma, from its start: rows of one swizzle width, `stride`
// bytes from one group of 8 rows to the next.
static __device__ __forceinline__ unsigned long long matrix_descriptor(unsigned start, int stride,
                                                                       int swizzle) {
  return (unsigned long long)((unsigned)(stride >> 4) | (unsigned)swizzle << 30) << 32 | start;
}

// Where a tile for wgmma begins, in units of 16 bytes, which may be added to it;
// `leading` bytes lie between swizzle widths across the rows.
static __device__ __forceinline__ unsigned matrix_start(const void* tile, int leading) {
  return (shared_address(tile) & 0x3ffff) >> 4 | (unsigned)(leading >> 4) << 16;
}

// sm90.wgmma(n = 256, ab = bf16, acc = f32)
static __device__ __forceinline__ void multiply_1(float* d, unsigned long long a, unsigned long long b, int scale) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, p, 1, 1, 0, 0; }"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                 "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                 "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                 "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                 "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
                 "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                 "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
                 "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
                 "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
                 "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
                 "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
                 "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
                 "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
                 "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
                 "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
                 "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
               : "l"(a), "l"(b), "r"(scale));
}

// Sw<3,3,3>
static __device__ __forceinline__ int swizzle_3_3_3(int x) {
  return x ^ ((x >> 3) & 56);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
lay_linear_sm90(
    const unsigned short* __restrict__ A_,  // (M,K):(K,1)
    const unsigned short* __restrict__ B_,  // (N,K):(K,1)
    unsigned short* __restrict__ C_,  // (M,N):(N,1)
    int M_,
    int N_,
    int K_,
    const __grid_constant__ tensor_map A_map_,  // boxes of (64,128) of A, bytes swizzled by Sw<3,4,3>
    const __grid_constant__ tensor_map B_map_,  // boxes of (64,128) of B, bytes swizzled by Sw<3,4,3>
    const __grid_constant__ tensor_map C_map_) {  // boxes of (64,64) of C, bytes swizzled by Sw<3,4,3>
  const int thread = (int)threadIdx.x;
  const int lane = thread % 32;
  const int warp = same_in_warp(thread / 32);
  const int warpgroup = same_in_warp(thread / 128);
  int cluster_rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(cluster_rank));
  const int block_x = (int)blockIdx.x;
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned short* const A_stage_ = (unsigned short*)(shared + 0);  // Sw<3,3,3> o 0 o (128,64,4):(64,1,8192), (m,k,stage)
  unsigned short* const B_stage_ = (unsigned short*)(shared + 65536);  // Sw<3,3,3> o 0 o (256,64,4):(64,1,16384), (n,k,stage)
  unsigned short* const C_stage_ = (unsigned short*)(shared + 196608);  // Sw<3,3,3> o 0 o (64,64,2,2):(64,1,4096,8192), (m,n,buffer,warpgroup)
  float acc_[128];  // ((2,2,32),):((1,2,4),), row 16*warp + lane/4 + 8*(i/2 % 2), column 8*(i/4) + 2*(lane % 4) + i % 2
  __align__(16) unsigned short packed_[8];  // 8:1
  const unsigned A_stage_start_ = kept(matrix_start(A_stage_, 16));
  const unsigned B_stage_start_ = kept(matrix_start(B_stage_, 16));
  __shared__ __align__(8) unsigned long long filled_words_[4];  // 1 arrivals
  const unsigned filled_ = kept(shared_address(filled_words_));
  __shared__ __align__(8) unsigned long long drained_words_[4];  // 4 arrivals
  const unsigned drained_ = kept(shared_address(drained_words_));
  int load_slot = 0, load_phase = 1;
  int use_slot = 0, use_phase = 0;

  if (thread == 0) {
    asm volatile("prefetch.tensormap [%0];" :: "l"(&A_map_) : "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&B_map_) : "memory");
    asm volatile("prefetch.tensormap [%0];" :: "l"(&C_map_) : "memory");
  }
  if (warp == 0) {
    if (elect_one()) {
      #pragma unroll
      for (int s_ = 0; s_ < 4; ++s_) {
        mbarrier_init(filled_ + s_ * 8, 1);
        mbarrier_init(drained_ + s_ * 8, 4);
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (warpgroup == 0) {  // producer
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
    if (warp == 0) {
      if (elect_one()) {
        for (int tile_ = block_x / 2; tile_ < (int)(((long long)M_ + 255) / 256 * (((long long)N_
            + 255) / 256)); tile_ += 66) {
          const int pair_ = tile_ % ((M_ + 255) / 256);
          const int tile_n_ = tile_ / ((M_ + 255) / 256);
          const int tile_m_ = pair_ * 2 + cluster_rank;
          for (int k_ = 0; k_ < (K_ + 63) / 64; ++k_) {
            mbarrier_wait(drained_ + load_slot * 8, load_phase);
            mbarrier_expect(filled_ + load_slot * 8, 49152);
            // linear.lay:5: this block's 128 rows
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                         :: "r"(shared_address(&A_stage_[load_slot * 8192])), "l"(&A_map_), "r"(k_ * 64), "r"(tile_m_ * 128), "r"(filled_ + load_slot * 8) : "memory");
            // half of the 256 rows, for both blocks
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                         :: "r"(shared_address(&B_stage_[cluster_rank * 128 * 64 + load_slot * 16384])), "l"(&B_map_), "r"(k_ * 64), "r"(tile_n_ * 256 + cluster_rank * 128), "r"(filled_ + load_slot * 8), "h"((unsigned short)(3)) : "memory");
            if (++load_slot == 4) load_slot = 0, load_phase ^= 1;
          }
        }
        #pragma unroll
        for (int s_ = 0; s_ < 4; ++s_) {
          mbarrier_wait(drained_ + load_slot * 8, load_phase);
          if (++load_slot == 4) load_slot = 0, load_phase ^= 1;
        }
      }
    }
  }
  if (warpgroup >= 1 && warpgroup < 3) {  // consumer
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
    const int part_ = warpgroup - 1;
    const bool stores_ = warp % 4 == 0;
    const int row_ = warp % 4 * 16 + lane % 16;
    const int column_ = lane / 16 * 8;
    for (int tile_ = block_x / 2; tile_ < (int)(((long long)M_ + 255) / 256 * (((long long)N_
        + 255) / 256)); tile_ += 66) {
      const int pair_ = tile_ % ((M_ + 255) / 256);
      const int tile_n_ = tile_ / ((M_ + 255) / 256);
      const int m_ = (pair_ * 2 + cluster_rank) * 128 + part_ * 64;
      const int n_ = tile_n_ * 256;
      for (int k_ = 0; k_ < (K_ + 63) / 64; ++k_) {
        mbarrier_wait(filled_ + use_slot * 8, use_phase);
        #pragma unroll
        for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(acc_[i]) :: "memory");
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        #pragma unroll
        for (int step_ = 0; step_ < 4; ++step_) {
          multiply_1(&acc_[0], matrix_descriptor(A_stage_start_ + part_ * 64 * 8 + step_ * 16 / 8
              + use_slot * 1024, 1024, 1), matrix_descriptor(B_stage_start_ + step_ * 16 / 8
              + use_slot * 2048, 1024, 1), !(k_ == 0 && step_ == 0));
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        #pragma unroll
        for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(acc_[i]) :: "memory");
        if (thread % 128 < 2) {
          mbarrier_arrive_remote(drained_ + use_slot * 8, thread % 128);
        }
        if (++use_slot == 4) use_slot = 0, use_phase ^= 1;
      }
      // linear.lay:6: 64 columns at a time, while the producer loads the next tile
      #pragma unroll
      for (int quarter_ = 0; quarter_ < 4; ++quarter_) {
        if (stores_) {
          if (elect_one()) {
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
          }
        }
        asm volatile("bar.sync %0, 128;" :: "r"(1 + part_) : "memory");  // stored
        #pragma unroll
        for (int pass_ = 0; pass_ < 4; ++pass_) {
          #pragma unroll
          for (int i_ = 0; i_ < 8; ++i_) {
            packed_[i_] = bf16_from_f32(acc_[quarter_ * 32 + pass_ * 8 + i_]);
          }
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                       :: "r"(shared_address(&C_stage_[swizzle_3_3_3(row_ * 64 + pass_ * 16 + column_ + quarter_ % 2 * 4096 + part_ * 8192)])), "r"(*(unsigned*)&packed_[0]), "r"(*(unsigned*)&packed_[2]), "r"(*(unsigned*)&packed_[4]), "r"(*(unsigned*)&packed_[6]) : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("bar.sync %0, 128;" :: "r"(1 + part_) : "memory");  // stored
        if (stores_) {
          if (elect_one()) {
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                         :: "l"(&C_map_), "r"(n_ + quarter_ * 64), "r"(m_), "r"(shared_address(&C_stage_[quarter_ % 2 * 4096 + part_ * 8192])) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
          }
        }
      }
    }
    if (stores_) {
      if (elect_one()) {
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      }
    }
  }
}
