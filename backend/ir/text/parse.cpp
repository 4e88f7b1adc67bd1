#include "backend/ir/text/parse.h"

#include <algorithm>

#include "backend/ir/text/parser.h"
#include "backend/ir/text/text.h"

namespace lay::ir {

// ---- small parts

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
  const bool known = expr_.buffers.count(name) + expr_.rings.count(name) + barriers_.count(name) +
                         maps_.count(name) + expr_.scalars.count(name) +
                         expr_.layouts.sizes.count(name) !=
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
    if (made.workspace && cursor_.accept("at")) made.offset = expr_.layouts.integer();
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
  if (cursor_.accept("onto")) made.onto = list();
  if (cursor_.accept("swizzle")) made.swizzle = expr_.layouts.swizzle();
  while (cursor_.accept("im2col")) {
    BasePixels along;
    cursor_.expect("(");
    along.first = expr_.layouts.integer();
    cursor_.expect(",");
    along.count = expr_.layouts.integer();
    cursor_.expect(",");
    along.step = cursor_.small_integer();
    cursor_.expect(")");
    made.im2col.push_back(along);
  }
  maps_.emplace(made.name, static_cast<int>(kernel_.tensor_maps.size()));
  kernel_.tensor_maps.push_back(std::move(made));
}

void Parser::mma_atom() {
  MmaAtom made;
  made.name = cursor_.string();
  cursor_.expect("shape");
  const Token at = cursor_.peek();
  const std::vector<int> shape = list();
  if (shape.size() != 3) cursor_.fail("the shape of an atom has three extents", at);
  std::copy(shape.begin(), shape.end(), made.shape.begin());
  cursor_.expect("d");
  made.d = expr_.layouts.plain_layout();
  if (cursor_.accept("a")) made.a = expr_.layouts.plain_layout();
  if (cursor_.accept("b")) made.b = expr_.layouts.plain_layout();
  if (cursor_.accept("ptx")) made.instruction = cursor_.string();
  kernel_.atoms.push_back(std::move(made));
}

void Parser::copy_atom() {
  CopyAtom made;
  made.name = cursor_.string();
  made.scope = word(text::kScopes, "the threads of a copy");
  made.from = word(text::kSpaces, "a space");
  made.source = expr_.layouts.plain_layout();
  cursor_.expect("to");
  made.to = word(text::kSpaces, "a space");
  made.destination = expr_.layouts.plain_layout();
  if (cursor_.accept("box")) {
    BoxForm box;
    box.modes = cursor_.small_integer();
    cursor_.expect("align");
    box.alignment = cursor_.small_integer();
    cursor_.expect("pitch");
    box.pitch = cursor_.small_integer();
    cursor_.expect("swizzles");
    box.swizzle_widths = list();
    made.box = std::move(box);
  }
  if (cursor_.accept("ptx")) made.instruction = cursor_.string();
  kernel_.copy_atoms.push_back(std::move(made));
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
  const int phase = cursor_.accept("phase") ? cursor_.small_integer() : 0;
  expr_.rings.emplace(name, build_.ring(name, stages, phase));
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
  if (cursor_.accept("blocks_per_sm")) {
    kernel_.launch.blocks_per_sm = cursor_.small_integer();
  }
  kernel_.launch.persistent = cursor_.accept("persistent");
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
  if (const auto space =
          token.kind == TokenKind::word ? text::kSpaces.find(token.text) : std::nullopt) {
    cursor_.take();
    return buffer(*space);
  }
  if (cursor_.accept("header")) return kernel_.header.push_back(cursor_.string());
  if (cursor_.accept("size")) return sizes();
  if (cursor_.accept("scalar")) return scalar();
  if (cursor_.accept("assume")) return kernel_.assumptions.push_back(expr_.layouts.predicate());
  if (cursor_.accept("tensor_map")) return tensor_map();
  if (cursor_.accept("mma_atom")) return mma_atom();
  if (cursor_.accept("copy_atom")) return copy_atom();
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

Kernel parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace lay::ir
