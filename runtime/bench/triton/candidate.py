"""Compiles products of matrices in Triton for `lay bench`, which runs this with a folder as its
argument and times what comes of it.

folder/request.json   what is multiplied: sizes, strides in elements, types, the epilogue
                      (runtime/bench/triton/triton_request.h)
folder/reply.json     what came of it: {"missing": why there is no Triton to ask}, or {"triton":
                      version, "python": version, "kernels": [...]}, a kernel a configuration
                      (runtime/bench/triton/triton_reply.h)
folder/N.cubin        the code of the kernel number N

Nothing here touches the GPU. Each configuration is compiled in a process of its own, so that one
that crashes the compiler is one that is missing.
"""

import importlib.metadata
import importlib.util
import json
import multiprocessing
import multiprocessing.connection
import os
import platform
import re
import sys

OLDEST = (3, 4)  # tensor descriptors in a kernel

ELEMENTS = {
    "f16": "fp16", "bf16": "bf16", "f32": "fp32", "tf32": "fp32", "e4m3": "fp8e4nv",
    "e5m2": "fp8e5", "s8": "i8",
    "u8": "u8", "s32": "i32",
}
TYPES = {
    "f16": "tl.float16", "bf16": "tl.bfloat16", "f32": "tl.float32", "tf32": "tl.float32",
    "e4m3": "tl.float8e4nv",
    "e5m2": "tl.float8e5", "s8": "tl.int8", "u8": "tl.uint8", "s32": "tl.int32",
}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1, "s32": 4}

# The beginning of both kernels: which tile is meant, in groups of rows so that neighbours in time
# share operands.
PLACE = """
    in_group = GROUP * columns
    first = tile // in_group * GROUP
    height = min(rows - first, GROUP)
    m0 = (first + tile % in_group % height) * BM
    n0 = tile % in_group // height * BN
"""

# One program a tile, operands by pointers.
POINTERS = """
@triton.jit
def pointers({parameters}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
             GROUP: tl.constexpr):
    rows = tl.cdiv(M, BM)
    columns = tl.cdiv(N, BN)
    tile = tl.program_id(0)
    l = tl.program_id(1){wide_l}
{place}
    m = m0 + tl.arange(0, BM)
    n = n0 + tl.arange(0, BN)
    k = tl.arange(0, BK)
{clip}
    left = a + l * a_l + (rows_of_a[:, None] * a_m + k[None, :] * a_k)
    right = b + l * b_l + (k[:, None] * b_k + columns_of_b[None, :] * b_n)
{coordinates}
{reach}
    acc = tl.zeros((BM, BN), dtype={accumulator})
    for k0 in range(0, reach, BK):
        x = tl.load(left{mask_a})
        y = tl.load(right{mask_b})
        acc = tl.dot(x, y, acc{precision}, out_dtype={accumulator})
        left += BK * a_k
        right += BK * b_k
{stores}
"""

# One program an SM, operands by descriptors that TMA reads.
DESCRIPTORS = """
@triton.jit
def descriptors({parameters}, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                GROUP: tl.constexpr,
                PROGRAMS: tl.constexpr):
    rows = tl.cdiv(M, BM)
    columns = tl.cdiv(N, BN)
    of_a = tl.make_tensor_descriptor(a, {shape_a})
    of_b = tl.make_tensor_descriptor(b, {shape_b})
{shape_c}
    for each in tl.range(tl.program_id(0), rows * columns * L, PROGRAMS{loop}):
        l = each // (rows * columns)
        tile = each % (rows * columns)
{place}
{coordinates}
{reach}
        acc = tl.zeros((BM, BN), dtype={accumulator})
        for k0 in range(0, reach, BK):
            x = {load_a}
            y = {load_b}
            acc = tl.dot(x, y, acc{precision}, out_dtype={accumulator})
{stores}
"""

HEAD = """import triton
import triton.language as tl
from triton.language.extra import libdevice
"""


def indented(text, by):
    return "\n".join(" " * by + line if line else line for line in text.strip("\n").split("\n"))


class Product:
    """What is asked for, with an output whose rows are contiguous: of one with contiguous columns
    the transpose."""

    def __init__(self, request):
        self.request = request
        self.sizes = {"M": request["m"], "N": request["n"], "K": request["k"],
                      "L": request["batches"]}
        self.a, self.b, self.c = request["a"], request["b"], request["c"]
        self.others = {"x%d" % i: other for i, other in enumerate(request["others"])}
        # Statements, and the name of what they come to.
        self.value, self.counts = request["value"], request["counts"]
        self.names = {"a": "a", "b": "b", "c": "c"}  # of our tensors, as the request calls them
        if self.c["strides"]["n"] != 1 and self.c["strides"]["m"] == 1:
            self.transpose()
        self.tensors = {"a": self.a, "b": self.b, "c": self.c, **self.others}

    def transpose(self):
        transposed = {"m": "n", "n": "m"}

        def turn(tensor):
            strides = {transposed.get(index, index): s for index, s in tensor["strides"].items()}
            return {**tensor, "strides": strides}

        self.a, self.b, self.c = turn(self.b), turn(self.a), turn(self.c)
        self.names = {"a": "b", "b": "a", "c": "c"}
        self.others = {name: turn(other) for name, other in self.others.items()}
        self.sizes["M"], self.sizes["N"] = self.sizes["N"], self.sizes["M"]

        def swap(text):
            return re.sub(r"\b[mn]\b", lambda match: transposed[match.group()], text)

        def swapped(value):
            return value and {"lines": [swap(line) for line in value["lines"]],
                              "result": swap(value["result"])}

        self.value, self.counts = swapped(self.value), swapped(self.counts)

    def parameters(self):
        """Names in order with the value of each, a tensor's that of the request."""
        listed = [(name, {"tensor": self.names.get(name, name)}) for name in self.tensors]
        listed += list(self.sizes.items())
        for name, tensor in self.tensors.items():
            listed += [("%s_%s" % (name, index), stride)
                       for index, stride in tensor["strides"].items()]
        return listed

    def is_wide(self, tensor):
        return tensor["elements"] >= 2**31

    def signature(self):
        """Types of the parameters, values of those that the compiler is told, and which are
        multiples of 16."""
        types, constants, multiples, arguments = {}, {}, {}, []
        for position, (name, value) in enumerate(self.parameters()):
            if isinstance(value, dict):
                types[name] = "*" + ELEMENTS[self.tensors[name]["type"]]
                multiples[(position,)] = [["tt.divisibility", 16]]
                arguments.append(value)
            elif value == 1 or value == 0:
                types[name] = "constexpr"
                constants[name] = value
            else:
                tensor = self.tensors.get(name.split("_")[0]) if "_" in name else None
                kind = "i64" if tensor and self.is_wide(tensor) or value >= 2**31 else "i32"
                types[name] = kind
                if value % 16 == 0:
                    multiples[(position,)] = [["tt.divisibility", 16]]
                arguments.append({kind: value})
        return types, constants, multiples, arguments

    # --- the parts of the kernels' text ---

    def inside(self, indices):
        tests = ["(%s < %s)" % (index, index.upper()) for index in indices]
        return " & ".join(tests) if tests else None

    def stores(self, config, indent, store):
        """The epilogue of the whole tile, or of its two halves."""
        lines = []
        if config["halves"]:
            lines.append("acc = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))")
            lines.append("part0, part1 = tl.split(acc)")
        for half in range(2 if config["halves"] else 1):
            if config["halves"]:
                lines.append("acc = part%d" % half)
                lines.append("n = (n0 + %d * (BN // 2) + tl.arange(0, BN // 2))[None, :]" % half)
            for name, other in self.others.items():
                indices = [index for index in "mn" if other["strides"].get(index, 0) != 0]
                at = " + ".join("%s * %s_%s" % (index, name, index)
                                for index in other["strides"]) or "0"
                mask = self.inside(indices)
                masked = ", mask=" + mask if mask else ""
                lines.append("value_%s = tl.load(%s + %s%s)" % (name, name, at, masked))
            def loaded(line):
                return re.sub(r"\b(x\d+)\b", r"value_\1", line)

            lines += [loaded(line) for line in self.value["lines"]]
            result = loaded(self.value["result"])
            lines.append("out = tl.cast(%s, %s)" % (result, TYPES[self.c["type"]]))
            halved = " // 2" if config["halves"] else ""
            lines.append("out = tl.broadcast_to(out, (BM, BN%s))" % halved)
            if store == "descriptor":
                at = "n0 + %d * (BN // 2)" % half if config["halves"] else "n0"
                if self.sizes["L"] > 1:
                    block = self.block_c(config)
                    lines.append("of_c.store([l, m0, %s], tl.reshape(out, %s))" % (at, block))
                else:
                    lines.append("of_c.store([m0, %s], out)" % at)
            else:
                lines.append("tl.store(c + l * c_l + m * c_m + n * c_n, out, mask=%s)"
                             % self.inside("mn"))
        return indented("\n".join(lines), indent)

    def reach(self, indent):
        """How far the sum of a tile goes: nowhere where a mask leaves out all of it. One comparison
        of sums is true somewhere in a tile if it is at a corner; of several every element is
        asked."""
        if not self.counts:
            return " " * indent + "reach = K"
        lines = self.counts["lines"]
        orders = sum(bool(re.search("[<>]", line)) for line in lines)
        others = any(re.search("[&|]|==", line) for line in lines + [self.counts["result"]])
        corners = orders == 1 and not others
        shape = "(2, 2)" if corners else "(BM, BN)"
        counts = "tl.broadcast_to(%s, %s)" % (self.counts["result"], shape)
        lines = list(self.counts["lines"])
        if corners:
            lines = ["m = tl.minimum(m0 + (BM - 1) * tl.arange(0, 2), M - 1)[:, None]",
                     "n = tl.minimum(n0 + (BN - 1) * tl.arange(0, 2), N - 1)[None, :]"] + lines
        else:
            counts += " & %s" % self.inside("mn")
        lines.append("reach = tl.where(tl.max(tl.max((%s).to(tl.int32), 1), 0) > 0, K, 0)" % counts)
        if corners:
            lines += self.coordinates()
        return indented("\n".join(lines), indent)

    def coordinates(self):
        return ["m = (m0 + tl.arange(0, BM))[:, None]", "n = (n0 + tl.arange(0, BN))[None, :]"]

    def precision(self):
        if self.a["type"] not in ("f32", "tf32"):
            return ""
        return ', input_precision="%s"' % ("tf32" if self.request["tf32"] else "ieee")

    def head(self):
        return ", ".join(
            name + (": tl.constexpr" if value in (0, 1) and not isinstance(value, dict) else "")
            for name, value in self.parameters())

    def common(self, indent):
        return {
            "parameters": self.head(),
            "coordinates": indented("\n".join(self.coordinates()), indent),
            "reach": self.reach(indent),
            "precision": self.precision(),
            "accumulator": TYPES[self.request["accumulator"]],
        }

    def pointers(self, config):
        def even(index, block):
            return self.sizes[index.upper()] % block == 0

        clip = []
        for index, block, name in (("m", "BM", "rows_of_a"), ("n", "BN", "columns_of_b")):
            if even(index, config[block]):
                clip.append("%s = %s" % (name, index))
            else:  # beyond the end the first is read again; what comes of it is not stored
                clip.append("%s = tl.where(%s < %s, %s, 0)" % (name, index, index.upper(), index))
                clip.append("%s = tl.max_contiguous(tl.multiple_of(%s, %s), %s)"
                            % (name, name, block, block))
        wide = any(self.is_wide(tensor) for tensor in self.tensors.values())
        masks = {"mask_a": "", "mask_b": ""}
        if not even("k", config["BK"]):
            masks = {"mask_a": ", mask=k[None, :] < K - k0, other=0",
                     "mask_b": ", mask=k[:, None] < K - k0, other=0"}
        return POINTERS.format(place=PLACE.strip("\n"), clip=indented("\n".join(clip), 4),
                               stores=self.stores(config, 4, "pointer"),
                               wide_l=".to(tl.int64)" if wide else "", **masks, **self.common(4))

    def along(self, tensor, outer, inner):
        """Which of two indices is the one of neighbours that TMA can read, if any."""
        for fast, slow in ((inner, outer), (outer, inner)):
            strides = [tensor["strides"][slow]]
            if self.sizes["L"] > 1:
                strides.append(tensor["strides"]["l"])
            aligned = all(s * BYTES[tensor["type"]] % 16 == 0 and s > 0 for s in strides)
            if tensor["strides"][fast] == 1 and aligned:
                return fast
        return None

    def block_c(self, config):
        width = "BN // 2" if config["halves"] else "BN"
        return "[1, BM, %s]" % width if self.sizes["L"] > 1 else "[BM, %s]" % width

    def descriptors(self, config):
        """The text, or None where TMA cannot read the operands."""
        along_a, along_b = self.along(self.a, "m", "k"), self.along(self.b, "n", "k")
        if not along_a or not along_b:
            return None
        batched = self.sizes["L"] > 1
        blocks = {"m": "BM", "n": "BN", "k": "BK"}

        def shape(name, slow, fast, width=None):
            extents, strides = [slow.upper(), fast.upper()], ["%s_%s" % (name, slow), "1"]
            sides = [blocks[slow], width or blocks[fast]]
            if batched:
                extents, strides, sides = ["L"] + extents, [name + "_l"] + strides, ["1"] + sides
            return "shape=[%s], strides=[%s], block_shape=[%s]" % tuple(
                ", ".join(each) for each in (extents, strides, sides))

        def load(name, slow, fast, wanted):
            text = "of_%s.load([%s%s, %s])" % (name, "l, " if batched else "", slow + "0",
                                               fast + "0")
            if batched:
                text += ".reshape(%s, %s)" % (blocks[slow], blocks[fast])
            return text if (slow, fast) == wanted else text + ".T"

        slow_a, slow_b = ("m" if along_a == "k" else "k"), ("n" if along_b == "k" else "k")
        by_descriptor = self.along(self.c, "m", "n") == "n"
        shape_c = ""
        if by_descriptor:
            width = "BN // 2" if config["halves"] else "BN"
            shape_c = "    of_c = tl.make_tensor_descriptor(c, %s)" % shape("c", "m", "n", width)
        loop = ", flatten=True" if config["flatten"] else ""
        return DESCRIPTORS.format(
            place=indented(PLACE.replace("\n    ", "\n"), 8), shape_a=shape("a", slow_a, along_a),
            shape_b=shape("b", slow_b, along_b),
            shape_c=shape_c, load_a=load("a", slow_a, along_a, ("m", "k")),
            load_b=load("b", slow_b, along_b, ("k", "n")),
            loop=loop, stores=self.stores(config, 8, "descriptor" if by_descriptor else "pointer"),
            **self.common(8))

    def text(self, config):
        """The module that defines the kernel, and the kernel's name; None where there is none for
        these operands."""
        body = self.pointers(config) if config["kernel"] == "pointers" else self.descriptors(config)
        return HEAD + "\n" + body.replace("\n\n\n", "\n") if body else None

    def grid(self, config, sms):
        tiles = -(-self.sizes["M"] // config["BM"]) * -(-self.sizes["N"] // config["BN"])
        if config["kernel"] == "pointers":
            return [tiles, self.sizes["L"], 1]
        return [min(sms, tiles * self.sizes["L"]), 1, 1]


def configuration(kernel, bm, bn, bk, stages, warps, halves=False, flatten=False, group=8):
    return {"kernel": kernel, "BM": bm, "BN": bn, "BK": bk, "GROUP": group, "stages": stages,
            "warps": warps,
            "halves": halves, "flatten": flatten}


def words(config):
    extra = "".join(", " + word for word in ("halves", "flatten") if config[word])
    return "%s %dx%dx%d, %d stages, %d warps%s" % (
        config["kernel"], config["BM"], config["BN"], config["BK"], config["stages"],
        config["warps"], extra)


def compiled(product, config, number, folder, capability, sms):
    """The reply's entry for one configuration; its code goes to folder/NUMBER.cubin."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    text = product.text(config)
    path = os.path.join(folder, "product_%d.py" % number)
    with open(path, "w") as out:
        out.write(text)
    spec = importlib.util.spec_from_file_location("product_%d" % number, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, config["kernel"])

    types, constants, multiples, arguments = product.signature()
    told = {name: config[name] for name in ("BM", "BN", "BK", "GROUP")}
    if config["kernel"] == "descriptors":
        told["PROGRAMS"] = sms
    types.update({name: "constexpr" for name in told})
    source = ASTSource(fn=kernel, signature=types, constexprs={**constants, **told},
                       attrs=multiples)
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32),
                          options={"num_warps": config["warps"], "num_stages": config["stages"]})
    metadata = made.metadata
    with open(os.path.join(folder, "%d.cubin" % number), "wb") as out:
        out.write(made.asm["cubin"])

    # Pointers that the compiler adds behind the kernel's own parameters: to memory of each
    # program, then to a profile.
    entry = re.search(r"\.entry\s+\w+\s*\((.*?)\)", made.asm["ptx"], re.S).group(1)
    added = len(re.findall(r"\.param\b", entry)) - len(arguments)
    sizes = [getattr(metadata, "global_scratch_size", 0) or 0,
             getattr(metadata, "profile_scratch_size", 0) or 0]
    if added < 0 or added > len(sizes):
        raise RuntimeError("a kernel with %d parameters more than were written" % added)
    arguments = arguments + [{"scratch": size} for size in sizes[:added]]
    return {
        "name": words(config), "function": metadata.name, "file": "%d.cubin" % number,
        "grid": product.grid(config, sms), "threads": 32 * metadata.num_warps,
        "blocks_of_cluster": metadata.num_ctas, "shared": metadata.shared, "arguments": arguments,
    }


def in_process(work, number, folder):
    """Of a child: what it made, or why not, as a file for the parent."""
    try:
        result = work()
    except BaseException as error:  # also what a compiler raises that is no Exception
        last = [line for line in str(error).strip().split("\n") if line.strip()]
        result = {"failure": "%s: %s" % (type(error).__name__, last[0][:200] if last else "")}
    path = os.path.join(folder, "%d.json" % number)
    with open(path + ".part", "w") as out:
        json.dump(result, out)
    os.rename(path + ".part", path)


def compile_all(product, configs, folder, capability, sms):
    fork = multiprocessing.get_context("fork")
    waiting, running, results = list(enumerate(configs)), [], {}
    while waiting or running:
        while waiting and len(running) < max(2, os.cpu_count() or 2):
            number, config = waiting.pop(0)

            def work(number=number, config=config):
                return compiled(product, config, number, folder, capability, sms)

            child = fork.Process(target=in_process, args=(work, number, folder))
            child.start()
            running.append((number, child))
        multiprocessing.connection.wait([child.sentinel for _, child in running])
        for number, child in [each for each in running if not each[1].is_alive()]:
            child.join()
            running.remove((number, child))
            path = os.path.join(folder, "%d.json" % number)
            results[number] = {"failure": "the compiler ended with %s" % child.exitcode}
            if os.path.exists(path):
                with open(path) as text:
                    results[number] = json.load(text)
    return [{"name": words(config), **results[number]} for number, config in enumerate(configs)]


# The configurations, among 27, that did best in one class of sizes or another, on an H200 with
# Triton 3.6 (2026-11-22). K of a tile counts rows of 128 bytes.
LARGE = (
    ("descriptors", 128, 256, 1, 3, 8), ("descriptors", 128, 256, 1, 3, 8, True),
    ("descriptors", 128, 256, 1, 4, 8, True, True), ("descriptors", 128, 256, 1, 3, 8, False, True),
    ("descriptors", 128, 128, 1, 4, 8, True, True), ("pointers", 256, 128, 1, 3, 8),
    ("pointers", 128, 256, 1, 4, 8),
    ("pointers", 128, 128, 1, 3, 8), ("pointers", 128, 128, 1, 4, 4),
)
SMALL = (
    ("pointers", 64, 32, 2, 4, 4), ("pointers", 64, 64, 2, 4, 4), ("pointers", 64, 64, 1, 6, 4),
    ("pointers", 64, 128, 1, 4, 4), ("pointers", 128, 128, 1, 4, 8),
    ("descriptors", 64, 64, 2, 4, 4),
    ("descriptors", 64, 128, 1, 4, 4), ("descriptors", 128, 128, 1, 4, 8, True, True),
)
FEW_ROWS = (
    ("pointers", 16, 32, 4, 4, 2), ("pointers", 16, 32, 4, 4, 4), ("pointers", 16, 32, 2, 6, 4),
    ("pointers", 16, 64, 2, 4, 4), ("pointers", 16, 128, 2, 4, 4),
)
# f32 without tensor cores, K in elements: what is unrolled has to stay small.
EXACT = (("pointers", 128, 128, 16, 2, 8), ("pointers", 64, 64, 32, 2, 4),
         ("pointers", 128, 64, 16, 3, 8))


def proposed(product):
    if product.a["type"] in ("f32", "tf32") and not product.request["tf32"]:
        return [configuration(*each) for each in EXACT]
    m, n = product.sizes["M"], product.sizes["N"]
    few = min(m, n) <= 32
    rows = FEW_ROWS if few else SMALL if m * n * product.sizes["L"] <= 2048 * 1024 else LARGE
    made = []
    for kernel, bm, bn, spans, *rest in rows:
        if few and n < m:
            bm, bn = bn, bm
        made.append(configuration(kernel, bm, bn, spans * 128 // BYTES[product.a["type"]], *rest))
    return made


def configurations(product):
    return [each for each in proposed(product) if each["kernel"] == "pointers"
            or product.descriptors(each)]


def version():
    """Of Triton; SystemExit with the reason where there is none to ask."""
    if importlib.util.find_spec("triton") is None:
        raise SystemExit("%s has no module triton" % sys.executable)
    try:
        found = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        import triton
        found = triton.__version__
    numbers = tuple(int(number) for number in re.findall(r"\d+", found)[:2])
    if numbers < OLDEST:
        raise SystemExit("Triton %s is older than %d.%d" % ((found,) + OLDEST))
    return found


def answer(folder):
    try:
        found = version()
    except SystemExit as why:
        return {"missing": str(why)}
    reply = {"triton": found, "python": platform.python_version()}
    asked = os.path.join(folder, "request.json")
    if not os.path.exists(asked):
        return reply
    import triton  # once, for all children

    with open(asked) as text:
        request = json.load(text)
    product = Product(request)
    reply["kernels"] = compile_all(product, configurations(product), folder, request["capability"],
                                   request["sms"])
    return reply


def main(folder):
    reply = answer(folder)
    path = os.path.join(folder, "reply.json")
    with open(path + ".part", "w") as out:
        json.dump(reply, out)
    os.rename(path + ".part", path)


if __name__ == "__main__":
    main(sys.argv[1])
