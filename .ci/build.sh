#!/usr/bin/env bash
# Builds by a preset of CMakePresets.json ($1, "release" without), all targets or those named after
# it; with ccache where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
options=()
command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
[ -n "${LAY_UNITY:-}" ] && options+=("-DLAY_UNITY=$LAY_UNITY")
cmake --preset "$preset" "${options[@]}" >/dev/null
cmake --build --preset "$preset" ${2:+--target "${@:2}"}
