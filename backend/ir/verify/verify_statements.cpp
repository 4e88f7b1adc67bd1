#include <algorithm>

#include "backend/ir/text/print.h"
#include "backend/ir/text/text.h"
#include "backend/ir/verify/verifier.h"

namespace lay::ir {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 20;

std::string uniformity_name(Uniformity uniformity) {
  return std::string(text::kUniformities[uniformity]);
}

}  // namespace

void Verifier::block(const Block& block) {
  for (const Stmt& stmt : block) statement(stmt);
}

void Verifier::statement(const Stmt& stmt) {
  const Stmt* outer = std::exchange(statement_, &stmt);
  std::visit([this](const auto& node) { check(node); }, stmt.node);
  statement_ = outer;
}

void Verifier::bind(VarId var, ElementType expected, Uniformity derived, std::int64_t divisor,
                    bool known) {
  const Var& declared = kernel_.var(var);
  if (bound_[var.index])
    problem("variable-bound-twice", quoted_name(declared.name) + " is bound a second time");
  if (names_in_scope_[declared.name]++ > 0) {
    problem("variable-name", "another " + quoted_name(declared.name) + " is in scope");
  }
  scope_.push_back(var);
  if (declared.type != expected) {
    problem("type", quoted_name(declared.name) + " is declared " +
                        std::string(element_name(declared.type)) + " and is " +
                        std::string(element_name(expected)));
  }
  if (declared.uniformity > derived) {
    problem("uniformity", quoted_name(declared.name) + " is declared " +
                              uniformity_name(declared.uniformity) + "-uniform and is " +
                              uniformity_name(derived) + "-uniform");
  }
  bound_[var.index] = in_scope_[var.index] = true;
  static_[var.index] = known;
  alignment_.bind(var, divisor);
}

void Verifier::leave(size_t outer) {
  for (; scope_.size() > outer; scope_.pop_back()) {
    in_scope_[scope_.back().index] = false;
    --names_in_scope_[kernel_.var(scope_.back()).name];
  }
}

// The body of a construct: what is bound in it, and what the construct has bound for it, goes out
// of scope at its end.
void Verifier::body(const std::shared_ptr<Block>& body, size_t bound, Uniformity control) {
  const size_t outer = scope_.size() - bound;
  const Uniformity around = std::exchange(control_, std::min(control_, control));
  block(*body);
  control_ = around;
  leave(outer);
}

void Verifier::needs(Uniformity least, std::string_view what) {
  if (elected_) {
    problem("barrier-divergence", std::string(what) + " is executed by one elected lane");
  } else if (control_ < least) {
    problem("barrier-divergence", std::string(what) + " must be reached by every thread of the " +
                                      uniformity_name(least) +
                                      ", and a condition around it is only " +
                                      uniformity_name(control_) + "-uniform");
  }
}

void Verifier::check(const Let& let) {
  use(let.value, "the value");
  bind(let.var, type(let.value), uniform(let.value), alignment_.of(let.value),
       is_static(let.value));
}

// shfl.sync with all 32 lanes in its mask (PTX ISA): a lane that is not there has no value.
void Verifier::needs_whole_warps(std::string_view what) {
  const int threads = role_ == nullptr ? kernel_.launch.threads : role_->threads;
  if (threads % 32 == 0) return;
  problem("barrier-divergence",
          std::string(what) + " needs whole warps, got " + std::to_string(threads) + " threads");
}

void Verifier::check(const Shuffle& shuffle) {
  use(shuffle.value, "the value");
  const ElementType of = type(shuffle.value);
  if (of != ElementType::pred && (bits(of) % 8 != 0 || bits(of) > 64)) {
    problem("type", "expected a pred or a value of 8, 16, 32 or 64 bits to shuffle, got " +
                        std::string(element_name(of)));
  }
  if (shuffle.lane_mask < 1 || shuffle.lane_mask > 31) {
    problem("lane-mask", "expected a lane mask in 1..31, got " + std::to_string(shuffle.lane_mask));
  }
  needs(Uniformity::warp, "the shuffle");
  needs_whole_warps("the shuffle");
  // A number that divides the value in every lane divides the value of another lane.
  bind(shuffle.var, of, uniform(shuffle.value), alignment_.of(shuffle.value), false);
}

void Verifier::check(const AtomicCount& count) {
  for (const ExprId coordinate : count.at.coordinate) use(coordinate, "a coordinate");
  ref(count.at, true);
  ref(count.at, false);
  const Buffer& buffer = buffer_of(count.at);
  if (buffer.space != Space::global || buffer.element != ElementType::s32)
    problem("space", quoted_name(buffer.name) +
                         " is counted in: expected s32 in global memory, got " +
                         std::string(element_name(buffer.element)) + " in " +
                         std::string(text::kSpaces[buffer.space]) + " memory");
  bind(count.var, ElementType::s32, Uniformity::thread, 1, false);
}

void Verifier::check(const Assign& assign) {
  for (const ExprId coordinate : assign.to.coordinate) use(coordinate, "a coordinate");
  ref(assign.to, true);
  whole_bytes(assign.to, 1);
  use(assign.value, "the value", buffer_of(assign.to).element);
}

void Verifier::check(const Fill& fill) {
  const Buffer& buffer = kernel_.buffer(fill.buffer);
  if (buffer.space != Space::registers)
    problem("space", quoted_name(buffer.name) + " is filled and not in registers");
  use(fill.value, "the value", buffer.element);
}

void Verifier::check(const For& loop) {
  use_integer(loop.begin, "the beginning");
  use(loop.end, "the end", type(loop.begin));
  no_reads(loop.begin, "the beginning");
  no_reads(loop.end, "the end");
  if (loop.step < 1) problem("loop-step", "a loop steps by " + std::to_string(loop.step));
  if (loop.unrolled && !(is_static(loop.begin) && is_static(loop.end))) {
    problem("loop-unrolled", "an unrolled loop has constant bounds");
  }
  const Uniformity derived = std::min(uniform(loop.begin), uniform(loop.end));
  const std::int64_t step = loop.step & -loop.step;
  bind(loop.var, type(loop.begin), derived,
       std::min(alignment_.of(loop.begin), std::clamp<std::int64_t>(step, 1, kMost)),
       loop.unrolled);
  body(loop.body, 1, derived);
}

void Verifier::check(const If& branch) {
  use(branch.condition, "the condition", ElementType::pred);
  body(branch.then, 0, uniform(branch.condition));
  if (branch.otherwise) body(branch.otherwise, 0, uniform(branch.condition));
}

void Verifier::check(const Elect& elect) {
  needs(Uniformity::warp, "the election");
  const bool outer = std::exchange(elected_, true);
  body(elect.body, 0, Uniformity::grid);
  elected_ = outer;
}

void Verifier::check(const TileLoop& tiles) {
  use_integer(tiles.first, "the first tile");
  use(tiles.count, "the count", type(tiles.first));
  use(tiles.stride, "the stride", type(tiles.first));
  for (const ExprId bound : {tiles.first, tiles.count, tiles.stride})
    no_reads(bound, "a bound of the tile loop");
  const Uniformity derived =
      std::min({uniform(tiles.first), uniform(tiles.count), uniform(tiles.stride)});
  bind(tiles.tile, type(tiles.first), derived, 1, false);
  body(tiles.body, 1, derived);
}

void Verifier::check(const Advance& advance) {
  if (!advance.count) return;
  use_integer(advance.count, "the number of stages");
  if (uniform(advance.count) < Uniformity::warpgroup) {
    problem("ring",
            "a warpgroup advances " + quoted_name(kernel_.ring(advance.ring).name) +
                " by one number of stages, and this one is not the same for all its threads");
  }
}

}  // namespace lay::ir
