#!/usr/bin/env bash
# How well a fit of the costs' coefficients chooses on problems that it has not seen, without a GPU:
# tests/bench/tiles/fit.sh [LAY] [FILE...], of the times of an H200 that are in the repository, or
# of files that `lay calibrate --times` wrote. Fits begin with the coefficients of the library, and
# with those of a GPU that is none.
set -euo pipefail
lay=${1:-build/lay}
shift || true
here=$(dirname "$0")
[ $# -gt 0 ] || set -- "$here/../../plan/tiles.txt" "$here/../../plan/simt.txt"
LAY_TARGETS=$(mktemp -d)
trap 'rm -r "$LAY_TARGETS"' EXIT
export LAY_TARGETS
cat > "$LAY_TARGETS/other.lay" <<'LAY'
use targets.gpu
let measured = (measured_gpu(
  device = "another GPU", capability = 90, sms = 132, hertz = 1.98e9, memory_rate = 4.8e12,
  cache_rate = 5500, launch = 2.5e-6,
  costs = cost_coefficients(
    row = 100, in_line = 108, in_sector = 46, received = 120, shorter = 210,
    ragged = 1400, three_share = 1100, tile = 480, ping_pong = 150, parts = 372,
    cluster = 990, launch = 3192, epilogue = 80, operation = 30, part_sum = 100,
    bytes = 300, bytes_tile = 350, bytes_launch = 3000, bytes_part_sum = 220, thread_sum = 95,
    transposed = 73, sm_row = 9, sm_transposed = 4, sent_sum = 20, sm_products = 127,
    copied = 636, ring_transposed = 555, sm_turn = 3500, thread_launch = 1200,
    no_overlap = 1500, warp_bits = 20320, warp_f64 = 128, cached = 4167, memory = 2424,
    warp_latency = 600, warp_step = 60, missing = (0,0,5,3,4,5,3,2))),)
LAY
for file; do
  for gpu in h200 "another GPU"; do
    echo "$(basename "$file"), from the coefficients of $gpu"
    "$lay" calibrate --from "$file" --gpu "$gpu" | grep -A4 ' problems, '
  done
done
