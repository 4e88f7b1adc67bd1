#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that needs no GPU: the second command of the
# README.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/install.sh
# Should sources clash when they are compiled together (cmake/unity.cmake), one at a time only takes
# longer.
bash .ci/build.sh release || LAY_UNITY=OFF bash .ci/build.sh release
ctest --test-dir build --output-on-failure -j "$(nproc)" "$@"
