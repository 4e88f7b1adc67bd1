// Thread-value layouts on the tile that they cover.
#include <set>

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
  say(tally.shared, " element is held more than once (xN): the first holder stands there",
      " elements are held more than once (xN): the first holder stands there");
  say(tally.outside, " value lies outside the tile", " values lie outside the tile");
}

// The marks of what is held more than once say how often.
void count_holders(Panel& panel, const std::vector<int>& holders, Tally& tally) {
  for (size_t k = 0; k < panel.boxes.size(); ++k) {
    tally.free += holders[k] == 0;
    tally.shared += holders[k] > 1;
    if (holders[k] > 1) panel.boxes[k].mark += " x" + std::to_string(holders[k]);
  }
}

// For pages: a row for each thread, a column for each of its values, linked with the tile by the
// place they name.
void add_table(Picture& picture, const Field& field, const Target& target) {
  constexpr int most = 4096;
  if (!field.whole() || field.rows() * field.columns() > most) return;
  const auto dress = [&](Box& box, const Place& p, const Tuple& value) {
    const auto at = target.place(value);
    box.label =
        at ? "(" + std::to_string(at->first) + "," + std::to_string(at->second) + ")" : "outside";
    box.offset = at ? std::to_string(at->first + target.rows * at->second) : "";
    box.colour = p.row % kColours;
    box.owner = std::to_string(p.row);
  };
  for (Panel& panel :
       grid_panels("threads down, their values across: row and column of the tile", field, dress)) {
    panel.on_pages_only = true;
    picture.panels.push_back(std::move(panel));
  }
}

}  // namespace

Picture draw_threads(const Named& value, const Tuple& tile, const DrawOptions& options) {
  if (domain_of(value.layout).rank() != 2)
    throw refusal("view", to_string(value.layout) + " has no two modes, threads and values");
  const Target target(tile, value);
  const Field field(value.layout, {.cells = 1 << 20,
                                   .side = 1 << 10,
                                   .slices = 1,
                                   .line = 0});  // all threads and values, also of a large atom
  const Layout places = make_layout(target.shape);
  const Field grid(places, options.limits);
  Picture picture;
  picture.title = value.name;
  const std::string text = to_string(value.layout);
  if (text != value.name) picture.subtitle = text;
  picture.key = "the thread; T is the thread, V its value";
  picture.owner = "thread";
  picture.marks_needed = true;
  picture.panels =
      grid_panels("the tile " + tile.to_string(), grid, [](Box& box, const Place&, const Tuple&) {
        box.kind = BoxKind::gap;
        box.label = "";
      });
  Panel& panel = picture.panels.front();
  Tally tally;
  std::vector<int> holders(panel.boxes.size(), 0);
  for (int v = 0; v < field.columns(); ++v)
    for (int t = 0; t < field.rows(); ++t) {
      const auto at = target.place(field.value(0, t, v));
      tally.outside += !at;
      if (!at || at->first >= panel.rows || at->second >= panel.columns) continue;
      const auto box = static_cast<size_t>(at->first * panel.columns + at->second);
      ++holders[box];
      hold(panel.boxes[box], t, v, field.coordinate(0, t, v));
    }
  count_holders(panel, holders, tally);
  note(panel, tally);
  if (const std::string left_out = field.left_out(); !left_out.empty())
    panel.notes.push_back("threads and values " + left_out);
  add_table(picture, field, target);
  return picture;
}

}  // namespace lay::picture
