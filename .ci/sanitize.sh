#!/usr/bin/env bash
# Builds the tests of the frontend, the IR and the interpreter with the address and
# undefined-behaviour sanitizers, and runs them side by side.
set -euo pipefail
cd "$(dirname "$0")/.."
folders=(laws syntax language ir)
bash .ci/build.sh sanitize "${folders[@]/#/test_}"
names=$(IFS='|' && echo "${folders[*]}")
ctest --test-dir build-sanitize --output-on-failure --no-tests=error -j "$(nproc)" -R "^($names):"
