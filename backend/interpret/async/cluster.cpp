#include <algorithm>
#include <cstring>
#include <random>

#include "backend/interpret/async/barriers.h"
#include "backend/interpret/async/tma.h"
#include "backend/interpret/warp.h"
#include "backend/ir/text/print.h"

namespace lay::interpret {
namespace {

// Room for n objects that start at a multiple of 64 bytes: of the vectors' own types, so nothing to
// do but resize.
template <class T>
T* resized(std::vector<T>& storage, std::int64_t n) {
  storage.assign(static_cast<size_t>(n), T{});
  return storage.data();
}

void describe(Fault& fault, const Program& program, int statement) {
  if (statement < 0) return;
  const ir::Stmt& stmt = *program.statements[statement];
  fault.line = stmt.origin.line;
  fault.statement = ir::print_first_line(*program.kernel, stmt);
}

std::string place_of(const Program& program, const Fault& fault) {
  std::string text = "block (";
  for (int i = 0; i < 3; ++i) text += (i ? "," : "") + std::to_string(fault.block[i]);
  text += "), warp " + std::to_string(fault.warp) + ", thread " + std::to_string(fault.thread);
  if (!fault.coordinate.empty()) {
    text += ", `" + fault.buffer + "` at (";
    for (size_t i = 0; i < fault.coordinate.size(); ++i)
      text += (i ? "," : "") + std::to_string(fault.coordinate[i]);
    text += ")";
  }
  if (fault.line != 0) text += ", " + program.kernel->script + ":" + std::to_string(fault.line);
  return text;
}

void start(Block& block, Warp& warp) {
  const Program& program = *block.program;
  warp.stores.clear();
  warp.products.clear();
  warp.store_groups.clear();
  warp.product_groups.clear();
  warp.products_fenced = false;
  warp.committed_products = 0;
  warp.awaited_products = -1;
  warp.phase = -1;
  warp.mask = warp.all;
  warp.pc = 0;
  warp.saved.clear();
  warp.issued.clear();
  warp.groups.clear();
  std::fill(warp.rings.begin(), warp.rings.end(), 0);
  warp.state = Warp::State::running;
  warp.barrier = warp.parity = warp.statement = -1;
  std::fill(warp.initialised, warp.initialised + program.register_elements, 0);
  for (int i = 0; i < 3; ++i) {
    const int slot =
        program.builtin_slot[static_cast<size_t>(ir::Builtin::block_x) + static_cast<size_t>(i)];
    std::fill_n(as<std::int64_t>(warp.slots[slot]), kLanes, block.index[i]);
  }
}

// The values that stay: constants, and the numbers of threads and warps.
void set_constants(const Program& program, Warp& warp) {
  for (const auto& [slot, value] : program.constants) warp.slots[slot] = value;
  const auto set = [&](ir::Builtin builtin, auto value) {
    std::int64_t* slot =
        as<std::int64_t>(warp.slots[program.builtin_slot[static_cast<size_t>(builtin)]]);
    for (int lane = 0; lane < kLanes; ++lane) slot[lane] = value(lane);
  };
  set(ir::Builtin::thread, [&](int lane) { return warp.index * kLanes + lane; });
  set(ir::Builtin::lane, [](int lane) { return lane; });
  set(ir::Builtin::warp, [&](int) { return warp.index; });
  set(ir::Builtin::warpgroup, [&](int) { return warp.index / 4; });
  set(ir::Builtin::cluster_rank, [&](int) { return warp.block->rank; });
  set(ir::Builtin::cluster_count, [&](int) { return program.cluster_blocks; });
  set(ir::Builtin::grid_x, [&](int) { return program.grid[0]; });
}

void advance(Warp& warp, std::int64_t max_steps) {
  const Instruction* code = warp.program->code.data();
  while (warp.state == Warp::State::running) {
    const Instruction& at = code[warp.pc++];
    if (++warp.steps > max_steps)
      stop(warp, at, warp.all, FaultCode::limit, "the limit of steps is reached");
    warp.lane_operations += static_cast<std::int64_t>(__builtin_popcount(warp.mask)) * at.weight;
    at.run(warp, at);
  }
}

}  // namespace

void stop(const Warp& warp, const Instruction& at, Mask lanes, FaultCode code,
          const std::string& what, Fault fault) {
  fault.code = code;
  fault.block = warp.block->index;
  fault.warp = warp.index;
  fault.thread = warp.index * kLanes + first_lane(lanes);
  describe(fault, *warp.program, at.statement);
  fault.message = what + " (" + place_of(*warp.program, fault) + ")";
  throw Stopped{std::move(fault)};
}

void stop(const Warp& warp, int statement, FaultCode code, const std::string& what) {
  Fault fault;
  fault.code = code;
  fault.block = warp.block->index;
  fault.warp = warp.index;
  fault.thread = warp.index * kLanes;
  describe(fault, *warp.program, statement);
  fault.message = what + " (" + place_of(*warp.program, fault) + ")";
  throw Stopped{std::move(fault)};
}

std::string thread_name(const Warp& warp, std::uint16_t id) {
  const int threads = static_cast<int>(warp.block->warps.size()) * kLanes;
  if ((id - 1) / kLanes >= warp.cluster->actors())
    return "a multiplication that has not been waited for here";
  const int rank = (id - 1) / threads;
  return "thread " + std::to_string((id - 1) % threads) +
         (rank == warp.block->rank ? "" : " of block " + std::to_string(rank) + " of the cluster");
}

void Knowledge::reset(size_t actors) {
  known.assign(actors, 0);
  visible.assign(actors, 0);
  foreign.clear();
}

void learn(ForeignTimes& into, const ForeignTimes& from) {
  for (const auto& [cluster, times] : from) {
    std::vector<std::uint32_t>& known = into[cluster];
    known.resize(std::max(known.size(), times.size()));
    for (size_t v = 0; v < times.size(); ++v) known[v] = std::max(known[v], times[v]);
  }
}

void Knowledge::learn(const Knowledge& other) {
  for (size_t v = 0; v < known.size(); ++v) {
    known[v] = std::max(known[v], other.known[v]);
    visible[v] = std::max(visible[v], other.visible[v]);
  }
  interpret::learn(foreign, other.foreign);
}

Arrivals& Cluster::at(int rank, int barrier, std::int64_t slot) {
  return arrivals[static_cast<size_t>(rank * program->barrier_slots + program->first_slot[barrier] +
                                      static_cast<int>(slot))];
}

namespace {

void prepare_block(Block& block, Cluster& cluster, int rank, std::vector<GlobalMemory>& global) {
  const Program& program = *cluster.program;
  block.program = &program;
  block.cluster = &cluster;
  block.global = &global;
  block.rank = rank;
  const int threads = program.kernel->launch.threads;
  const int warps = (threads + kLanes - 1) / kLanes;
  Lanes* slots = resized(block.slot_storage, std::int64_t{warps} * program.slots);
  std::byte* registers =
      resized(block.register_storage, std::int64_t{warps} * program.register_bytes * kLanes);
  Mask* initialised =
      resized(block.initialised_storage, std::int64_t{warps} * program.register_elements);
  block.warps.assign(static_cast<size_t>(warps), Warp{});
  for (int w = 0; w < warps; ++w) {
    Warp& warp = block.warps[w];
    warp.block = &block;
    warp.cluster = &cluster;
    warp.program = &program;
    warp.index = w;
    warp.actor = rank * warps + w;
    const int lanes = std::min(kLanes, threads - w * kLanes);
    warp.all = lanes == kLanes ? ~Mask{0} : (Mask{1} << lanes) - 1;
    warp.slots = slots + std::int64_t{w} * program.slots;
    warp.registers = registers + std::int64_t{w} * program.register_bytes * kLanes;
    warp.initialised = initialised + std::int64_t{w} * program.register_elements;
    warp.rings.resize(program.kernel->rings.size());
    set_constants(program, warp);
  }
  block.banks.assign(program.banks.size(), {});
}

void begin_block(Block& block, std::int64_t number) {
  const Program& program = *block.program;
  block.number = number;
  block.index = {number % program.grid[0], number / program.grid[0] % program.grid[1],
                 number / program.grid[0] / program.grid[1]};
  block.shared.assign(static_cast<size_t>(program.shared_bytes), std::byte{0xff});
  block.shadows.assign(static_cast<size_t>(program.checks ? program.shared_elements : 0), {});
  for (Warp& warp : block.warps) start(block, warp);
}

// The number of the block of that rank in the cluster of that number.
std::int64_t block_number(const Program& program, std::int64_t cluster, int rank) {
  const auto& extents = program.kernel->launch.cluster;
  std::array<std::int64_t, 3> at{};
  std::int64_t rest = cluster, inside = rank;
  for (size_t i = 0; i < 3; ++i) {
    const std::int64_t clusters = program.grid[i] / extents[i];
    at[i] = rest % clusters * extents[i] + inside % extents[i];
    rest /= clusters;
    inside /= extents[i];
  }
  return at[0] + program.grid[0] * (at[1] + program.grid[1] * at[2]);
}

void begin(Cluster& cluster, std::int64_t number) {
  const Program& program = *cluster.program;
  cluster.number = number;
  const auto actors = static_cast<size_t>(cluster.actors());
  cluster.clock.assign(actors, 1);
  cluster.knows.resize(actors);
  const size_t known = actors + cluster.blocks.size() * static_cast<size_t>(cluster.warpgroups());
  for (Knowledge& each : cluster.knows) each.reset(known);
  cluster.transfers.clear();
  cluster.arrivals.clear();
  for (int rank = 0; rank < program.cluster_blocks; ++rank) {
    for (size_t b = 0; b < program.kernel->barriers.size(); ++b) {
      Arrivals none;
      none.barrier = static_cast<int>(b);
      none.rank = rank;
      none.knowledge.reset(known);
      cluster.arrivals.insert(cluster.arrivals.end(),
                              static_cast<size_t>(program.kernel->barriers[b].slots), none);
    }
    begin_block(cluster.blocks[static_cast<size_t>(rank)], block_number(program, number, rank));
  }
}

bool all_done(Cluster& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(), [](const Block& block) {
    return std::all_of(block.warps.begin(), block.warps.end(),
                       [](const Warp& warp) { return warp.state == Warp::State::done; });
  });
}

}  // namespace

void prepare(Cluster& cluster, const Program& program, std::vector<GlobalMemory>& global) {
  cluster.program = &program;
  cluster.blocks.resize(static_cast<size_t>(program.cluster_blocks));
  for (int rank = 0; rank < program.cluster_blocks; ++rank) {
    prepare_block(cluster.blocks[static_cast<size_t>(rank)], cluster, rank, global);
  }
}

void run_cluster(Cluster& cluster, std::int64_t number, const Options& options,
                 std::int64_t max_steps) {
  begin(cluster, number);
  std::vector<int> order(static_cast<size_t>(cluster.actors()));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::mt19937_64 random(options.seed ^ static_cast<std::uint64_t>(number) << 32);
  std::int64_t left = max_steps <= 0 ? INT64_MAX / 2 : max_steps;
  while (true) {
    if (options.seed != 0) std::shuffle(order.begin(), order.end(), random);
    bool ran = false;
    for (const int actor : order) {
      Warp& warp = cluster.warp(actor);
      if (warp.state != Warp::State::running) continue;
      const std::int64_t before = warp.steps;
      advance(warp, before + left);
      left -= warp.steps - before;
      ran = true;
      if (options.seed != 0 && random() % 2 == 0) tma::deliver(cluster);
    }
    if (barriers::release_complete(cluster) || ran) continue;
    if (tma::deliver(cluster)) continue;
    if (!all_done(cluster)) barriers::stuck(cluster);
    tma::check_idle(cluster);
    return barriers::check_idle(cluster);
  }
}

}  // namespace lay::interpret
