#include "backend/ir/parse.h"

#include "backend/ir/build.h"
#include "backend/ir/parse_expression.h"
#include "backend/ir/text.h"

namespace lay::ir {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(lex(text)), build_(kernel_), expr_(cursor_, build_) {}
  Kernel run();

 private:
  void declaration();
  void sizes();
  void scalar();
  void buffer(Space space);
  void tensor_map();
  void barrier();
  void ring();
  void launch();
  void role();

  using Node = decltype(Stmt::node);
  Block block();
  Block body(Origin& from, const std::vector<VarId>& vars);
  Stmt statement();
  std::optional<Node> with_body(Origin& from);
  Node without_body();
  Let let();
  Assign assign();
  Fill fill();
  Copy copy();
  void copy_completion(Copy& made);
  Mma mma();
  For loop(Origin& from);
  If branch(Origin& from);
  TileLoop tiles(Origin& from);
  Sync sync();
  Wait wait();
  Advance advance();

  VarId var();
  BarrierId barrier_name();
  void barrier_slot(BarrierId& barrier, ExprId& slot);
  std::vector<int> list();
  Origin origin();
  ElementType element();
  std::string declared();
  template <class Table>
  auto word(const Table& table, std::string_view what);

  Cursor cursor_;
  Kernel kernel_;
  Builder build_;
  ExpressionParser expr_;
  std::map<std::string, BarrierId> barriers_;
  std::map<std::string, int> maps_;
};

// ---- small parts

template <class Table>
auto Parser::word(const Table& table, std::string_view what) {
  const Token token = cursor_.peek();
  const auto found = token.kind == TokenKind::word ? table.find(token.text) : std::nullopt;
  if (!found) cursor_.fail("expected " + std::string(what) + ", found `" + token.text + "`");
  cursor_.take();
  return *found;
}

ElementType Parser::element() {
  const Token token = cursor_.peek();
  const auto found = parse_element(token.text);
  if (!found) cursor_.fail("expected an element type, found `" + token.text + "`");
  cursor_.take();
  return *found;
}

// A new name of something the whole kernel sees.
std::string Parser::declared() {
  const Token token = cursor_.peek();
  const std::string name = cursor_.name();
  if (token.kind == TokenKind::word && text::reserved(name)) {
    cursor_.fail("`" + name + "` is a word of the language: write it in backquotes", token);
  }
  const bool known = expr_.buffers.count(name) + expr_.rings.count(name) + barriers_.count(name) + maps_.count(name) +
                         expr_.scalars.count(name) + expr_.layouts.sizes.count(name) !=
                     0;
  if (known) cursor_.fail("`" + name + "` is declared twice", token);
  return name;
}

std::vector<int> Parser::list() {
  std::vector<int> numbers;
  cursor_.expect("(");
  do {
    numbers.push_back(cursor_.small_integer());
  } while (cursor_.accept(","));
  cursor_.expect(")");
  return numbers;
}

Origin Parser::origin() {
  Origin made;
  if (!cursor_.accept("@")) return made;
  made.line = cursor_.small_integer();
  if (cursor_.peek().kind == TokenKind::string) made.note = cursor_.string();
  return made;
}

VarId Parser::var() {
  const Token token = cursor_.peek();
  const std::string name = cursor_.name();
  if (token.kind == TokenKind::word && text::reserved(name)) {
    cursor_.fail("`" + name + "` is a word of the language: write it in backquotes", token);
  }
  cursor_.expect(":");
  const ElementType type = element();
  kernel_.vars.push_back({name, type, word(text::kUniformities, "a uniformity")});
  return {static_cast<int>(kernel_.vars.size()) - 1};
}

BarrierId Parser::barrier_name() {
  const Token token = cursor_.peek();
  const auto found = barriers_.find(cursor_.name());
  if (found == barriers_.end()) cursor_.fail("`" + token.text + "` is no barrier", token);
  return found->second;
}

void Parser::barrier_slot(BarrierId& barrier, ExprId& slot) {
  barrier = barrier_name();
  if (!cursor_.accept("[")) return;
  slot = expr_.expression();
  cursor_.expect("]");
}

// ---- declarations

void Parser::sizes() {
  do {
    const std::string name = declared();
    const Int symbol = Int::dim(name);
    expr_.layouts.sizes.emplace(name, symbol);
    kernel_.params.push_back({name, ElementType::s32, true, symbol});
  } while (cursor_.accept(","));
}

void Parser::scalar() {
  const std::string name = declared();
  cursor_.expect(":");
  expr_.scalars.emplace(name, build_.scalar(name, element()));
}

void Parser::buffer(Space space) {
  Buffer made;
  made.space = space;
  made.name = declared();
  cursor_.expect(":");
  made.element = element();
  made.layout = expr_.layouts.layout();
  if (space == Space::global) {
    made.workspace = cursor_.accept("workspace");
    made.read = cursor_.accept("read");
    made.written = cursor_.accept("write");
  }
  if (cursor_.accept("align")) made.alignment = cursor_.small_integer();
  made.origin = origin();
  expr_.buffers.emplace(made.name, BufferId{static_cast<int>(kernel_.buffers.size())});
  kernel_.buffers.push_back(std::move(made));
}

void Parser::tensor_map() {
  TensorMap made;
  made.name = declared();
  cursor_.expect("of");
  made.tensor = expr_.buffer();
  cursor_.expect("order");
  made.order = list();
  cursor_.expect("box");
  made.box = list();
  if (cursor_.accept("swizzle")) made.swizzle = expr_.layouts.swizzle();
  maps_.emplace(made.name, static_cast<int>(kernel_.tensor_maps.size()));
  kernel_.tensor_maps.push_back(std::move(made));
}

void Parser::barrier() {
  Barrier made;
  made.name = declared();
  made.kind = word(text::kBarriers, "a kind of barrier");
  if (cursor_.accept("slots")) made.slots = cursor_.small_integer();
  if (cursor_.accept("count")) made.count = cursor_.small_integer();
  if (cursor_.accept("id")) made.id = cursor_.small_integer();
  barriers_.emplace(made.name, build_.barrier(made));
}

void Parser::ring() {
  const std::string name = declared();
  cursor_.expect("stages");
  const int stages = cursor_.small_integer();
  expr_.rings.emplace(name, build_.ring(name, stages, cursor_.accept("full")));
}

void Parser::launch() {
  cursor_.expect("grid");
  const Token at = cursor_.peek();
  const Tuple grid = expr_.layouts.tuple();
  if (!grid.is_tuple() || grid.rank() != 3) cursor_.fail("a grid has three extents", at);
  for (int i = 0; i < 3; ++i) {
    if (!grid[i].is_int()) cursor_.fail("a grid's extents are integers", at);
    kernel_.launch.grid[i] = grid[i].value();
  }
  cursor_.expect("cluster");
  const Token cluster_at = cursor_.peek();
  const std::vector<int> cluster = list();
  if (cluster.size() != 3) cursor_.fail("a cluster has three extents", cluster_at);
  std::copy(cluster.begin(), cluster.end(), kernel_.launch.cluster.begin());
  cursor_.expect("threads");
  kernel_.launch.threads = cursor_.small_integer();
  if (cursor_.accept("blocks_per_multiprocessor")) {
    kernel_.launch.blocks_per_multiprocessor = cursor_.small_integer();
  }
}

void Parser::role() {
  Role made;
  made.name = cursor_.name();
  cursor_.expect("threads");
  made.first = cursor_.small_integer();
  cursor_.expect("..");
  made.threads = cursor_.small_integer() - made.first;
  if (cursor_.accept("registers")) made.registers = cursor_.small_integer();
  made.body = block();
  kernel_.roles.push_back(std::move(made));
}

void Parser::declaration() {
  const Token token = cursor_.peek();
  if (const auto space = token.kind == TokenKind::word ? text::kSpaces.find(token.text) : std::nullopt) {
    cursor_.take();
    return buffer(*space);
  }
  if (cursor_.accept("header")) return kernel_.header.push_back(cursor_.string());
  if (cursor_.accept("size")) return sizes();
  if (cursor_.accept("scalar")) return scalar();
  if (cursor_.accept("assume")) return kernel_.assumptions.push_back(expr_.layouts.predicate());
  if (cursor_.accept("tensor_map")) return tensor_map();
  if (cursor_.accept("barrier")) return barrier();
  if (cursor_.accept("ring")) return ring();
  if (cursor_.accept("launch")) return launch();
  if (cursor_.accept("role")) return role();
  if (cursor_.accept("epilogue")) return static_cast<void>(kernel_.epilogue = block());
  cursor_.fail("`" + token.text + "` starts no declaration");
}

Kernel Parser::run() {
  cursor_.expect("kernel");
  kernel_.name = cursor_.name();
  if (cursor_.accept("from")) kernel_.script = cursor_.string();
  cursor_.expect("{");
  while (!cursor_.accept("}")) {
    if (cursor_.accept("prologue")) {
      // Its variables stay in scope for the roles.
      cursor_.expect("{");
      while (!cursor_.accept("}")) kernel_.prologue.push_back(statement());
    } else {
      declaration();
    }
  }
  if (cursor_.peek().kind != TokenKind::end) cursor_.fail("nothing may follow the kernel");
  return std::move(kernel_);
}

// ---- statements

Block Parser::block() {
  Origin none;
  return body(none, {});
}

// { statements }, the origin of the statement it belongs to behind the brace, its own variables in scope.
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
  if (kind.kind == TokenKind::word && text::kCopies.find(kind.text)) made.kind = word(text::kCopies, "a kind of copy");
  made.dst = expr_.ref();
  cursor_.expect("<-");
  made.src = expr_.ref();
  if (cursor_.accept("count")) made.count = cursor_.small_integer();
  if (cursor_.accept("along")) {
    made.dst_mode = cursor_.small_integer();
    cursor_.expect(",");
    made.src_mode = cursor_.small_integer();
  }
  if (cursor_.accept("if")) made.predicate = expr_.expression();
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
  return {found->second};
}

}  // namespace

Kernel parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace lay::ir
