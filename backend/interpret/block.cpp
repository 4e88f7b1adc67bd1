#include <algorithm>
#include <cstring>

#include "backend/interpret/warp.h"
#include "backend/ir/print.h"

namespace lay::interpret {
namespace {

// Room for n objects that start at a multiple of 64 bytes: of the vectors' own types, so nothing to do but resize.
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
    for (size_t i = 0; i < fault.coordinate.size(); ++i) text += (i ? "," : "") + std::to_string(fault.coordinate[i]);
    text += ")";
  }
  if (fault.line != 0) text += ", " + program.kernel->script + ":" + std::to_string(fault.line);
  return text;
}

void start(Block& block, Warp& warp) {
  const Program& program = *block.program;
  warp.mask = warp.all;
  warp.pc = 0;
  warp.saved.clear();
  warp.issued.clear();
  warp.groups.clear();
  std::fill(warp.rings.begin(), warp.rings.end(), 0);
  warp.state = Warp::State::running;
  warp.barrier = warp.statement = -1;
  std::fill(warp.initialised, warp.initialised + program.register_elements, 0);
  for (int i = 0; i < 3; ++i) {
    const int slot = program.builtin_slot[static_cast<size_t>(ir::Builtin::block_x) + static_cast<size_t>(i)];
    std::fill_n(as<std::int64_t>(warp.slots[slot]), kLanes, block.index[i]);
  }
}

// The values that stay: constants, and the numbers of threads and warps.
void set_constants(const Program& program, Warp& warp) {
  for (const auto& [slot, value] : program.constants) warp.slots[slot] = value;
  const auto set = [&](ir::Builtin builtin, auto value) {
    std::int64_t* slot = as<std::int64_t>(warp.slots[program.builtin_slot[static_cast<size_t>(builtin)]]);
    for (int lane = 0; lane < kLanes; ++lane) slot[lane] = value(lane);
  };
  set(ir::Builtin::thread, [&](int lane) { return warp.index * kLanes + lane; });
  set(ir::Builtin::lane, [](int lane) { return lane; });
  set(ir::Builtin::warp, [&](int) { return warp.index; });
  set(ir::Builtin::warpgroup, [&](int) { return warp.index / 4; });
  set(ir::Builtin::cluster_rank, [](int) { return 0; });
  set(ir::Builtin::cluster_count, [](int) { return 1; });
}

void advance(Warp& warp, std::int64_t max_steps) {
  const Instruction* code = warp.program->code.data();
  while (warp.state == Warp::State::running) {
    const Instruction& at = code[warp.pc++];
    if (++warp.steps > max_steps) stop(warp, at, warp.all, FaultCode::limit, "the limit of steps is reached");
    warp.lane_operations += static_cast<std::int64_t>(__builtin_popcount(warp.mask)) * at.weight;
    at.run(warp, at);
  }
}

int threads_of(const Warp& warp) {
  return __builtin_popcount(warp.all);
}

// ---- barriers

const ir::Barrier& declaration(const Block& block, int barrier) {
  return block.program->kernel->barriers[block.arrivals[barrier].barrier];
}

int expected(const Block& block, int barrier) {
  const ir::Barrier& declared = declaration(block, barrier);
  return declared.kind == ir::BarrierKind::named ? declared.count : block.program->kernel->launch.threads;
}

void release(Block& block, int barrier) {
  Arrivals& arrivals = block.arrivals[barrier];
  for (Warp& warp : block.warps) {
    if (warp.state != Warp::State::waiting || warp.barrier != barrier) continue;
    std::vector<std::uint32_t>& seen = block.seen[warp.index];
    for (size_t v = 0; v < seen.size(); ++v) seen[v] = std::max(seen[v], arrivals.known[v]);
    warp.state = Warp::State::running;
  }
  arrivals.threads = 0;
  std::fill(arrivals.known.begin(), arrivals.known.end(), 0);
}

// Releases every barrier that all have reached. False if there was none.
bool release_complete(Block& block) {
  bool any = false;
  for (size_t b = 0; b < block.arrivals.size(); ++b) {
    const int barrier = static_cast<int>(b);
    if (block.arrivals[b].threads == 0 || block.arrivals[b].threads < expected(block, barrier)) continue;
    const Warp* first = nullptr;
    for (const Warp& warp : block.warps) {
      if (warp.state != Warp::State::waiting || warp.barrier != barrier) continue;
      if (first == nullptr) first = &warp;
      const bool block_wide = declaration(block, barrier).kind == ir::BarrierKind::block;
      if (block_wide && warp.statement != first->statement) {
        stop(block, warp.index, warp.index * kLanes, warp.statement, FaultCode::barrier_divergence,
             "this thread waits here while thread " + std::to_string(first->index * kLanes) +
                 " waits at another statement of the same barrier");
      }
    }
    release(block, barrier);
    any = true;
  }
  return any;
}

// Nobody runs and no barrier is complete: who waits, and who will never come.
[[noreturn]] void stuck(Block& block) {
  const auto waits = [](const Warp& warp) { return warp.state == Warp::State::waiting; };
  const Warp& waiting = *std::find_if(block.warps.begin(), block.warps.end(), waits);
  const std::string& name = declaration(block, waiting.barrier).name;
  for (const Warp& other : block.warps) {
    if (other.state != Warp::State::done) continue;
    stop(block, waiting.index, waiting.index * kLanes, waiting.statement, FaultCode::barrier_divergence,
         "barrier `" + name + "` waits for " + std::to_string(expected(block, waiting.barrier)) + " threads, " +
             std::to_string(block.arrivals[waiting.barrier].threads) + " have arrived, and thread " +
             std::to_string(other.index * kLanes) + " has ended without it");
  }
  stop(block, waiting.index, waiting.index * kLanes, waiting.statement, FaultCode::deadlock,
       "every warp waits: barrier `" + name + "` is reached by " +
           std::to_string(block.arrivals[waiting.barrier].threads) + " of " +
           std::to_string(expected(block, waiting.barrier)) + " threads");
}

}  // namespace

void stop(const Warp& warp, const Instruction& at, Mask lanes, FaultCode code, const std::string& what, Fault fault) {
  fault.code = code;
  fault.block = warp.block->index;
  fault.warp = warp.index;
  fault.thread = warp.index * kLanes + first_lane(lanes);
  describe(fault, *warp.program, at.statement);
  fault.message = what + " (" + place_of(*warp.program, fault) + ")";
  throw Stopped{std::move(fault)};
}

void stop(const Block& block, int warp, int thread, int statement, FaultCode code, const std::string& what) {
  Fault fault;
  fault.code = code;
  fault.block = block.index;
  fault.warp = warp;
  fault.thread = thread;
  describe(fault, *block.program, statement);
  fault.message = what + " (" + place_of(*block.program, fault) + ")";
  throw Stopped{std::move(fault)};
}

void arrive(Block& block, const Warp& warp, int barrier) {
  Arrivals& arrivals = block.arrivals[barrier];
  const std::vector<std::uint32_t>& seen = block.seen[warp.index];
  for (size_t v = 0; v < seen.size(); ++v) arrivals.known[v] = std::max(arrivals.known[v], seen[v]);
  arrivals.known[warp.index] = std::max(arrivals.known[warp.index], block.clock[warp.index]);
  ++block.clock[warp.index];
  arrivals.threads += threads_of(warp);
}

void prepare(Block& block, const Program& program, std::vector<GlobalMemory>& global) {
  block.program = &program;
  block.global = &global;
  const int threads = program.kernel->launch.threads;
  const int warps = (threads + kLanes - 1) / kLanes;
  Lanes* slots = resized(block.slot_storage, std::int64_t{warps} * program.slots);
  std::byte* registers = resized(block.register_storage, std::int64_t{warps} * program.register_bytes * kLanes);
  Mask* initialised = resized(block.initialised_storage, std::int64_t{warps} * program.register_elements);
  block.warps.assign(static_cast<size_t>(warps), Warp{});
  for (int w = 0; w < warps; ++w) {
    Warp& warp = block.warps[w];
    warp.block = &block;
    warp.program = &program;
    warp.index = w;
    const int lanes = std::min(kLanes, threads - w * kLanes);
    warp.all = lanes == kLanes ? ~Mask{0} : (Mask{1} << lanes) - 1;
    warp.slots = slots + std::int64_t{w} * program.slots;
    warp.registers = registers + std::int64_t{w} * program.register_bytes * kLanes;
    warp.initialised = initialised + std::int64_t{w} * program.register_elements;
    warp.rings.resize(program.kernel->rings.size());
    set_constants(program, warp);
  }
  block.arrivals.clear();
  for (size_t b = 0; b < program.kernel->barriers.size(); ++b) {
    const Arrivals none{static_cast<int>(b), 0, std::vector<std::uint32_t>(static_cast<size_t>(warps))};
    block.arrivals.insert(block.arrivals.end(), static_cast<size_t>(program.kernel->barriers[b].slots), none);
  }
  block.banks.assign(program.banks.size(), {});
}

void run_block(Block& block, std::array<std::int64_t, 3> index, std::int64_t number, std::int64_t max_steps) {
  const Program& program = *block.program;
  block.index = index;
  block.number = number;
  block.shared.assign(static_cast<size_t>(program.shared_bytes), std::byte{0xff});
  block.shadows.assign(static_cast<size_t>(program.checks ? program.shared_elements : 0), {});
  const size_t warps = block.warps.size();
  block.clock.assign(warps, 1);
  block.seen.assign(warps, std::vector<std::uint32_t>(warps, 0));
  for (Arrivals& arrivals : block.arrivals) {
    arrivals.threads = 0;
    std::fill(arrivals.known.begin(), arrivals.known.end(), 0);
  }
  for (Warp& warp : block.warps) start(block, warp);
  std::int64_t left = max_steps <= 0 ? INT64_MAX / 2 : max_steps;
  while (true) {
    for (Warp& warp : block.warps) {
      const std::int64_t before = warp.steps;
      advance(warp, before + left);
      left -= warp.steps - before;
    }
    const bool all_done = std::all_of(block.warps.begin(), block.warps.end(),
                                      [](const Warp& warp) { return warp.state == Warp::State::done; });
    if (all_done) return;
    if (!release_complete(block)) stuck(block);
  }
}

}  // namespace lay::interpret
