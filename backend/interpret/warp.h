// The state of a block at work: its warps, its shared memory and what is known about every element of it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backend/interpret/program.h"

namespace lay::interpret {

// Thrown by handlers; run() makes a Report of it.
struct Stopped {
  Fault fault;
};

// What has been done to one element of shared memory: the last write, and two of the latest readers, so that whoever
// writes next finds one that it is not. Times are clocks of warps, threads are counted from 1, 0 is nobody.
struct Shadow {
  std::uint32_t written_at = 0;
  std::uint32_t read_at[2] = {0, 0};
  std::uint16_t writer = 0;
  std::uint16_t reader[2] = {0, 0};
  bool in_flight = false;  // the writer has issued a copy and not waited for it
};

// A copy that has been issued: what it read, and where it goes when its group is waited for.
struct InFlight {
  const Instruction* at = nullptr;
  Mask mask = 0;
  std::int64_t offset[kLanes] = {};  // in the destination
  std::vector<std::byte> data;       // lane by lane
};

// A global buffer of the launch. `written` and `owner` have one entry an element where they are needed.
struct GlobalMemory {
  std::byte* data = nullptr;
  std::int64_t elements = 0;
  std::uint8_t* written = nullptr;  // of workspace
  std::int64_t* owner = nullptr;    // 1 + the number of the thread in the grid; options.write_once
};

struct Block;

struct Warp {
  Block* block = nullptr;
  const Program* program = nullptr;
  Lanes* slots = nullptr;
  Mask mask = 0, all = 0;  // lanes at work; lanes that exist
  int pc = 0;
  int index = 0;

  std::vector<Mask> saved;                    // by If, loops and Elect
  std::vector<std::int64_t> rings;            // advances, by RingId
  std::vector<InFlight> issued;               // since the last commit
  std::vector<std::vector<InFlight>> groups;  // committed, the oldest first
  std::byte* registers = nullptr;             // element e of 32 lanes at e * 32 * bytes
  Mask* initialised = nullptr;                // by register element

  enum class State { running, waiting, done } state = State::running;
  int barrier = -1;    // what it waits for: an index into Block::arrivals
  int statement = -1;  // and where

  std::int64_t steps = 0, lane_operations = 0;
};

// Threads that have arrived, and what they know: up to which time of every warp all has happened.
struct Arrivals {
  int barrier = -1;  // BarrierId
  int threads = 0;
  std::vector<std::uint32_t> known;
};

struct Block {
  const Program* program = nullptr;
  std::vector<GlobalMemory>* global = nullptr;
  std::array<std::int64_t, 3> index{};
  std::int64_t number = 0;
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  std::vector<Shadow> shadows;

  // clock[w] counts the barriers that warp w has passed, from 1. seen[w][v]: up to which time of warp v everything that
  // v did happened before what w does now.
  std::vector<std::uint32_t> clock;
  std::vector<std::vector<std::uint32_t>> seen;
  std::vector<Arrivals> arrivals;  // of every slot of every barrier

  std::vector<BankConflicts> banks;  // by Program::banks

  std::vector<Lanes> slot_storage;
  std::vector<std::byte> register_storage;
  std::vector<Mask> initialised_storage;
};

// The lanes of a slot as values of T; nullptr for no slot.
template <class T>
T* slot(Warp& warp, int index) {
  return index < 0 ? nullptr : as<T>(warp.slots[index]);
}

// Ends the run with a fault at this statement and the first lane of the mask.
[[noreturn]] void stop(const Warp& warp, const Instruction& at, Mask lanes, FaultCode code, const std::string& what,
                       Fault details = {});
// A fault of a barrier, where no single instruction is at work.
[[noreturn]] void stop(const Block& block, int warp, int thread, int statement, FaultCode code,
                       const std::string& what);

// Makes storage for one block of the program; used again for every block that a host thread runs.
void prepare(Block& block, const Program& program, std::vector<GlobalMemory>& global);
// Runs one block to its end, of at most so many steps. Throws Stopped.
void run_block(Block& block, std::array<std::int64_t, 3> index, std::int64_t number, std::int64_t max_steps);
// The warp's arrival at a barrier, seen by whoever is released by it.
void arrive(Block& block, const Warp& warp, int barrier);

}  // namespace lay::interpret
