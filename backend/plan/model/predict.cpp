#include "backend/plan/model/predict.h"

#include <algorithm>
#include <map>
#include <set>

#include "backend/plan/copies.h"
#include "backend/plan/launches/workspace_kernel.h"
#include "backend/plan/model/chained.h"
#include "backend/plan/model/scalar.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/order.h"
#include "backend/plan/sm80/sm80.h"
#include "backend/plan/sm80/sm80_operand.h"
#include "backend/plan/sm90/sm90.h"
#include "backend/plan/sm90/sm90_banks.h"
#include "backend/plan/sm90/sm90_store.h"
#include "backend/tile/bind.h"
#include "backend/tile/elementwise/elementwise.h"
#include "backend/tile/form.h"
#include "backend/tile/rows_ahead.h"
#include "frontend/algebra/layouts/axes.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/banks.h"

namespace lay::plan {

namespace {

// Bytes of that many elements of a tensor.
Int bytes_of(const sema::Tensor& tensor, const Int& elements) {
  return is_half_byte(tensor.element) ? ceil_div(elements, 2) : elements * tensor.element_bytes();
}

Int extent(const sema::Kernel& kernel, sema::IndexId index) {
  return kernel.index(index).extent;
}

Int product(const sema::Kernel& kernel, const std::vector<sema::IndexId>& indices) {
  Int result = 1;
  for (sema::IndexId index : indices) result *= extent(kernel, index);
  return result;
}

// Counts every element of an input that is read, once. A tensor that is only read at coordinates
// from memory, as E[token[m],n], counts as many elements as there are places, and never more than
// it has.
Int input_bytes(const sema::Kernel& kernel) {
  const std::vector<char> used = used_tensors(kernel);
  std::vector<Int> elements(used.size(), Int(0));
  for (std::size_t id = 0; id < used.size(); ++id)
    if (used[id]) elements[id] = size(kernel.tensors[id].layout);
  std::vector<char> whole(used.size(), 0);
  std::map<sema::TensorId, sema::NodeId> gathers;
  // A coordinate may have reductions of its own: W[segment_of[e](start[e], t), n] has a place for
  // every t and n.
  const auto free = sema::free_indices(kernel);
  const auto live = reachable(kernel);
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    const auto* load = std::get_if<sema::Load>(&kernel.nodes[id].what);
    if (!live[id] || !load) continue;
    const bool gathered = std::any_of(load->coordinate.begin(), load->coordinate.end(),
                                      [&](sema::NodeId at) { return reads_memory(kernel, at); });
    if (gathered) gathers.emplace(load->tensor, static_cast<sema::NodeId>(id));
    if (!gathered) whole[static_cast<std::size_t>(load->tensor)] = 1;
  }
  for (const auto& [tensor, load] : gathers) {
    const auto& walked = free[static_cast<std::size_t>(load)];
    const auto id = static_cast<std::size_t>(tensor);
    if (!whole[id])
      elements[id] = min(elements[id], product(kernel, {walked.begin(), walked.end()}));
  }
  Int result = 0;
  for (std::size_t id = 0; id < used.size(); ++id)
    if (kernel.tensors[id].access == sema::Access::input)
      result += bytes_of(kernel.tensors[id], elements[id]);
  return result;
}

// Every element of an output once, and what an inout reads.
Int output_bytes(const sema::Kernel& kernel) {
  Int result = 0;
  for (const sema::Assignment& assignment : kernel.assignments) {
    const auto& tensor = kernel.tensor(assignment.target);
    // C = alpha * sum + beta * C moves C twice.
    const int times = tensor.access == sema::Access::inout ? 2 : 1;
    result += product(kernel, assignment.indices) * tensor.element_bytes() * times;
  }
  return result;
}

// Returns the bytes that epilogues read beside the sum, through L2: for each tile the elements that
// it needs.
Int epilogue_bytes(const sema::Kernel& kernel, const Tiling& tiling) {
  const auto live = reachable(kernel);
  std::vector<sema::NodeId> bodies;
  for (const sema::Node& node : kernel.nodes)
    if (const auto* sum = std::get_if<sema::Reduce>(&node.what)) bodies.push_back(sum->body);
  // Loads inside the sum are the factors, which are counted by tiles.
  const auto of_sum = reachable(kernel, bodies);
  Int result = 0;
  for (std::size_t id = 0; id < kernel.nodes.size(); ++id) {
    const auto* load = std::get_if<sema::Load>(&kernel.nodes[id].what);
    if (!load || !live[id] || of_sum[id]) continue;
    if (kernel.tensor(load->tensor).access != sema::Access::input)
      continue;  // an inout one is counted with outputs
    const auto depends = indices_of(kernel, static_cast<sema::NodeId>(id));
    Int elements = 1;
    // Bias[n] is read once for each row of tiles: N * tiles of M elements.
    for (const TileAxis& axis : tile_axes(tiling))
      elements *= depends.contains(axis.index) ? extent(kernel, axis.index)
                                               : tiles(kernel, axis.index, axis.tile);
    result += bytes_of(kernel.tensor(load->tensor), elements);
  }
  return result;
}

// How many products share A. They have operands of one size beside it.
int products(const Sm90Gemm& gemm) {
  return gemm.products();
}
int products(const auto&) {
  return 1;
}

// The products, and what they move where so much of the output loads its operands together.
template <class Gemm>
void add_totals(Prediction& result, const sema::Kernel& kernel, const Gemm& gemm,
                const std::array<int, 2>& tile) {
  const Int m = extent(kernel, gemm.m), n = extent(kernel, gemm.n), k = extent(kernel, gemm.k);
  const Int batches = product(kernel, gemm.batch);
  // Each column of tiles loads all of A, each row of tiles all of B: 2*M*K*ceil_div(N,128) +
  // 2*N*K*ceil_div(M,128) bytes for tiles of 128 and 16-bit elements.
  const Int a = bytes_of(kernel.loaded(gemm.a.load), m * k * tiles(kernel, gemm.n, tile[1]));
  const Int b =
      bytes_of(kernel.loaded(gemm.b.load), n * k * tiles(kernel, gemm.m, tile[0])) * products(gemm);
  result.cache_bytes = (a + b) * batches + output_bytes(kernel) +
                       epilogue_bytes(kernel, {gemm.m, gemm.n, gemm.batch, tile});
  result.global_bytes = input_bytes(kernel) + output_bytes(kernel);
  result.flops = 2 * m * n * k * batches * products(gemm);
}

// Scales that blocks read through L2: of each tile a number for each interval of K and for each
// row, column or run of them that it varies with, as f32.
Int scale_bytes(const sema::Kernel& kernel, const TensorGemm& gemm) {
  const std::array<sema::IndexId, 2> indices{gemm.m, gemm.n};
  Int bytes = 0;
  for (const ProductScale& scale : gemm.scales) {
    Int elements = tiles(kernel, gemm.k, gemm.promotion_interval) * product(kernel, gemm.batch);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t run = constant_run(kernel, scale.factor.value, indices[axis]);
      const std::int64_t tile = gemm.tile[axis];
      // One number of each tile along an axis that it does not vary with, or in long runs.
      const std::int64_t apart = run == 0 ? tile : std::min(run, tile);
      elements *= tiles(kernel, indices[axis], static_cast<int>(apart));
    }
    bytes += elements * 4;
  }
  return bytes;
}

// A K tile of which the block loads `rows` rows of A and `columns` columns of B.
template <class Gemm>
TileWork tile_work(const sema::Kernel& kernel, const Gemm& gemm, double rows, double columns,
                   double product_clocks, const Target& target) {
  // One K tile of one block, in clocks of an SM: cache_rate is bytes a clock of the whole GPU.
  const double a = rows * bits(kernel.loaded(gemm.a.load).element) / 8,
               b = columns * bits(kernel.loaded(gemm.b.load).element) / 8;
  TileWork work;
  work.bytes = (a + b) * gemm.tile[2];
  work.cache_clocks = work.bytes / (target.cache_rate / target.sms);
  work.product_clocks = product_clocks;
  return work;
}

// Every atom of every group in one K tile.
double product_clocks(const TensorGemm& gemm, int groups, const Target& target) {
  const auto repeats = gemm.repeats();
  return instruction_clocks(gemm.mma, target) * groups * repeats[0] * repeats[1] * repeats[2];
}

int staged_accesses(const OperandCopy& copy) {
  return copy.boxes ? 0 : static_cast<int>(size(copy.threads[1][1]).value());
}

}  // namespace

int least_registers(const SimtGemm& gemm) {
  const auto [m, n] = gemm.held();
  // Accumulators; beside them one column of fragments of each operand and a thread's part of the
  // next K tile, and later, where blocks share K, its own part of what it adds up. The two are
  // never there at once.
  const int staged =
      gemm.ring() ? 0 : (gemm.tile[0] + gemm.tile[1]) * gemm.tile[2] / gemm.threads();
  const int own = gemm.parts > 1 ? gemm.stored_of_part() * gemm.held()[1 - gemm.shared_out()] : 0;
  return (m * n + std::max(m + n + staged, own)) * bits(gemm.accumulator) / 32;
}

int predict_registers(const SimtGemm& gemm) {
  // An access to global memory keeps an address and a condition; the rest was read off compiled
  // kernels. In a ring other threads copy.
  const int accesses = gemm.ring() ? 0 : staged_accesses(gemm.a) + staged_accesses(gemm.b);
  constexpr int access = 2, rest = 36;
  return least_registers(gemm) + access * accesses + rest;
}

int blocks_per_sm(const SimtGemm& gemm, const Target& target) {
  if (gemm.ring()) return 1;
  constexpr int threads_wanted = 512;
  // Two blocks of 256 threads hide each other's barriers; more cost registers.
  const int by_registers = target.sm_registers / (gemm.threads() * predict_registers(gemm));
  return std::clamp(by_registers, 1, std::max(1, threads_wanted / gemm.threads()));
}

Prediction predict(const sema::Kernel& kernel, const SimtGemm& gemm, const Target& target) {
  Prediction result;
  result.registers = gemm.ring() ? gemm.registers[1] : predict_registers(gemm);
  result.shared_bytes = shared_bytes(gemm);
  for (const bool is_a : {true, false}) {
    const auto traffic = shared_traffic(kernel, gemm, is_a ? gemm.a : gemm.b, is_a);
    if (!(is_a ? gemm.a : gemm.b).boxes) result.conflicts.push_back(traffic.write);
    result.conflicts.push_back(traffic.read);
  }
  add_totals(result, kernel, gemm, {gemm.tile[0], gemm.tile[1]});
  if (const auto rate = target.multiply_adds("thread", gemm.accumulator)) {
    const double products = static_cast<double>(gemm.tile[0]) * gemm.tile[1] * gemm.tile[2];
    result.tile = tile_work(kernel, gemm, gemm.tile[0], gemm.tile[1], products / *rate, target);
  }
  // All registers of an SM are shared out among the threads of a ring.
  result.blocks =
      gemm.ring() ? 1
                  : resident_blocks(gemm.threads(), result.registers, result.shared_bytes, target);
  return result;
}

Prediction predict(const sema::Kernel& kernel, const Sm80Gemm& gemm, const Target& target) {
  Prediction result;
  result.registers = likely_registers(gemm, kernel);
  result.shared_bytes = shared_bytes(gemm, kernel);
  for (const bool is_a : {true, false}) {
    const Sm80Operand& operand = is_a ? gemm.a : gemm.b;
    if (operand.own) continue;  // each access of a warp has neighbours
    const std::string name = is_a ? "A" : "B";
    const int element = bits(kernel.loaded(operand.load).element);
    const Wavefront write = worst_write(operand, gemm, element),
                    read = worst_read(operand, gemm, element);
    result.conflicts.push_back({"write " + name, write.taken, write.least});
    result.conflicts.push_back({"read " + name, read.taken, read.least});
  }
  add_totals(result, kernel, gemm, {gemm.tile[0], gemm.tile[1]});
  result.cache_bytes += scale_bytes(kernel, gemm);
  result.tile = tile_work(kernel, gemm, gemm.tile[0], gemm.tile[1],
                          product_clocks(gemm, gemm.groups[0] * gemm.groups[1], target), target);
  result.blocks = resident_blocks(gemm.threads(), result.registers, result.shared_bytes, target);
  return result;
}

Prediction predict(const sema::Kernel& kernel, const Sm90Gemm& gemm, const Target& target) {
  Prediction result;
  // setmaxnreg's number for consumers; without it the launch bound leaves a thread all it can have.
  result.registers = gemm.registers ? (*gemm.registers)[1] : 255;
  result.shared_bytes = shared_bytes(gemm, kernel);
  for (const bool is_a : {true, false}) {
    const TmaOperand& operand = is_a ? gemm.a : gemm.b;
    if (!operand.fragment) {
      result.conflicts.push_back(worst_matrix(operand, gemm, kernel, is_a ? "A" : "B"));
      continue;
    }
    const Wavefront read =
        worst_read(*operand.fragment, operand.shared, {gemm.tile[0], gemm.tile[2]},
                   gemm.mma.shape[0], steps_side_by_side(gemm.tile[2], gemm.mma.shape[2]),
                   bits(kernel.loaded(operand.load).element));
    result.conflicts.push_back({"read A", read.taken, read.least});
  }
  if (gemm.store) {
    const auto of_store = conflicts(*gemm.store, kernel);
    result.conflicts.insert(result.conflicts.end(), of_store.begin(), of_store.end());
  }
  add_totals(result, kernel, gemm, gemm.cluster_tile());
  result.cache_bytes += scale_bytes(kernel, gemm);
  // Each block loads its slice of what several need, and gets the others' slices.
  const int products = gemm.products();
  result.tile =
      tile_work(kernel, gemm, gemm.a.extent / static_cast<double>(gemm.cluster[1]),
                products * gemm.b.extent / static_cast<double>(gemm.cluster[0]),
                products * product_clocks(gemm, gemm.warpgroups_of_group(), target), target);
  result.blocks = 1;  // persistent
  return result;
}

Prediction predict_each_element(const sema::Kernel& kernel,
                                const std::vector<tile::Program>& programs, const Target& target) {
  Prediction result;
  result.registers = 32;
  result.blocks = resident_blocks(programs.front().grid->threads, result.registers, 0, target);
  const ScalarWork work = scalar_work(kernel);
  result.global_bytes = input_bytes(kernel) + output_bytes(kernel);
  result.cache_bytes = work.loaded_bytes + output_bytes(kernel);
  result.flops = work.flops;
  return result;
}

namespace {

// Registers hold elements read ahead, the elements of one access, and an address and a condition
// for each access to global memory.
Prediction predict_elementwise(const tile::Program& program, const Target& target) {
  const sema::Kernel& kernel = *program.kernel;
  const tile::Distribution& own = *program.threads;
  int bits_held = 0, accesses = own.accesses();
  for (const tile::LoadWay& way : tile::loads_of(program)) {
    const tile::Tile& ahead = program.tile(way.load->dst);
    const tile::Distribution& threads = ahead.threads.value_or(own);
    const int element = bits(ahead.element), count = threads.accesses() * threads.vector;
    bits_held += count * element + (way.is_staged() ? own.vector * element : 0);
    accesses += count / way.load->vector;
  }
  for (const tile::Copy* store : tile::stores_of(program))
    bits_held += own.vector * bits(program.tile(store->dst).element);
  constexpr int access = 2, rest = 24;
  Prediction result;
  result.registers = bits_held / 32 + access * accesses + rest;
  result.shared_bytes = static_cast<int>(tile::shared_bytes(program));
  result.blocks =
      resident_blocks(program.grid->threads, result.registers, result.shared_bytes, target);
  result.global_bytes = result.cache_bytes = input_bytes(kernel) + output_bytes(kernel);
  result.flops = 0;
  return result;
}

}  // namespace

// A tile that copies fill or that is kept takes the registers of a thread's values. Registers that
// copies filled are free again once the values computed from them are kept.
Prediction predict(const tile::Program& program, const Target& target) {
  if (program.is_chain()) {
    Prediction chained = predict_chained(program, target);
    chained.global_bytes = input_bytes(*program.kernel) + output_bytes(*program.kernel);
    return chained;
  }
  if (program.is_elementwise()) return predict_elementwise(program, target);
  const tile::Distribution& threads = *program.threads;
  constexpr int rest = 36;  // addresses, conditions and partial results
  double copied = 0, kept = 0, along_columns = 0, joined = 0;
  Int walked = 0;                 // bytes that walks of the columns ask for
  std::set<tile::TileId> stored;  // access by access
  // A tile that is stored by a copy leaves access by access, and holds no registers in between.
  tile::for_each(program.body, [&](const tile::Stmt& stmt) {
    if (const auto* copy = std::get_if<tile::Copy>(&stmt.node)) stored.insert(copy->src);
  });
  tile::for_each(program.body, [&](const tile::Stmt& stmt) {
    const auto* copy = std::get_if<tile::Copy>(&stmt.node);
    const auto* map = std::get_if<tile::Map>(&stmt.node);
    // Registers that reductions of one row hold are part of the rest.
    const auto* reduce = std::get_if<tile::Reduce>(&stmt.node);
    if (reduce && threads.values(tile::row_axis) > 1)
      for (const ElementType type : tile::partial_types(program, reduce->out))
        joined += threads.values(tile::row_axis) * bits(type) / 32.0;
    if (!copy && !map) return;
    const tile::Tile& tile = program.tile(copy ? copy->dst : map->out);
    if (tile.space == tile::Space::global) return;
    double registers = bits(tile.element) / 32.0;
    Int elements = 1;
    for (const tile::AxisId axis : tile.axes) {
      registers *= threads.values(axis);
      elements *= program.axis(axis).extent;
    }
    const bool both = tile.axes.size() == 2;
    // What is copied ahead asks for bytes on its way to shared memory, and for registers from
    // there.
    const bool is_near = copy && tile::is_ahead(program.tile(copy->src));
    if (copy && !is_near) walked += elements * std::max(1, bits(tile.element) / 8);
    if (tile.space == tile::Space::shared) return;
    if (map && both && !stored.contains(map->out)) kept += registers;
    if (copy) (both ? copied : along_columns) += registers;
  });
  // Single elements need an address and a condition each.
  // The row's guard and the column's as well.
  const int single = threads.vector == 1
                         ? 3 * threads.values(tile::row_axis) * threads.values(tile::column_axis)
                         : 0;
  Prediction result;
  result.registers = std::min(
      target.thread_registers,
      rest + single + static_cast<int>(std::max(copied, kept) + along_columns / 2 + joined));
  result.shared_bytes = static_cast<int>(tile::shared_bytes(program));
  result.blocks = resident_blocks(threads.threads(), result.registers, result.shared_bytes, target);
  const sema::Kernel& kernel = *program.kernel;
  result.global_bytes = input_bytes(kernel) + output_bytes(kernel);
  result.cache_bytes = walked + output_bytes(kernel);
  result.flops = scalar_work(kernel).least_flops;
  return result;
}

double instruction_clocks(const sema::Atom& atom, const Target& target) {
  const double products = static_cast<double>(atom.shape[0]) * atom.shape[1] * atom.shape[2];
  // An atom may say its own cost, in clocks; else its products at the machine's rate.
  const auto rate = target.multiply_adds(atom.kind, atom.a_type);
  return rate ? std::max(atom.cost, products / *rate) : atom.cost;
}

int resident_blocks(int threads, int registers, std::int64_t shared_bytes, const Target& target) {
  // The least of four limits: registers, shared memory with what the driver reserves a block,
  // threads and blocks of an SM.
  const int by_registers = target.sm_registers / (threads * registers);
  const int by_shared =
      static_cast<int>(target.sm_shared / (shared_bytes + target.reserved_shared));
  return std::clamp(std::min({by_registers, by_shared, target.sm_threads / threads}), 1,
                    target.sm_blocks);
}

}  // namespace lay::plan
