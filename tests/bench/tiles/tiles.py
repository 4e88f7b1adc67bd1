"""Times schedules of products on the GPU at hand, for the models by which the library chooses:

  tests/bench/tiles/tiles.py SEED COUNT [--lay LAY] [--kernel NAME]... >> lines.txt

Draws COUNT problems of each kernel and times every candidate on each, beside cuBLASLt. Prints
lines as those of tests/plan/tiles.txt for kernels of hopper.lay, whose test holds the costs of
stdlib/policies/sm90.lay to them, and as those of tests/plan/simt.txt for kernels of sgemm.lay
(sgemm_nt; sgemm_nt/elements for odd sizes) and stdlib/policies/simt.lay. tt/few draws layers with
few rows, tt/few_columns (nn/few_columns, batched/few_columns) products with few columns, whose
candidates are others. tt/elements draws odd sizes, whose factors are copied first or read element
by element (results/elements.txt).
"""

import argparse
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import shapes  # noqa: E402

# Tile M and N, widths of 128 bytes along K, blocks of a cluster along M and N, parts of K.
COOPERATIVE = [(64, 32, 2, 1, 1, 1), (64, 32, 2, 1, 4, 1), (64, 32, 2, 1, 2, 2),
               (64, 32, 2, 1, 2, 4), (64, 64, 2, 1, 1, 1), (64, 64, 2, 1, 1, 2),
               (64, 64, 2, 1, 2, 4), (64, 64, 2, 2, 4, 1), (64, 96, 1, 2, 2, 1),
               (64, 128, 1, 2, 2, 1), (64, 128, 1, 1, 1, 1), (64, 256, 1, 1, 1, 1),
               (128, 64, 1, 1, 2, 1), (128, 96, 1, 1, 1, 1), (128, 96, 1, 2, 4, 1),
               (128, 96, 1, 1, 1, 2), (128, 128, 1, 1, 1, 1), (128, 128, 1, 1, 1, 2),
               (128, 128, 1, 1, 1, 4), (128, 144, 1, 2, 2, 1), (128, 192, 1, 1, 1, 1),
               (128, 192, 1, 2, 2, 1), (128, 256, 1, 2, 1, 1), (256, 128, 1, 1, 2, 1),
               (256, 128, 1, 2, 1, 1), (256, 176, 1, 2, 1, 1), (256, 176, 1, 1, 2, 1),
               (256, 176, 1, 2, 2, 1), (256, 200, 1, 2, 1, 1)]
PINGPONG = [(128, 128, 1, 2, 1, 1), (128, 128, 1, 2, 2, 1), (128, 176, 1, 2, 1, 1),
            (128, 160, 1, 1, 1, 1)]
# For few rows: some as above, and tiles whose M is the instruction's columns.
OF_FEW_ROWS = [(64, 32, 2, 1, 1, 1), (64, 32, 2, 1, 4, 1), (64, 64, 2, 1, 1, 1),
               (64, 64, 2, 1, 1, 2), (64, 64, 2, 1, 1, 4), (64, 112, 1, 1, 1, 1),
               (64, 128, 1, 1, 1, 1), (64, 128, 1, 1, 1, 2), (64, 128, 1, 1, 1, 4),
               (128, 64, 1, 1, 2, 1), (128, 64, 1, 1, 1, 4), (128, 64, 2, 1, 1, 2),
               (128, 96, 1, 1, 1, 2), (128, 112, 1, 1, 2, 1), (128, 128, 1, 1, 1, 1),
               (128, 128, 1, 1, 1, 2), (128, 128, 1, 2, 1, 1), (128, 192, 1, 1, 1, 1),
               (192, 96, 1, 1, 1, 1), (192, 96, 1, 1, 1, 2), (192, 128, 1, 1, 1, 1),
               (192, 128, 1, 1, 1, 2), (192, 144, 1, 1, 1, 1), (256, 112, 1, 1, 1, 1)]
SWAPPED = [(m, 64, k, 1, 1, parts) for m, k in ((8, 4), (16, 4), (32, 2), (48, 2), (96, 1))
           for parts in (1, 2, 4)]
# For few columns: tiles with no more of B than there is, K in parts.
OF_FEW_COLUMNS = [(m, n, 2 if n < 96 and m * n <= 8192 else 1, 1, 1, parts)
                  for m, n, most in ((64, 16, 4), (64, 32, 4), (64, 48, 4), (64, 64, 4),
                                     (64, 96, 4), (128, 16, 2), (128, 32, 2), (128, 48, 4),
                                     (128, 64, 4), (128, 96, 2), (128, 112, 1), (128, 128, 1),
                                     (192, 48, 1), (192, 96, 1), (256, 32, 1), (256, 48, 1),
                                     (256, 64, 2), (256, 96, 1), (256, 112, 1), (256, 128, 1))
                  for parts in (1, 2, 4) if parts <= most]
# On CUDA cores: the tile, warps along M and N, slices of K, stages, parts of K.
CUDA_CORES = [(32, 32, 32, 1, 1, 4, 2, 1), (32, 32, 32, 1, 1, 4, 2, 2),
              (32, 32, 32, 1, 1, 4, 2, 4), (32, 32, 32, 1, 1, 4, 2, 8),
              (64, 32, 32, 1, 1, 4, 2, 2), (64, 32, 32, 1, 1, 4, 2, 4),
              (32, 64, 32, 1, 1, 4, 2, 1), (32, 64, 32, 1, 1, 4, 2, 4),
              (64, 64, 16, 2, 1, 2, 2, 1), (64, 64, 16, 2, 1, 2, 2, 2),
              (64, 64, 16, 2, 1, 2, 2, 4), (64, 64, 16, 2, 2, 1, 2, 1),
              (64, 64, 16, 2, 2, 1, 4, 1), (64, 64, 16, 2, 2, 1, 4, 2),
              (64, 64, 16, 2, 2, 1, 4, 4), (64, 64, 16, 2, 2, 1, 4, 8),
              (64, 128, 16, 2, 2, 1, 2, 1), (64, 128, 16, 2, 2, 1, 4, 1),
              (64, 128, 16, 2, 2, 1, 4, 2), (64, 128, 16, 2, 2, 1, 4, 4),
              (128, 64, 16, 2, 2, 1, 4, 1), (128, 64, 16, 2, 2, 1, 4, 2),
              (128, 128, 8, 2, 4, 1, 2, 1), (128, 128, 16, 2, 4, 1, 4, 1),
              (128, 128, 8, 2, 2, 1, 8, 1), (128, 128, 8, 2, 2, 1, 8, 2),
              (128, 256, 8, 2, 4, 1, 2, 1), (128, 256, 8, 2, 4, 1, 8, 1),
              (256, 128, 8, 4, 2, 1, 8, 1)]
# For odd sizes: on copies of the factors as above, and element by element by mma.sync: the tile,
# warps along M and N, slices of K.
ON_COPIES = [(64, 16, 2, 1, 1, 1), (64, 16, 2, 1, 1, 4), (64, 32, 2, 1, 1, 1),
             (64, 32, 2, 1, 1, 4), (64, 64, 2, 1, 1, 1), (64, 64, 2, 1, 1, 2),
             (64, 64, 2, 1, 1, 4), (64, 64, 2, 2, 2, 1), (64, 96, 1, 2, 2, 1),
             (64, 128, 1, 2, 2, 1), (128, 64, 1, 1, 1, 2), (128, 96, 1, 1, 1, 1),
             (128, 128, 1, 1, 1, 1), (128, 128, 1, 2, 1, 1), (256, 128, 1, 1, 2, 1)]
BY_ELEMENTS = [(16, 16, 128, 1, 1, 4), (16, 16, 256, 1, 1, 8), (16, 32, 128, 1, 1, 4),
               (16, 32, 256, 1, 1, 8), (32, 32, 64, 2, 2, 1), (32, 32, 128, 1, 1, 4),
               (32, 32, 256, 1, 1, 8), (64, 64, 32, 2, 2, 1), (64, 64, 64, 4, 2, 2),
               (64, 64, 64, 4, 4, 1)]
LARGEST = 2.2e11  # L * M * N * K: a millisecond
LARGEST_ON_CUDA_CORES = 1.2e10
LARGEST_BY_ELEMENTS = 3e9
LARGEST_OUTPUT = 2 ** 26
PROBLEMS_A_RUN = 5


def declared(kernel):
    """Its text in hopper.lay, its factors' type, and that type's elements of 128 bytes."""
    text = (shapes.HERE / "hopper.lay").read_text()
    found = re.search(r"^kernel %s<.*?}$" % kernel, text, re.DOTALL | re.MULTILINE).group()
    kind = re.search(r": (\w+) \(", found).group(1)
    return found, kind, {"bf16": 64, "f16": 64, "tf32": 32}.get(kind, 128)


def simt_script(kernel):
    """All candidates on CUDA cores that its accesses to memory take."""
    name, _, accesses = kernel.partition("/")
    text = (shapes.HERE / "sgemm.lay").read_text()
    lines = [re.search(r"^kernel %s<.*?^}$" % name, text, re.DOTALL | re.MULTILINE).group()]
    for m, n, k, along_m, along_n, slices, stages, parts in CUDA_CORES:
        if accesses and stages > 2:
            continue  # a ring is filled by vectors
        lines.append(
            "schedule %s for simt when M < %d { name = \"t%d_%d_%d_%d_%d_%d_%d_%d\"; "
            "accesses = \"%s\"; tile = (%d,%d,%d); groups = (%d,%d,%d,1); lane_tile = (4,4,1); "
            "stages = %d; cluster = (1,1,%d) }" %
            (name, 1000000 + len(lines), m, n, k, along_m, along_n, slices, stages, parts,
             accesses or "vectors", m, n, k, along_m, along_n, slices, stages, parts))
    return "\n".join(lines) + "\n"


def elements_script():
    """All candidates for odd sizes of tt."""
    lines = ["use atoms.sm80", "use atoms.sm90", declared("tt")[0]]
    for m, n, widths, along_m, along_n, parts in ON_COPIES:
        lines.append(
            "schedule tt for sm90 when M < %d { name = \"t%d_%d_%d_%d_%d\"; "
            "accesses = \"elements\"; repack A = \"elements\"; repack B = \"elements\"; "
            "tile = (%d,%d,%d); mma = sm90.wgmma(n = %d, ab = bf16, acc = f32); "
            "groups = (%d,1,1,1); cluster = (%d,%d,%d) }" %
            (1000000 + len(lines), m, n, along_m, along_n, parts, m, n, widths * 64, n,
             {64: 1}.get(m, 2), along_m, along_n, parts))
    for m, n, k, along_m, along_n, slices in BY_ELEMENTS:
        lines.append(
            "schedule tt for sm80 when M < %d { name = \"t%d_%d_%d_%d_%d_%d_2_1\"; "
            "accesses = \"elements\"; tile = (%d,%d,%d); "
            "mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32); groups = (%d,%d,%d,1); "
            "stages = 2 }" %
            (1000000 + len(lines), m, n, k, along_m, along_n, slices, m, n, k, along_m, along_n,
             slices))
    return "\n".join(lines) + "\n"


def schedule(kernel, kind, width, number, tile):
    """(its name, the text) of a tile on Hopper's tensor cores as a schedule of the kernel, with a
    condition of its own, which holds. A tile is (M, N, widths along K, blocks along M, N, parts of
    K, mark), by the output's axes."""
    m, n, widths, along_m, along_n, parts, mark = tile
    name = "t%d_%d_%d_%d_%d" % (m, n, along_m, along_n, parts) + (mark and "_" + mark)
    # As consumers() of sm90.lay says.
    of_three = 1 if 64 <= n <= 72 and parts == 1 else 3
    if mark == "s":  # as the instruction sees them
        m, n, along_m, along_n = n, m, along_n, along_m
    consumers = "1,1,1,2" if mark == "p" else "%d,1,1,1" % {64: 1, 192: of_three}.get(m, 2)
    cluster = "%d,%d" % (along_m, along_n) + (",%d" % parts if parts > 1 else "")
    return name, (
        "schedule %s for sm90 when M < %d { name = \"%s\"; accesses = \"vectors\"; "
        "tile = (%d,%d,%d); mma = sm90.wgmma(n = %d, ab = %s, acc = %s); groups = (%s); "
        "cluster = (%s); swap_ab = %d }" %
        (kernel, number, name, m, n, widths * width, n, kind, "s32" if kind == "s8" else "f32",
         consumers, cluster, mark == "s"))


def script(kernel):
    """All candidates as schedules of one kernel, each with a condition of its own, which holds."""
    if kernel.startswith("sgemm"):
        return simt_script(kernel)
    if kernel == "tt/elements":
        return elements_script()
    kernel, _, few = kernel.partition("/")
    text, kind, width = declared(kernel)
    lines = ["use atoms.sm90", text]
    groups = {"few": (("", OF_FEW_ROWS), ("s", SWAPPED)),
              "few_columns": (("", OF_FEW_COLUMNS),),
              "": (("", COOPERATIVE), ("p", PINGPONG))}[few]
    for mark, tiles in groups:
        for tile in tiles:
            lines.append(schedule(kernel, kind, width, 1000000 + len(lines), (*tile, mark))[1])
    return "\n".join(lines) + "\n"


def drawn(draw, kernel, count):
    """Half of all axes are whole lines of memory, the others pieces of 16 bytes."""
    on_cuda_cores = kernel.startswith("sgemm")
    kernel, _, rest = kernel.partition("/")
    width = 8 if on_cuda_cores else declared(kernel)[2]
    largest = (LARGEST_ON_CUDA_CORES if on_cuda_cores else
               LARGEST_BY_ELEMENTS if rest == "elements" else LARGEST)
    problems = []
    while len(problems) < count:
        if on_cuda_cores:
            sizes = {axis: shapes.log_uniform(draw, 64, 4096, 8) for axis in "MNK"}
            if rest == "elements":
                sizes = {axis: size | 1 for axis, size in sizes.items()}
        elif rest == "elements":
            sizes = {axis: shapes.log_uniform(draw, 33, 4096) | 1 for axis in "MNK"}
        elif rest == "few":
            sizes = shapes.layer(draw, (1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256))
        elif rest == "few_columns":
            sizes = {axis: shapes.log_uniform(draw, 256, 8192, draw.choice((8, 64)))
                     for axis in "MK"}
            sizes["N"] = draw.choice((8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 128))
        elif kernel == "tt" and len(problems) % 5 < 2:
            sizes = shapes.layer(draw, (24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 2048))
        else:
            steps = {axis: draw.choice((width // 8, width)) for axis in "MNK"}
            sizes = {axis: shapes.log_uniform(draw, 17 if axis == "M" else 64, 8192, steps[axis])
                     for axis in "MNK"}
        if kernel == "batched":
            sizes["L"] = shapes.log_uniform(draw, 2, 64)
        products = math.prod(sizes.values())
        if products < largest and products // sizes["K"] < LARGEST_OUTPUT:
            problems.append(sizes)
    return problems


def line(kernel, result):
    sizes = result["sizes"]
    theirs = min(row["ms"] for row in result["rows"] if row["side"] != "lay" and "ms" in row)
    timed = []
    for row in result["rows"]:
        found = re.match(r"lay t(\d+)_(\d+)_(\d+)_(\d+)_(\d+)_(\d+)_(\d+)_(\d+)$", row["name"])
        if found and row.get("right") and "ms" in row:
            timed.append("%sx%sx%s.%sx%sx%s.%s.%s %.2f" % (*found.groups(), row["ms"] * 1e3))
        found = re.match(r"lay t(\d+)_(\d+)_(\d+)_(\d+)_(\d+)(_[ps])?$", row["name"])
        if found and row.get("right") and "ms" in row:
            m, n, along_m, along_n, parts, mark = found.groups()
            timed.append("%sx%s.%sx%s%s%s %.2f" % (
                m, n, along_m, along_n, "x" + parts if parts != "1" else "",
                mark[1] if mark else "", row["ms"] * 1e3))
    return "%s %d %d %d %d %.2f: %s" % (kernel, sizes["M"], sizes["N"], sizes["K"],
                                        sizes.get("L", 1), theirs * 1e3, ", ".join(timed))


def measure(lay, kernel, problems):
    text = script(kernel)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tiles.lay"
        path.write_text(text)
        command = [lay, "bench", str(path), "--json", "--triton-seconds", "0",
                   "--torch-seconds", "0", "--algorithms", "8", "--rounds", "2",
                   "--milliseconds", "1.2"]
        if kernel.startswith("sgemm"):
            command += ["--set", "alpha=1", "--set", "beta=0"]
        for name in re.findall('name = "([^"]*)"', text):
            command += ["--variant", name]
        for sizes in problems:
            command += ["--size", ",".join("%s=%d" % each for each in sizes.items())]
        run = subprocess.run(command, capture_output=True, text=True)
    try:
        for result in json.loads(run.stdout)["results"]:
            print(line(kernel, result), flush=True)
    except (ValueError, KeyError):
        print("%s: %s" % (kernel, (run.stderr.splitlines() or ["no output"])[-1]), file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("count", type=int)
    parser.add_argument("--lay", default="build/lay")
    parser.add_argument("--kernel", action="append", help="without it, tt of hopper.lay")
    options = parser.parse_args()
    for kernel in options.kernel or ["tt"]:
        problems = drawn(random.Random("%s %s" % (options.seed, kernel)), kernel, options.count)
        for at in range(0, len(problems), PROBLEMS_A_RUN):
            measure(options.lay, kernel, problems[at:at + PROBLEMS_A_RUN])


if __name__ == "__main__":
    main()
