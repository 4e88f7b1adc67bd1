#!/usr/bin/env bash
# The table of kernels for Hopper beside cuBLASLt and Triton, on the GPU at hand:
#   tests/bench/hopper.sh [LAY] [classes...]
# TRITON_SECONDS=0 leaves out Triton, which takes about as long as all else; TORCH_SECONDS=120 adds
# PyTorch.
set -uo pipefail
lay=${1:-build/lay}
shift || true
classes=${*:-large orders small skinny ragged types masked fused inputs batched middle}
script=$(dirname "$0")/hopper.lay
options=(--rounds 5 --milliseconds "${MILLISECONDS_A_ROUND:-50}" --algorithms 8
         --triton-seconds "${TRITON_SECONDS:-120}" --torch-seconds "${TORCH_SECONDS:-0}")

bench() {
  local kernel=$1 sizes=()
  shift
  local more=()
  if [ "$1" = --set ]; then more=("$1" "$2"); shift 2; fi
  for size in "$@"; do
    IFS=x read -r m n k l <<<"$size"
    sizes+=(--size "M=$m,N=$n,K=$k${l:+,L=$l}")
  done
  "$lay" bench "$script" --kernel "$kernel" "${options[@]}" "${more[@]}" "${sizes[@]}"
}

for class in $classes; do
  echo "== $class"
  case $class in
    large)
      bench tt 4096x4096x4096 8192x8192x8192 8192x4096x4096 8192x14336x4096 8192x28672x4096 \
        8192x4096x14336 16384x6144x4096
      bench half 4096x4096x4096 8192x8192x8192
      ;;
    orders) for kernel in tn nt nn; do bench $kernel 4096x4096x4096 8192x8192x8192; done ;;
    small) bench tt 512x512x512 1024x1024x1024 2048x2048x2048 8192x8192x512 ;;
    skinny)
      bench tt {1,16,64,128}x4096x4096 {1,16,64,128}x14336x4096 {1,16,64,128}x4096x14336
      ;;
    ragged)
      bench tt 4095x4097x4096 5000x3001x1777 2001x2001x2001 4096x4096x4095 1000x1000x1000 \
        333x777x1111
      ;;
    types)
      for kernel in of_tf32 of_s8 of_e4m3 promoted; do
        bench $kernel 4096x4096x4096 8192x8192x8192
      done
      ;;
    masked) bench causal 4096x4096x4096 8192x8192x1024 8192x8192x8192 ;;
    fused)
      for kernel in activated activated_tanh; do
        bench $kernel 8192x4096x4096 8192x14336x4096
      done
      ;;
    inputs)  # of the output's shape
      bench residual 8192x4096x4096
      for kernel in scaled scaled_f32; do bench $kernel --set beta=1 8192x4096x4096; done
      ;;
    batched) bench batched 512x512x512x64 2048x2048x128x16 ;;
    middle)
      bench tt 256x256x1024 512x512x1024 256x256x4096 512x512x4096 768x768x2048 768x768x4096 \
        512x1536x4096 256x3072x4096 1024x1024x2048 1024x1024x4096 768x2048x4096 1024x2560x4096 \
        1536x1536x4096 1536x2048x4096 3072x1536x4096 2048x2048x4096 256x512x8192 3072x1024x1024 \
        1536x3072x1024 1536x3072x4096 3072x3072x1024 1024x1024x8192
      ;;
    *) echo "no class $class" >&2 ;;
  esac
done
