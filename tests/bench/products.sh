#!/usr/bin/env bash
# The table of products beside PyTorch, on the GPU at hand: SwiGLU, scaled products, attention,
# convolutions, grouped products, stored weights, einsums.
#   tests/bench/products.sh [LAY] [groups or kernels...]
# One process of `lay bench` a kernel, the most important first; its rows are printed when it is
# done. No kernel begins after LIMIT seconds, and none goes on for more than half a minute beyond
# them: what was not run is said. SLOW=1 also measures kernels of ours that run one thread an
# element, which otherwise are left out beside their baselines. ROUNDS, MILLISECONDS and
# TORCH_SECONDS are those of `lay bench`. JSON is the folder that the measurements are left in,
# which products.py prints again.
set -uo pipefail
lay=${1:-build/lay}
shift || true
here=$(dirname "$0")
script=$here/products.lay
limit=${LIMIT:-360}
options=(--rounds "${ROUNDS:-3}" --milliseconds "${MILLISECONDS:-10}" --triton-seconds 0)
options+=(--torch-seconds "${TORCH_SECONDS:-60}" --json)
[ "${SLOW:-0}" = 1 ] || options+=(--skip-scalar)
folder=${JSON:-$(mktemp -d)}
mkdir -p "$folder"

# A group, its kernel, and its sizes: one line each, in the order in which they are run.
attention="512 1024 2048 4096 8192 16384"
groups() {
  echo "swiglu swiglu M=4096,N=14336,K=4096"
  echo "scaled_blocks scaled_blocks M=4096,N=56,K=32"
  echo "scaled_rows scaled_rows M=4096,N=7168,K=4096"
  attention_of 128 _causal
  attention_of 128
  echo "conv conv B=32,S=56,C=128,F=128 B=32,S=28,C=256,F=256 B=64,S=14,C=512,F=512" \
    "B=16,S=64,C=512,F=512"
  echo "grouped grouped T=2048,E=16,N=4096,K=7168 T=8192,E=16,N=4096,K=7168"
  echo "grouped unsorted T=2048,E=16,N=4096,K=7168 T=8192,E=16,N=4096,K=7168" \
    "T=4096,E=64,N=1536,K=2048"
  echo "grouped gated T=2048,E=16,N=4096,K=7168 T=8192,E=16,N=4096,K=7168" \
    "T=4096,E=64,N=1536,K=2048"
  echo "w8a16 w8a16 M=1,N=4096,K=14336 M=16,N=4096,K=14336 M=64,N=4096,K=14336"
  echo "einsum over_two M=4096,N=4096,K=32,L=128"
  echo "einsum transposed B=8,M=512,N=4096,K=4096"
  echo "einsum heads B=4,S=1024,H=32,D=128,K=4096"
  echo "einsum interleaved L=4,M=1024,N=4096,K=4096"
  echo "einsum joined B=4,S=1024,H=32,D=128,N=4096"
  echo "einsum batches L=4096,M=16,N=128,K=128"
  attention_of 64 _causal
  attention_of 64
  attention_of 256 _causal
  attention_of 256
  echo "conv conv_strided B=32,S=56,C=256,F=512"
  echo "w8a16 w8a16_groups M=1,N=4096,K=112 M=16,N=4096,K=112 M=64,N=4096,K=112"
  echo "w4a16 w4a16 M=1,N=4096,K=112 M=16,N=4096,K=112 M=64,N=4096,K=112"
  echo "attention_shared attention_shared B=2,H=8,S=2048 B=1,H=8,S=4096 B=1,H=8,S=8192"
}
# 16k tokens, 2048 numbers each.
attention_of() {
  local line="attention attention_$1${2:-}" s
  for s in $attention; do line+=" B=$((16384 / s)),H=$((2048 / $1)),S=$s"; done
  echo "$line"
}

wanted() {  # GROUP KERNEL ASKED...: whether one of these is asked for, or nothing is
  local group=$1 kernel=$2 each
  shift 2
  [ $# = 0 ] && return 0
  for each in "$@"; do
    if [ "$each" = "$group" ] || [ "$each" = "$kernel" ]; then return 0; fi
  done
  return 1
}

files=()
missed=()
while read -r -u 3 group kernel line; do
  wanted "$group" "$kernel" "$@" || continue
  if [ $SECONDS -ge "$limit" ]; then
    missed+=("$kernel")
    continue
  fi
  sizes=()
  for size in $line; do sizes+=(--size "$size"); done
  file=$folder/$kernel.json
  timeout $((limit - SECONDS + 30)) "$lay" bench "$script" --kernel "$kernel" "${options[@]}" \
    "${sizes[@]}" > "$file" 2> "$folder/$kernel.log"
  code=$?
  [ $code -eq 3 ] && cat "$folder/$kernel.log" >&2 && exit 3
  if [ -s "$file" ]; then
    [ ${#files[@]} = 0 ] && python3 "$here/products.py" --head "$file"
    python3 "$here/products.py" "$file"
    files+=("$file")
  else
    missed+=("$kernel")
    echo "$kernel: no result, status $code: $(tail -n 1 "$folder/$kernel.log")"
  fi
done 3< <(groups)
[ ${#files[@]} -gt 0 ] && python3 "$here/products.py" --foot "${files[@]}"
[ ${#missed[@]} = 0 ] || echo "not run within $limit s: ${missed[*]}"
