#!/usr/bin/env python3
"""Chooses the tiles that stdlib/policies/sm90.lay has of the space of tiles of sm90_space.lay:

  tests/bench/tiles/portfolio.py [--lay LAY] [--count 150] [--seed portfolio]

Draws problems of the classes of shapes.py, asks the costs of the policies for the clocks of each
tile of the space on each of them, and takes tiles one after the other beside the rows that were
measured: the one that cuts the least clocks most, in the mean of the logarithms over the problems.
Prints the tables of the policies, and what the tiles lose to the space on problems of another seed.
Needs no GPU.
"""

import argparse
import concurrent.futures
import heapq
import math
import re

import space
import tiles
from tiles import shapes

DRAWN = (("multiples", 400), ("whole", 400), ("decode", 500), ("prefill", 250), ("orders", 400),
         ("batched", 400))
LEAST = math.log(8)  # what a problem that no tile takes yet costs
TABLES = (("cooperative", ""), ("ping_pong", "p"), ("swapped", "s"))


def name(tile):
    """Tiles of one name cannot stand side by side."""
    return tile[:2] + tile[3:6]


def in_tables():
    """The tiles that the policies have been given before."""
    text = (space.ROOT / "stdlib/policies/sm90.lay").read_text()
    found = set()
    for title, mark in TABLES:
        table = re.search(r"^let %s = \((.*?)\)$" % title, text, re.DOTALL | re.MULTILINE)[1]
        for numbers in re.findall(r"\(([\d,]+)\)?", table):
            found.add((*map(int, numbers.split(",")), mark))
    return found


def rows(lay):
    """The other tiles that the library has for products whose factors run along K."""
    text = "\n".join(tiles.declared("tt")[0].splitlines()) + "\n"
    found = set()
    for part in space.run(lay, "plan", text, "--all").stdout.split("// variant ")[1:]:
        if not part.startswith("sm90_"):
            continue

        def numbers(entry):
            said = re.search(r"^  %s +=\s*\(?([\d,]+)\)?" % entry, part, re.MULTILINE)
            return [int(number) for number in said[1].split(",")] if said else []
        m, n, k = numbers("tile")
        along_m, along_n, parts = (numbers("cluster") + [1])[:3]
        mark = "p" if numbers("groups")[3] == 2 else ""
        if numbers("swap_ab") == [1]:
            m, n, along_m, along_n, mark = n, m, along_n, along_m, "s"
        found.add((m, n, k // space.WIDTH, along_m, along_n, parts, mark))
    return found - in_tables()


def drawn(seed):
    """(kernel of hopper.lay, sizes)"""
    for klass, count in DRAWN:
        for kernel, sizes in shapes.problems(seed, klass, count):
            yield ({"half": "tt"}.get(kernel[1], kernel[1]),
                   (sizes["M"], sizes["N"], sizes["K"], sizes.get("L", 1)))


def losses(lay, seed):
    """Of each problem {tile: logarithm of its clocks to the least}."""
    def of_problem(problem):
        kernel, sizes = problem
        costs = space.costs(lay, {"kernel": kernel, "sizes": sizes})
        least = min(costs.values())
        return {tile: math.log(cost / least) for tile, cost in costs.items() if cost < 8 * least}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(of_problem, drawn(seed)))


def chosen(problems, known, count):
    """Greedily, gains computed anew only of the tile that stands first."""
    now = [min((each[tile] for tile in known if tile in each), default=LEAST)
           for each in problems]
    places = {}
    for place, each in enumerate(problems):
        for tile in each:
            places.setdefault(tile, []).append(place)

    def gain(tile):
        return sum(max(0.0, now[place] - problems[place][tile]) for place in places[tile])
    taken, names = sorted(known), {name(tile) for tile in known}
    heap = [(-gain(tile), tile) for tile in sorted(places)]
    heapq.heapify(heap)
    while heap and len(taken) < count:
        tile = heapq.heappop(heap)[1]
        if name(tile) in names:
            continue
        again = gain(tile)
        if heap and again < -heap[0][0]:
            heapq.heappush(heap, (-again, tile))
            continue
        taken.append(tile)
        names.add(name(tile))
        for place in places[tile]:
            now[place] = min(now[place], problems[place][tile])
    return taken


def table(tiles):
    lines, line = [], " "
    for tile in sorted(tiles):
        text = "(%d,%d,%d,%d,%d,%d)," % tile[:6]
        if len(line) + len(text) > 97:
            lines.append(line)
            line = " "
        line += (" " if line == " " else "") + text
    return "\n".join([*lines, line.rstrip(",")]) + ")"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lay", default="build/lay")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", default="portfolio")
    options = parser.parse_args()
    known = rows(options.lay)
    problems = losses(options.lay, options.seed)
    taken = chosen(problems, known, options.count)
    for title, mark in TABLES:
        print("let %s = (" % title)
        print(table(tile for tile in taken if tile[-1] == mark and tile not in known))
    judged = sorted(min((each[tile] for tile in taken if tile in each), default=LEAST)
                    for each in losses(options.lay, options.seed + " judged"))
    at = [math.exp(judged[min(len(judged) - 1, int(part * len(judged)))])
          for part in (0.5, 0.9, 0.99, 1)]
    print("%d of %d tiles; the least of their clocks to that of the space, on %d other problems: "
          "geometric mean %.3f, median %.3f, 90th percentile %.3f, 99th %.3f, most %.3f" %
          (len(taken), len(set().union(*problems)), len(judged),
           math.exp(sum(judged) / len(judged)), *at))


if __name__ == "__main__":
    main()
