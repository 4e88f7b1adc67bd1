#include "backend/tile/text/parse.h"

#include <map>

#include "backend/notation/parse_layout.h"
#include "backend/tile/text/statement_text.h"
#include "frontend/sema/kernel/reduce_function.h"
#include "frontend/sema/library.h"

namespace lay::tile {

namespace {

using notation::Cursor;
using notation::LayoutParser;
using notation::Token;
using notation::TokenKind;

class Parser {
 public:
  Parser(std::string_view text, sema::KernelPtr kernel, const std::vector<sema::Atom>& atoms,
         const std::vector<sema::CopyInstruction>& copies)
      : cursor_(notation::lex(text)), layouts_(cursor_), atoms_(atoms), copies_(copies) {
    for (const sema::Dim& dim : kernel->dims) layouts_.sizes.emplace(dim.name, dim.symbol);
    program_.kernel = std::move(kernel);
    name_indices();
  }

  Program run() {
    same("program " + program_.kernel->name);
    while (cursor_.accept("axis")) axis();
    if (cursor_.accept("part")) {
      program_.part = find(indices_, "index of the kernel");
      cursor_.expect("of");
      program_.parts = cursor_.small_integer();
    }
    if (cursor_.accept("threads")) program_.threads = distribution();
    if (cursor_.accept("blocks_per_sm")) program_.blocks_per_sm = cursor_.small_integer();
    if (cursor_.accept("sms")) program_.sms = cursor_.small_integer();
    if (cursor_.accept("blocks")) grid();
    if (cursor_.accept("warpgroups")) warpgroups();
    if (cursor_.accept("copies")) copies();
    while (cursor_.accept("tile")) tile();
    const ValueText values(program_);
    for (const sema::NodeId id : values.written()) same(value_line(program_, values, id));
    HeldValues held(program_);
    while (cursor_.peek().kind != TokenKind::end) program_.body.push_back(statement(values, held));
    return std::move(program_);
  }

 private:
  // The indices in use: one that was renamed has left its name behind.
  void name_indices() {
    const sema::Kernel& kernel = *program_.kernel;
    const auto use = [&](sema::IndexId id) { indices_.emplace(kernel.index(id).name, id); };
    for (const sema::Assignment& assignment : kernel.assignments)
      for (const sema::IndexId id : assignment.indices) use(id);
    for (const sema::Node& node : kernel.nodes) {
      if (const auto* reduce = std::get_if<sema::Reduce>(&node.what))
        for (const sema::IndexId id : reduce->indices) use(id);
    }
  }

  // The tokens of `expected` stand here, and are taken.
  void same(const std::string& expected) {
    for (const Token& token : notation::lex(expected)) {
      if (token.kind == TokenKind::end) return;
      const Token here = cursor_.peek();
      if (here.kind != token.kind || here.text != token.text) {
        const std::string found =
            here.kind == TokenKind::end ? "the end of the text" : "`" + here.text + "`";
        cursor_.fail("expected `" + token.text + "` of `" + expected + "`, found " + found);
      }
      cursor_.take();
    }
  }

  template <class Id>
  Id find(const std::map<std::string, Id>& names, const char* what) {
    const Token token = cursor_.peek();
    const auto found = names.find(cursor_.name());
    if (found == names.end()) cursor_.fail("`" + token.text + "` is no " + what, token);
    return found->second;
  }

  template <class Id>
  std::string declare(std::map<std::string, Id>& names, std::size_t count) {
    const Token token = cursor_.peek();
    const std::string name = cursor_.name();
    if (!names.emplace(name, static_cast<Id>(count)).second)
      cursor_.fail("`" + name + "` is declared twice", token);
    return name;
  }

  // The names in parentheses, each by `one`.
  template <class One>
  auto list(One one) {
    std::vector<decltype(one())> all;
    cursor_.expect("(");
    while (!cursor_.at(")")) {
      all.push_back(one());
      if (!cursor_.at(")")) cursor_.expect(",");
    }
    cursor_.expect(")");
    return all;
  }

  sema::NodeId node() {
    const Token token = cursor_.peek();
    cursor_.expect("%");
    const int id = cursor_.small_integer();
    if (id < 0 || static_cast<std::size_t>(id) >= program_.kernel->nodes.size())
      cursor_.fail("the kernel has no node %" + std::to_string(id), token);
    return id;
  }

  // ---- declarations

  void axis() {
    Axis made;
    made.name = declare(axes_, program_.axes.size());
    cursor_.expect("=");
    made.indices = list([&] { return find(indices_, "index of the kernel"); });
    cursor_.expect("of");
    made.extent = layouts_.integer();
    if (cursor_.accept("by")) made.tile = cursor_.small_integer();
    if (cursor_.accept("in")) made.segments = segments();
    program_.axes.push_back(std::move(made));
  }

  void copies() {
    program_.copies = list([&] { return instruction(copies_, sema::library_copy); });
  }

  Segments segments() {
    cursor_.expect("segments");
    cursor_.expect("of");
    Segments made{node()};
    while (cursor_.accept(",")) {
      const bool first = cursor_.accept("first");
      if (first && cursor_.accept("rows")) {
        made.first = tensor();
      } else if (first) {
        cursor_.expect("tiles");
        made.first_tile = tensor();
      } else {
        cursor_.expect("stored");
        cursor_.expect("at");
        made.stored_at = tensor();
      }
    }
    return made;
  }

  sema::TensorId tensor() {
    const Token token = cursor_.peek();
    const std::string name = cursor_.name();
    const auto& tensors = program_.kernel->tensors;
    for (std::size_t id = 0; id < tensors.size(); ++id)
      if (tensors[id].name == name) return static_cast<sema::TensorId>(id);
    cursor_.fail("`" + name + "` is no tensor of the kernel", token);
  }

  Distribution distribution() {
    Distribution made;
    made.layout = layouts_.plain_layout();
    cursor_.expect("vector");
    made.vector = cursor_.small_integer();
    if (cursor_.accept("along")) made.along = find(axes_, "axis");
    return made;
  }

  void grid() {
    Grid made;
    if (cursor_.accept("in")) {
      cursor_.expect("groups");
      cursor_.expect("of");
      made.order = RowGroups{cursor_.small_integer()};
      cursor_.expect("rows");
    } else {
      made.order = layouts_.plain_layout();
    }
    if (cursor_.accept("in")) {
      cursor_.expect("clusters");
      cursor_.expect("of");
      made.cluster = pair();
    }
    cursor_.expect("of");
    made.threads = cursor_.small_integer();
    cursor_.expect("threads");
    program_.grid = std::move(made);
  }

  void warpgroups() {
    Warpgroups made;
    made.consumers = cursor_.small_integer();
    cursor_.expect("registers");
    made.registers = pair();
    made.sms = cursor_.accept("sms") ? cursor_.small_integer() : 0;
    program_.warpgroups = made;
  }

  std::array<int, 2> pair() {
    const Token token = cursor_.peek();
    const std::vector<int> two = list([&] { return cursor_.small_integer(); });
    if (two.size() != 2) cursor_.fail("expected two numbers", token);
    return {two[0], two[1]};
  }

  SharedTile shared() {
    SharedTile made;
    made.layout = layouts_.layout();
    made.own = cursor_.accept("own");
    if (cursor_.accept("stages")) made.stages = cursor_.small_integer();
    if (cursor_.accept("parts")) made.part = pair();
    if (!cursor_.accept("span")) return made;
    made.span = cursor_.small_integer();
    if (!made.part || cursor_.at("order")) {
      cursor_.expect("order");
      made.order = list([&] { return cursor_.small_integer(); });
      cursor_.expect("box");
      made.box = pair();
    }
    if (cursor_.accept("view")) made.view = view();
    cursor_.expect("stages");
    made.stages = cursor_.small_integer();
    return made;
  }

  OperandView view() {
    OperandView made;
    made.modes = list([&] {
      cursor_.expect("(");
      ViewedMode mode;
      mode.extent = layouts_.integer();
      if (cursor_.accept("rows")) mode.outer = digit();
      if (cursor_.accept("sum")) mode.k = digit();
      if (cursor_.accept("batch")) mode.batch = find(indices_, "index of the kernel");
      cursor_.expect("count");
      mode.count = layouts_.integer();
      cursor_.expect("first");
      mode.first = layouts_.integer();
      cursor_.expect("step");
      mode.step = cursor_.small_integer();
      cursor_.expect("dilation");
      mode.dilation = cursor_.integer();
      cursor_.expect(")");
      return mode;
    });
    if (cursor_.accept("im2col")) made.order = list([&] { return cursor_.small_integer(); });
    cursor_.expect("run");
    made.run = cursor_.small_integer();
    return made;
  }

  Digit digit() {
    Digit made;
    cursor_.expect("by");
    made.below = layouts_.integer();
    cursor_.expect("of");
    made.extent = layouts_.integer();
    made.remainder = cursor_.accept("rest");
    return made;
  }

  void tile() {
    Tile made;
    made.name = declare(tiles_, program_.tiles.size());
    cursor_.expect(":");
    const auto element = parse_element(cursor_.peek().text);
    if (!element) cursor_.fail("expected an element type, found `" + cursor_.peek().text + "`");
    cursor_.take();
    made.element = *element;
    made.axes = list([&] { return find(axes_, "axis"); });
    cursor_.expect("in");
    if (cursor_.accept("global")) {
      made.space = Space::global;
    } else if (cursor_.accept("shared")) {
      made.space = Space::shared;
    } else {
      cursor_.expect("registers");
    }
    cursor_.expect("=");
    made.value = node();
    if (cursor_.accept("of")) {
      cursor_.expect("output");
      made.assignment = cursor_.small_integer();
    }
    if (cursor_.accept("as")) made.shared = shared();
    bool by = cursor_.accept("by");
    if (by && cursor_.accept("threads")) {
      made.threads = distribution();
      by = cursor_.accept("by");
    }
    if (by) made.filled_by = instruction(copies_, sema::library_copy);
    program_.tiles.push_back(std::move(made));
  }

  // ---- statements

  // The name of a tile, whose axes stand behind it.
  TileId tile_name() {
    const TileId id = find(tiles_, "tile");
    cursor_.expect("[");
    bool first = true;
    for (const AxisId axis : program_.tile(id).axes) {
      if (!first) cursor_.expect(",");
      first = false;
      const Token token = cursor_.peek();
      if (find(axes_, "axis") != axis)
        cursor_.fail("`" + program_.tile(id).name + "` has the axis `" + program_.axis(axis).name +
                         "` here, not `" + token.text + "`",
                     token);
    }
    cursor_.expect("]");
    return id;
  }

  Stmt statement(const ValueText& values, HeldValues& held) {
    const Token token = cursor_.peek();
    Stmt made;
    if (cursor_.accept("for")) {
      made.node = loop(values, held);
      return made;
    }
    if (cursor_.accept("copy")) {
      made.node = copy();
    } else if (cursor_.accept("map")) {
      const TileId out = tile_name();
      cursor_.expect("=");
      same(values(program_.tile(out).value, held));
      made.node = Map{out};
    } else if (cursor_.accept("reduce")) {
      made.node = reduce(values, held);
    } else if (cursor_.accept("mma")) {
      made.node = mma(values, held);
    } else {
      cursor_.fail("`" + token.text + "` starts no statement");
    }
    held.after(made);
    return made;
  }

  Copy copy() {
    Copy made;
    made.dst = tile_name();
    cursor_.expect("<-");
    made.src = tile_name();
    if (cursor_.accept("by")) {
      made.vector = cursor_.small_integer();
      cursor_.expect("along");
      cursor_.expect("mode");
      made.vector_mode = cursor_.small_integer();
    }
    same(copy_suffix(program_, made));
    for (;;) {
      const bool holds = cursor_.accept("where");
      if (!holds && !cursor_.accept("unless")) return made;
      made.where.push_back({find(tiles_, "tile"), holds});
    }
  }

  Reduce reduce(const ValueText& values, const HeldValues& held) {
    const Token token = cursor_.peek();
    Reduce made;
    made.out = tile_name();
    cursor_.expect("=");
    const auto& what = program_.kernel->node(program_.tile(made.out).value).what;
    const auto* function = std::get_if<sema::Reduce>(&what);
    if (!function) cursor_.fail("`" + token.text + "` holds no reduction", token);
    cursor_.expect(sema::reduce_row(function->function).name);
    cursor_.expect("over");
    made.over = find(axes_, "axis");
    cursor_.expect("of");
    same(values(function->body, held));
    if (!cursor_.accept("rescales")) return made;
    do made.rescales.push_back(find(tiles_, "tile"));
    while (cursor_.accept(","));
    return made;
  }

  Mma mma(const ValueText& values, const HeldValues& held) {
    Mma made;
    made.out = tile_name();
    cursor_.expect("+=");
    made.a = tile_name();
    cursor_.expect("*");
    made.b = tile_name();
    cursor_.expect("over");
    made.over = find(axes_, "axis");
    if (cursor_.accept("in") && !cursor_.accept("groups")) {
      cursor_.expect("intervals");
      cursor_.expect("of");
      made.interval = cursor_.small_integer();
    }
    same(scales_text(program_, values, held, made));
    if (!cursor_.accept("by")) return made;
    made.atom = instruction(atoms_, sema::library_atom);
    if (cursor_.accept("into")) {
      made.sets = cursor_.small_integer();
      cursor_.expect("sets");
    }
    return made;
  }

  // "sm90.wgmma(n = 128, ab = f16, acc = f32)", or the name of one that is known
  template <class Instruction>
  Instruction instruction(const std::vector<Instruction>& known,
                          Instruction (*of_library)(const std::string&, const std::string&,
                                                    const std::vector<sema::LibraryArgument>&)) {
    const Token token = cursor_.peek();
    const std::string text = cursor_.string();
    for (const Instruction& each : known)
      if (each.name == text) return each;
    const auto dot = text.find('.');
    if (dot == std::string::npos) cursor_.fail("expected a library and its record", token);
    Cursor record(notation::lex(std::string_view(text).substr(dot + 1)));
    const std::string name = record.name();
    std::vector<sema::LibraryArgument> arguments;
    record.expect("(");
    while (!record.accept(")")) {
      if (!arguments.empty()) record.expect(",");
      const std::string key = record.name();
      record.expect("=");
      if (const auto element = parse_element(record.peek().text)) {
        record.take();
        arguments.emplace_back(key, *element);
      } else {
        arguments.emplace_back(key, std::int64_t{record.small_integer()});
      }
    }
    return of_library("atoms." + text.substr(0, dot), name, arguments);
  }

  For loop(const ValueText& values, HeldValues& held) {
    For made;
    made.axis = find(axes_, "axis");
    if (cursor_.accept("whole")) {
      made.walk = Walk::whole;
    } else {
      cursor_.expect("in");
      made.walk = cursor_.accept("grid") ? Walk::grid : Walk::sequence;
      if (made.walk == Walk::sequence) cursor_.expect("sequence");
      if (program_.axis(made.axis).tile > 0) cursor_.expect("step");
    }
    if (const int tile = program_.axis(made.axis).tile; tile > 0) {
      const Token token = cursor_.peek();
      if (const int step = cursor_.small_integer(); step != tile)
        cursor_.fail("expected " + std::to_string(tile) + ", the tile of the axis, got " +
                         std::to_string(step),
                     token);
    }
    if (cursor_.accept("by")) {
      made.parts = cursor_.small_integer();
      cursor_.expect("blocks");
    }
    if (cursor_.accept("in")) {
      made.tail = cursor_.small_integer();
      same("parts in the tail");
    }
    made.alternates = cursor_.accept("alternating");
    if (program_.axis(made.axis).segments) same("within segments");
    cursor_.expect("{");
    const Cursor::Nested nested(cursor_);
    held.enter(made);
    while (!cursor_.accept("}")) made.body.push_back(statement(values, held));
    held.leave();
    return made;
  }

  Cursor cursor_;
  LayoutParser layouts_;
  const std::vector<sema::Atom>& atoms_;
  const std::vector<sema::CopyInstruction>& copies_;
  Program program_;
  std::map<std::string, sema::IndexId> indices_;
  std::map<std::string, AxisId> axes_;
  std::map<std::string, TileId> tiles_;
};

}  // namespace

Program parse(std::string_view text, sema::KernelPtr kernel, const std::vector<sema::Atom>& atoms,
              const std::vector<sema::CopyInstruction>& copies) {
  return Parser(text, std::move(kernel), atoms, copies).run();
}

}  // namespace lay::tile
