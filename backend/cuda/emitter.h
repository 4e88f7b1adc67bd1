// The emitter's parts: one object per kernel, its work split over expression.cpp, copy.cpp,
// statement.cpp and emit.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/emit.h"
#include "backend/cuda/index.h"
#include "backend/cuda/names.h"

namespace lay::cuda {

// Lines of text with their indentation and the script line that each comes from. Where that
// changes, the line says so: `x_ = y_;  // gemm.lay:12`.
class Writer {
 public:
  explicit Writer(const std::string& script);

  // Writes one line; `script_line` 0: of no line of the script.
  void line(const std::string& content, int script_line = 0);
  // Writes a comment on a line of its own: // gemm.lay:12: words
  void note(const std::string& words, int script_line);
  // The lines that follow stand inside.
  void open(const std::string& content, int script_line = 0);
  // Ends what `open` began.
  void close(const std::string& content = "}");
  // "} else {"
  void between(const std::string& content);
  // Whole lines, as they are.
  void raw(const std::string& content);
  // Adds the lines of another writer below these, with their script lines.
  void append(const Writer& other);

  std::string text;
  std::vector<int> lines;

 private:
  // Empty where nothing changes.
  std::string mark(int script_line);

  std::string script_;
  int indent_ = 0, marked_ = 0;
  // The second part of a broken line is being written.
  bool continued_ = false;
};

// Writes one kernel. Its parts stand in the sources named below; each finds what it needs of the
// helpers by `need`.
class Emitter {
 public:
  Emitter(const ir::Kernel& kernel, const Target& target);
  Emitted run();  // throws Problem

 private:
  // emit.cpp
  void name_everything();
  // Finds which builtins (thread, lane, block, ...) the statements use: others get no name.
  void find_uses(const ir::Block& block);
  void find_uses(std::vector<ir::ExprId> open);
  // Gives every shared buffer and barrier its offset; throws Problem where they exceed the target.
  void place_shared();
  // Throws Problem for what the target has no instructions for.
  void check_capability() const;
  // The text before the body, in the order in which it stands.
  void write_heading();
  void write_signature();
  void write_specials();
  void fetch_tensor_maps();
  void write_buffers();
  void write_buffer(std::size_t index);

  // expression.cpp
  const Code& expression(ir::ExprId id);
  // Writes an expression anew; `expression` keeps what was written.
  Code make_expression(const ir::Expr& expr);
  Code apply(const ir::Apply& apply, ElementType type);
  Code constant(const ir::Constant& constant, ElementType type);
  // The offset of buffer[coordinate] in elements, 32 or 64 bits wide as the buffer needs.
  Code offset(const ir::Ref& ref, WholeBlocks blocks = WholeBlocks::inside);
  Code offset(ir::BufferId buffer, const std::vector<Code>& coordinate,
              WholeBlocks blocks = WholeBlocks::inside);
  // The element at an offset: its value, the place whose address is that of its first byte, and the
  // assignment of a value to it. Of two elements that share a byte each is a part of the place.
  Code value_at(ir::BufferId buffer, const Code& offset);
  Code place_at(ir::BufferId buffer, const Code& offset);
  std::string assignment(ir::BufferId buffer, const Code& offset, const std::string& value);
  // The place of the first element of an access of several.
  Code first_element(const ir::Ref& ref);
  // Returns a number that divides the value, for accesses that are wide only where it is aligned.
  std::int64_t multiple_of(ir::ExprId id) const;

  // copy.cpp
  void copy(const ir::Copy& copy, int line);
  // One function for each kind of copy; `line` is the script's.
  void copy(const ir::Copy& copy, const ir::PlainCopy& how, int line);
  void copy(const ir::Copy& copy, const ir::AsyncCopy& how, int line);
  void copy(const ir::Copy& copy, const ir::TmaLoad& how, int line);
  void copy(const ir::Copy& copy, const ir::TmaStore& how, int line);
  void copy(const ir::Copy& copy, const ir::WarpCopy& how, int line);
  void copy(const ir::Copy& copy, const ir::RemoteStore& how, int line);
  // A plain copy element by element, or as one vector where both sides are contiguous.
  void copy_elements(const ir::Copy& copy, const ir::PlainCopy& how, int line);
  void copy_vector(const ir::Copy& copy, const ir::PlainCopy& how, int line);
  void move_vector(const ir::Copy& copy, const ir::PlainCopy& how, const VectorType& vector,
                   int line);
  bool is_vector_access(const ir::Ref& ref, int mode, int count) const;
  std::string vector_access(const ir::Ref& ref, const VectorType& vector, bool is_const);
  std::vector<Code> coordinate(const ir::Ref& ref);
  // The offset of the element `by` places further along a mode.
  Code shifted_offset(const ir::Ref& ref, int mode, std::int64_t by);

  // atoms.cpp
  // The function of an asynchronous copy's atom.
  std::string async_function(const std::string& atom);
  // The atom of a copy, whose instruction is known to be harmless.
  const ir::CopyAtom& copy_atom(const std::string& name) const;
  // A copy of a box; `load`: to shared memory.
  void box(const std::string& atom, int tensor_map, const ir::Ref& tensor, const ir::Ref& shared,
           const ir::TmaLoad* load, int line);
  // A multiply-add by the atom's PTX, as a function of the file that is written once for each atom.
  void multiply_atom(const ir::Mma& mma, int line);
  std::string atom_function(const ir::MmaAtom& atom, const ir::Mma& mma);
  std::string descriptor(const ir::Ref& ref, bool takes_transposed);
  std::string pair_register(const ir::Ref& ref, int mode, int pair);
  // The registers that wgmma adds to; the compiler may not move what it does with them across the
  // places where `hold_accumulators` stands.
  std::set<int> accumulators_of_wgmma() const;
  void hold_accumulators(int line);

  // machine.cpp
  // Statements on barriers, and the fences and groups of asynchronous copies (PTX ISA).
  void mbarrier(const ir::Sync& sync, std::string_view helper, const std::string& more, int line);
  void named_barrier(const ir::Sync& sync, std::string_view operation, int line);
  void atomic_count(const ir::AtomicCount& count, int line);
  void sync_any(const ir::SyncAny& sync, int line);
  void fence(const ir::Fence& fence, int line);
  void commit(const ir::Commit& commit, int line);
  void wait(const ir::Wait& wait, int line);
  void elect(const ir::Elect& elect, int line);
  void tiles(const ir::TileLoop& loop, int line);
  void advance(const ir::Advance& advance, int line);
  // Writes the roles as branches on the warp's number.
  void roles();
  // And has several roles.
  bool multiplies_by_warpgroups() const;
  std::string is_of(const ir::Role& role);
  void write_barriers();
  // Marks a helper of helpers.cpp or machine_helpers.cpp, which is written above the kernel.
  void need(std::string_view helper);
  // Its address in shared memory.
  std::string barrier_at(ir::BarrierId barrier, ir::ExprId slot);
  // The address before the swizzle, which the hardware applies to it.
  std::string plain_address(const ir::Ref& ref);

  // statement.cpp
  void block(const ir::Block& statements);  // a scope of its own
  void statements(const ir::Block& statements);
  // Gives the variable a name that no other in scope has.
  const std::string& declare(ir::VarId var);
  const std::string& var_name(ir::VarId var) const {
    return var_names_[static_cast<std::size_t>(var.index)];
  }
  void statement(const ir::Stmt& statement);
  // One function for each kind of statement that is no machine operation.
  void define(ir::VarId var, ir::ExprId value, const std::string& text, int line);
  void shuffle(const ir::Shuffle& shuffle, int line);
  void loop(const ir::For& loop, int line);
  // packed.cpp: a loop that converts neighbours in registers, as conversions of several at once.
  // Returns false, and writes nothing, for any other loop.
  bool convert_run(const ir::For& loop, int line);
  // The same by a helper that converts `at_once` elements.
  bool convert_run(const ir::For& loop, const ir::Read& read, const ir::Assign& assign,
                   std::string_view helper, int at_once, int line);
  void branch(const ir::If& branch, int line);
  void fill(const ir::Fill& fill, int line);
  void mma(const ir::Mma& mma, int line);
  void sync(const ir::Sync& sync, int line);

  // Throws where the loops that are open, times this many, would be unrolled beyond what compiles
  // in reasonable time.
  void check_unrolled(std::int64_t times) const;

  // Throws Problem at the statement that is being written.
  [[noreturn]] void unsupported(const std::string& what) const;
  const ir::Buffer& buffer(ir::BufferId id) const { return kernel_.buffer(id); }
  const std::string& buffer_name(ir::BufferId id) const {
    return buffer_names_[static_cast<std::size_t>(id.index)];
  }
  std::string_view type_name(ElementType type) const;
  // What the buffer is an array of.
  std::string_view memory_name(const ir::Buffer& buffer) const;

  const ir::Kernel& kernel_;
  const Target& target_;
  Writer out_;
  Helpers helpers_;
  Names names_;
  SizeNames sizes_;
  std::vector<std::string> param_names_, buffer_names_, var_names_, map_names_, barrier_names_,
      ring_names_;
  std::vector<std::optional<Code>> expressions_;
  std::vector<ir::VarId> in_scope_;
  std::map<int, std::int64_t> var_multiples_;  // of unrolled loops: what divides the variable
  std::set<ir::Builtin> specials_;
  // Register buffers that are accessed as vectors.
  std::set<int> vectors_;
  // Shared buffers that wgmma reads: what holds the start of their descriptors.
  std::map<int, std::string> starts_;
  std::set<int> held_;  // accumulators of wgmma
  std::vector<std::int64_t> shared_offsets_;
  std::int64_t shared_bytes_ = 0;
  // The iterations of the unrolled loops that are open, multiplied.
  std::int64_t unrolled_ = 1;
  bool dynamic_shared_ = false;
  const bool overlaps_;  // with the grids before it: nothing before compute capability 9.0 does
  int current_line_ = 0;
};

}  // namespace lay::cuda
