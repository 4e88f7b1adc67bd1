// Thread-value layouts on the tile that they cover.
#include <unordered_map>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/picture/draw.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/panels.h"

namespace lay::picture {
namespace {

struct Holder {
  int thread, value;
};

// The row and column of the tile that a value names; nothing outside the tile.
class Target {
 public:
  Target(const Tuple& tile, const Named& value) {
    if (!tile.is_known() || tile.has_basis() || tile.has_underscore())
      throw refusal("symbolic", "the tile " + tile.to_string() + " has sizes that are not known");
    if (tile.rank() > 2 || tile.rank() < 1)
      throw refusal("view",
                    value.name + " covers a tile of rank " + std::to_string(tile.rank()) +
                        ", and a picture has rows and columns",
                    "give the tile as (rows, columns)");
    rows = tile.is_tuple() ? size(tile[0]).value() : size(tile).value();
    columns = tile.rank() == 2 ? size(tile[1]).value() : 1;
    shape = tile.rank() == 2 ? tile : tuple(tile.is_tuple() ? tile[0] : tile, 1);
  }

  std::optional<std::pair<std::int64_t, std::int64_t>> place(const Tuple& v) const {
    std::int64_t i = 0, j = 0;
    if (v.is_int()) {
      if (v.value().value() < 0) return std::nullopt;
      i = v.value().value() % rows;
      j = v.value().value() / rows;
    } else {
      Facts facts;
      const Tuple coordinate = add(repeat_like(shape, 0), v);
      i = along(facts, coordinate[0], shape[0]);
      j = along(facts, coordinate[1], shape[1]);
    }
    if (i < 0 || j < 0 || i >= rows || j >= columns) return std::nullopt;
    return std::pair{i, j};
  }

  Tuple shape;  // of rank 2
  std::int64_t rows, columns;

 private:
  static std::int64_t along(Facts& facts, const Tuple& coordinate, const Tuple& mode) {
    return crd2idx(facts, coordinate, mode).value();
  }
};

// How a tile is drawn: as it is or transposed, and what pages call its rows and columns, so that
// the tiles of a multiply-add can be linked by them ("m", "k"); empty names link by the place in
// it.
struct TileStyle {
  std::string title;
  bool transposed = false;
  std::string row_name = {}, column_name = {};

  std::string links(std::int64_t row, std::int64_t column) const {
    if (row_name.empty()) return "";
    return row_name + std::to_string(row) + " " + column_name + std::to_string(column);
  }
};

void hold(Box& box, int thread, int value, const std::string& coordinate) {
  const std::string who = "T" + std::to_string(thread), what = "V" + std::to_string(value);
  if (box.kind == BoxKind::gap) {
    box.kind = BoxKind::cell;
    box.label = who;
    box.mark = what;
    box.colour = thread % kColours;
    box.owner = std::to_string(thread);
    box.coordinate = coordinate;
  } else {
    constexpr size_t longest = 1024;
    box.kind = BoxKind::alias;
    if (box.owner.size() < longest) box.owner += " " + std::to_string(thread);
    if (box.coordinate.size() < longest) box.coordinate += " " + coordinate;
  }
}

struct Tally {
  std::int64_t outside = 0, shared = 0, free = 0;
};

void note(Panel& panel, const Tally& tally) {
  const auto say = [&](std::int64_t n, const char* one, const char* many) {
    if (n) panel.notes.push_back(std::to_string(n) + (n == 1 ? one : many));
  };
  say(tally.free, " element is held by no thread", " elements are held by no thread");
  say(tally.shared, " element is held more than once (xN): the first holder is shown",
      " elements are held more than once (xN): the first holder is shown");
  say(tally.outside, " value lies outside the tile", " values lie outside the tile");
}

// The number of values that name each place of the whole tile, also where only a part is drawn.
using Holders = std::unordered_map<std::int64_t, int>;

Tally tally_of(const Holders& holders, const Target& target, std::int64_t outside) {
  Tally tally{outside, 0, target.rows * target.columns - std::ssize(holders)};
  for (const auto& [place, count] : holders) tally.shared += count > 1;
  return tally;
}

// For pages: a row for each thread, a column for each of its values, linked with the tile by the
// place they name.
void add_table(Picture& picture, const Field& field, const Target& target, const TileStyle& style) {
  constexpr int most = 4096;
  if (!field.whole() || field.rows() * field.columns() > most) return;
  const auto dress = [&](Box& box, const Place& p, const Tuple& value) {
    const auto at = target.place(value);
    box.label =
        at ? "(" + std::to_string(at->first) + "," + std::to_string(at->second) + ")" : "outside";
    box.offset = at ? std::to_string(at->first + target.rows * at->second) : "";
    box.links = at ? style.links(at->first, at->second) : "";
    box.colour = p.row % kColours;
    box.owner = std::to_string(p.row);
  };
  for (Panel& panel :
       grid_panels((style.row_name.empty() ? "" : style.title + ": ") +
                       "threads down, their values across: row and column of the tile",
                   field, dress)) {
    panel.on_pages_only = true;
    picture.panels.push_back(std::move(panel));
  }
}

// The tile with its holders, and for pages the table of threads and values.
void add_tile(Picture& picture, const Named& value, const Tuple& tile, const TileStyle& style,
              const DrawOptions& options) {
  if (domain_of(value.layout).rank() != 2)
    throw refusal("view", to_string(value.layout) + " has no two modes, threads and values");
  const Target target(tile, value);
  // All threads and values, also of a large atom.
  const Field field(value.layout, {.cells = 1 << 20, .side = 1 << 10, .slices = 1, .line = 0});
  const Layout places = make_layout(target.shape);
  const Layout drawn = style.transposed ? layout(tuple(places.shape[1], places.shape[0]),
                                                 tuple(places.stride[1], places.stride[0]))
                                        : places;
  std::vector<Panel> panels = grid_panels(style.title, Field(drawn, options.limits),
                                          [](Box& box, const Place&, const Tuple&) {
                                            box.kind = BoxKind::gap;
                                            box.label = "";
                                          });
  Panel& panel = panels.front();
  Holders holders;
  std::int64_t outside = 0;
  const auto box_at = [&](std::int64_t row, std::int64_t column) -> Box* {
    if (style.transposed) std::swap(row, column);
    if (row >= panel.rows || column >= panel.columns) return nullptr;
    return &panel.at(static_cast<int>(row), static_cast<int>(column));
  };
  for (int v = 0; v < field.columns(); ++v)
    for (int t = 0; t < field.rows(); ++t) {
      const auto at = target.place(field.value(0, t, v));
      outside += !at;
      if (!at) continue;
      ++holders[at->first + target.rows * at->second];
      if (Box* box = box_at(at->first, at->second)) {
        hold(*box, t, v, field.coordinate(0, t, v));
        box->links = style.links(at->first, at->second);
      }
    }
  for (const auto& [place, count] : holders)
    if (Box* box = count > 1 ? box_at(place % target.rows, place / target.rows) : nullptr)
      box->mark += " x" + std::to_string(count);
  note(panel, tally_of(holders, target, outside));
  if (const std::string left_out = field.left_out(); !left_out.empty())
    panel.notes.push_back("threads and values " + left_out);
  for (Panel& each : panels) picture.panels.push_back(std::move(each));
  add_table(picture, field, target, style);
}

Picture of_threads(const std::string& title) {
  Picture picture;
  picture.title = title;
  picture.key = "the thread; T is the thread, V its value";
  picture.owner = "thread";
  picture.marks_needed = true;
  return picture;
}

}  // namespace

Picture draw_threads(const Named& value, const Tuple& tile, const DrawOptions& options) {
  Picture picture = of_threads(value.name);
  const std::string text = to_string(value.layout);
  if (text != value.name) picture.subtitle = text;
  add_tile(picture, value, tile, {"the tile " + tile.to_string()}, options);
  return picture;
}

Picture draw_multiply_add(const MultiplyAdd& mma, const DrawOptions& options) {
  Picture picture = of_threads(mma.name);
  // B is (N,K) and drawn with K down, so that its columns are those of C.
  const bool in_corner = mma.a && mma.b && mma.c;
  std::vector<Panel> tables;
  const auto add = [&](const std::optional<Operand>& operand, const TileStyle& style, Stand stand) {
    if (!operand) {
      picture.notes.push_back(style.title +
                              " is read from shared memory: no thread holds a part of it");
      return;
    }
    picture.notes.push_back(style.title + ": " + operand->tv.name + " = " +
                            to_string(operand->tv.layout));
    Picture part;
    TileStyle titled = style;
    titled.title += " " + operand->tile.to_string();
    if (style.transposed) titled.title += ", transposed";
    add_tile(part, operand->tv, operand->tile, titled, options);
    if (in_corner) part.panels.front().stand = stand;
    for (Panel& panel : part.panels)
      (panel.on_pages_only ? tables : picture.panels).push_back(std::move(panel));
  };
  add(mma.b, {"B", true, "n", "k"}, Stand::above);
  add(mma.a, {"A", false, "m", "k"}, Stand::left);
  add(mma.c, {"C", false, "m", "n"}, Stand::corner);
  for (Panel& table : tables) picture.panels.push_back(std::move(table));
  return picture;
}

}  // namespace lay::picture
