#!/usr/bin/env python3
"""Judges what a plan takes at known sizes, of the rows of stdlib/policies/sm90.lay and of the space
of tiles of sm90_space.lay:

  tests/bench/tiles/space.py [--lay LAY] [--timed 9]

For each problem of tests/plan/tiles.txt (KERNEL/space) on which at least so many schedules of the
space were timed: what the tile that `lay plan` takes loses to the fastest that was timed, and what
the row loses that a plan for any sizes takes, where they were timed. Needs no GPU.
"""

import argparse
import math
import pathlib
import re
import statistics
import subprocess
import tempfile

import tiles

ROOT = pathlib.Path(__file__).parents[3]
WIDTH = 64  # elements of bf16 of 128 bytes
MARKS = ("", "p", "s")  # as sm90_space.lay numbers how consumers share a tile
FORM = re.compile(r"(\d+)x(\d+)\.(\d+)x(\d+)(?:x(\d+))?([ps]?)$")
CANDIDATE = re.compile(r"\((\d+),\((\d+),(\d+),(\d+),(\d+),(\d+),(\d+)\),([012])\)")


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


def costs(lay, problem):
    """{(tile M, N, widths of K, blocks along M, N, parts of K, mark): clocks of a launch} of all
    schedules of the space for a kernel of hopper.lay that stores sums of bf16."""
    kernel = problem["kernel"]
    batched = kernel == "batched"
    along_k = ["true" if batched or letter == "t" else "false" for letter in kernel[:2]]
    text = ("use policies.sm90_space\nuse targets.gpu\n"
            "print space(bf16, bf16, f32, 0, false, 16, %s, %s, false, false, %s, false, 0, false, "
            "90, fitted_on_h200)\n" % (*along_k, "true" if batched else "false"))
    options = ["sms=132", *("%s=%d" % each for each in zip("MNKL", problem["sizes"]))]
    ran = run(lay, "run", text, *(word for each in options for word in ("--set", each)))
    found = {}
    for numbers in CANDIDATE.findall(ran.stdout):
        cost, *tile, how = map(int, numbers)
        if cost:
            found[(*tile, MARKS[how])] = cost
    if not found:
        raise SystemExit(ran.stdout[-500:] + ran.stderr[-2000:])
    return found


def taken(lay, problem, *options):
    """What a launch of the sizes takes, as tiles.txt writes it."""
    text = "\n".join(tiles.declared(problem["kernel"])[0].splitlines()) + "\n"
    said = run(lay, "plan", text, "--size", sizes_text(problem), *options).stdout

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
    judged = []
    for problem in measured():
        times = problem["times"]
        if len(times) < options.timed:
            continue
        best = min(times.values())
        of_sizes = taken(options.lay, problem)
        of_rows = taken(options.lay, problem, "--any-size")
        ours, theirs = times.get(of_sizes), times.get(of_rows)
        print("%s %s: %s %s, row %s %s" %
              (problem["kernel"], sizes_text(problem), of_sizes, ours and "%.3f" % (ours / best),
               of_rows, theirs and "%.3f" % (theirs / best)), flush=True)
        judged.append((ours and ours / best, theirs and theirs / best))
    summary("at the sizes, where timed", [ours for ours, _ in judged if ours])
    both = [(ours, theirs) for ours, theirs in judged if ours and theirs]
    summary("where both were timed", [ours for ours, _ in both])
    summary("rows, where both were timed", [theirs for _, theirs in both])
    ratios = [ours / theirs for ours, theirs in both]
    print("time at the sizes to that by the rows: %.3f in the geometric mean, less %d times, "
          "more %d times" % (math.exp(statistics.mean(map(math.log, ratios))),
                             sum(ratio < 0.995 for ratio in ratios),
                             sum(ratio > 1.005 for ratio in ratios)))


if __name__ == "__main__":
    main()
