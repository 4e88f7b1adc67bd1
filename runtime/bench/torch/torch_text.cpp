#include "runtime/bench/torch/torch_text.h"

#include "runtime/bench/torch/torch_writer.h"

namespace lay::bench {

namespace {

using torch::Alternative;
using torch::Written;

// The module of several functions, and the ways that they are computed in.
class Module {
 public:
  explicit Module(const Written& written) {
    made_.inputs = written.inputs;
    made_.outputs = written.outputs;
    made_.tf32 = written.tf32;
  }

  void add(const Written& written) {
    set_up_.insert(written.set_up.begin(), written.set_up.end());
    functions_ += "\n\n" + written.text;
  }

  void add_way(const std::string& name, const Written& written, const std::string& mode) {
    made_.ways.push_back(
        {name, written.name, mode, written.calls, written.roundoff, written.is_equal_gemm});
  }

  TorchFunction finish() {
    made_.text = "import torch\nimport torch.nn.functional as F\n";
    if (!set_up_.empty()) made_.text += "\n";
    for (const std::string& line : set_up_) made_.text += line + "\n";
    made_.text += functions_;
    return std::move(made_);
  }

 private:
  TorchFunction made_;
  std::set<std::string> set_up_;
  std::string functions_;
};

void add_alternative(Module& module, const Problem& problem, Alternative alternative,
                     const std::string& name) {
  const Written written = torch::Writer(problem, alternative).write();
  module.add(written);
  module.add_way(name, written, "eager");
}

}  // namespace

TorchFunction torch_function(const Problem& problem) {
  const Written plain = torch::Writer(problem, Alternative::plain).write();
  Module made(plain);
  // One of the two is what PyTorch would choose: both are timed.
  if (plain.has_attention) {
    add_alternative(made, problem, Alternative::cudnn, "torch cuDNN");
    add_alternative(made, problem, Alternative::flash, "torch flash");
  } else {
    made.add(plain);
    made.add_way("torch", plain, "eager");
  }
  if (!plain.is_one_call) {
    if (plain.has_attention) made.add(plain);
    made.add_way("torch.compile", plain, "default");
  }
  if (plain.copies_operands) {
    const Written equal = torch::Writer(problem, Alternative::equal_gemm).write();
    if (equal.is_equal_gemm) {
      made.add(equal);
      made.add_way("torch equal GEMM", equal, "eager");
    }
  }
  return made.finish();
}

}  // namespace lay::bench
