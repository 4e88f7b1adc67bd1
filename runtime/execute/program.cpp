#include "runtime/execute/program.h"

#include <utility>

namespace lay::runtime {
namespace {

sema::Host calling(sema::Host host, Executor& executor) {
  host.call = [&executor](const sema::KernelCall& call) { return executor.run(call); };
  return host;
}

}  // namespace

Program::Program(sema::Host host, ProgramOptions options)
    : executor(sources, options.on, std::move(options.log), std::move(options.host)),
      evaluator(sources, calling(std::move(host), executor), std::move(options.evaluation)) {}

}  // namespace lay::runtime
