#!/usr/bin/env bash
# Builds the GPU programs and runs them; the tables are left in tests/bench/results. For a machine with an NVIDIA driver.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset release > /dev/null
cmake --build build --target lay lay_agreement lay_start lay_tensor_bench lay_relayout_bench
results=tests/bench/results
mkdir -p "$results"
build/tests/lay_agreement tests/agreement/variants.lay | tee "$results/agreement.txt"
sizes=()
for n in 1024 2048 4096 8192; do sizes+=(--size "M=$n,N=$n,K=$n"); done
build/lay bench tests/bench/sgemm.lay "${sizes[@]}" --all-variants --json 2>&1 > "$results/sgemm.json" | tee "$results/sgemm.txt"
square=(--size M=2048,N=2048,K=2048 --size M=4096,N=4096,K=4096 --size M=8192,N=8192,K=8192)
for kernel in gemm_nn gemm_nt gemm_tn gemm_tt bias_gelu causal; do
  build/lay bench tests/bench/gemm_bf16.lay --kernel $kernel "${square[@]}" --json 2>&1 > "$results/$kernel.json" | tee "$results/$kernel.txt"
done
build/lay bench tests/bench/gemm_bf16.lay --kernel batched --size L=64,M=512,N=512,K=512 --size L=16,M=2048,N=2048,K=128 |
  tee "$results/batched.txt"
build/tests/lay_start tests/bench/sgemm.lay | tee "$results/start.txt"
build/tests/lay_tensor_bench tests/ir/hopper_persistent.ir --sizes 512x512x512,2048x2048x2048,4096x4096x4096,8192x8192x8192 |
  tee "$results/tensor.txt"
build/tests/lay_relayout_bench tests/bench/relayout.lay --sizes 16384 --json "$results/relayout.json" | tee "$results/relayout.txt"
