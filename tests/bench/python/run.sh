#!/usr/bin/env bash
# The package for Python on the GPU at hand: right, then what a call costs the host, and a small
# transformer with a layer of Lay: tests/bench/python/run.sh [BUILD]. It needs PyTorch of `python3`.
set -euo pipefail
build=$(realpath "${1:-build}")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wheel=$(python3 "$here/../../../python/wheel.py" "$build" "$folder")
python3 -m zipfile -e "$wheel" "$folder/package"
export PYTHONPATH="$folder/package"
python3 "$here/../../python/gpu_test.py"
python3 "$here/calls.py"
python3 "$here/transformer.py"
