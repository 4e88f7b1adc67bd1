#!/usr/bin/env bash
# Checks that every source is formatted as .clang-format says; `.ci/format.sh --fix` formats them.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
git ls-files -z '*.cpp' '*.h' 'python/*.c' | xargs -0 -P "$(nproc)" -n 50 clang-format "${mode[@]}"
