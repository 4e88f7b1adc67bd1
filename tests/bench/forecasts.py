"""What launches are expected to take, beside the times of the committed tables, without a GPU:

  tests/bench/forecasts.py [--lay LAY] [--every N] [--worst N] [CLASS...]

Asks `lay plan` of the newest row of each kernel, sizes and variant that was measured on an H200, of
one row in N, and prints for each class of rows how many there are, the share that lies within 1.5
of what was expected, the median of the times by what was expected, and the worst rows. A ratio
above 1 means that the launch takes longer than expected. Rows whose variant a plan no longer has
are left out; but of products.lay the newest row of a problem, where no variant of its rows is left,
is held against what the plan takes today, and marked *.
"""

import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).parent
TABLES = ("hopper", "sgemm", "permute", "rows", "products", "shapes")
# The classes of shapes.py, and rows of other tables beside them.
SHAPES = ("prefill", "decode", "multiples", "whole", "odd", "orders", "wide", "types", "fused",
          "batched", "f32", "table")
NEAR = 1.5


def is_number(word):
    return re.fullmatch(r"\d+(\.\d+)?", word) is not None


def sizes_at(words, at):
    """The sizes "M=4096" that begin at a word, and which word is behind them. alpha and beta are
    scalars."""
    sizes = []
    while at < len(words) and "=" in words[at]:
        if not words[at].startswith(("alpha=", "beta=")):
            sizes.append(words[at])
        at += 1
    return ",".join(sizes), at


def of_bench(script, words, head):
    """The table of `lay bench`: "tt M=4096 ...", below it "lay sm90_256x128_1x2 209.55 us ..."."""
    if len(words) > 1 and "=" in words[1]:
        head[:] = words
    elif len(words) > 3 and words[0] == "lay" and head and is_number(words[2]):
        scale = 1e3 if words[3] == "ms" else 1
        yield script, script, head[0], sizes_at(head, 1)[0], words[1], float(words[2]) * scale


def of_permute(words):
    """"transpose_f32_bytes16 16384 521.8 us ...": kernel and variant in one word."""
    if len(words) > 3 and words[3] == "us" and is_number(words[1]) and "_" in words[0]:
        kernel, _, variant = words[0].rpartition("_")
        yield "permute", "permute", kernel, words[1], variant, float(words[2])


def of_rows(words):
    """"1 row_sum_bf16 262144 256 warps 32.24 ..."."""
    if len(words) > 5 and all(is_number(words[at]) for at in (0, 2, 3, 5)):
        sizes = "M=%s,N=%s" % (words[2], words[3])
        yield "rows", "rows", words[1], sizes, words[4], float(words[5])


def of_products(words):
    """"swiglu M=4096 ... sm90_pingpong 1494.43 ..."; attention and einsums are classes apart."""
    sizes, at = sizes_at(words, 1)
    if sizes and len(words) > at + 1 and is_number(words[at + 1]):
        yield class_of(words[0]), "products", words[0], sizes, words[at], float(words[at + 1])


def class_of(kernel):
    for prefix in ("attention", "w8a16", "w4a16", "conv"):
        if kernel.startswith(prefix):
            return "weights" if prefix.startswith("w") else prefix
    return "products"


def of_shapes(words):
    """"decode half M=32 ... sm90_32x64 16.60 16.14 0.972"; with " -> " two variants that lack
    their family."""
    if words[0] not in SHAPES or len(words) < 3:
        return
    sizes, at = sizes_at(words, 2)
    script = "sgemm" if words[1].startswith("sgemm") else "hopper"
    family = "simt_" if script == "sgemm" else "sm90_"
    pair = "->" in words
    for at in (at, at + 2) if pair else (at,):
        if sizes and len(words) > at + 1 and is_number(words[at + 1]):
            variant = (family if pair else "") + words[at]
            yield words[0], script, words[1], sizes, variant, float(words[at + 1])


def rows_of(table):
    """(class, script, kernel, sizes, variant, us) of a table's rows, the oldest first."""
    on_h200, head = True, []
    for line in (HERE / "results" / (table + ".txt")).read_text().splitlines():
        words = line.split()
        if not words:
            continue
        if "H100" in line:
            on_h200 = False
        elif "H200" in line or words[0] == "Run":
            on_h200 = True
        if not on_h200:
            continue
        if table in ("hopper", "sgemm"):
            yield from of_bench(table, words, head)
        else:
            yield from {"permute": of_permute, "rows": of_rows, "products": of_products,
                        "shapes": of_shapes}[table](words)


def expected(lay, row, *options):
    """Microseconds; None where the plan has no such variant for the sizes."""
    _, script, kernel, sizes, _, _ = row
    run = subprocess.run(
        [lay, "plan", str(HERE / (script + ".lay")), "--kernel", kernel, "--size", sizes, *options],
        capture_output=True, text=True,
        env={**os.environ, "LAY_POLICIES": "/nonexistent", "LAY_TARGETS": "/nonexistent"})
    found = re.findall(r"expected ([\d.]+) us", run.stdout)
    return float(found[-1]) if run.returncode == 0 and found else None


def ratios_of(lay, rows):
    """(ratio, is_named, row) of the rows that a plan has a variant for."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        times = list(pool.map(lambda row: expected(lay, row, "--variant", row[4]), rows))
        known = [(row[5] / time, True, row) for row, time in zip(rows, times) if time]
        named = {row[2:4] for _, _, row in known}
        newest = {row[2:4]: row for row, time in zip(rows, times)
                  if not time and row[1] == "products" and row[2:4] not in named}
        times = list(pool.map(lambda row: expected(lay, row), newest.values()))
    return known + [(row[5] / time, False, row)
                    for row, time in zip(newest.values(), times) if time]


def near_text(rows):
    """How many rows of the JSON of `lay bench` took what was expected."""
    ratios = sorted(row["ms"] / row["expected_ms"] for row in rows if row.get("expected_ms"))
    if not ratios:
        return "no row of ours with a forecast"
    return "%d of %d rows of ours within %.1f of what was expected, median %.3f" % (
        sum(map(is_near, ratios)), len(ratios), NEAR, ratios[len(ratios) // 2])


def is_near(ratio):
    return 1 / NEAR < ratio < NEAR


def summary(name, ratios):
    """`ratios`: of rows, the time by what was expected."""
    near = sum(map(is_near, ratios))
    middle = sorted(ratios)[len(ratios) // 2]
    spread = math.exp(math.sqrt(sum(math.log(ratio) ** 2 for ratio in ratios) / len(ratios)))
    return "%-10s %5d rows  %5.1f %% within 1.5  median %.3f  spread %.3f" % (
        name, len(ratios), 100 * near / len(ratios), middle, spread)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("classes", nargs="*", metavar="class")
    parser.add_argument("--lay", default="build/lay", help="the binary (default build/lay)")
    parser.add_argument("--every", type=int, default=1, help="one row in so many (default 1)")
    parser.add_argument("--worst", type=int, default=3, help="rows of a class (default 3)")
    options = parser.parse_args()
    newest = {}
    for table in TABLES:
        for row in rows_of(table):
            newest.pop(row[1:5], None)
            newest[row[1:5]] = row
    rows = [row for row in newest.values() if not options.classes or row[0] in options.classes]
    rows = rows[::options.every]
    by_class = {}
    for ratio, is_named, row in ratios_of(options.lay, rows):
        by_class.setdefault(row[0], []).append((ratio, is_named, row))
    for name, found in sorted(by_class.items()):
        print(summary(name, [ratio for ratio, _, _ in found]))
        found.sort(key=lambda each: -abs(math.log(each[0])))
        for ratio, is_named, (_, _, kernel, sizes, variant, us) in found[:options.worst]:
            print("    %.3f%s %-20s %-26s %-32s %10.2f us" % (
                ratio, " " if is_named else "*", kernel, sizes, variant, us))
    everything = [ratio for found in by_class.values() for ratio, _, _ in found]
    if everything:
        print(summary("all", everything))
    print("%d rows left out: a plan no longer has their variants" % (len(rows) - len(everything)))


if __name__ == "__main__":
    main()
