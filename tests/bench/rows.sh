#!/usr/bin/env bash
# The table of kernels that read rows once, beside a copy and PyTorch, on the GPU at hand:
# tests/bench/rows.sh [LAY] [kernels...], a kernel with its type or without: softmax, row_sum_f32.
# EXTENTS are the N of the rows, of 64 Mi elements together; ROUNDS and MILLISECONDS are those of
# `lay bench`. JSON is the folder that the measurements are left in.
set -uo pipefail
lay=${1:-build/lay}
shift || true
here=$(dirname "$0")
script=$here/rows.lay
extents=${EXTENTS:-256 1024 4096 16384 65536 262144}
options=(--rounds "${ROUNDS:-3}" --milliseconds "${MILLISECONDS:-10}" --triton-seconds 0)
options+=(--torch-seconds "${TORCH_SECONDS:-60}" --json)
elements=$((64 * 1024 * 1024))
folder=${JSON:-$(mktemp -d)}
mkdir -p "$folder"

sizes=()
for n in $extents; do sizes+=(--size "M=$((elements / n)),N=$n"); done
products=(--size "M=8192,N=8192" --size "M=4096,N=14336")

files=()
measure() {  # NAME OPTIONS...: the JSON goes to a file of that name
  local file=$folder/$1.json
  shift
  "$lay" bench "$script" "${options[@]}" "$@" > "$file"
  [ -s "$file" ] && files+=("$file")
}

if [ $# = 0 ]; then
  measure all "${sizes[@]}"  # one process, which imports PyTorch once
  for kernel in by_rows_bf16 by_columns_bf16; do
    measure "$kernel" --kernel "$kernel" "${products[@]}"
  done
else
  for asked in "$@"; do
    for kernel in $(sed -n 's/^kernel \([a-z_0-9]*\)<.*/\1/p' "$script"); do
      case $kernel in
        "$asked" | "$asked"_bf16 | "$asked"_f32)
          measure "$kernel" --kernel "$kernel" "${sizes[@]}"
          ;;
      esac
    done
  done
fi
[ ${#files[@]} -gt 0 ] && python3 "$here/rows.py" "${files[@]}"
