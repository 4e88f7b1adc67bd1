#!/usr/bin/env bash
# Problems drawn from a seed beside cuBLASLt, untuned, class by class (shapes.py says which):
#   tests/bench/shapes.sh SEED [--lay LAY]... [--count N] [classes...]
# Seeds that schedules were chosen with say nothing of others: judge by a new one.
exec python3 "$(dirname "$0")/shapes.py" "$@"
