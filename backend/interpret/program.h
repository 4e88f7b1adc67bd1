// A kernel as flat code for one launch: the sizes are numbers, layouts are lists of extents and
// strides, every value of an expression has a slot of its own in the warp, and every instruction
// knows the function that executes it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/interpret/lanes.h"
#include "backend/ir/ir.h"

namespace lay::interpret {

struct Warp;
struct Instruction;
using Handler = void (*)(Warp&, const Instruction&);

struct Instruction {
  Handler run = nullptr;
  int dst = -1, a = -1, b = -1, c = -1;  // slots
  int target = -1;                       // the instruction to jump to
  int detail = -1;                       // index into the program's accesses, copies, ...
  std::int64_t value = 0;
  ElementType type = ElementType::s32;  // of the operands
  int weight = 1;                       // elements a lane
  int statement = -1;
};

struct Leaf {
  std::int64_t extent, stride;
};

// A top-level mode of a layout; a coordinate within it is split over the leaves, the left-most
// fastest.
struct Mode {
  std::int64_t size = 1;
  std::vector<Leaf> leaves;
};

// A layout of numbers: coordinate -> swizzle(offset + sum).
struct Placement {
  std::vector<Mode> modes;
  std::int64_t offset = 0;
  std::optional<Swizzle> swizzle;
  std::int64_t cosize = 1;  // offsets lie in 0 .. cosize-1
};

struct BufferPlan {
  ir::Space space{};
  ElementType element{};
  int bytes = 4;  // of an element
  Placement placement;
  std::int64_t start =
      0;  // shared: byte offset in the block's memory; registers: element offset in the warp's
  std::int64_t shadow = 0;  // shared: index of the first element's shadow
  int alignment = 0;
  int global = -1;         // index among the global buffers
  bool fragments = false;  // registers that wgmma reads an operand from
};

// buffer[coordinate]: the slots of the coordinates of modes first_mode, first_mode + 1, ...
struct Access {
  int buffer = -1;
  int first_mode = 0;
  std::vector<int> coordinate;
};

struct CopyPlan {
  Access dst, src;
  int count = 1, dst_mode = 0, src_mode = 0;
  int barrier = -1;  // BarrierId of the mbarrier on which a store to another block completes
};

// Element offsets of a[i], b[j] and d[i*J+j] from the accesses' own offsets.
struct MmaPlan {
  Access d, a, b;
  std::vector<int> d_offsets, a_offsets, b_offsets;
};

// A box of a tensor map between global and shared memory. The first modes of `shared` are those of
// `tensor`.
struct BoxPlan {
  Access tensor, shared;
  int map = -1;      // TensorMap
  int barrier = -1;  // BarrierId of the mbarrier on which a load completes
};

// A multiplication by an atom. The tables have one entry a value: the row and column of the tile's
// element that a thread holds, at thread * values + value.
struct Place {
  std::int16_t row, column;
};
struct AtomPlan {
  Access d, a, b;
  int rows = 0, columns = 0, depth = 0;  // m, n, k
  int threads = 32;
  std::vector<Place> d_places, a_places, b_places;  // none: from shared memory
};

// A counted access, for the statistics of banks where its buffer is shared and of sectors where it
// is global.
struct BankCount {
  int statement, buffer;
};

struct Program {
  const ir::Kernel* kernel = nullptr;
  bool checks = true, write_once = false, bank_conflicts = false;
  std::array<std::int64_t, 3> grid{};

  std::vector<Instruction> code;
  std::vector<int> role_entry;  // by role
  int epilogue_entry = 0;
  std::vector<int> role_of_warp;  // -1: none

  std::vector<BufferPlan> buffers;  // by BufferId
  std::vector<Access> accesses;
  std::vector<CopyPlan> copies;
  std::vector<MmaPlan> mmas;
  std::vector<BoxPlan> boxes;
  std::vector<AtomPlan> atoms;
  std::vector<Placement> placements;  // of LayoutOffset
  std::vector<BankCount> banks;
  std::vector<const ir::Stmt*> statements;

  int slots = 0;
  std::vector<std::pair<int, Lanes>> constants;  // slot, value
  std::array<int, 10> builtin_slot{};            // by ir::Builtin

  std::vector<int> first_slot;  // by BarrierId: where its slots begin among those of all barriers
  int barrier_slots = 0;        // of all barriers
  int cluster_blocks = 1;
  std::int64_t shared_bytes = 0, shared_elements = 0;
  std::int64_t register_bytes = 0, register_elements = 0;  // of a lane, of a warp
};

}  // namespace lay::interpret
