#include "backend/ir/text/print.h"

#include "backend/ir/text/print_expression.h"
#include "backend/ir/text/text.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {
namespace {

class Printer {
 public:
  explicit Printer(const Kernel& of) : kernel_(of), expression_(of) {}

  std::string kernel();
  void statement(const Stmt& stmt);
  std::string out;

 private:
  void declarations();
  void params();
  void buffer(const Buffer& buffer);
  void tensor_map(const TensorMap& map);
  void mma_atom(const MmaAtom& atom);
  void copy_atom(const CopyAtom& atom);
  void barrier(const Barrier& barrier);
  void launch();
  void block(std::string_view head, const Block& body, std::string_view tail = "");

  void write(const Let& let);
  void write(const Shuffle& shuffle);
  void write(const AtomicCount& count);
  void write(const SyncAny& sync);
  void write(const Assign& assign);
  void write(const Fill& fill);
  void write(const Copy& copy);
  void write(const Mma& mma);
  void write(const For& loop);
  void write(const If& branch);
  void write(const Elect& elect);
  void write(const TileLoop& tiles);
  void write(const Sync& sync);
  void write(const Fence& fence);
  void write(const Commit& commit);
  void write(const Wait& wait);
  void write(const Advance& advance);

  void line(std::string_view text);
  // Finishes the line of a statement: its origin, and `{` where a body follows.
  void head(std::string text, bool opens = false);
  void body(const Block& body);
  std::string expr(ExprId id) const { return expression_(id); }
  std::string var(VarId id) const;
  std::string barrier_slot(BarrierId id, ExprId slot) const;
  std::string vector(const CopyVector& vector) const;
  std::string guard(const CopyGuard& guard) const;
  std::string map(int tensor_map) const;
  static std::string atom(const std::string& name);

  const Kernel& kernel_;
  ExpressionPrinter expression_;
  const Stmt* statement_ = nullptr;
  int depth_ = 0;
};

std::string word(std::string_view w) {
  return std::string(w);
}

std::string list(const std::vector<int>& numbers) {
  std::string out = "(";
  for (size_t i = 0; i < numbers.size(); ++i) out += (i ? "," : "") + std::to_string(numbers[i]);
  return out + ")";
}

std::string type_of(const Var& var) {
  return text::name(var.name) + " : " + word(element_name(var.type)) + " " +
         word(text::kUniformities[var.uniformity]);
}

// ---- lines

void Printer::line(std::string_view text) {
  out.append(static_cast<size_t>(depth_) * 2, ' ').append(text).append("\n");
}

void Printer::head(std::string text, bool opens) {
  const Origin& origin = statement_->origin;
  if (opens) text += " {";
  if (origin.line != 0 || !origin.note.empty()) {
    text += "  @" + std::to_string(origin.line);
    if (!origin.note.empty()) text += " " + text::quoted(origin.note);
  }
  line(text);
}

void Printer::body(const Block& body) {
  ++depth_;
  for (const Stmt& stmt : body) statement(stmt);
  --depth_;
}

void Printer::block(std::string_view head, const Block& stmts, std::string_view tail) {
  line(std::string(head) + " {");
  body(stmts);
  line("}" + std::string(tail));
}

std::string Printer::var(VarId id) const {
  return type_of(kernel_.var(id));
}

std::string Printer::barrier_slot(BarrierId id, ExprId slot) const {
  std::string out_text = text::name(kernel_.barrier(id).name);
  if (slot) out_text += "[" + expr(slot) + "]";
  return out_text;
}

// ---- declarations

void Printer::params() {
  std::string sizes;
  for (const Param& param : kernel_.params) {
    if (param.is_size) sizes += (sizes.empty() ? "" : ", ") + text::name(param.name);
  }
  if (!sizes.empty()) line("size " + sizes);
  for (const Param& param : kernel_.params) {
    if (!param.is_size)
      line("scalar " + text::name(param.name) + " : " + word(element_name(param.type)));
  }
  for (const Predicate& fact : kernel_.assumptions) line("assume " + fact.to_string());
}

void Printer::buffer(const Buffer& buffer) {
  std::string text = word(text::kSpaces[buffer.space]) + " " + text::name(buffer.name) + " : " +
                     word(element_name(buffer.element)) + " " + to_string(buffer.layout);
  if (buffer.space == Space::global) {
    if (buffer.workspace) text += " workspace";
    if (!buffer.offset.is(0)) text += " at " + buffer.offset.to_string();
    if (buffer.read) text += " read";
    if (buffer.written) text += " write";
  }
  if (buffer.alignment != 0) text += " align " + std::to_string(buffer.alignment);
  const Stmt holder{Advance{}, buffer.origin};
  statement_ = &holder;
  head(text);
}

void Printer::mma_atom(const MmaAtom& atom) {
  std::string text = "mma_atom " + text::quoted(atom.name) + " shape (" +
                     std::to_string(atom.shape[0]) + "," + std::to_string(atom.shape[1]) + "," +
                     std::to_string(atom.shape[2]) + ") d " + atom.d.to_string();
  if (atom.a) text += " a " + atom.a->to_string();
  if (atom.b) text += " b " + atom.b->to_string();
  if (!atom.instruction.empty()) text += " ptx " + text::quoted(atom.instruction);
  line(text);
}

void Printer::copy_atom(const CopyAtom& atom) {
  std::string text = "copy_atom " + text::quoted(atom.name) + " " +
                     word(text::kScopes[atom.scope]) + " " + word(text::kSpaces[atom.from]) + " " +
                     atom.source.to_string() + " to " + word(text::kSpaces[atom.to]) + " " +
                     atom.destination.to_string();
  if (const auto& box = atom.box)
    text += " box " + std::to_string(box->modes) + " align " + std::to_string(box->alignment) +
            " pitch " + std::to_string(box->pitch) + " swizzles " + list(box->swizzle_widths);
  if (!atom.instruction.empty()) text += " ptx " + text::quoted(atom.instruction);
  line(text);
}

void Printer::tensor_map(const TensorMap& map) {
  std::string text = "tensor_map " + text::name(map.name) + " of " +
                     expression_.buffer(map.tensor) + " order " + list(map.order) + " box " +
                     list(map.box);
  if (!map.onto.empty()) text += " onto " + list(map.onto);
  if (map.swizzle) text += " swizzle " + map.swizzle->to_string();
  for (const BasePixels& along : map.im2col)
    text += " im2col (" + along.first.to_string() + "," + along.count.to_string() + "," +
            std::to_string(along.step) + ")";
  line(text);
}

void Printer::barrier(const Barrier& barrier) {
  std::string text =
      "barrier " + text::name(barrier.name) + " " + word(text::kBarriers[barrier.kind]);
  if (barrier.slots != 1) text += " slots " + std::to_string(barrier.slots);
  if (barrier.count != 0) text += " count " + std::to_string(barrier.count);
  if (barrier.id != 0) text += " id " + std::to_string(barrier.id);
  line(text);
}

void Printer::launch() {
  const Launch& launch = kernel_.launch;
  std::string text = "launch grid (";
  for (int i = 0; i < 3; ++i) text += (i ? "," : "") + launch.grid[i].to_string();
  text += ") cluster " + list({launch.cluster.begin(), launch.cluster.end()}) + " threads " +
          std::to_string(launch.threads);
  if (launch.blocks_per_sm != 1) {
    text += " blocks_per_sm " + std::to_string(launch.blocks_per_sm);
  }
  if (launch.persistent) text += " persistent";
  line(text);
}

void Printer::declarations() {
  for (const std::string& text : kernel_.header) line("header " + text::quoted(text));
  params();
  for (const Buffer& b : kernel_.buffers) buffer(b);
  for (const TensorMap& map : kernel_.tensor_maps) tensor_map(map);
  for (const MmaAtom& atom : kernel_.atoms) mma_atom(atom);
  for (const CopyAtom& atom : kernel_.copy_atoms) copy_atom(atom);
  for (const Barrier& b : kernel_.barriers) barrier(b);
  for (const Ring& ring : kernel_.rings) {
    line("ring " + text::name(ring.name) + " stages " + std::to_string(ring.stages) +
         (ring.initial_phase != 0 ? " phase " + std::to_string(ring.initial_phase) : ""));
  }
  launch();
}

std::string Printer::kernel() {
  line("kernel " + text::name(kernel_.name) +
       (kernel_.script.empty() ? "" : " from " + text::quoted(kernel_.script)) + " {");
  ++depth_;
  declarations();
  if (!kernel_.prologue.empty()) block("prologue", kernel_.prologue);
  for (const Role& role : kernel_.roles) {
    std::string text = "role " + text::name(role.name) + " threads " + std::to_string(role.first) +
                       ".." + std::to_string(role.first + role.threads);
    if (role.registers) text += " registers " + std::to_string(*role.registers);
    block(text, role.body);
  }
  if (!kernel_.epilogue.empty()) block("epilogue", kernel_.epilogue);
  --depth_;
  line("}");
  return std::move(out);
}

// ---- statements

void Printer::statement(const Stmt& stmt) {
  statement_ = &stmt;
  std::visit([this](const auto& node) { write(node); }, stmt.node);
}

void Printer::write(const Let& let) {
  head("let " + var(let.var) + " = " + expr(let.value));
}

void Printer::write(const Shuffle& shuffle) {
  head("shuffle " + var(shuffle.var) + " = " + expr(shuffle.value) + " from lane xor " +
       std::to_string(shuffle.lane_mask));
}

void Printer::write(const AtomicCount& count) {
  head("atomic_count " + var(count.var) + " = " + expression_(count.at));
}

void Printer::write(const SyncAny& sync) {
  head("any " + var(sync.var) + " = " + expr(sync.value) + " at " +
       barrier_slot(sync.barrier, sync.slot));
}

void Printer::write(const Assign& assign) {
  head(expression_(assign.to) + " = " + expr(assign.value));
}

void Printer::write(const Fill& fill) {
  head("fill " + expression_.buffer(fill.buffer) + " = " + expr(fill.value));
}

std::string Printer::vector(const CopyVector& vector) const {
  std::string text;
  if (vector.count != 1) text += " count " + std::to_string(vector.count);
  if (vector.dst_mode != 0 || vector.src_mode != 0) {
    text += " along " + std::to_string(vector.dst_mode) + ", " + std::to_string(vector.src_mode);
  }
  return text;
}

std::string Printer::guard(const CopyGuard& guard) const {
  std::string text;
  if (guard.predicate) text += " when " + expr(guard.predicate);
  if (guard.zero_fill) text += " else zero";
  return text;
}

std::string Printer::map(int tensor_map) const {
  return " map " + text::name(kernel_.tensor_maps[static_cast<size_t>(tensor_map)].name);
}

std::string Printer::atom(const std::string& name) {
  return name.empty() ? "" : " atom " + text::quoted(name);
}

void Printer::write(const Copy& copy) {
  std::string text = "copy ";
  if (copy.how.index() != 0) text += word(text::kCopies[copy.how.index()]) + " ";
  text += expression_(copy.dst) + " <- " + expression_(copy.src);
  const auto mbarrier = [&](const MbarrierSlot& at) {
    return " then mbarrier " + barrier_slot(at.barrier, at.slot);
  };
  text += std::visit(
      overloaded{
          [&](const PlainCopy& how) { return vector(how.vector) + guard(how.guard); },
          [&](const AsyncCopy& how) {
            return vector(how.vector) + guard(how.guard) + " then group" + atom(how.atom);
          },
          [&](const TmaLoad& how) {
            std::string made = mbarrier(how.completion) + map(how.tensor_map) +
                               (how.multicast ? " multicast " + expr(how.multicast) : "");
            for (const ExprId offset : how.offsets) made += " offset " + expr(offset);
            return made + atom(how.atom);
          },
          [&](const TmaStore& how) {
            return " then bulk_group" + map(how.tensor_map) + atom(how.atom);
          },
          [&](const WarpCopy& how) { return vector(how.vector) + atom(how.atom); },
          [&](const RemoteStore& how) {
            return vector(how.vector) + mbarrier(how.completion) + " remote " + expr(how.block);
          },
      },
      copy.how);
  head(text);
}

void Printer::write(const Mma& mma) {
  std::string text = "mma " + word(text::kMmas[mma.kind]) + " " + expression_(mma.d) +
                     " += " + expression_(mma.a) + " * " + expression_(mma.b);
  if (mma.zero) text += " zero " + expr(mma.zero);
  head(text + atom(mma.atom));
}

void Printer::write(const For& loop) {
  std::string text = "for " + var(loop.var) + " in " + expr(loop.begin) + ".." + expr(loop.end);
  if (loop.step != 1) text += " step " + std::to_string(loop.step);
  if (loop.unrolled) text += " unrolled";
  head(text, true);
  body(*loop.body);
  line("}");
}

void Printer::write(const If& branch) {
  head("if " + expr(branch.condition), true);
  body(*branch.then);
  if (branch.otherwise) {
    line("} else {");
    body(*branch.otherwise);
  }
  line("}");
}

void Printer::write(const Elect& elect) {
  head("elect", true);
  body(*elect.body);
  line("}");
}

void Printer::write(const TileLoop& tiles) {
  head("tiles " + var(tiles.tile) + " first " + expr(tiles.first) + " count " + expr(tiles.count) +
           " stride " + expr(tiles.stride),
       true);
  body(*tiles.body);
  line("}");
}

void Printer::write(const Sync& sync) {
  std::string text =
      word(text::kSyncs[sync.operation.index()]) + " " + barrier_slot(sync.barrier, sync.slot);
  const auto given = [&](std::string_view name, ExprId id) {
    if (id) text += " " + word(name) + " " + expr(id);
  };
  std::visit(overloaded{
                 [&](const ArriveMbarrier& arrive) { given("remote", arrive.block); },
                 [&](const ArriveExpectBytes& expect) { given("bytes", expect.bytes); },
                 [&](const WaitMbarrier& wait) { given("phase", wait.phase); },
                 [](const auto&) {},
             },
             sync.operation);
  head(text);
}

void Printer::write(const Fence& fence) {
  head("fence " + word(text::kFences[fence.kind]));
}

void Printer::write(const Commit& commit) {
  head("commit " + word(text::kGroups[commit.kind]));
}

void Printer::write(const Wait& wait) {
  head("wait_group " + word(text::kGroups[wait.kind]) + " pending " + std::to_string(wait.pending) +
       (wait.read ? " read" : ""));
}

void Printer::write(const Advance& advance) {
  head("advance " + text::name(kernel_.ring(advance.ring).name) +
       (advance.count ? " by " + expr(advance.count) : ""));
}

}  // namespace

std::string print(const Kernel& kernel) {
  return Printer(kernel).kernel();
}

std::string print_first_line(const Kernel& kernel, const Stmt& stmt) {
  Printer printer(kernel);
  printer.statement(stmt);
  return printer.out.substr(0, printer.out.find('\n'));
}

}  // namespace lay::ir
