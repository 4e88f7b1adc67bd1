// The state of blocks at work: their warps, their shared memory and what is known about every
// element of it. Blocks run in clusters; a kernel without clusters has clusters of one.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/interpret/program.h"

namespace lay::interpret {

// Thrown by handlers; run() makes a Report of it.
struct Stopped {
  Fault fault;
};

// The history of one element of shared memory: the last write, and two of the latest readers, so
// that the thread that writes next finds a reader other than itself. Times are clocks of warps;
// threads are counted from 1 over the cluster, 0 is no thread.
struct Shadow {
  std::uint32_t written_at = 0;
  std::uint32_t read_at[2] = {0, 0};
  std::uint16_t writer = 0;
  std::uint16_t reader[2] = {0, 0};
  // By copies and multiplications that have not been waited for.
  std::uint16_t being_read = 0;
  // The writer has issued a copy and not waited for it.
  bool in_flight = false;
  // The writer was the async proxy.
  bool by_async_proxy = false;
};

// A copy that has been issued: what it read, and where it goes when its group is waited for.
struct InFlight {
  const Instruction* at = nullptr;
  Mask mask = 0;
  // In the destination.
  std::int64_t offset[kLanes] = {};
  std::vector<std::byte> data;  // lane by lane
};

// Shared memory that a copy or multiplication in flight reads, and registers that it writes and
// reads.
struct Reading {
  const Instruction* at = nullptr;
  int lane = 0;
  std::vector<std::int64_t> shadows;  // of elements of the block's shared memory
  // Register elements of the warp that it writes.
  std::vector<std::int64_t> registers;
  std::vector<std::int64_t> fragments;  // that it reads
};

// By cluster, and by actor in it: the time up to which everything that the actor did happened
// before now.
using ForeignTimes = std::map<std::int64_t, std::vector<std::uint32_t>>;

// What the numbers of a launch that are counted up order, by buffer and element: the times that
// those who have counted knew. Clusters may run on several host threads.
struct Counted {
  std::mutex mutex;
  std::map<std::pair<int, std::int64_t>, ForeignTimes> known;
};

// The last write to an element in this launch. Threads are counted from 1 over all clusters, those
// of the first cluster first; 0 is no thread.
struct LastWrite {
  std::int64_t thread = 0;
  std::uint32_t at = 0;  // by the clock of its warp
};

// A global buffer of the launch. `written`, `owner` and `last` have one entry an element where they
// are needed.
struct GlobalMemory {
  std::byte* data = nullptr;
  std::int64_t elements = 0;
  std::uint8_t* written = nullptr;  // of workspace
  // 1 + the number of the thread in the grid; options.write_once.
  std::int64_t* owner = nullptr;
  LastWrite* last = nullptr;   // of workspace that the launch reads and writes
  Counted* counted = nullptr;  // of all buffers
};

struct Block;
struct Cluster;

// The state of 32 lanes.
struct Warp {
  Block* block = nullptr;
  Cluster* cluster = nullptr;
  const Program* program = nullptr;
  Lanes* slots = nullptr;
  // Lanes at work; lanes that exist.
  Mask mask = 0, all = 0;
  int pc = 0;
  int index = 0;  // in the block
  int actor = 0;  // in the cluster

  // By If, loops and Elect.
  std::vector<Mask> saved;
  // Advances, by RingId.
  std::vector<std::int64_t> rings;
  // Since the last commit.
  std::vector<InFlight> issued;
  // Committed, the oldest first.
  std::vector<std::vector<InFlight>> groups;
  // Bulk stores and wgmmas since the last commit of their kind.
  std::vector<Reading> stores, products;
  std::deque<std::vector<Reading>> store_groups, product_groups;
  std::int64_t committed_products = 0;  // groups, in all
  // The committed groups of its warpgroup that it waits for; -1: it does not wait.
  std::int64_t awaited_products = -1;
  // By fence wgmma, since the registers of wgmma were last touched.
  bool products_fenced = false;
  // Element e of 32 lanes at e * 32 * bytes.
  std::byte* registers = nullptr;
  Mask* initialised = nullptr;  // by register element

  enum class State { running, waiting, done } state = State::running;
  int barrier = -1;         // what it waits for: a slot of the cluster's barriers
  int parity = -1;          // of an mbarrier; -1: no mbarrier
  int statement = -1;       // and where
  std::int64_t phase = -1;  // of the cluster barrier, at which it has arrived

  std::int64_t steps = 0, lane_operations = 0;
};

// A vector clock: by actor, the time up to which everything that it did happened before now.
// `visible` is the same for what the async proxy sees. After the warps stand the warpgroups, whose
// times are the groups of multiplications that are done. Of other clusters it is what numbers that
// are counted up have told.
struct Knowledge {
  std::vector<std::uint32_t> known, visible;
  ForeignTimes foreign = {};

  void reset(size_t actors);
  void learn(const Knowledge& other);
};

// Adds what others know.
void learn(ForeignTimes& into, const ForeignTimes& from);

// One slot of a barrier. Threads that have arrived, and what they know.
struct Arrivals {
  int barrier = -1;  // BarrierId
  int rank = 0;      // of the block it belongs to
  std::int64_t threads = 0;
  std::int64_t phase = 0;             // completed
  Knowledge knowledge;                // of those that have arrived, in all phases
  bool any = false, was_any = false;  // of the values of SyncAny: in this phase, in the last one
  // mbarrier only
  bool initialised = false;
  // To the cluster and the async proxy, by fence mbarrier_init.
  bool announced = false;
  int initialiser = -1;  // the actor
  std::uint32_t initialised_at = 0;
  // Expected and not yet arrived.
  std::int64_t bytes = 0;
};

// A TMA load, or a store to a block of the cluster, on its way.
struct Transfer {
  const Instruction* at = nullptr;
  int actor = 0;
  std::uint32_t issued_at = 0;
  int buffer = -1;
  std::vector<int> ranks;  // of the blocks that get it
  int slot = -1;           // of the mbarrier, among a block's slots
  // Elements in the destination.
  std::vector<std::int64_t> offsets;
  std::vector<std::byte> data;
};

// The state of a block: its warps, shared memory and barriers.
struct Block {
  const Program* program = nullptr;
  Cluster* cluster = nullptr;
  std::vector<GlobalMemory>* global = nullptr;
  std::array<std::int64_t, 3> index{};
  std::int64_t number = 0;
  int rank = 0;
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  std::vector<Shadow> shadows;

  std::vector<BankConflicts> banks;  // by Program::banks

  std::vector<Lanes> slot_storage;
  std::vector<std::byte> register_storage;
  std::vector<Mask> initialised_storage;
};

// The blocks that can see one another's shared memory.
struct Cluster {
  const Program* program = nullptr;
  std::int64_t number = 0;
  std::vector<Block> blocks;  // by rank
  // clock[w] counts the barriers that actor w has passed, from 1. knows[w]: what has happened
  // before what w does now.
  std::vector<std::uint32_t> clock;
  std::vector<Knowledge> knows;
  std::vector<Arrivals> arrivals;  // of every slot of every barrier of every block
  std::deque<Transfer> transfers;

  Warp& warp(int actor) {
    const auto warps = static_cast<int>(blocks[0].warps.size());
    return blocks[static_cast<size_t>(actor / warps)].warps[static_cast<size_t>(actor % warps)];
  }
  // The entry of a warp's warpgroup in Knowledge.
  int warpgroup_of(const Warp& warp) const {
    return actors() + warp.block->rank * warpgroups() + warp.index / 4;
  }
  int warpgroups() const {
    return (static_cast<int>(blocks[0].warps.size()) + 3) / 4;
  }  // of a block
  int actors() const { return static_cast<int>(blocks.size() * blocks[0].warps.size()); }
  // A slot of a barrier of the block of that rank; the cluster's barrier is the first block's.
  Arrivals& at(int rank, int barrier, std::int64_t slot);
};

// The lanes of a slot as values of T; nullptr for no slot.
template <class T>
T* slot(Warp& warp, int index) {
  return index < 0 ? nullptr : as<T>(warp.slots[index]);
}

inline int threads_of(const Warp& warp) {
  return __builtin_popcount(warp.all);
}

// Ends the run with a fault at this statement and the first lane of the mask.
[[noreturn]] void stop(const Warp& warp, const Instruction& at, Mask lanes, FaultCode code,
                       const std::string& what, Fault details = {});
// A fault of a barrier, where no single instruction is at work.
[[noreturn]] void stop(const Warp& warp, int statement, FaultCode code, const std::string& what);
// "thread 3", of this block or another of the cluster; `id` counts from 1 over the cluster.
std::string thread_name(const Warp& warp, std::uint16_t id);

// Makes storage for one cluster of the program; used again for every cluster that a host thread
// runs.
void prepare(Cluster& cluster, const Program& program, std::vector<GlobalMemory>& global);
// Runs one cluster to its end, of at most `max_steps`. Throws Stopped.
void run_cluster(Cluster& cluster, std::int64_t number, const Options& options,
                 std::int64_t max_steps);

}  // namespace lay::interpret
