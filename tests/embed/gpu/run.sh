#!/usr/bin/env bash
# Builds the programs of this folder with an installed Lay and runs them:
#
#   tests/embed/gpu/run.sh PREFIX         on the GPU at hand; without one they answer what they can
#   tests/embed/gpu/run.sh PREFIX FAKES   on the fake driver in FAKES, whose launches are printed
#
# PREFIX is where Lay is installed, or an unpacked archive (`cpack -G TGZ`). The programs are built
# in a folder of their own, by CMake where it is found, else by `cc` and `c++`; CMAKE names another,
# and CMAKE= none. `lay build` needs a CUDA compiler (NVRTC or nvcc). Where PYTHON (`python3`) finds
# the package `lay` and NumPy, the program in Python runs too, and where it finds PyTorch, the tests
# of Python on a GPU.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
if [ $# -lt 1 ] || [ ! -x "$1/bin/lay" ]; then
  echo "usage: tests/embed/gpu/run.sh PREFIX [FAKES]; no \`bin/lay\` in \`${1:-}\`" >&2
  exit 2
fi
prefix=$(realpath "$1")
fakes=${2:+$(realpath "$2")}
cmake=${CMAKE-cmake}
python=${PYTHON:-python3}
library=$(dirname "$(find "$prefix" -name liblay.a | head -n 1)")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/*.{c,cpp,h,lay,py} "$here/CMakeLists.txt" "$work"
cp "$prefix/share/doc/lay/examples/embed/device.h" "$work"
cd "$work"
mkdir build
if [ -z "$fakes" ] && [ -n "$cmake" ] && command -v "$cmake" >/dev/null; then
  { "$cmake" -B build . -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" &&
    "$cmake" --build build; } > log 2>&1 || { cat log >&2; exit 1; }
  echo "built       by CMake"
else
  of_bundle=() of_library=()
  if [ -n "$fakes" ]; then
    export LD_LIBRARY_PATH=$fakes LAY_CACHE_DIR=$work/cache
    fake=(fake.c -rdynamic)
    of_bundle=(-DOF_BUNDLE "${fake[@]}" -Wl,--wrap=product_launch_lay2)
    "${CC:-cc}" -O2 -I"$prefix/include" -c fake.c -o fake.o
    of_library=(fake.o -rdynamic -Wl,--wrap=lay_launcher_launch)
  fi
  "$prefix/bin/lay" build product.lay --bundle --arch sm_80 --arch sm_90a --most 6 -o build \
    > log 2>&1 || { cat log >&2; exit 1; }
  "${CC:-cc}" -std=gnu99 -O2 -Wall -Wextra -I. -Ibuild bundle.c build/product.c "${of_bundle[@]}" \
    -o build/bundle -pthread -ldl
  "${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -I. -I"$prefix/include" launcher.cpp \
    "${of_library[@]}" "$library/liblay.a" -o build/launcher -pthread -ldl
  echo "built       by cc and c++"
fi
echo "== bundle"
build/bundle
echo "== launcher"
build/launcher product.lay
if "$python" -c 'import lay, numpy' 2>/dev/null; then
  echo "== package"
  of_package=()
  if [ -n "$fakes" ]; then
    "${CC:-cc}" -O2 -I"$prefix/include" -DOF_PACKAGE -shared -fPIC fake.c -o fake.so -pthread
    of_package=(fake.py "$work/fake.so")
  fi
  "$python" "${of_package[@]}" package.py product.lay
fi
if [ -z "$fakes" ] && "$python" -c 'import lay, torch' 2>/dev/null; then
  echo "== Python"
  "$python" "$here/../../python/gpu_test.py"
fi
