#!/usr/bin/env bash
# Prints the five figures of style and fails where one is missed: tests/house/figures.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
bash .ci/build.sh dev test_house >/dev/null
build-dev/tests/test_house "the five figures of style"
