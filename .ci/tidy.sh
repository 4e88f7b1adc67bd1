#!/usr/bin/env bash
# Runs clang-tidy on the sources that changed (.ci/base.sh says since when), at most MAX_FILES (24)
# of them, those with the most changed lines first. A warning is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
source .ci/base.sh
max=${MAX_FILES:-24}

mapfile -t changed < <(git diff --numstat --no-renames --diff-filter=AM "$base" HEAD -- \
  'frontend/*.cpp' 'backend/*.cpp' 'runtime/*.cpp' 'liblay/*.cpp' | sort -rn | cut -f3)
if [ ${#changed[@]} -eq 0 ]; then
  echo "clang-tidy: no source changed since $base"
  exit 0
fi
# A database with a row for each file: a build by sub-folders has none.
cmake -S . -B build-tidy -G Ninja -DCMAKE_BUILD_TYPE=Release -DLAY_TESTS=OFF >/dev/null
ninja -C build-tidy lay_grammar >/dev/null  # the headers that are generated
echo "clang-tidy: ${#changed[@]} sources changed since $base; the first $max are read"
# A file is told what is said of itself; its headers have their own turn when they change.
check() {
  clang-tidy -p build-tidy --quiet --extra-arg=-Wno-unknown-warning-option \
    --line-filter="[{\"name\":\"$1\"}]" --warnings-as-errors='*' "$1"
}
export -f check
printf '%s\0' "${changed[@]:0:$max}" | xargs -0 -P "$(nproc)" -I FILE bash -c 'check FILE'
