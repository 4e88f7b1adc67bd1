"""Kernels as functions of PyTorch, computed and timed for `lay bench`, which runs this with a
folder as its argument and talks with it in lines of JSON (runtime/bench/torch/torch.h). It says
first what there is:

  {"missing": why there is no PyTorch to ask}   or   {"torch": version, "python": version}

and answers each request by one line; {"failure": why} where it cannot:

  {"do": "problem", "text": a module with functions, "tf32": false, "sets": 2,
   "launches": 20, "outputs": [...],
   "inputs": [{"type": "bf16", "bytes": 128, "shape": [8, 8], "strides": [8, 1], "file": path}]}
      {}
  {"do": "compute", "mode": "eager", "function": "computed"}
      {"detail": ""}, and the outputs are in their files
  {"do": "graphs", "mode": "eager", "untimed": 3, "replays": 3, "function": "computed"}
      {"ms": milliseconds a launch}
  {"do": "singles", "mode": "eager", "first": 0, "count": 20, "function": "computed"}
      {"ms": [milliseconds, ...]}

A mode is "eager", or a mode of torch.compile. A module that has `computed_x` may have `prepared_x`,
which makes the parameters of `computed_x` of the inputs, once for each set of operands.
"""

import collections
import gc
import importlib.util
import json
import os
import platform
import sys

TYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "tf32": "float32", "f64": "float64",
    "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "s8": "int8", "u8": "uint8", "s16": "int16",
    "s32": "int32", "s64": "int64",
}


class Tensor:
    """A tensor's memory on the GPU, gaps included, and its elements as they are indexed."""

    def __init__(self, asked, memory):
        import torch

        self.memory = memory
        elements = memory.view(getattr(torch, TYPES[asked["type"]]))
        self.view = elements.as_strided(asked["shape"], asked["strides"])


def read(asked):
    """The bytes of an input, on the GPU."""
    import torch

    size = os.path.getsize(asked["file"])
    return torch.from_file(asked["file"], shared=False, size=size, dtype=torch.uint8).cuda()


def write(asked, values):
    """Stores an output in its memory, which holds NaN in gaps, and that in its file."""
    import torch

    size = asked["bytes"]
    tensor = Tensor(asked, torch.full((size,), 0xFF, dtype=torch.uint8, device="cuda"))
    if list(values.shape) != asked["shape"] or values.dtype != tensor.view.dtype:
        raise RuntimeError("a result of %s %s" % (list(values.shape), values.dtype))
    tensor.view.copy_(values)
    torch.from_file(asked["file"], shared=True, size=size, dtype=torch.uint8).copy_(tensor.memory)


class Recorded:
    """A function's launches on one set of operands after another, in graphs."""

    def __init__(self, function, sets, launches):
        import torch

        self.function, self.sets, self.launches = function, sets, launches
        self.stream = torch.cuda.Stream()
        self.stream.wait_stream(torch.cuda.current_stream())
        # Keeps as many results as sets: fewer would be written to memory that L2 holds.
        self.results = collections.deque(maxlen=len(sets))
        self.next = 0
        self.graphs, self.detail = [], ""
        with torch.cuda.stream(self.stream):
            for each in sets[:2]:
                function(*each)
        torch.cuda.synchronize()
        self.count = -(-len(sets) // launches)
        pool = torch.cuda.graph_pool_handle()
        try:
            for _ in range(self.count):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool, stream=self.stream):
                    self.launch()
                self.graphs.append(graph)
        except Exception as error:
            self.graphs, self.detail = [], "launched by Python: " + words(error)
            torch.cuda.synchronize()

    def launch(self):
        for _ in range(self.launches):
            self.results.append(self.function(*self.sets[self.next % len(self.sets)]))
            self.next += 1

    def replay(self, times):
        for _ in range(times):
            for graph in self.graphs:
                graph.replay()
            if not self.graphs:
                for _ in range(self.count):
                    self.launch()

    def time(self, untimed, replays):
        import torch

        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self.stream):
            self.replay(untimed)
            begin.record()
            self.replay(replays)
            end.record()
        end.synchronize()
        return begin.elapsed_time(end) / (replays * self.count * self.launches)

    def singles(self, first, count):
        import torch

        times = []
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        with torch.cuda.stream(self.stream):
            for i in range(first, first + count):
                begin.record()
                self.function(*self.sets[i % len(self.sets)])
                end.record()
                end.synchronize()
                times.append(begin.elapsed_time(end))
        return times


class Problem:
    def __init__(self, asked, folder, number):
        import torch

        torch.set_float32_matmul_precision("high" if asked["tf32"] else "highest")
        self.asked, self.recorded = asked, {}
        path = os.path.join(folder, "problem_%d.py" % number)
        with open(path, "w") as out:
            out.write(asked["text"])
        spec = importlib.util.spec_from_file_location("problem_%d" % number, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.module = module
        memory = [read(each) for each in asked["inputs"]]
        self.sets = []
        for i in range(asked["sets"]):
            copies = memory if i == 0 else [each.clone() for each in memory]
            self.sets.append(
                [Tensor(each, copy).view for each, copy in zip(asked["inputs"], copies)])

    def compute(self, name, mode):
        import torch

        function = getattr(self.module, name)
        prepare = getattr(self.module, name.replace("computed", "prepared"), None)
        sets = [prepare(*each) for each in self.sets] if prepare else self.sets
        if mode != "eager":
            torch.compiler.reset()
            function = torch.compile(function, dynamic=False, mode=mode)
        for asked, values in zip(self.asked["outputs"], function(*sets[0])):
            write(asked, values)
        recorded = Recorded(function, sets, self.asked["launches"])
        self.recorded[name, mode] = recorded
        return {"detail": recorded.detail}


def words(error):
    """What went wrong, in a line."""
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    return "%s: %s" % (type(error).__name__, lines[0][:200] if lines else "")


class Server:
    def __init__(self, folder):
        self.folder, self.problem, self.number = folder, None, 0

    def answer(self, asked):
        if asked["do"] == "problem":
            self.problem = None  # its memory is free before that of the next is taken
            gc.collect()
            import torch

            torch.cuda.empty_cache()
            self.number += 1
            self.problem = Problem(asked, self.folder, self.number)
            return {}
        if asked["do"] == "compute":
            return self.problem.compute(asked["function"], asked["mode"])
        recorded = self.problem.recorded[asked["function"], asked["mode"]]
        if asked["do"] == "graphs":
            return {"ms": recorded.time(asked["untimed"], asked["replays"])}
        if asked["do"] == "singles":
            return {"ms": recorded.singles(asked["first"], asked["count"])}
        raise ValueError("asked to " + asked["do"])


def what_there_is():
    if importlib.util.find_spec("torch") is None:
        return {"missing": "%s has no module torch" % sys.executable}
    try:
        import torch
    except Exception as error:
        return {"missing": "torch is not imported: " + words(error)}
    if not torch.cuda.is_available():
        return {"missing": "PyTorch %s finds no GPU" % torch.__version__}
    torch.set_grad_enabled(False)
    return {"torch": torch.__version__, "python": platform.python_version()}


def main(folder):
    # Libraries write to the standard output too: theirs is the log.
    requests, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    # The folder of this program is no place to import from.
    here = os.path.realpath(folder)
    sys.path = [each for each in sys.path if os.path.realpath(each or ".") != here]

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    found = what_there_is()
    say(found)
    server = Server(folder)
    for line in requests if "torch" in found else []:
        try:
            answer = server.answer(json.loads(line))
        except Exception as error:
            answer = {"failure": words(error)}
        say(answer)


if __name__ == "__main__":
    main(sys.argv[1])
