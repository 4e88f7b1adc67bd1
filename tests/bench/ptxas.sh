#!/usr/bin/env bash
# Builds every kernel of tests/bench for each generation and fails where ptxas remarks on one
# (spills, local memory, serialised wgmma, ignored setmaxnreg):
#   tests/bench/ptxas.sh [LAY] [ARCH...]
# Needs NVRTC or nvcc, no GPU. What compiled before is read from the cache, so that a second run
# takes seconds.
set -uo pipefail
here=$(dirname "$0")
lay=${1:-build/lay}
shift || true
archs=()
for arch in "${@:-sm_80 sm_90a}"; do for each in $arch; do archs+=(--arch "$each"); done; done
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
for script in "$here"/*.lay; do
  # Its kernels are several launches each, and some run one thread an element.
  [ "${script##*/}" = products.lay ] && continue
  files=$("$lay" build "$script" -o "$out" --all --strict "${archs[@]}")
  code=$?
  [ $code -eq 3 ] && exit 3
  echo "$script: $(grep -c 'cubin$' <<<"$files") cubins, exit code $code"
  [ $code -eq 0 ] || failed=1
done
exit $failed
