#!/usr/bin/env bash
# A bundle on the GPU at hand: right, captured, from threads and on streams; and the time of a
# launch on the host, beside PyTorch and Triton: tests/bench/bundle.sh [LAY]. It needs a C compiler,
# and PyTorch of `python3`.
set -euo pipefail
lay=$(realpath "${1:-build/lay}")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$lay" build "$here/layer.lay" -o . --bundle > /dev/null
cc -O2 -shared -fPIC layer.c -o liblayer.so -pthread -ldl
cc -O2 -shared -fPIC -I. "$here/layer_time.c" -o libtime.so -pthread -ldl
PYTHONPATH=$folder python3 "$here/bundle.py"
