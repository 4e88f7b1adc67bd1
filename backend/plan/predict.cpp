#include "backend/plan/predict.h"

#include <algorithm>

#include "backend/plan/axes.h"
#include "backend/plan/copies.h"
#include "backend/plan/order.h"
#include "backend/plan/recognise.h"
#include "backend/plan/sm80.h"
#include "backend/plan/sm80_operand.h"
#include "backend/plan/sm90.h"
#include "backend/plan/sm90_store.h"
#include "frontend/algebra/banks.h"
#include "frontend/algebra/operations.h"

namespace lay::plan {

namespace {

Int extent(const sema::Kernel& kernel, sema::IndexId index) {
  return kernel.index(index).extent;
}

Int product(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices) {
  Int result = 1;
  for (sema::IndexId index : indices) result *= extent(kernel, index);
  return result;
}

// Every element of an input once.
Int input_bytes(const sema::Kernel& kernel) {
  Int result = 0;
  for (const sema::Tensor& tensor : kernel.tensors) {
    if (tensor.access == sema::Access::input) result += size(tensor.layout) * tensor.element_bytes();
  }
  return result;
}

// Every element of an output once, and what an inout reads.
Int output_bytes(const sema::Kernel& kernel) {
  Int result = 0;
  for (const sema::Assignment& assignment : kernel.assignments) {
    const auto& tensor = kernel.tensor(assignment.target);
    const int times = tensor.access == sema::Access::inout ? 2 : 1;
    result += product(kernel, assignment.indices) * tensor.element_bytes() * times;
  }
  return result;
}

// The products, and what they move where so much of the output loads its operands together.
template <class Gemm>
void take_totals(Prediction& result, const sema::Kernel& kernel, const Gemm& gemm, const std::array<int, 2>& tile) {
  const Int m = extent(kernel, gemm.m), n = extent(kernel, gemm.n), k = extent(kernel, gemm.k);
  const Int batches = product(kernel, gemm.batch);
  const Int a = m * k * tiles(kernel, gemm.n, tile[1]) * kernel.loaded(gemm.a.load).element_bytes();
  const Int b = n * k * tiles(kernel, gemm.m, tile[0]) * kernel.loaded(gemm.b.load).element_bytes();
  result.global_bytes = (a + b) * batches + output_bytes(kernel);
  result.flops = 2 * m * n * k * batches;
}

int staged_accesses(const OperandCopy& copy) {
  return static_cast<int>(size(copy.threads[1][1]).value());
}

}  // namespace

int least_registers(const SimtGemm& gemm) {
  const auto repeats = gemm.repeats();
  const int m = repeats[0] * gemm.lane_tile[0], n = repeats[1] * gemm.lane_tile[1];
  const int staged = (gemm.tile[0] + gemm.tile[1]) * gemm.tile[2] / gemm.threads();
  return (m * n + m + n + staged) * bits(gemm.accumulator) / 32;
}

int predict_registers(const SimtGemm& gemm) {
  // An access to global memory keeps an address and a condition; the rest was read off compiled kernels.
  const int accesses = staged_accesses(gemm.a) + staged_accesses(gemm.b);
  constexpr int access = 2, rest = 36;
  return least_registers(gemm) + access * accesses + rest;
}

int blocks_per_multiprocessor(const SimtGemm& gemm, const Target& target) {
  constexpr int threads_wanted = 512;
  const int by_registers = target.multiprocessor_registers / (gemm.threads() * predict_registers(gemm));
  return std::clamp(by_registers, 1, std::max(1, threads_wanted / gemm.threads()));
}

Prediction predict(const sema::Kernel& kernel, const SimtGemm& gemm) {
  Prediction result;
  result.registers = predict_registers(gemm);
  result.shared_bytes = shared_bytes(gemm);
  for (const bool is_a : {true, false}) {
    const auto traffic = shared_traffic(kernel, gemm, is_a ? gemm.a : gemm.b, is_a);
    result.conflicts.push_back(traffic.write);
    result.conflicts.push_back(traffic.read);
  }
  take_totals(result, kernel, gemm, {gemm.tile[0], gemm.tile[1]});
  return result;
}

Prediction predict(const sema::Kernel& kernel, const Sm80Gemm& gemm) {
  Prediction result;
  constexpr int rest = 40;  // addresses and conditions
  result.registers = least_registers(gemm) + rest;
  result.shared_bytes = shared_bytes(gemm, kernel);
  for (const bool is_a : {true, false}) {
    const Sm80Operand& operand = is_a ? gemm.a : gemm.b;
    const std::string name = is_a ? "A" : "B";
    const int element = bits(kernel.loaded(operand.load).element);
    const Wavefront write = worst_write(operand, gemm, element), read = worst_read(operand, gemm, element);
    result.conflicts.push_back({"write " + name, write.taken, write.least});
    result.conflicts.push_back({"read " + name, read.taken, read.least});
  }
  take_totals(result, kernel, gemm, {gemm.tile[0], gemm.tile[1]});
  return result;
}

Prediction predict(const sema::Kernel& kernel, const Sm90Gemm& gemm) {
  Prediction result;
  result.registers = gemm.registers ? (*gemm.registers)[1] : 255;
  result.shared_bytes = shared_bytes(gemm, kernel);
  if (gemm.store) result.conflicts.push_back(worst_write(*gemm.store, kernel));
  take_totals(result, kernel, gemm, gemm.cluster_tile());
  return result;
}

Prediction predict(const sema::Kernel& kernel, const Direct&) {
  Prediction result;
  result.registers = 32;
  result.global_bytes = input_bytes(kernel) + output_bytes(kernel);
  result.flops = 0;
  const auto live = reachable(kernel);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    if (!live[id]) continue;
    if (const auto* sum = std::get_if<sema::Contraction>(&kernel.nodes[id].what)) {
      const Int elements = product(kernel, kernel.assignments[0].indices);
      result.flops += 2 * elements * product(kernel, sum->indices);
    }
  }
  return result;
}

Prediction predict(const sema::Kernel& kernel, const Relayout& relayout) {
  Prediction result;
  // What is read ahead, the elements of one access, and an address and a condition for each access to global memory.
  int bits_held = 0, accesses = relayout.accesses();
  for (const RelayoutLoad& load : relayout.loads) {
    const int element = bits(kernel.loaded(load.load).element);
    const int count = load.staged ? accesses_of(load.threads) * load.vector : relayout.accesses() * relayout.vector;
    bits_held += count * element + (load.staged ? relayout.vector * element : 0);
    accesses += count / load.vector;
  }
  for (const RelayoutStore& store : relayout.stores) {
    const auto target = kernel.assignments[static_cast<std::size_t>(store.assignment)].target;
    bits_held += relayout.vector * bits(kernel.tensor(target).element);
  }
  constexpr int access = 2, rest = 24;
  result.registers = bits_held / 32 + access * accesses + rest;
  result.global_bytes = input_bytes(kernel) + output_bytes(kernel);
  result.flops = 0;
  return result;
}

int blocks_per_multiprocessor(const Relayout& relayout, int registers, std::int64_t shared_bytes,
                              const Target& target) {
  const int by_registers = target.multiprocessor_registers / (relayout.threads * registers);
  const int by_shared = static_cast<int>(target.multiprocessor_shared / (shared_bytes + target.reserved_shared));
  return std::clamp(std::min({by_registers, by_shared, target.multiprocessor_threads / relayout.threads}), 1,
                    target.multiprocessor_blocks);
}

}  // namespace lay::plan
