// PyTorch as a baseline, if the machine has Python and PyTorch. A program of ours in Python
// (runtime/bench/torch/candidate.py, embedded) keeps running beside us: it gets a problem's inputs
// and the function that torch_text.h makes, computes the outputs once for a check, and times the
// function when its turn comes. It has the GPU for itself then, with as many sets of operands as we
// have and the same number of launches in a graph.
//
//   std::string why;
//   if (auto torch = Torch::open(limit, &why)) {
//     torch->start(problem, function, before, sets, launches);
//     const auto made = torch->computed(function.ways[0]);  // made.outputs to check,
//     made.launcher->time_graphs(10, 10);             // milliseconds a launch
//   }
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/bench/problem/data.h"
#include "runtime/bench/protocol.h"
#include "runtime/bench/torch/torch_text.h"
#include "runtime/compile/child.h"

namespace lay::bench {

class Torch {
 public:
  // Looks for Python and PyTorch. Returns null if one is missing or finds no GPU; `why_not` then
  // says which. `limit` is the time that Python has to compute a problem in one mode.
  static std::unique_ptr<Torch> open(std::chrono::milliseconds limit, std::string* why_not);

  const std::string& version() const { return version_; }  // "2.9.0, Python 3.12.3"

  // Gives Python the problem that all else is about from now on. `before` holds the inputs. Throws
  // NotMeasured, and does not try again after an answer that took too long.
  void start(const Problem& problem, const TorchFunction& function, const HostData& before,
             int sets, int launches);

  struct Made {
    // Times the function; valid until the next start().
    std::shared_ptr<RemoteLauncher> launcher;
    // The outputs, by TensorId.
    HostData outputs;
    // A remark on the launches; empty if they are recorded in graphs.
    std::string detail;
  };
  // Computes the problem's outputs in one of the function's ways. Throws NotMeasured.
  Made computed(const TorchWay& way);

 private:
  friend class TorchLauncher;

  Torch(std::string python, std::chrono::milliseconds limit);
  // Sends a request, none if it is empty, and returns the JSON of the answer. Throws NotMeasured.
  std::string ask(const std::string& request, std::chrono::milliseconds limit);

  struct Output {
    sema::TensorId tensor;
    std::string file;
    std::size_t bytes;
  };

  std::string python_, version_;
  std::chrono::milliseconds limit_;
  const runtime::PrivateFolder folder_;
  std::unique_ptr<runtime::ChildDialogue> dialogue_;
  // The reason why Python is not asked again; empty if it may be.
  std::string gave_up_;
  std::vector<Output> outputs_;
  std::size_t tensors_ = 0;
};

}  // namespace lay::bench
