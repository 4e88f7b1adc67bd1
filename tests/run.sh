#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that needs no GPU: the second command of the README.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/install.sh
bash .ci/build.sh release
ctest --test-dir build --output-on-failure -j "$(nproc)" "$@"
