"""Problems drawn from a seed, beside cuBLASLt, untuned (tests/bench/shapes.sh):

  tests/bench/shapes.py SEED [--lay LAY]... [--rows] [--count N] [--rounds N] [--milliseconds X]
    [CLASS...]

Prints a line for each problem, and of each class the geometric mean of the ratios to the best of
cuBLASLt's algorithms, the 10th percentile and the worst; then how many launches took what was
expected, and the worst ten. A ratio above 1 means that Lay is faster. Several binaries are measured
one after the other on the problems of a kernel, and the lines after the first one's have their time
by the first one's too. With --rows a line has what a plan for any sizes takes, and behind it what
one for these sizes takes, both in one run.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from forecasts import near_text

HERE = pathlib.Path(__file__).parent
# N, K of the linear layers of known language models.
LAYERS = [(4096, 4096), (11008, 4096), (4096, 11008), (14336, 4096), (4096, 14336), (6144, 4096),
          (28672, 4096), (8192, 8192), (10240, 8192), (28672, 8192), (8192, 28672), (5120, 5120),
          (13824, 5120), (5120, 13824), (3584, 3584), (18944, 3584), (3584, 18944), (2048, 7168),
          (7168, 2048), (1536, 7168), (24576, 1536), (2048, 2048), (8192, 2048), (2048, 8192),
          (1280, 8192), (896, 896), (4864, 896), (152064, 3584)]
ORDERS = ("tt", "tn", "nt", "nn")


def log_uniform(draw, low, high, step=1):
    """A multiple of the step between the two, of which each factor of two is as likely."""
    value = math.exp(draw.uniform(math.log(low), math.log(high)))
    return max(step, round(value / step) * step)


def layer(draw, rows):
    n, k = draw.choice(LAYERS)
    return {"M": draw.choice(rows), "N": n, "K": k}


def multiples(draw, low=64, high=8192, step=8):
    return {each: log_uniform(draw, low, high, step) for each in "MNK"}


def whole_lines(draw):
    """As layers and experiments have them: multiples of 64, 128 and 256."""
    return {each: log_uniform(draw, 64, 8192, draw.choice((64, 128, 256))) for each in "MNK"}


def odd(draw):
    return {each: log_uniform(draw, 64, 8192) | 1 for each in "MNK"}


def batched(draw):
    sizes = {each: log_uniform(draw, 32, 2048, 8) for each in "MNK"}
    most = max(2, min(256, int(2e11 / math.prod(sizes.values()))))
    return {**sizes, "L": log_uniform(draw, 2, most)}


# By class: the kernels it draws from, as script and name, and its sizes.
CLASSES = {
    "prefill": ((("hopper", "tt"), ("hopper", "half")),
                lambda draw: layer(draw, (512, 1024, 2048, 3072, 4096, 8192, 16384))),
    "decode": ((("hopper", "tt"), ("hopper", "half")),
               lambda draw: layer(draw, (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384))),
    "multiples": ((("hopper", "tt"), ("hopper", "half")), multiples),
    "whole": ((("hopper", "tt"), ("hopper", "half")), whole_lines),
    "odd": ((("hopper", "tt"),), odd),
    "orders": (tuple(("hopper", each) for each in ORDERS[1:]), multiples),
    "wide": ((("hopper", "to_f32"),), multiples),
    "types": (tuple(("hopper", each) for each in ("of_e4m3", "of_s8", "of_tf32")),
              lambda draw: multiples(draw, step=16)),
    "fused": (tuple(("hopper", each) for each in ("activated", "residual", "causal")), multiples),
    "batched": ((("hopper", "batched"),), batched),
    "f32": (tuple(("sgemm", "sgemm_" + each) for each in ORDERS),
            lambda draw: multiples(draw, high=4096)),
}
LINE = "%-10s %-14s %-28s %-26s %10s %10s  %6s  %s"


def problems(seed, name, count):
    draw = random.Random("%s %s" % (seed, name))
    kernels, sizes = CLASSES[name]
    return [(draw.choice(kernels), sizes(draw)) for _ in range(count)]


def text_of(sizes, between=","):
    return between.join("%s=%d" % each for each in sizes.items())


def taken(lay, kernel, sizes, *options):
    """The name of the variant that a plan takes at the sizes."""
    script, name = kernel
    plan = subprocess.run([lay, "plan", str(HERE / (script + ".lay")), "--kernel", name, "--size",
                           text_of(sizes), *options], capture_output=True, text=True)
    names = re.findall(r"^// variant (\S+)", plan.stdout, re.MULTILINE)
    return names[-1] if names else None


def compile_ahead(binaries, options):
    """Leaves the kernels of all problems in the cache of Lay, by all cores at once: what is not
    there is compiled while it is measured, a kernel at a time."""
    def build(binary, kernel, sizes):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([binary, "build", str(HERE / (kernel[0] + ".lay")), "--kernel",
                            kernel[1], "--size", text_of(sizes), "-o", folder],
                           capture_output=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in options.classes or CLASSES:
            for kernel, sizes in problems(options.seed, name, options.count):
                for binary in binaries:
                    pool.submit(build, binary, kernel, sizes)


def measure(lay, options, kernel, problems, *variants):
    """Of each of the sizes the measured rows of Lay by variant and the fastest of cuBLASLt; or why
    there is none. One process measures all, as it takes seconds to begin."""
    script, name = kernel
    command = [lay, "bench", str(HERE / (script + ".lay")), "--kernel", name, "--json",
               "--triton-seconds", "0", "--torch-seconds", "0", "--algorithms", "8",
               "--rounds", str(options.rounds), "--milliseconds", str(options.milliseconds)]
    if script == "sgemm":
        command += ["--set", "beta=0", "--set", "alpha=1"]
    for variant in variants:
        command += ["--variant", variant]
    for sizes in problems:
        command += ["--size", text_of(sizes)]
    run = subprocess.run(command, capture_output=True, text=True)
    try:
        return [rows_of(each) for each in json.loads(run.stdout)["results"]]
    except (ValueError, KeyError, IndexError):
        why = (run.stderr.strip().splitlines() or ["no output"])[-1]
        return [({}, None, why)] * len(problems)


def rows_of(result):
    ours, theirs = {}, None
    why = result.get("failure", "")
    for row in result.get("rows", ()):
        if "failure" in row or not row.get("right"):
            why = row.get("failure") or "%s: %s" % (row["name"], row.get("verdict"))
        elif row["side"] == "lay":
            ours[row["name"].removeprefix("lay ")] = row
        elif theirs is None or row["ms"] < theirs["ms"]:
            theirs = row
    return ours, theirs, why


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(name, values):
    low = sorted(values)[len(values) // 10]
    return "%-10s %3d problems  geometric mean %.3f  10th percentile %.3f  worst %.3f" % (
        name, len(values), mean(values), low, min(values))


def compare_rows(lay, options):
    """What a plan for any sizes takes beside what one for the sizes takes."""
    ratios, failed = {}, 0
    for name in options.classes or CLASSES:
        for kernel, sizes in problems(options.seed, name, options.count):
            row, searched = taken(lay, kernel, sizes, "--any-size"), taken(lay, kernel, sizes)
            [(ours, theirs, why)] = measure(
                lay, options, kernel, [sizes],
                *dict.fromkeys(each for each in (row, searched) if each))
            head = "%-9s %-14s %-28s " % (name, kernel[1], text_of(sizes, " "))
            if row not in ours or searched not in ours or not theirs:
                failed += 1
                print(head + why, flush=True)
                continue
            times = [ours[each]["ms"] for each in (row, searched)]
            ratios.setdefault(name, []).append([theirs["ms"] / time for time in times])
            print(head + "%-22s %8.2f  %-26s %8.2f  cuBLASLt %8.2f  %.3f -> %.3f" % (
                row.split("_", 1)[-1], times[0] * 1e3, searched.split("_", 1)[-1], times[1] * 1e3,
                theirs["ms"] * 1e3, *ratios[name][-1]), flush=True)
    ratios["all"] = [each for values in ratios.values() for each in values]
    for name, values in ratios.items():
        if not values:
            continue
        before, now = zip(*values)
        print("%-9s %3d problems: geometric mean %.3f -> %.3f, 10th percentile %.3f -> %.3f, "
              "least %.3f -> %.3f" % (
                  name, len(values), mean(before), mean(now), sorted(before)[len(before) // 10],
                  sorted(now)[len(now) // 10], min(before), min(now)))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("classes", nargs="*", metavar="class", help=", ".join(CLASSES))
    parser.add_argument("--lay", action="append", help="the binary (default build/lay)")
    parser.add_argument("--rows", action="store_true",
                        help="beside what a plan for any sizes takes")
    parser.add_argument("--count", type=int, default=20, help="problems of a class (default 20)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--milliseconds", type=float, default=10)
    options = parser.parse_intermixed_args()
    unknown = set(options.classes) - set(CLASSES)
    if unknown:
        parser.error("no class %s; classes are %s" % (", ".join(unknown), ", ".join(CLASSES)))
    binaries = options.lay or ["build/lay"]
    compile_ahead(binaries, options)
    if options.rows:
        sys.exit(1 if compare_rows(binaries[0], options) else 0)
    print(LINE % ("class", "kernel", "sizes", "variant", "us", "cuBLASLt", "ratio", ""))
    measured, failed, beside = {}, 0, []
    for name in options.classes or CLASSES:
        by_kernel = {}
        for kernel, sizes in problems(options.seed, name, options.count):
            by_kernel.setdefault(kernel, []).append(sizes)
        for kernel, drawn in by_kernel.items():
            results = [measure(binary, options, kernel, drawn) for binary in binaries]
            for at, sizes in enumerate(drawn):
                text = text_of(sizes, " ")
                first = None
                for binary, of_binary in zip(binaries, results):
                    all_ours, theirs, why = of_binary[at]
                    ours = next(iter(all_ours.values()), None)
                    if not ours or not theirs:
                        failed += 1
                        print(LINE % (name, kernel[1], text, "-", "", "", "", why), flush=True)
                        continue
                    ratio = theirs["ms"] / ours["ms"]
                    more = ""
                    if first:
                        more = "%.3f of the first binary's time" % (ours["ms"] / first["ms"])
                        beside.append(first["ms"] / ours["ms"])
                    first = first or ours
                    print(LINE % (name, kernel[1], text, ours["name"].removeprefix("lay "),
                                  "%.2f" % (ours["ms"] * 1e3), "%.2f" % (theirs["ms"] * 1e3),
                                  "%.3f" % ratio, more), flush=True)
                    measured.setdefault((name, binary), []).append((ratio, kernel[1], text, ours))
    print()
    for (name, binary), rows in measured.items():
        print(summary(name, [row[0] for row in rows]) +
              ("  %s" % binary if len(binaries) > 1 else ""))
    for binary in binaries:
        rows = [row for (_, of), all in measured.items() if of == binary for row in all]
        if not rows:
            continue
        print(summary("all", [row[0] for row in rows]) +
              ("  %s" % binary if len(binaries) > 1 else ""))
        print(near_text(row[3] for row in rows))
        print("the worst:")
        for ratio, kernel, text, ours in sorted(rows, key=lambda row: row[0])[:10]:
            print("  %.3f  %-14s %-28s %s" % (ratio, kernel, text,
                                              ours["name"].removeprefix("lay ")))
    if beside:
        print("speed of the last binary by the first: geometric mean %.3f, least %.3f" % (
            mean(beside), min(beside)))
    if failed:
        print("%d without a result" % failed)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
