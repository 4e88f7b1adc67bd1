# Sourced: sets `base` to the commit that changes are counted from. That is BASE, or where this
# branch left main, or the commit before; in a clone without history the first commit there is.
base=${BASE:-}
if [ -z "$base" ]; then
  for main in origin/main origin/master; do
    base=$(git merge-base HEAD "$main" 2>/dev/null || true)
    [ -n "$base" ] && break
  done
fi
if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
  base=$(git rev-parse --verify -q HEAD~1 || git rev-list --max-parents=0 HEAD | tail -1)
fi
