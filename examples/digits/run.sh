#!/usr/bin/env bash
# The first command of the README: installs what the build needs and is missing, builds `lay`, and
# classifies 1,797 handwritten digits with a kernel written in Lay, on the GPU if there is one, else
# in the host interpreter.
set -euo pipefail
cd "$(dirname "$0")/../.."
bash .ci/install.sh build
# Should sources clash when they are compiled together (cmake/unity.cmake), one at a time only takes
# longer.
bash .ci/build.sh lay lay || LAY_UNITY=OFF bash .ci/build.sh lay lay
out=build/digits
mkdir -p "$out"
/usr/bin/python3 examples/digits/prepare.py "$out"
build/lay build examples/digits/digits.lay -o "$out"
(cd "$out" && ../lay run ../../examples/digits/digits.lay)
echo
echo "the emitted CUDA:"
ls -1 "$out"/*.cu
echo
echo "to type \`lay\` in this shell:"
echo "  export PATH=\"$PWD/build:\$PATH\""
echo "or, for good, with the man page and completions:"
echo "  cmake --install $PWD/build --prefix ~/.local"
