"""Times schedules of bf16 products on the GPU at hand, for the model by which the library chooses:

  tests/bench/tiles.py SEED COUNT [--lay LAY] >> lines.txt

Draws COUNT problems and times every candidate on each, beside cuBLASLt. Prints lines as those of
tests/plan/tiles.txt, whose test holds the costs of stdlib/policies/sm90.lay to them.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import shapes  # noqa: E402

# Tile M, N and K, blocks of a cluster along M and N, parts of K; ping-pong.
COOPERATIVE = [(64, 32, 128, 1, 1, 1), (64, 32, 128, 1, 4, 1), (64, 32, 128, 1, 2, 2),
               (64, 32, 128, 1, 2, 4), (64, 64, 128, 1, 1, 1), (64, 64, 128, 1, 1, 2),
               (64, 64, 128, 1, 2, 4), (64, 64, 128, 2, 4, 1), (64, 96, 64, 2, 2, 1),
               (64, 128, 64, 2, 2, 1), (64, 128, 64, 1, 1, 1), (64, 256, 64, 1, 1, 1),
               (128, 64, 64, 1, 2, 1), (128, 96, 64, 1, 1, 1), (128, 96, 64, 2, 4, 1),
               (128, 96, 64, 1, 1, 2), (128, 128, 64, 1, 1, 1), (128, 128, 64, 1, 1, 2),
               (128, 128, 64, 1, 1, 4), (128, 144, 64, 2, 2, 1), (128, 192, 64, 1, 1, 1),
               (128, 192, 64, 2, 2, 1), (128, 256, 64, 2, 1, 1), (256, 128, 64, 1, 2, 1),
               (256, 128, 64, 2, 1, 1), (256, 176, 64, 2, 1, 1), (256, 176, 64, 1, 2, 1),
               (256, 176, 64, 2, 2, 1), (256, 200, 64, 2, 1, 1)]
PINGPONG = [(128, 128, 64, 2, 1, 1), (128, 128, 64, 2, 2, 1), (128, 176, 64, 2, 1, 1),
            (128, 160, 64, 1, 1, 1)]
LARGEST = 2.2e11  # M * N * K: a millisecond


def script():
    """All candidates as schedules of one kernel, each with a condition of its own, which holds."""
    lines = ["use atoms.sm90",
             "kernel tt<M, N, K>(A: bf16 (M,K), B: bf16 (N,K)) -> C: bf16 (M,N)",
             "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }"]
    for kind, tiles in (("", COOPERATIVE), ("_p", PINGPONG)):
        for m, n, k, along_m, along_n, parts in tiles:
            consumers = "1,1,1,2" if kind else "%d,1,1,1" % min(m // 64, 2)
            cluster = "%d,%d" % (along_m, along_n) + (",%d" % parts if parts > 1 else "")
            lines.append(
                "schedule tt for sm90 when M < %d { name = \"t%d_%d_%d_%d_%d%s\"; "
                "accesses = \"vectors\"; tile = (%d,%d,%d); "
                "mma = sm90.wgmma(n = %d, ab = bf16, acc = f32); groups = (%s); cluster = (%s) }" %
                (1000000 + len(lines), m, n, along_m, along_n, parts, kind, m, n, k, n, consumers,
                 cluster))
    return "\n".join(lines) + "\n"


def drawn(draw, count):
    problems = []
    while len(problems) < count:
        place = len(problems) % 5
        if place < 2:
            sizes = shapes.layer(draw, (24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048))
        else:
            step = 64 if place < 4 else 8  # rows that begin with lines of memory, or inside
            sizes = {"M": shapes.log_uniform(draw, 17, 8192, 8),
                     "N": shapes.log_uniform(draw, 64, 8192, 8),
                     "K": shapes.log_uniform(draw, 64, 8192, step)}
        if sizes["M"] * sizes["N"] * sizes["K"] < LARGEST:
            problems.append(sizes)
    return problems


def line(result):
    sizes = result["sizes"]
    theirs = min(row["ms"] for row in result["rows"] if row["side"] != "lay" and "ms" in row)
    timed = []
    for row in result["rows"]:
        found = re.match(r"lay t(\d+)_(\d+)_(\d+)_(\d+)_(\d+)(_p)?$", row["name"])
        if found and row.get("right"):
            m, n, along_m, along_n, parts, pingpong = found.groups()
            timed.append("%sx%s.%sx%s%s%s %.2f" % (
                m, n, along_m, along_n, "x" + parts if parts != "1" else "",
                "p" if pingpong else "", row["ms"] * 1e3))
    return "%d %d %d %.2f: %s" % (sizes["M"], sizes["N"], sizes["K"], theirs * 1e3,
                                  ", ".join(timed))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("count", type=int)
    parser.add_argument("--lay", default="build/lay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tiles.lay"
        path.write_text(script())
        command = [options.lay, "bench", str(path), "--json", "--triton-seconds", "0",
                   "--torch-seconds", "0", "--algorithms", "8", "--rounds", "2",
                   "--milliseconds", "1.2"]
        for name in re.findall('name = "([^"]*)"', script()):
            command += ["--variant", name]
        for sizes in drawn(random.Random(options.seed), options.count):
            size = ",".join("%s=%d" % each for each in sizes.items())
            run = subprocess.run(command + ["--size", size], capture_output=True, text=True)
            try:
                print(line(json.loads(run.stdout)["results"][0]), flush=True)
            except (ValueError, KeyError, IndexError):
                print("%s: %s" % (size, (run.stderr.splitlines() or ["no output"])[-1]),
                      file=sys.stderr)


if __name__ == "__main__":
    main()
