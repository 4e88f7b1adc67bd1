#!/usr/bin/env bash
# Holds commit subjects to `area: verb what`, at most 72 characters. History up to `since` is older
# than the rule; merges are exempt; a shallow clone is asked for what it has.
set -euo pipefail
cd "$(dirname "$0")/.."
since=0a3f2c2

range=HEAD
git cat-file -e "$since^{commit}" 2>/dev/null && range=$since..HEAD
[ "$range" = HEAD ] && [ "$(git rev-parse --is-shallow-repository)" != true ] && exit 0

wrong=0
while IFS= read -r subject; do
  if [ "${#subject}" -gt 72 ] || ! [[ $subject =~ ^[a-z][a-z0-9./_-]*:\ [a-z] ]]; then
    echo "commit subject: expected \`area: verb what\` of at most 72 characters, got: $subject" >&2
    wrong=1
  fi
done < <(git log --no-merges --format=%s "$range")
exit $wrong
