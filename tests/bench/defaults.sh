#!/usr/bin/env bash
# What schedules without tuning lose by the model, against the best of all that it ranks:
#   tests/bench/defaults.sh [LAY] [kernel]
# Needs no GPU and does not use one; where it says much, `lay bench` and `lay tune` have something
# to measure.
set -euo pipefail
lay=${1:-build/lay}
kernel=${2:-tt}
script=$(dirname "$0")/hopper.lay
sides=${SIDES:-256 512 768 1024 1536 2048 3072 4096 8192}
for k in ${DEPTHS:-1024 4096}; do
  for m in $sides; do
    for n in $sides; do
      CUDA_VISIBLE_DEVICES='' "$lay" tune "$script" --kernel "$kernel" \
        --size "M=$m,N=$n,K=$k" 2>/dev/null |
        awk -v size="${m}x${n}x$k" '/for the default/ {usual = $1; name = $NF}
          /us  sm90:/ && !best {
            best = $1; sub(/.*sm90:/, ""); gsub(/ mma = [^)]*\)/, ""); what = $0
          }
          END {
            printf "%5.2f  %-16s %7.1f us  %-24s best %7.1f us %s\n",
                   usual / best, size, usual, name, best, what
          }'
    done
  done
done | sort -rn | awk '{print; sum += log($1)}
                       END {printf "%d sizes, geometric mean %.3f\n", NR, exp(sum / NR)}'
