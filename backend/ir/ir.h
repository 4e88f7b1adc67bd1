// The kernel IR: one small language for a SIMT kernel and for a warp-specialised Hopper kernel.
//
// A kernel is a launch, parameters, buffers with layouts, and one body per role (a range of
// threads). A SIMT kernel is the special case of one role and block barriers. Its text (print.h,
// parse.h) looks like this:
//
//   kernel scale from "scale.lay" {
//     size M, N
//     scalar alpha : f32
//     assume M % 4 == 0
//     global X : f32 (M,N):(N,1) read align 4
//     global Y : f32 (M,N):(N,1) write align 4
//     register x : f32 1:0
//     launch grid (ceil_div(M*N,128),1,1) cluster (1,1,1) threads 128
//     role all threads 0..128 {
//       let i : s32 thread = block_x * 128 + thread
//       let m : s32 thread = i / N
//       if i < [M*N] {
//         copy x[0] <- X[m,i % N]  @3
//         Y[m,i % N] = alpha * x[0]  @3 "one element a thread"
//       }
//     }
//   }
//
// Memory is always accessed as buffer[coordinate], one expression per top-level mode of the
// buffer's layout; the layout maps the coordinate to an offset in elements. So bounds are known (a
// coordinate lies inside the shape), swizzles and padding are invisible to the body, and an error
// names a coordinate.
//
// Things shared inside a kernel (expressions, variables, buffers, barriers, rings) are typed ids
// into the kernel's vectors. Expressions are a DAG: an expression's operands have smaller ids.
// Statements form a tree.
//
// Terms are the PTX ISA's (mbarrier, cluster, proxy, bulk group) and CuTe's for layouts.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/predicate.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/memory/element.h"

namespace lay::ir {

template <class Tag>
struct Id {
  int index = -1;
  explicit operator bool() const { return index >= 0; }
  auto operator<=>(const Id&) const = default;
};
using ExprId = Id<struct ExprTag>;
using VarId = Id<struct VarTag>;
using ParamId = Id<struct ParamTag>;
using BufferId = Id<struct BufferTag>;
using BarrierId = Id<struct BarrierTag>;
using RingId = Id<struct RingTag>;

// Where in the script a thing comes from (line 0: nowhere in particular), and what a reader of the
// emitted code wants to know here: usually a layout.
struct Origin {
  int line = 0;
  std::string note;
};

// The widest group of threads that sees one value. Ordered: a value is usable wherever a narrower
// one is asked for.
enum class Uniformity { thread, warp, warpgroup, block, cluster, grid };

// ---- what a kernel declares ---------------------------------------------------------------------

// A size (a dim of the script) or another run-time scalar. Sizes are s32 in index arithmetic: the
// launcher admits no larger extent; offsets into global memory are s64.
struct Param {
  std::string name;
  ElementType type = ElementType::s32;
  bool is_size = false;
  Int symbol;  // the dim, when is_size
};

enum class Space { global, shared, registers };

// A piece of memory with a layout from coordinate to element offset. Global buffers are pointer
// parameters, in order. Elements of 4 bits lie two to a byte. What writes them to memory writes
// whole bytes: two threads with one element each would race for the byte.
struct Buffer {
  std::string name;
  Space space = Space::registers;
  ElementType element = ElementType::f32;
  AnyLayout layout;
  int alignment = 0;  // bytes: of the base pointer
  bool read = true, written = true;
  // Global, the launcher's own: contents undefined until this launch or one before, of the same
  // variant, writes them.
  bool workspace = false;
  Origin origin;
  Int offset = 0;  // of workspace: bytes from where all that the variant's launches share begins
};

// The base pixels along a mode: `count` of them, `step` apart, from `first` on, which may lie in
// front of the tensor.
struct BasePixels {
  Int first;
  Int count;
  int step = 1;
};

// A TMA descriptor that the launcher encodes before the launch: the recipe, not the 128 bytes.
//
// With `im2col` (PTX ISA, im2col mode) the fastest mode holds channels, and a copy takes a column
// of pixels: from its base pixel on to the next ones, of the modes behind the fastest in turn, all
// but the slowest as `im2col` says. It reads each pixel at the copy's offsets from its base,
// outside of the tensor zeros:
//
//   X[n,2*p+r-1,2*q+s-1,c]    order (3,2,1,0), im2col (-1,Q,2) (-1,P,2); of the pixel (n,p,q) the
//                             base is X[n,2*p-1,2*q-1,c], the offsets are s, r
struct TensorMap {
  std::string name;
  // The global buffer it describes.
  BufferId tensor;
  // Modes of the tensor, fastest first.
  std::vector<int> order;
  // Extents of one copy, in the same order; with im2col channels, pixels and ones.
  std::vector<int> box;
  // Modes of the buffer in shared memory that they run along; empty: `order`
  std::vector<int> onto;
  std::optional<Swizzle> swizzle;    // over bytes
  std::vector<BasePixels> im2col{};  // of the modes order[1] to order[rank - 2]

  int shared_mode(size_t i) const { return onto.empty() ? order[i] : onto[i]; }
};

enum class BarrierKind { block, named, mbarrier, cluster };
struct Barrier {
  std::string name;
  BarrierKind kind = BarrierKind::block;
  // Length of the array: an mbarrier a stage, a named barrier a warpgroup.
  int slots = 1;
  // Arrivals that complete a phase; block and cluster barriers: everybody.
  int count = 0;
  // Hardware number of a named barrier; slot i has number id + i.
  int id = 0;
};

// A (slot, phase) pair that walks round a ring of stages and lives across the tile loop.
struct Ring {
  std::string name;
  int stages = 1;
  // Parity of the first round. A producer's ring begins with 1: the first waits for empty stages
  // then ask for the phase before the first one, which counts as complete (PTX ISA,
  // mbarrier.test_wait).
  int initial_phase = 0;
};

struct Var {
  std::string name;
  ElementType type = ElementType::s32;
  Uniformity uniformity = Uniformity::thread;
};

// ---- expressions --------------------------------------------------------------------------------

struct Ref {
  BufferId buffer;
  // One per top-level mode of the buffer's layout (1-D within a nested mode)
  std::vector<ExprId> coordinate;
};

enum class Builtin {
  thread,
  lane,
  warp,
  warpgroup,
  block_x,
  block_y,
  block_z,
  cluster_rank,
  cluster_count,
  grid_x
};

struct Constant {
  std::variant<std::int64_t, double> value;
};
struct Special {
  Builtin which;
};
struct Size {
  Int value;  // over the kernel's sizes only
};
struct Scalar {
  ParamId param;
};
struct VarRef {
  VarId var;
};
struct RingSlot {
  RingId ring;
};
struct RingPhase {
  RingId ring;
};
// The offset that a layout with integer strides gives at a 1-D coordinate: how lanes, warps and
// tiles are placed.
struct LayoutOffset {
  Layout layout;
  ExprId index;
};
// An element function over operands. `select` evaluates only the arm it takes, `and`/`or` stop
// early: a read in an arm that is not taken does not happen. Integer `div` and `rem` floor for the
// non-negative operands of index arithmetic. The result's type stands on the expression; `cast`
// converts to it (to nearest even, saturating to 8-bit types).
struct Apply {
  ElementFunction function;
  std::vector<ExprId> operands;
};
struct Read {
  Ref from;
};

struct Expr {
  std::variant<Constant, Special, Size, Scalar, VarRef, RingSlot, RingPhase, LayoutOffset, Apply,
               Read>
      node;
  ElementType type = ElementType::s32;
};

// ---- statements ---------------------------------------------------------------------------------

struct Stmt;
using Block = std::vector<Stmt>;

struct Let {
  VarId var;
  ExprId value;
};
// shfl.sync.bfly, by a converged warp: in each lane the variable gets the value of the lane whose
// number is this lane's xor `lane_mask`. The value is of a type that is stored in whole bytes, or a
// pred.
struct Shuffle {
  VarId var;
  ExprId value;
  int lane_mask = 0;  // 1..31
};
// atom.add.acq_rel.gpu, by each lane that is here: adds 1 to a number in global memory, in one step
// among all threads of the GPU. The variable gets the number before. What happened before an
// addition also happened before the later ones of the same number, in whichever block.
struct AtomicCount {
  VarId var;
  Ref at;  // an s32
};
// bar.red.or: the threads that the named barrier counts meet, as at SyncNamed, and the variable
// says whether the value was true in any of them.
struct SyncAny {
  VarId var;
  ExprId value;  // a pred
  BarrierId barrier;
  ExprId slot;
};
// Stores one element.
struct Assign {
  Ref to;
  ExprId value;
};
// Stores one value in every element of a buffer in registers.
struct Fill {
  BufferId buffer;  // in registers
  ExprId value;
};

// The elements of a vector access: `count` consecutive ones along mode dst_mode of the destination
// and src_mode of the source, starting at the coordinates of the copy. With count > 1 each side
// that is memory is one access, contiguous and aligned, which the verifier proves by the layouts.
struct CopyVector {
  int count = 1;
  int dst_mode = 0, src_mode = 0;
};
// A copy whose predicate is false reads nothing. It then writes zeros, or nothing.
struct CopyGuard {
  ExprId predicate;  // optional
  bool zero_fill = false;
};
// One mbarrier of an array of them.
struct MbarrierSlot {
  BarrierId barrier;
  ExprId slot;
};

// Loads and stores of a thread; registers may be on either side.
struct PlainCopy {
  CopyVector vector;
  CopyGuard guard;
};
// By an atom of one thread, global -> shared. It completes with the thread's next committed
// cp_async group.
struct AsyncCopy {
  CopyVector vector;
  CopyGuard guard;
  std::string atom;  // of Kernel::copy_atoms
};
// By an atom of boxes, global -> shared: the box of the tensor map. Its bytes count at the
// mbarrier.
struct TmaLoad {
  int tensor_map = -1;
  MbarrierSlot completion;
  std::string atom;  // of Kernel::copy_atoms; of a cluster with a mask, else of a thread
  // Mask over the cluster's blocks, optional.
  ExprId multicast;
  // From the base pixels, for each mode of the map's im2col: not negative.
  std::vector<ExprId> offsets{};
};
// By an atom of boxes of one thread, shared -> global. It completes with the thread's next
// committed bulk group.
struct TmaStore {
  int tensor_map = -1;
  std::string atom{};  // of Kernel::copy_atoms
};
// By an atom of a converged warp, between shared memory and registers. `vector` counts the elements
// that each lane has in registers, along their mode. The reference to shared memory is the first
// element of a row that the lane names, which runs along its mode; the atom says which lanes name
// rows, and which elements of them each lane gets or gives.
struct WarpCopy {
  CopyVector vector;
  std::string atom;  // of Kernel::copy_atoms
};
// st.async, registers -> the same buffer of a block of the cluster. Its bytes count at the same
// mbarrier of that block.
struct RemoteStore {
  CopyVector vector;
  MbarrierSlot completion;
  ExprId block;  // the rank of the block
};

// dst <- src.
struct Copy {
  Ref dst, src;
  std::variant<PlainCopy, AsyncCopy, TmaLoad, TmaStore, WarpCopy, RemoteStore> how;
};

// An instruction that copies, as data: a record of the standard library or of a script. Both sides
// map (thread, bit) to a bit of what is copied; in memory each thread names where its bits begin,
// one behind the other. Threads of a cluster are its blocks, each of which gets all of a box.
enum class CopyScope { thread, warp, cluster };
// What copies of boxes ask of the tensor map and of shared memory.
struct BoxForm {
  int modes = 0;                    // of the tensor
  int alignment = 0;                // bytes: of the box in shared memory
  int pitch = 0;                    // bytes of which the tensor's strides are multiples
  std::vector<int> swizzle_widths;  // bytes; 16: as it is
};
struct CopyAtom {
  std::string name;
  CopyScope scope = CopyScope::thread;
  Space from = Space::global, to = Space::shared;
  Layout source, destination;
  std::optional<BoxForm> box;  // of a tensor; else neighbours
  // The PTX instruction, with $to and $from for registers or addresses and, of an asynchronous
  // copy, $bytes for how many of them are read; of a box the operands that CopyInstruction says.
  // Empty: it cannot be emitted.
  std::string instruction;

  const Layout& in_memory() const { return from == Space::shared ? source : destination; }
  const Layout& in_registers() const { return from == Space::shared ? destination : source; }
};

// An instruction that multiplies tiles, as data: a record of the standard library. A tile of d is m
// x n, of a m x k, of b n x k; layouts map (thread, value) to the column-major index in the tile,
// where the operand lies in registers.
struct MmaAtom {
  std::string name;
  std::array<int, 3> shape{};  // m, n, k
  Layout d;
  std::optional<Layout> a, b;  // none: from shared memory
  // The PTX instruction, with $d, $a and $b for the operands and, in a wgmma, $scale for the
  // predicate that is false where d = a * b, and $trans_a and $trans_b for whether an operand in
  // shared memory is MN-major; without them it is K-major. Several, behind semicolons, name the
  // registers of operands, $a0. Empty: it cannot be emitted.
  std::string instruction;
};

// d += a * b. simt, on register buffers: for all i, j: d[i,j,..] = fma(a[i,..], b[j,..],
// d[i,j,..]), i outermost; the coordinates hold the modes after the iterated ones (mode 0 of a and
// b, modes 0 and 1 of d), static. Other kinds, by their atom: an operand in shared memory names the
// element where the atom's tile starts; one in registers holds the values of a thread in mode 0,
// and the coordinates are those of the modes after it.
enum class MmaKind { simt, mma_sync, wgmma };
struct Mma {
  MmaKind kind = MmaKind::simt;
  std::string atom;
  Ref d, a, b;
  // When true d = a * b (the first step of a tile), optional.
  ExprId zero;
};

// A loop of each thread over begin, begin + step, ... below end.
struct For {
  VarId var;
  ExprId begin, end;
  int step = 1;
  // Fully: begin and end are constants, and the variable may index registers.
  bool unrolled = false;
  std::shared_ptr<Block> body;
};
// A branch: lanes for which the condition holds run `then`, the others `otherwise`.
struct If {
  ExprId condition;
  // Otherwise may be null.
  std::shared_ptr<Block> then, otherwise;
};
// One lane of each converged warp of the role runs the body.
struct Elect {
  std::shared_ptr<Block> body;
};
// The persistent loop: a block takes the tiles first, first + stride, ... below count.
struct TileLoop {
  VarId tile;
  ExprId first, count, stride;
  std::shared_ptr<Block> body;
};

// Operations on barriers. Each belongs to one kind of barrier.
// Sets the count of arrivals and begins phase 0 (PTX ISA, mbarrier.init).
struct InitMbarrier {};
// One arrival of the count that completes a phase.
struct ArriveMbarrier {
  // Arrives at the same mbarrier of that block of the cluster; optional.
  ExprId block;
};
// An arrival that adds to the bytes which the phase waits for.
struct ArriveExpectBytes {
  ExprId bytes;
};
// Until the phase of this parity is complete.
struct WaitMbarrier {
  ExprId phase;
};
// Its memory may be used for something else from here on.
struct InvalidateMbarrier {};
// All threads of the block meet (bar.sync 0).
struct SyncBlock {};
// The threads that the named barrier counts meet; `ArriveNamed` counts without waiting.
struct SyncNamed {};
struct ArriveNamed {};
// All threads of the cluster meet; arrival and waiting may stand apart.
struct SyncCluster {};
struct ArriveCluster {};
struct WaitCluster {};
// One operation on a barrier, or on one of an array of them.
struct Sync {
  using Operation = std::variant<InitMbarrier, ArriveMbarrier, ArriveExpectBytes, WaitMbarrier,
                                 InvalidateMbarrier, SyncBlock, SyncNamed, ArriveNamed, SyncCluster,
                                 ArriveCluster, WaitCluster>;
  BarrierId barrier;
  ExprId slot;  // of an mbarrier, and of a named barrier where there are several
  Operation operation;
};
// The kind of barrier that the operation is for.
BarrierKind barrier_kind(const Sync::Operation& operation);

// warp: the lanes of a warp meet (bar.warp.sync). Values do not depend on it, instructions do: the
// assembler moves no load behind it, so that copies that shall run ahead of the products are issued
// before them. grid_dependency_wait: from here on, what the grids before this one in the stream
// wrote is visible. It stands in the prologue, outside of every branch, and nothing before it
// touches global memory; then the grid may be launched before those have ended (griddepcontrol).
// branch: it stands in an arm of an `if`, which stays a branch. Values do not depend on it,
// instructions do: of an arm that only assigns registers the compiler makes a select a value, which
// all lanes execute wherever they go.
enum class FenceKind {
  warp,
  proxy_async,
  mbarrier_init,
  wgmma,
  acq_rel_cluster,
  grid_dependency_wait,
  branch
};
// Orders what comes before it and after it, as its kind says (PTX ISA, fence, membar, wgmma.fence).
struct Fence {
  FenceKind kind;
};
// The asynchronous operations that are waited for in groups.
enum class GroupKind { cp_async, bulk, wgmma };
// Closes a group: all operations of the kind that this thread has issued since the last one.
struct Commit {
  GroupKind kind;
};
// Waits until at most `pending` groups are in flight; `read`: only until their sources have been
// read.
struct Wait {
  GroupKind kind;
  int pending = 0;
  bool read = false;
};
// On to the next stage, or by `count` stages (0 or more) at once: those that another takes.
struct Advance {
  RingId ring;
  ExprId count;
};

// A statement and where in the script it comes from.
struct Stmt {
  std::variant<Let, Shuffle, AtomicCount, SyncAny, Assign, Fill, Copy, Mma, For, If, Elect,
               TileLoop, Sync, Fence, Commit, Wait, Advance>
      node;
  Origin origin;
};

// ---- the kernel ---------------------------------------------------------------------------------

// A range of warps that run one body: producer, consumers.
struct Role {
  std::string name;
  // Threads first .. first + threads - 1 of the block.
  int first = 0, threads = 0;
  // Budget per thread (setmaxnreg)
  std::optional<int> registers;
  Block body;
};

// How the kernel is launched; the grid is in blocks, over the sizes.
struct Launch {
  std::array<Int, 3> grid;
  std::array<int, 3> cluster{1, 1, 1};
  int threads = 0;
  // Promised to the register allocator.
  int blocks_per_sm = 1;
  // Persistent: correct for any number of clusters along x (each strides by `grid_x`), so a launch
  // takes no more of the grid than the device holds at once.
  bool persistent = false;
};

// One kernel: what it declares, and what its threads do.
struct Kernel {
  std::string name;
  // File name of the script, for comments and line marks.
  std::string script;
  std::vector<std::string> header;  // first lines of the emitted file: the schedule, a line each
  std::vector<Param> params;
  // Over the sizes; whoever launches the kernel has checked them.
  std::vector<Predicate> assumptions;
  std::vector<TensorMap> tensor_maps;
  // By the names that mma statements use, and copies.
  std::vector<MmaAtom> atoms;
  std::vector<CopyAtom> copy_atoms;
  std::vector<Buffer> buffers;
  std::vector<Barrier> barriers;
  std::vector<Ring> rings;
  std::vector<Var> vars;
  std::vector<Expr> exprs;
  Launch launch;
  // By all threads before the roles part: barrier initialisation; its variables stay in scope.
  Block prologue;
  std::vector<Role> roles;
  Block epilogue;  // by all threads after the roles

  // Returns the declaration that an id stands for; the id is of this kernel.
  const Expr& expr(ExprId id) const { return exprs[static_cast<std::size_t>(id.index)]; }
  const Var& var(VarId id) const { return vars[static_cast<std::size_t>(id.index)]; }
  const Param& param(ParamId id) const { return params[static_cast<std::size_t>(id.index)]; }
  const Buffer& buffer(BufferId id) const { return buffers[static_cast<std::size_t>(id.index)]; }
  const Barrier& barrier(BarrierId id) const {
    return barriers[static_cast<std::size_t>(id.index)];
  }
  const Ring& ring(RingId id) const { return rings[static_cast<std::size_t>(id.index)]; }
};

// The atom of that name; null where there is none.
const CopyAtom* copy_atom(const Kernel& kernel, const std::string& name);

// Returns true if the kernel may be launched before the grids ahead of it in the stream have ended.
bool overlaps(const Kernel& kernel);

}  // namespace lay::ir
