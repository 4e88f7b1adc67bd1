#!/usr/bin/env bash
# compute-sanitizer over every family of kernels on small sizes:
#   tests/bench/sanitizer.sh [LAY] [tools...]
# What it said is in results/sanitizer.txt. The GPU is the one at hand; exits with 1
# where a tool reports something or a result is wrong.
set -uo pipefail
here=$(dirname "$0")
lay=${1:-build/lay}
shift || true
tools=${*:-memcheck racecheck initcheck synccheck}
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[ -x "$sanitizer" ] || { echo "no compute-sanitizer here" >&2; exit 3; }
"$sanitizer" --version | tail -1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
failed=0
for tool in $tools; do
  echo "== $tool"
  log=$(timeout "${SECONDS_A_TOOL:-60}" "$sanitizer" --tool "$tool" --error-exitcode 9 \
    "$lay" run "$here/sanitizer.lay" --on gpu 2>&1)
  code=$?
  grep -v 'note\[rounded\]\|^ *-->\|^ *[0-9]* |\|^ *|\|^$' <<<"$log" | head -n "${LINES_A_TOOL:-60}"
  echo "exit code $code"
  if [ $code -ne 0 ] || grep -q DIFFERENT <<<"$log"; then failed=1; fi
done
exit $failed
