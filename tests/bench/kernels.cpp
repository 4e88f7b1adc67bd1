#include "tests/bench/kernels.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "frontend/sema/evaluator.h"

namespace lay::bench {

std::vector<sema::KernelPtr> kernels_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + ": the script cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Sources sources;
  sema::Evaluator evaluator(sources, {}, {sema::Mode::check, {}});
  for (const sema::Outcome& outcome : evaluator.run(path, text))
    for (const Diagnostic& each : outcome.diagnostics.list())
      throw std::runtime_error(path + ": " + each.code + ": " + each.message);
  return evaluator.kernels();
}

}  // namespace lay::bench
