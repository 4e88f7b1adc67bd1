"""The table of hopper.sh by two binaries, class by class in turn, on the GPU at hand:

  tests/bench/beside.py BEFORE LAY_BEFORE LAY [CLASS...]

BEFORE is the folder tests/bench of the tree that LAY_BEFORE was built from, whose scripts it reads.
Prints a line a row, what the second takes of the first one's time inverted, so that a ratio above 1
says that LAY is faster; and of each class the geometric mean and the least.
"""

import math
import os
import pathlib
import re
import subprocess
import sys

CLASSES = "large orders small skinny ragged types masked fused inputs batched middle".split()


def rows(folder, lay, name):
    """(kernel and sizes, variant, us) of a class's rows."""
    path = pathlib.Path(folder) / "hopper.sh"
    # Both sides are our own: of cuBLASLt one algorithm is enough.
    text = path.read_text().replace("--algorithms 8", "--algorithms 1")
    text = text.replace("--rounds 5", "--rounds 3")
    run = subprocess.run(["bash", "-c", text, str(path), lay, name], capture_output=True, text=True,
                         env={**os.environ, "TRITON_SECONDS": "0", "MILLISECONDS_A_ROUND": "4"})
    found, head = [], ""
    for line in run.stdout.splitlines():
        if re.match(r"\w+ M=\d+", line) or re.match(r"\w+ L=\d+", line):
            head = re.sub(r"  .*", "", line)
        row = re.match(r"  lay (\S+)\s+([\d.]+) us", line)
        if row:
            found.append((head, row.group(1), float(row.group(2))))
    return found


def main():
    before, lay_before, lay, *classes = sys.argv[1:]
    here = pathlib.Path(__file__).parent
    ratios = []
    for name in classes or CLASSES:
        of_class = []
        first, second = rows(before, lay_before, name), rows(here, lay, name)
        for (head, was, before_us), (_, taken, us) in zip(first, second):
            of_class.append(before_us / us)
            print("%-42s %-34s %9.2f  %-34s %9.2f  %.3f" % (head, was, before_us, taken, us,
                                                         of_class[-1]), flush=True)
        if len(first) != len(second):
            print("%s: %d rows and %d" % (name, len(first), len(second)))
        if of_class:
            mean = math.exp(sum(map(math.log, of_class)) / len(of_class))
            print("%s: %d rows, geometric mean %.3f, least %.3f" % (name, len(of_class), mean,
                                                                    min(of_class)), flush=True)
        ratios += of_class
    print("all: %d rows, geometric mean %.3f, least %.3f" % (
        len(ratios), math.exp(sum(map(math.log, ratios)) / len(ratios)), min(ratios)))


if __name__ == "__main__":
    main()
