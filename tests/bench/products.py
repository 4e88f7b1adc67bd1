"""The table of tests/bench/products.sh, from the JSON of `lay bench`:

  tests/bench/products.py --head FILE      the machine and the names of the columns
  tests/bench/products.py FILE...          a line for each problem
  tests/bench/products.py --foot FILE...   geometric means, what is below its floor, and forecasts

A ratio is a baseline's time by ours: above 1 we are faster.
"""

import json
import math
import re
import sys

from forecasts import near_text

LINE = "%-22s %-30s %-26s %10s %8s  %s"
HEAD = ("kernel", "sizes", "variant", "us", "TFLOP/s", "baseline ratio (its TFLOP/s), ...")


def attention(head):
    return lambda s: 4 * s["B"] * s["H"] * s["S"] ** 2 * head


def conv(stride):
    return lambda s: 2 * s["B"] * ((s["S"] - 1) // stride + 1) ** 2 * 9 * s["C"] * s["F"]


def gemm(*extents):
    """Two operations for each combination of the extents' values; a number counts as itself."""
    return lambda s: 2 * math.prod(s.get(each, each) for each in extents)


# By kernel: operations, and the floors: what its ratio to a baseline is to reach, a number or one
# for each problem's sizes.
KERNELS = {
    "swiglu": (gemm(2, "M", "N", "K"), {"torch": 1.05, "torch.compile": 1.05}),
    "joined": (gemm("B", "S", "H", "D", "N"), {"torch equal GEMM": 0.95}),
    "over_two": (gemm("M", "N", "K", "L"), {"torch equal GEMM": 0.95}),
    "transposed": (gemm("B", "M", "N", "K"), {"torch equal GEMM": 0.95}),
    "heads": (gemm("B", "S", "H", "D", "K"), {"torch equal GEMM": 0.95}),
    "interleaved": (gemm("L", "M", "N", "K"), {"torch equal GEMM": 0.95}),
    "batches": (gemm("L", "M", "N", "K"), {"torch equal GEMM": 0.95}),
    "conv": (conv(1), {"torch": 0.85}),
    "conv_strided": (conv(2), {"torch": 0.85}),
    "scaled_blocks": (gemm("M", 128, "N", 128, "K"), {"torch": 0.95}),
    "scaled_rows": (gemm("M", "N", "K"), {"torch": 0.95}),
    "w8a16": (gemm("M", "N", "K"), {"torch equal GEMM": 1.5}),
    "w8a16_groups": (gemm("M", "N", 128, "K"), {"torch equal GEMM": 1.5}),
    "w4a16": (gemm("M", "N", 128, "K"),
              {"torch equal GEMM": lambda s: 2.0 if s["M"] == 1 else 1.5}),
    "attention_shared": (lambda s: 8 * attention(128)(s) / 2, {"torch cuDNN": 0.75}),
    "grouped": (gemm("T", "N", "K"), {"torch": 0.95}),
    "unsorted": (gemm("T", "N", "K"), {}),
    "gated": (gemm("T", "N", "K"), {}),
}
for head in (64, 128, 256):
    of_all = attention(head)
    KERNELS["attention_%d" % head] = (of_all, {"torch cuDNN": 0.75})
    KERNELS["attention_%d_causal" % head] = (lambda s, f=of_all: f(s) / 2, {"torch cuDNN": 0.75})


def best_of_ours(result):
    timed = [row for row in result.get("rows", ())
             if row["side"] == "lay" and "ms" in row and row["right"]]
    return min(timed, key=lambda row: row["ms"]) if timed else None


def rate(result, row):
    """TFLOP/s of a row as text."""
    if result["kernel"] not in KERNELS:
        return "-"
    return "%.0f" % (KERNELS[result["kernel"]][0](result["sizes"]) / row["ms"] / 1e9)


def ratios(result):
    """By the baseline's name; of those that are right, where ours is."""
    ours = best_of_ours(result)
    return {row["name"]: row["ms"] / ours["ms"] for row in result.get("rows", ())
            if ours and row["side"] != "lay" and "ms" in row and row["right"]}


def words(row):
    """The reason why a row has no time that counts; None if it has one."""
    if "failure" in row:
        return row["failure"]
    return None if row["right"] else row["verdict"]


def lines(result):
    sizes = " ".join("%s=%d" % each for each in result["sizes"].items())
    if "failure" in result:
        return [LINE % (result["kernel"], sizes, "-", "", "", result["failure"])]
    ours, beside = best_of_ours(result), ratios(result)
    baselines, below = [], []
    for row in result["rows"]:
        why = words(row)
        if why:
            below.append("    %s: %s" % (row["name"], why))
        elif row["side"] != "lay":
            ratio = "%.3f " % beside[row["name"]] if ours else ""
            baselines.append("%s %s(%s)" % (row["name"], ratio, rate(result, row)))
    below += ["    " + note for note in result["notes"] if note.startswith("no PyTorch baseline")]
    figures = ("-", "", "")
    if ours:
        name = ours["name"].removeprefix("lay ")
        figures = (name, "%.2f" % (ours["ms"] * 1e3), rate(result, ours))
    text = LINE % ((result["kernel"], sizes) + figures + (", ".join(baselines) or "-",))
    return [text] + below


def better_backend(result, name):
    """The ratio to a baseline; of attention to the better one of PyTorch's two."""
    beside = ratios(result)
    if name == "torch cuDNN":
        both = [beside[each] for each in (name, "torch flash") if each in beside]
        return min(both) if both else None
    return beside.get(name)


def mean(values):
    return "%.3f, least %.3f" % (math.exp(sum(map(math.log, values)) / len(values)), min(values))


def foot(results):
    """Means by kernel, for attention without its size of head, and what misses a floor."""
    means, below, unmeasured = {}, [], 0
    for result in results:
        unmeasured += best_of_ours(result) is None
        for name, floor in KERNELS.get(result["kernel"], (None, {}))[1].items():
            floor = floor(result["sizes"]) if callable(floor) else floor
            ratio = better_backend(result, name)
            if ratio is None:
                continue
            kind = re.sub(r"_\d+", "", result["kernel"])
            to = "the better backend" if name == "torch cuDNN" else name
            means.setdefault((kind, to, floor), []).append(ratio)
            if ratio < floor:
                sizes = ",".join("%s=%d" % each for each in result["sizes"].items())
                below.append("%s %s: %.3f of %s" % (result["kernel"], sizes, ratio, to))
    made = ["geometric means of ratios, by kernel:"]
    made += ["  %-18s to %-20s %s (%d; floor %.2f)" % (kind, to, mean(values), len(values), floor)
             for (kind, to, floor), values in means.items()]
    made += ["%d below their floors%s" % (len(below), ":" if below else "")]
    made += ["  " + each for each in below]
    made += ["%d of %d problems without a kernel of ours that is right" % (
        unmeasured, len(results))]
    return made + [near_text(filter(None, map(best_of_ours, results)))]


def heading(run):
    made = ["%s, PyTorch %s" % (run["device"]["name"], run["torch"] or "missing")]
    return made + run["missing"] + [LINE % HEAD]


def main(arguments):
    part = arguments.pop(0) if arguments[0].startswith("--") else ""
    runs = []
    for path in arguments:
        with open(path) as text:
            runs.append(json.load(text))
    results = [result for run in runs for result in run["results"]]
    if part == "--head":
        made = heading(runs[0])
    elif part == "--foot":
        made = foot(results)
    else:
        made = [line for result in results for line in lines(result)]
    for line in made:
        print(line.rstrip(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
