#!/usr/bin/env bash
# Builds the tests of the frontend, the IR and the interpreter with the address and
# undefined-behaviour sanitizers, and runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=(test_laws test_syntax test_language test_ir)
bash .ci/build.sh sanitize "${tests[@]}"
for test in "${tests[@]}"; do
  echo "$test, sanitized"
  LAY_POLICIES=/nonexistent LAY_TARGETS=/nonexistent "build-sanitize/tests/$test"
done
