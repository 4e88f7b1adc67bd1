#include <algorithm>
#include <numeric>

#include "backend/cuda/emitter.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay::cuda {
namespace {

constexpr std::int64_t most_unrolled = 65536;

}  // namespace

void Emitter::statements(const ir::Block& statements) {
  for (const ir::Stmt& each : statements) statement(each);
}

// A variable's name is free again after the block that declares it.
void Emitter::block(const ir::Block& body) {
  const std::size_t outer = in_scope_.size();
  statements(body);
  for (; in_scope_.size() > outer; in_scope_.pop_back()) names_.release(var_name(in_scope_.back()));
}

const std::string& Emitter::declare(ir::VarId var) {
  std::string& given = var_names_[static_cast<std::size_t>(var.index)];
  given = names_.add(kernel_.var(var).name);
  in_scope_.push_back(var);
  return given;
}

// `text` is the value or what another lane has of it: the same divides both.
void Emitter::define(ir::VarId var, ir::ExprId value, const std::string& text, int line) {
  const std::string type(type_name(kernel_.var(var).type));
  var_multiples_[var.index] = multiple_of(value);
  out_.line("const " + type + " " + declare(var) + " = " + text + ";", line);
}

// CUDA overloads the function for 32 and 64 bits; narrower types travel as int and come back.
void Emitter::shuffle(const ir::Shuffle& shuffle, int line) {
  const Code code = call("__shfl_xor_sync", "0xffffffffu, " + expression(shuffle.value).text +
                                                ", " + std::to_string(shuffle.lane_mask));
  define(shuffle.var, shuffle.value, code.text, line);
}

void Emitter::statement(const ir::Stmt& statement) {
  if (statement.origin.line != 0) current_line_ = statement.origin.line;
  const int line = current_line_;
  if (!statement.origin.note.empty()) out_.note(comment_text(statement.origin.note), line);
  std::visit(
      overloaded{
          [&](const ir::Let& let) { define(let.var, let.value, expression(let.value).text, line); },
          [&](const ir::Shuffle& node) { shuffle(node, line); },
          [&](const ir::AtomicCount& node) { atomic_count(node, line); },
          [&](const ir::SyncAny& node) { sync_any(node, line); },
          [&](const ir::Assign& assign) {
            const std::string value = expression(assign.value).text;
            out_.line(assignment(assign.to.buffer, offset(assign.to), value) + ";", line);
          },
          [&](const ir::Fill& node) { fill(node, line); },
          [&](const ir::Copy& node) { copy(node, line); },
          [&](const ir::Mma& node) { mma(node, line); },
          [&](const ir::For& node) { loop(node, line); },
          [&](const ir::If& node) { branch(node, line); },
          [&](const ir::Elect& node) { elect(node, line); },
          [&](const ir::TileLoop& node) { tiles(node, line); },
          [&](const ir::Sync& node) { sync(node, line); },
          [&](const ir::Fence& node) { fence(node, line); },
          [&](const ir::Commit& node) { commit(node, line); },
          [&](const ir::Wait& node) { wait(node, line); },
          [&](const ir::Advance& node) { advance(node, line); },
      },
      statement.node);
}

void Emitter::check_unrolled(std::int64_t times) const {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(unrolled_, times, &all) || all > most_unrolled)
    throw Problem{"unroll-limit",
                  "the kernel unrolls a loop into more than " + std::to_string(most_unrolled) +
                      " copies of its body",
                  current_line_};
}

void Emitter::loop(const ir::For& loop, int line) {
  if (convert_run(loop, line)) return;
  const ir::Var& declared = kernel_.var(loop.var);
  const std::string begin = expression(loop.begin).text,
                    end = inside(expression(loop.end), Binding::shift);
  const std::string& var = declare(loop.var);
  const std::int64_t around = unrolled_;
  const auto first = expression(loop.begin).known, last = expression(loop.end).known;
  if (loop.unrolled) {
    if (!first || !last) unsupported("an unrolled loop of unknown length");
    const std::int64_t iterations =
        std::max<std::int64_t>((*last - *first + loop.step - 1) / loop.step, 1);
    check_unrolled(iterations);
    unrolled_ *= iterations;
    var_multiples_[loop.var.index] = std::gcd(multiple_of(loop.begin), std::int64_t{loop.step});
    out_.line("#pragma unroll", line);
  } else if (first && last) {
    out_.line("#pragma unroll 1", line);
  }
  const std::string step = loop.step == 1 ? "++" + var : var + " += " + std::to_string(loop.step);
  out_.open("for (" + std::string(type_name(declared.type)) + " " + var + " = " + begin + "; " +
                var + " < " + end + "; " + step + ") {",
            line);
  block(*loop.body);
  unrolled_ = around;
  names_.release(var);
  in_scope_.pop_back();
  out_.close();
}

void Emitter::branch(const ir::If& branch, int line) {
  out_.open("if (" + expression(branch.condition).text + ") {", line);
  block(*branch.then);
  if (branch.otherwise && !branch.otherwise->empty()) {
    out_.between("} else {");
    block(*branch.otherwise);
  }
  out_.close();
}

void Emitter::fill(const ir::Fill& fill, int line) {
  const auto extent = extent_in_elements(buffer(fill.buffer).layout);
  if (!extent) unsupported("the layout of " + comment_text(buffer(fill.buffer).name));
  const std::string& target = buffer_name(fill.buffer);
  const std::string value = expression(fill.value).text;
  if (is_half_byte(buffer(fill.buffer).element)) unsupported("a fill of half bytes");
  check_unrolled(*extent);
  if (*extent == 1) return out_.line(target + "[0] = " + value + ";", line);
  out_.line("#pragma unroll", line);
  out_.line("for (int i = 0; i < " + std::to_string(*extent) + "; ++i) " + target +
                "[i] = " + value + ";",
            line);
}

// The outer product: i over the rows of a, j over those of b, to and fro. Registers lie in two
// banks, each of which gives one operand a clock, and an instruction's operand may be kept for the
// next: to and fro every multiply-add finds one of a and b kept, where it would need three new ones
// at the begin of a row.
void Emitter::mma(const ir::Mma& mma, int line) {
  if (mma.kind != ir::MmaKind::simt) return multiply_atom(mma, line);
  const ElementType type = buffer(mma.d.buffer).element;
  const auto rows = [&](const ir::Ref& ref) {
    const auto* layout = std::get_if<Layout>(&buffer(ref.buffer).layout);
    if (!layout) unsupported("an outer product of swizzled registers");
    const Int extent = size((*layout)[0].shape);
    if (!extent.is_literal()) unsupported("an outer product of registers of unknown size");
    return extent.value();
  };
  const auto at = [&](const ir::Ref& ref, std::vector<Code> first) {
    for (const Code& code : coordinate(ref)) first.push_back(code);
    return name(buffer_name(ref.buffer) + "[" + offset(ref.buffer, first).text + "]");
  };
  const auto factor = [&](const ir::Ref& ref, std::string_view index) {
    const ElementType from = buffer(ref.buffer).element;
    const auto code = converted(at(ref, {name(index)}), from, type, helpers_);
    if (!code) unsupported("a product of " + std::string(element_name(from)));
    return *code;
  };
  const Code operands[] = {factor(mma.a, "i"), factor(mma.b, "j"),
                           at(mma.d, {name("i"), name("j")})};
  const auto fma = applied(ElementFunction::fma, operands, type, helpers_);
  const auto product = applied(ElementFunction::mul, operands, type, helpers_);
  if (!fma || !product)
    unsupported("an outer product that accumulates in " + std::string(element_name(type)));
  const std::int64_t m = rows(mma.a), n = rows(mma.b);
  check_unrolled(m > most_unrolled ? m : m * std::min(n, most_unrolled));
  std::string value = fma->text;
  if (mma.zero)
    value =
        inside(expression(mma.zero), Binding::logical_or) + " ? " + product->text + " : " + value;
  out_.line("#pragma unroll", line);
  out_.open("for (int i = 0; i < " + std::to_string(m) + "; ++i) {", line);
  out_.line("#pragma unroll", line);
  out_.open("for (int to = 0; to < " + std::to_string(n) + "; ++to) {", line);
  out_.line("const int j = i % 2 == 0 ? to : " + std::to_string(n - 1) + " - to;");
  out_.line(operands[2].text + " = " + value + ";", line);
  out_.close();
  out_.close();
}

void Emitter::sync(const ir::Sync& sync, int line) {
  const auto cluster = [&](std::string_view operation) {
    out_.line(
        "asm volatile(\"barrier.cluster." + std::string(operation) + ".aligned;\" ::: \"memory\");",
        line);
  };
  std::visit(
      overloaded{
          [&](const ir::SyncBlock&) { out_.line("__syncthreads();", line); },
          [&](const ir::SyncNamed&) { named_barrier(sync, "sync", line); },
          [&](const ir::ArriveNamed&) { named_barrier(sync, "arrive", line); },
          [&](const ir::ArriveCluster&) { cluster("arrive.release"); },
          [&](const ir::WaitCluster&) { cluster("wait.acquire"); },
          [&](const ir::SyncCluster&) { cluster("arrive.release"), cluster("wait.acquire"); },
          [&](const ir::InitMbarrier&) {
            const int arrivals = kernel_.barrier(sync.barrier).count;
            mbarrier(sync, "mbarrier_init", ", " + std::to_string(arrivals), line);
          },
          [&](const ir::ArriveMbarrier& arrive) {
            if (!arrive.block) return mbarrier(sync, "mbarrier_arrive", "", line);
            mbarrier(sync, "mbarrier_arrive_remote", ", " + expression(arrive.block).text, line);
          },
          [&](const ir::ArriveExpectBytes& expect) {
            mbarrier(sync, "mbarrier_expect", ", " + expression(expect.bytes).text, line);
          },
          [&](const ir::WaitMbarrier& wait) {
            mbarrier(sync, "mbarrier_wait", ", " + expression(wait.phase).text, line);
          },
          [&](const ir::InvalidateMbarrier&) { mbarrier(sync, "mbarrier_invalidate", "", line); },
      },
      sync.operation);
}

// bar.sync and bar.arrive with a number and a count of threads (PTX ISA, "bar{.cta}").
void Emitter::named_barrier(const ir::Sync& sync, std::string_view operation, int line) {
  const ir::Barrier& barrier = kernel_.barrier(sync.barrier);
  const std::string id = std::to_string(barrier.id), count = std::to_string(barrier.count);
  std::string number = id, operand = ":::";
  if (sync.slot) {
    number = "%0";
    operand = ":: \"r\"(" + id + " + " + inside(expression(sync.slot), Binding::additive) + ") :";
  }
  out_.line("asm volatile(\"bar." + std::string(operation) + " " + number + ", " + count + ";\" " +
                operand + " \"memory\");  // " + comment_text(barrier.name),
            line);
}

void Emitter::mbarrier(const ir::Sync& sync, std::string_view helper, const std::string& more,
                       int line) {
  need(helper);
  out_.line(std::string(helper) + "(" + barrier_at(sync.barrier, sync.slot) + more + ");", line);
}

}  // namespace lay::cuda
