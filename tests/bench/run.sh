#!/usr/bin/env bash
# Builds the GPU programs and runs them; the tables are left in tests/bench/results. For a machine
# with an NVIDIA driver.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset release > /dev/null
cmake --build build --target lay lay_agreement lay_start lay_permute_bench
results=tests/bench/results
mkdir -p "$results"
build/tests/lay_agreement tests/agreement/variants.lay | tee "$results/agreement.txt"
sizes=()
for n in 1024 2048 4096 8192; do sizes+=(--size "M=$n,N=$n,K=$n"); done
build/lay bench tests/bench/sgemm.lay "${sizes[@]}" --all-variants --json \
  2>&1 > "$results/sgemm.json" | tee "$results/sgemm.txt"
tests/bench/hopper.sh build/lay | tee "$results/hopper.txt"
build/tests/lay_start tests/bench/sgemm.lay | tee "$results/start.txt"
build/tests/lay_permute_bench tests/bench/permute.lay --sizes 16384 \
  --json "$results/permute.json" | tee "$results/permute.txt"
