#!/usr/bin/env bash
# Builds the GPU programs and runs them; the tables are left in tests/bench/results. For a machine with an NVIDIA driver.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --preset release > /dev/null
cmake --build build --target lay_agreement lay_bench lay_start
results=tests/bench/results
mkdir -p "$results"
build/tests/lay_agreement tests/agreement/variants.lay | tee "$results/agreement.txt"
build/tests/lay_bench tests/bench/sgemm.lay --sizes 1024,2048,4096,8192 --json "$results/sgemm.json" | tee "$results/sgemm.txt"
build/tests/lay_start tests/bench/sgemm.lay | tee "$results/start.txt"
