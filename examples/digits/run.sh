#!/usr/bin/env bash
# Installs what is missing, builds Lay and classifies 1,797 handwritten digits with a kernel written in Lay: the first
# command of the README. On the GPU if there is one, else in the host interpreter.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash .ci/install.sh
bash .ci/build.sh release
out=build/digits
mkdir -p "$out"
/usr/bin/python3 examples/digits/prepare.py "$out"
build/lay build examples/digits/digits.lay -o "$out"
(cd "$out" && ../lay run ../../examples/digits/digits.lay)
echo
echo "the emitted CUDA:"
ls -1 "$out"/*.cu
