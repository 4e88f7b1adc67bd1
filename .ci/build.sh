#!/usr/bin/env bash
# Builds into build/ (or $1 by the preset of that name); with ccache where it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake --preset "$preset" "${launcher[@]}" >/dev/null
cmake --build --preset "$preset"
