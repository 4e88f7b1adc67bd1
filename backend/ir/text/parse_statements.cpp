#include "backend/ir/text/parser.h"
#include "backend/ir/text/text.h"

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
  for (const VarId var : vars) expr_.scopes.back()[kernel_.vars[var.index].name] = var;
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
  if (cursor_.accept("fill")) return fill();
  if (cursor_.accept("copy")) return copy();
  if (cursor_.accept("mma")) return mma();
  if (cursor_.accept("fence")) return Fence{word(text::kFences, "a kind of fence")};
  if (cursor_.accept("commit")) return Commit{word(text::kGroups, "a kind of group")};
  if (cursor_.accept("wait_group")) return wait();
  if (cursor_.accept("advance")) return advance();
  const Token token = cursor_.peek();
  if (token.kind == TokenKind::word && text::kSyncs.find(token.text)) return sync();
  return assign();
}

Let Parser::let() {
  const VarId made = var();
  cursor_.expect("=");
  const Term value = expr_.expression();
  expr_.scopes.back()[kernel_.vars[made.index].name] = made;
  return {made, value};
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

Copy Parser::copy() {
  Copy made;
  const Token kind = cursor_.peek();
  if (kind.kind == TokenKind::word && text::kCopies.find(kind.text))
    made.kind = word(text::kCopies, "a kind of copy");
  made.dst = expr_.ref();
  cursor_.expect("<-");
  made.src = expr_.ref();
  if (cursor_.accept("count")) made.count = cursor_.small_integer();
  if (cursor_.accept("along")) {
    made.dst_mode = cursor_.small_integer();
    cursor_.expect(",");
    made.src_mode = cursor_.small_integer();
  }
  if (cursor_.accept("when")) made.predicate = expr_.expression();
  if (cursor_.accept("else")) {
    cursor_.expect("zero");
    made.zero_fill = true;
  }
  copy_completion(made);
  made.transpose = cursor_.accept("transpose");
  if (cursor_.accept("atom")) made.atom = cursor_.string();
  return made;
}

void Parser::copy_completion(Copy& made) {
  if (cursor_.accept("then")) {
    made.completion = word(text::kCompletions, "a completion");
    if (made.completion == Completion::mbarrier) barrier_slot(made.barrier, made.slot);
  }
  if (cursor_.accept("map")) {
    const Token token = cursor_.peek();
    const auto found = maps_.find(cursor_.name());
    if (found == maps_.end()) cursor_.fail("`" + token.text + "` is no tensor map", token);
    made.tensor_map = found->second;
  }
  if (cursor_.accept("multicast")) made.multicast = expr_.expression();
  if (cursor_.accept("remote")) made.remote = expr_.expression();
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
  if (cursor_.accept("atom")) made.atom = cursor_.string();
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
  do {
    made.tile.push_back(var());
  } while (cursor_.accept(","));
  cursor_.expect("of");
  made.order = expr_.layouts.plain_layout();
  cursor_.expect("first");
  made.first = expr_.expression();
  cursor_.expect("count");
  made.count = expr_.expression();
  cursor_.expect("stride");
  made.stride = expr_.expression();
  if (cursor_.accept("live")) {
    expr_.scopes.emplace_back();
    for (const VarId id : made.tile) expr_.scopes.back()[kernel_.vars[id.index].name] = id;
    made.live = expr_.expression();
    expr_.scopes.pop_back();
  }
  made.body = std::make_shared<Block>(body(from, made.tile));
  return made;
}

Sync Parser::sync() {
  Sync made;
  made.op = word(text::kSyncs, "a barrier operation");
  barrier_slot(made.barrier, made.slot);
  if (cursor_.accept("phase")) made.phase = expr_.expression();
  if (cursor_.accept("bytes")) made.bytes = expr_.expression();
  if (cursor_.accept("remote")) made.remote = expr_.expression();
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
