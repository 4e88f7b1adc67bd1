"""Times the schedules that cost least on the GPU at hand, of all tiles that a schedule may have, so
that what the costs of stdlib/policies/sm90.lay do not know comes to light:

  tests/bench/tiles/least.py SEED COUNT [--lay LAY] [CLASS...] >> lines.txt

Draws COUNT problems of each class of shapes.py (whole, multiples, decode, orders, batched), and of
each problem times the schedules of least cost, and those of least cost that have single blocks,
pairs of blocks, fours, parts of K, or consumers that take turns. Prints lines as those of
tests/plan/tiles.txt (KERNEL/CLASS).
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import space
import tiles
from tiles import shapes

LARGEST = 3e10  # L * M * N * K: 100 us
# How many are taken, and of what: (blocks, parts of K, mark) of a tile.
TAKEN = ((8, lambda blocks, parts, mark: True),
         (3, lambda blocks, parts, mark: blocks == 1),
         (2, lambda blocks, parts, mark: blocks == 2 and parts == 1),
         (1, lambda blocks, parts, mark: blocks == 4 and parts == 1),
         (2, lambda blocks, parts, mark: parts > 1),
         (1, lambda blocks, parts, mark: mark == "p"))


def chosen(costs):
    """Tiles as space.costs names them, the cheapest first."""
    ranked, taken = sorted(costs, key=costs.get), []
    for count, belongs in TAKEN:
        of_kind = [tile for tile in ranked
                   if belongs(tile[3] * tile[4] * tile[5], tile[5], tile[6])]
        taken += [tile for tile in of_kind[:count] if tile not in taken]
    return taken


def script(kernel, chosen_tiles):
    """The tiles as schedules of the kernel, each with a condition of its own, which holds."""
    text, kind, width = tiles.declared(kernel)
    made = [tiles.schedule(kernel, kind, width, 1000000 + number, tile)
            for number, tile in enumerate(chosen_tiles)]
    return ("\n".join(["use atoms.sm90", text, *(text for _, text in made)]) + "\n",
            [name for name, _ in made])


def prepared(lay, folder, number, klass, kernel, sizes):
    """(kernel/class, the command that measures), whose kernels are in Lay's cache by then."""
    of_space = {"kernel": {"half": "tt"}.get(kernel, kernel),
                "sizes": tuple(sizes.get(axis, 1) for axis in "MNKL")}
    text, names = script(kernel, chosen(space.costs(lay, of_space)))
    path = pathlib.Path(folder) / ("least_%d.lay" % number)
    path.write_text(text)
    command = [lay, "bench", str(path), "--triton-seconds", "0", "--torch-seconds", "0", "--size",
               shapes.text_of(sizes), *(word for name in names for word in ("--variant", name))]
    subprocess.run([*command, "--once"], capture_output=True)
    return "%s/%s" % (of_space["kernel"], klass), command


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("count", type=int)
    parser.add_argument("classes", nargs="*", default=["whole", "multiples"])
    parser.add_argument("--lay", default="build/lay")
    options = parser.parse_args()
    drawn = [(klass, kernel, sizes) for klass in options.classes
             for (_, kernel), sizes in shapes.problems(options.seed, klass, options.count)
             if math.prod(sizes.values()) < LARGEST]
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            commands = list(pool.map(
                lambda each: prepared(options.lay, folder, each[0], *each[1]), enumerate(drawn)))
        for name, command in commands:
            run = subprocess.run([*command, "--json", "--algorithms", "4", "--rounds", "3",
                                  "--milliseconds", "1.5"], capture_output=True, text=True)
            try:
                for result in json.loads(run.stdout)["results"]:
                    print(tiles.line(name, result), flush=True)
            except (ValueError, KeyError):
                print("%s: %s" % (name, (run.stderr.splitlines() or ["no output"])[-1]),
                      file=sys.stderr)


if __name__ == "__main__":
    main()
