#include <algorithm>
#include <array>
#include <utility>

#include "backend/ir/text/parser.h"
#include "backend/ir/text/text.h"
#include "frontend/algebra/support/overloaded.h"

namespace lay::ir {

Block Parser::block() {
  Origin none;
  return body(none, {});
}

// { statements }, the origin of the statement it belongs to behind the brace, its own variables in
// scope.
Block Parser::body(Origin& from, const std::vector<VarId>& vars) {
  const Cursor::Nested nested(cursor_);
  cursor_.expect("{");
  from = origin();
  Block made;
  expr_.scopes.emplace_back();
  for (const VarId var : vars) enter_scope(var);
  while (!cursor_.accept("}")) made.push_back(statement());
  expr_.scopes.pop_back();
  return made;
}

Stmt Parser::statement() {
  Stmt made;
  if (const auto parsed = with_body(made.origin)) {
    made.node = *parsed;
  } else {
    made.node = without_body();
    made.origin = origin();
  }
  return made;
}

std::optional<Parser::Node> Parser::with_body(Origin& from) {
  if (cursor_.accept("for")) return loop(from);
  if (cursor_.accept("if")) return branch(from);
  if (cursor_.accept("elect")) return Elect{std::make_shared<Block>(body(from, {}))};
  if (cursor_.accept("tiles")) return tiles(from);
  return std::nullopt;
}

Parser::Node Parser::without_body() {
  if (cursor_.accept("let")) return let();
  if (cursor_.accept("shuffle")) return shuffle();
  if (cursor_.accept("atomic_count")) return atomic_count();
  if (cursor_.accept("any")) return sync_any();
  if (cursor_.accept("fill")) return fill();
  if (cursor_.accept("copy")) return copy();
  if (cursor_.accept("mma")) return mma();
  if (cursor_.accept("fence")) return Fence{word(text::kFences, "a kind of fence")};
  if (cursor_.accept("commit")) return Commit{word(text::kGroups, "a kind of group")};
  if (cursor_.accept("wait_group")) return wait();
  if (cursor_.accept("advance")) return advance();
  const Token token = cursor_.peek();
  const auto is_sync = std::find(text::kSyncs.begin(), text::kSyncs.end(), token.text);
  if (token.kind == TokenKind::word && is_sync != text::kSyncs.end()) return sync();
  return assign();
}

Let Parser::let() {
  const VarId made = var();
  cursor_.expect("=");
  const Term value = expr_.expression();
  enter_scope(made);
  return {made, value};
}

Shuffle Parser::shuffle() {
  Shuffle made;
  made.var = var();
  cursor_.expect("=");
  made.value = expr_.expression();
  for (const std::string_view each : {"from", "lane", "xor"}) cursor_.expect(each);
  made.lane_mask = cursor_.small_integer();
  enter_scope(made.var);
  return made;
}

AtomicCount Parser::atomic_count() {
  AtomicCount made;
  made.var = var();
  cursor_.expect("=");
  made.at = expr_.ref();
  enter_scope(made.var);
  return made;
}

SyncAny Parser::sync_any() {
  SyncAny made;
  made.var = var();
  cursor_.expect("=");
  made.value = expr_.expression();
  cursor_.expect("at");
  barrier_slot(made.barrier, made.slot);
  enter_scope(made.var);
  return made;
}

Assign Parser::assign() {
  Assign made;
  made.to = expr_.ref();
  cursor_.expect("=");
  made.value = expr_.expression();
  return made;
}

Fill Parser::fill() {
  Fill made;
  made.buffer = expr_.buffer();
  cursor_.expect("=");
  made.value = expr_.expression();
  return made;
}

// copy [kind] dst <- src, and the clauses of its kind in this order.
Copy Parser::copy() {
  Copy made;
  const Token kind = cursor_.peek();
  const auto found = std::find(text::kCopies.begin(), text::kCopies.end(), kind.text);
  std::string_view word = text::kCopies.front();
  if (kind.kind == TokenKind::word && found != text::kCopies.end()) {
    word = *found;
    cursor_.take();
  }
  made.dst = expr_.ref();
  cursor_.expect("<-");
  made.src = expr_.ref();
  if (word == "plain") made.how = plain_copy<PlainCopy>();
  if (word == "cp_async") {
    AsyncCopy how = plain_copy<AsyncCopy>();
    cursor_.expect("then");
    cursor_.expect("group");
    how.atom = atom();
    made.how = std::move(how);
  }
  if (word == "tma_load") made.how = tma_load();
  if (word == "tma_store") {
    cursor_.expect("then");
    cursor_.expect("bulk_group");
    const int map = tensor_map_name();
    made.how = TmaStore{map, atom()};
  }
  if (word == "warp") {
    const CopyVector of = vector();
    made.how = WarpCopy{of, atom()};
  }
  if (word == "st_async") made.how = remote_store();
  no_more_clauses(word);
  return made;
}

// A clause of another kind of copy is an error of its own: without this the parser would take it
// for the start of the next statement.
void Parser::no_more_clauses(std::string_view kind) {
  for (const std::string_view clause :
       {"count", "along", "when", "else", "then", "map", "multicast", "remote", "atom"}) {
    if (!cursor_.at(clause) || cursor_.at("[", 1)) continue;
    cursor_.fail("expected the end of a " + std::string(kind) + " copy, found `" +
                 std::string(clause) + "`");
  }
}

CopyVector Parser::vector() {
  CopyVector made;
  if (cursor_.accept("count")) made.count = cursor_.small_integer();
  if (cursor_.accept("along")) {
    made.dst_mode = cursor_.small_integer();
    cursor_.expect(",");
    made.src_mode = cursor_.small_integer();
  }
  return made;
}

template <class Kind>
Kind Parser::plain_copy() {
  Kind made;
  made.vector = vector();
  if (cursor_.accept("when")) made.guard.predicate = expr_.expression();
  if (cursor_.accept("else")) {
    cursor_.expect("zero");
    made.guard.zero_fill = true;
  }
  return made;
}

std::string Parser::atom() {
  return cursor_.accept("atom") ? cursor_.string() : "";
}

MbarrierSlot Parser::completion() {
  MbarrierSlot made;
  cursor_.expect("then");
  cursor_.expect("mbarrier");
  barrier_slot(made.barrier, made.slot);
  return made;
}

TmaLoad Parser::tma_load() {
  TmaLoad made;
  made.completion = completion();
  made.tensor_map = tensor_map_name();
  if (cursor_.accept("multicast")) made.multicast = expr_.expression();
  while (cursor_.accept("offset")) made.offsets.push_back(expr_.expression());
  made.atom = atom();
  return made;
}

RemoteStore Parser::remote_store() {
  RemoteStore made;
  made.vector = vector();
  made.completion = completion();
  cursor_.expect("remote");
  made.block = expr_.expression();
  return made;
}

int Parser::tensor_map_name() {
  cursor_.expect("map");
  const Token token = cursor_.peek();
  const auto found = maps_.find(cursor_.name());
  if (found == maps_.end())
    cursor_.fail("expected a tensor map, found `" + token.text + "`", token);
  return found->second;
}

Mma Parser::mma() {
  Mma made;
  made.kind = word(text::kMmas, "a kind of mma");
  made.d = expr_.ref();
  cursor_.expect("+=");
  made.a = expr_.ref();
  cursor_.expect("*");
  made.b = expr_.ref();
  if (cursor_.accept("zero")) made.zero = expr_.expression();
  made.atom = atom();
  return made;
}

For Parser::loop(Origin& from) {
  For made;
  made.var = var();
  cursor_.expect("in");
  made.begin = expr_.expression();
  cursor_.expect("..");
  made.end = expr_.expression();
  if (cursor_.accept("step")) made.step = cursor_.small_integer();
  made.unrolled = cursor_.accept("unrolled");
  made.body = std::make_shared<Block>(body(from, {made.var}));
  return made;
}

If Parser::branch(Origin& from) {
  If made;
  made.condition = expr_.expression();
  made.then = std::make_shared<Block>(body(from, {}));
  if (cursor_.accept("else")) made.otherwise = std::make_shared<Block>(block());
  return made;
}

TileLoop Parser::tiles(Origin& from) {
  TileLoop made;
  made.tile = var();
  cursor_.expect("first");
  made.first = expr_.expression();
  cursor_.expect("count");
  made.count = expr_.expression();
  cursor_.expect("stride");
  made.stride = expr_.expression();
  made.body = std::make_shared<Block>(body(from, {made.tile}));
  return made;
}

namespace {

template <size_t... I>
std::array<Sync::Operation, sizeof...(I)> all_operations(std::index_sequence<I...>) {
  return {Sync::Operation(std::in_place_index<I>)...};
}

// The operation that a word names on a barrier of this kind.
std::optional<Sync::Operation> operation(std::string_view word, BarrierKind kind) {
  for (const Sync::Operation& each :
       all_operations(std::make_index_sequence<std::variant_size_v<Sync::Operation>>())) {
    if (text::kSyncs[each.index()] == word && barrier_kind(each) == kind) return each;
  }
  return std::nullopt;
}

}  // namespace

Sync Parser::sync() {
  Sync made;
  const Token word = cursor_.take();
  barrier_slot(made.barrier, made.slot);
  const Barrier& barrier = kernel_.barrier(made.barrier);
  const auto found = operation(word.text, barrier.kind);
  if (!found) {
    cursor_.fail("`" + word.text + "` is no operation of `" + barrier.name +
                     "`, a barrier of kind " + std::string(text::kBarriers[barrier.kind]),
                 word);
  }
  made.operation = *found;
  std::visit(overloaded{
                 [&](ArriveMbarrier& arrive) {
                   if (cursor_.accept("remote")) arrive.block = expr_.expression();
                 },
                 [&](ArriveExpectBytes& expect) {
                   cursor_.expect("bytes");
                   expect.bytes = expr_.expression();
                 },
                 [&](WaitMbarrier& wait) {
                   cursor_.expect("phase");
                   wait.phase = expr_.expression();
                 },
                 [](auto&) {},
             },
             made.operation);
  return made;
}

Wait Parser::wait() {
  Wait made;
  made.kind = word(text::kGroups, "a kind of group");
  cursor_.expect("pending");
  made.pending = cursor_.small_integer();
  made.read = cursor_.accept("read");
  return made;
}

Advance Parser::advance() {
  const Token token = cursor_.peek();
  const auto found = expr_.rings.find(cursor_.name());
  if (found == expr_.rings.end()) cursor_.fail("`" + token.text + "` is no ring", token);
  Advance made{found->second, {}};
  if (cursor_.accept("by")) made.count = expr_.expression();
  return made;
}

}  // namespace lay::ir
