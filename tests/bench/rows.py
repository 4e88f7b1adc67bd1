"""The table of tests/bench/rows.sh, from the JSON of `lay bench`: tests/bench/rows.py FILE..."""

import json
import math
import sys

from forecasts import near_text

HEAD = ("kernel", "type", "M x N", "variant", "us", "GB/s", "of copy", "to torch",
        "to torch.compile")
LINE = "%-12s %-5s %-16s %-24s %9s %8s %8s %9s %17s"


def best(rows, side):
    """The fastest row of a side that is right; None if there is none."""
    timed = [row for row in rows if row["side"] == side and "ms" in row and row["right"]]
    return min(timed, key=lambda row: row["ms"]) if timed else None


def cells(result):
    """The cells of one benchmark, its ratios to torch and torch.compile, its share of the copy."""
    name, _, element = result["kernel"].rpartition("_")
    begin = (name, element, "%d x %d" % (result["sizes"]["M"], result["sizes"]["N"]))
    rows = result.get("rows", [])
    ours = best(rows, "lay")
    if not ours:
        row = next((row for row in rows if row["side"] == "lay"), result)
        why = row.get("failure") or row.get("verdict") or "none"
        return begin + (why,) + 5 * ("",), [0, 0], 0
    ratios, texts = [], []
    for side in ("torch", "torch.compile"):
        other = best(rows, side)
        ratios.append(other["ms"] / ours["ms"] if other else 0)
        wrong = any(row["side"] == side and row.get("right") is False for row in rows)
        texts.append("%.3f" % ratios[-1] if other else "wrong" if wrong else "-")
    share = ours.get("share_of_copy", 0)
    rate = ours["bytes"] / ours["ms"] / 1e6
    figures = ("%.2f" % (ours["ms"] * 1e3), "%.0f" % rate, "%.3f" % share if share else "-")
    return begin + (ours["name"].removeprefix("lay "),) + figures + tuple(texts), ratios, share


def mean(values):
    values = [value for value in values if value > 0]
    if not values:
        return "none"
    return "%.3f, least %.3f" % (math.exp(sum(map(math.log, values)) / len(values)), min(values))


def main(paths):
    runs = []
    for path in paths:
        with open(path) as text:
            runs.append(json.load(text))
    print("%s, PyTorch %s" % (runs[0]["device"]["name"], runs[0]["torch"] or "missing"))
    for missing in runs[0]["missing"]:
        print(missing)
    print(LINE % HEAD)
    results = [result for run in runs for result in run["results"]]
    shares, to_torch, to_compiled, below = [], [], [], []
    for result in results:
        texts, ratios, share = cells(result)
        print((LINE % texts).rstrip())
        shares.append(share)
        to_torch.append(ratios[0])
        to_compiled.append(ratios[1])
        floor = 0.95 if result["sizes"]["N"] >= 4096 else 0.85
        if not share >= floor or 0 < ratios[1] < 1:
            below.append(" ".join(texts[:3]))
    print("geometric means: of copy %s; to torch %s; to torch.compile %s" % (
        mean(shares), mean(to_torch), mean(to_compiled)))
    print("%d of %d below 0.95 of the copy (0.85 where N < 4096) or slower than torch.compile%s" % (
        len(below), len(results), ": " + "; ".join(below) if below else ""))
    print(near_text(filter(None, (best(result.get("rows", []), "lay") for result in results))))


if __name__ == "__main__":
    main(sys.argv[1:])
