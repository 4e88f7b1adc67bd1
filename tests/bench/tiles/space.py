#!/usr/bin/env python3
"""Judges the first choice of a space of tiles by the costs of stdlib/policies/sm90.lay:

  tests/bench/tiles/space.py [--lay LAY] [--timed 9]

For each problem of tests/plan/tiles.txt (KERNEL/space) on which at least so many schedules of the
space were timed: what the one of least cost in the space loses to the fastest that was timed, and
what the row loses that the library takes, where it was timed. Needs no GPU: validity and rows come
from `lay plan`, costs from the text of the policies, run by `lay run`.
"""

import argparse
import concurrent.futures
import math
import pathlib
import re
import statistics
import subprocess
import tempfile

import tiles

ROOT = pathlib.Path(__file__).parents[3]
CLUSTERS = [(1, 1), (2, 1), (1, 2), (2, 2), (1, 4), (2, 4), (4, 2)]
MOST_BLOCKS = 8
WIDTH = 64  # elements of bf16 of 128 bytes
# Stages of fewer K tiles and clocks of products than these wait for memory: 768 x 1472 x 5712
# took 32.8 us with three stages of 192 x 120 in clusters of eight, 23.7 with four of 192 x 112.
LEAST_STAGES, LEAST_CLOCKS = 4, 2600
MOST_ACCUMULATORS = 200  # a thread: beside more none is left for their way out
CHUNK = 50  # schedules of a script: a planner's time grows with their number squared
FORM = re.compile(r"(\d+)x(\d+)\.(\d+)x(\d+)(?:x(\d+))?([ps]?)$")


def accumulators(m, n, mark):
    """Of a thread."""
    rows, columns = (n, m) if mark == "s" else (m, n)
    consumers = 1 if mark == "p" else 3 if rows == 192 else min(math.ceil(rows / 64), 2)
    return rows * columns // (128 * consumers)


def candidates():
    """(tile M, N, widths of K, blocks along M, N, parts of K, "", "p" or "s")"""
    found = []
    for along_m, along_n in CLUSTERS:
        for parts in (1, 2, 4):
            if along_m * along_n * parts > MOST_BLOCKS:
                continue
            cluster = (along_m, along_n, parts)
            for m in (64, 128, 192, 256):
                for n in [*range(16, 129, 8), *range(144, 257, 16)]:
                    widths = 2 if n < 96 and m * n <= 8192 else 1
                    found.append((m, n, widths, *cluster, ""))
                    if parts == 1 and m <= 128 and along_m * along_n <= 4 and along_n <= 2:
                        found.append((m, n, 1, *cluster, "p"))
            if (along_m, along_n) in CLUSTERS[:3]:
                for m in range(8, 209, 8):
                    for n in (64, 128, 256):
                        widths = 4 if m <= 16 and n == 64 else 2 if m <= 64 and n < 256 else 1
                        found.append((m, n, widths, *cluster, "s"))
    return [each for each in found if accumulators(*each[:2], each[-1]) <= MOST_ACCUMULATORS]


def schedule(kernel, number, candidate):
    m, n, widths, along_m, along_n, parts, mark = candidate
    groups = "1,1,1,2" if mark == "p" else "%d,1,1,1" % {64: 1, 192: 3}.get(m, 2)
    if mark == "s":
        m, n, along_m, along_n = n, m, along_n, along_m
        groups = "%d,1,1,1" % min(math.ceil(m / 64), 2)
    return ("schedule %s for sm90 when M < %d { name = \"t%d\"; accesses = \"vectors\"; "
            "tile = (%d,%d,%d); mma = sm90.wgmma(n = %d, ab = bf16, acc = f32); groups = (%s); "
            "cluster = (%d,%d,%d); swap_ab = %d }" %
            (kernel, 1000000 + number, number, m, n, widths * WIDTH, n, groups, along_m, along_n,
             parts, mark == "s"))


def run(lay, command, text, *options):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "space.lay"
        script.write_text(text)
        return subprocess.run([lay, command, script, *options], capture_output=True, text=True)


def sizes_text(problem):
    sizes = dict(zip(("M", "N", "K", "L"), problem["sizes"]))
    if problem["kernel"] != "batched":
        del sizes["L"]
    return ",".join("%s=%d" % each for each in sizes.items())


def has_stages(stages, candidate):
    m, n, widths = candidate[:3]
    return stages * widths >= LEAST_STAGES or stages * widths * m * n // 32 >= LEAST_CLOCKS


def valid(lay, kernel):
    """The candidates that the planner takes for a kernel of hopper.lay, with enough stages."""
    head = ["use atoms.sm90", *tiles.declared(kernel)[0].splitlines()]

    def of_chunk(chunk):
        while chunk:
            text = head + [schedule(kernel, i, each) for i, each in enumerate(chunk)]
            ran = run(lay, "plan", "\n".join(text) + "\n", "--all")
            wrong = {int(line) - 1 - len(head)
                     for line in re.findall(r"space\.lay:(\d+):", ran.stdout + ran.stderr)}
            if not wrong:
                stages = dict(re.findall(r"^// variant t(\d+)$.*?^  stages += (\d+)$", ran.stdout,
                                         re.MULTILINE | re.DOTALL))
                return [each for i, each in enumerate(chunk)
                        if str(i) in stages and has_stages(int(stages[str(i)]), each)]
            chunk = [each for i, each in enumerate(chunk) if i not in wrong]
        return chunk

    everything = candidates()
    chunks = [everything[i:i + CHUNK] for i in range(0, len(everything), CHUNK)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [each for chunk in pool.map(of_chunk, chunks) for each in chunk]


def measured():
    problems = []
    for line in (ROOT / "tests/plan/tiles.txt").read_text().splitlines():
        found = re.match(r"(\w+)/space (\d+) (\d+) (\d+) (\d+) [\d.]+: (.*)", line)
        if not found:
            continue
        times = {}
        for each in found[6].split(", "):
            name, time = each.split()
            m, n, along_m, along_n, parts, mark = FORM.match(name).groups()
            times[(int(m), int(n), int(along_m), int(along_n), int(parts or 1), mark)] = float(time)
        problems.append({"kernel": found[1], "sizes": tuple(map(int, found.groups()[1:5])),
                         "times": times})
    return problems


def costs(lay, problem, space):
    """Of each candidate, None where its cluster would have blocks without work."""
    text = (ROOT / "stdlib/policies/sm90.lay").read_text()
    laws = text[text.index("def fills("):text.index("// ---- what a launch costs")]
    model = text[text.index("// ---- what a launch costs"):text.index("// ---- rows")]
    kernel = problem["kernel"]
    batched = kernel == "batched"
    along_k = tuple("true" if batched or letter == "t" else "false" for letter in kernel[:2])
    lines = ["use policies.clusters"]
    lines += ["let %s = %d" % each for each in zip("MNKL", problem["sizes"])]
    lines += ["let sms = 132", "def tiles(m, n) = L * ceil_div(M, m) * ceil_div(N, n)", laws, model,
              "let of_bf16 = product(%d, %s, %s, 16, 0, false)" % (WIDTH, *along_k)]
    for m, n, widths, along_m, along_n, parts, mark in space:
        cluster = "(%d,%d%s)" % (along_m, along_n, ",%d" % parts if parts > 1 else "")
        lines.append("print if fits(%d, %d, %d, %s) then clocks(%d, %d, %s, of_bf16, %s) else 0" %
                     (m, n, widths * WIDTH, cluster, m, n, cluster,
                      "true" if mark == "p" else "false"))
    ran = run(lay, "run", "\n".join(lines) + "\n")
    answers = [int(line) for line in ran.stdout.split()]
    if len(answers) != len(space):
        raise SystemExit(ran.stdout[-500:] + ran.stderr[-2000:])
    return [answer or None for answer in answers]


def row(lay, problem):
    """What the library takes, as tiles.txt writes it."""
    text = "\n".join(tiles.declared(problem["kernel"])[0].splitlines()) + "\n"
    said = run(lay, "plan", text, "--size", sizes_text(problem)).stdout

    def numbers(name):
        found = re.search(r"^  %s +=\s*\(?([\d,]+)\)?" % name, said, re.MULTILINE)
        return [int(number) for number in found[1].split(",")] if found else []
    m, n = numbers("tile")[:2]
    along_m, along_n, parts = (numbers("cluster") + [1])[:3]
    if numbers("swap_ab") == [1]:
        return n, m, along_n, along_m, parts, "s"
    return m, n, along_m, along_n, parts, "p" if numbers("groups")[3] == 2 else ""


def summary(name, losses):
    losses = sorted(losses)
    print("%-28s %2d problems: mean %.3f, median %.3f, 90th percentile %.3f, worst %.3f" %
          (name, len(losses), statistics.mean(losses), statistics.median(losses),
           losses[min(len(losses) - 1, int(0.9 * len(losses)))], losses[-1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lay", default="lay")
    parser.add_argument("--timed", type=int, default=9)
    options = parser.parse_args()
    spaces, judged = {}, []
    for problem in measured():
        kernel, times = problem["kernel"], problem["times"]
        if len(times) < options.timed:
            continue
        if kernel not in spaces:
            spaces[kernel] = valid(options.lay, kernel)
            print("%s: %d schedules" % (kernel, len(spaces[kernel])), flush=True)
        space = spaces[kernel]
        known = [(cost, each) for cost, each in zip(costs(options.lay, problem, space), space)
                 if cost is not None]
        first = min(known, key=lambda each: each[0])[1]
        best = min(times.values())
        name = (*first[:2], *first[3:])
        of_rows = row(options.lay, problem)
        ours, theirs = times.get(name), times.get(of_rows)
        print("%s %s: space %s %s, row %s %s" %
              (kernel, sizes_text(problem), name, ours and "%.3f" % (ours / best), of_rows,
               theirs and "%.3f" % (theirs / best)), flush=True)
        judged.append((ours and ours / best, theirs and theirs / best))
    summary("space, where timed", [ours for ours, _ in judged if ours])
    both = [(ours, theirs) for ours, theirs in judged if ours and theirs]
    summary("space, where both were timed", [ours for ours, _ in both])
    summary("rows, where both were timed", [theirs for _, theirs in both])
    ratios = [ours / theirs for ours, theirs in both]
    print("time by the space to that by the rows: %.3f in the geometric mean, less %d times, "
          "more %d times" % (math.exp(statistics.mean(map(math.log, ratios))),
                             sum(ratio < 0.995 for ratio in ratios),
                             sum(ratio > 1.005 for ratio in ratios)))


if __name__ == "__main__":
    main()
