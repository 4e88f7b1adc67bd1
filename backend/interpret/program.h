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
#include "frontend/algebra/memory/copy_rows.h"

namespace lay::interpret {

struct Warp;
struct Instruction;
// Executes one instruction for all active lanes of a warp.
using Handler = void (*)(Warp&, const Instruction&);

// One step of a warp. Values live in slots, each of 32 lanes.
struct Instruction {
  Handler run = nullptr;
  int dst = -1, a = -1, b = -1, c = -1;  // slots
  // The instruction to jump to.
  int target = -1;
  // Index into the program's accesses, copies, ...
  int detail = -1;
  std::int64_t value = 0;
  ElementType type = ElementType::s32;  // of the operands
  // Elements a lane.
  int weight = 1;
  int statement = -1;
};

// One mode of a layout without nesting.
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
  // Offsets lie in 0 .. cosize-1.
  std::int64_t cosize = 1;
};

// A buffer with its layout and the place of its memory and shadow.
struct BufferPlan {
  ir::Space space{};
  ElementType element{};
  int bits = 32;  // of an element, on the device
  int cell = 4;   // bytes of an element on the host: as many, 1 of 4 bits; in field mode 8
  Placement placement;
  // Shared: byte offset in the block's memory on the device; what swizzles and banks go by.
  std::int64_t start = 0;
  // Shared: byte offset in the block's memory on the host; registers: in a lane's.
  std::int64_t place = 0;
  // Shared: index of the first element's shadow.
  std::int64_t shadow = 0;
  int alignment = 0;
  int global = -1;  // index among the global buffers
  // Registers that wgmma reads an operand from.
  bool fragments = false;

  // The bytes of that many elements, begun ones included.
  std::int64_t bytes(std::int64_t elements) const { return (elements * bits + 7) / 8; }
};

// buffer[coordinate]: the slots of the coordinates of modes first_mode, first_mode + 1, ...
struct Access {
  int buffer = -1;
  int first_mode = 0;
  std::vector<int> coordinate;
};

// A copy of `count` elements along one mode of each side.
struct CopyPlan {
  Access dst, src;
  int count = 1, dst_mode = 0, src_mode = 0;
  // BarrierId of the mbarrier on which a store to another block completes.
  int barrier = -1;
  CopyRows rows{};  // of a copy by a warp
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
  int map = -1;  // TensorMap
  // BarrierId of the mbarrier on which a load completes.
  int barrier = -1;
  // With im2col: the base pixels along the modes behind the fastest, and the slots of the offsets
  // from them.
  struct Pixels {
    std::int64_t first = 0, count = 1, step = 1;
  };
  std::vector<Pixels> im2col{};
  std::vector<int> offsets{};
};

// A multiplication by an atom. The tables have one entry a value: the row and column of the tile's
// element that a thread holds, at thread * values + value.
struct Place {
  std::int16_t row, column;
};
// A multiply-add instruction of m x n x k elements, executed by `threads` threads together.
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

// A kernel compiled for the interpreter: instructions, and the tables that they refer to.
struct Program {
  const ir::Kernel* kernel = nullptr;
  bool checks = true, write_once = false, bank_conflicts = false;
  Arithmetic arithmetic = Arithmetic::ieee;
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
  // Slot, value.
  std::vector<std::pair<int, Lanes>> constants;
  // By ir::Builtin.
  std::array<int, 10> builtin_slot{};

  // By BarrierId: where its slots begin among those of all barriers.
  std::vector<int> first_slot;
  int barrier_slots = 0;  // of all barriers
  int cluster_blocks = 1;
  std::int64_t shared_bytes = 0, shared_elements = 0;
  std::int64_t register_bytes = 0, register_elements = 0;  // of a lane, of a warp
};

}  // namespace lay::interpret
