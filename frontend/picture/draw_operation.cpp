// Operands and result beside each other.
#include <algorithm>
#include <map>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/picture/draw.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/panels.h"
#include "frontend/picture/tile_numbers.h"

namespace lay::picture {
namespace {

void in_tile(Box& box, std::int64_t number, const std::string& sign) {
  box.colour = static_cast<int>(number % kColours);
  box.owner = std::to_string(number);
  box.mark = sign + box.owner;
}

void add_panels(Picture& picture, std::vector<Panel> panels) {
  for (Panel& panel : panels) picture.panels.push_back(std::move(panel));
}

std::string heading(const Named& value) {
  const std::string text = to_string(value.layout);
  return value.name.empty() || value.name == text ? text : value.name + " = " + text;
}

// Returns the link that a page gives an element of the operand, or a copy of a product.
std::string element_link(std::int64_t index) {
  return "e" + std::to_string(index);
}
std::string copy_link(std::int64_t number) {
  return "c" + std::to_string(number);
}

// Gives the operand's boxes their own index as link, after another dress.
Dress linked_by_index(const Field& field, Dress dress) {
  return [&field, dress = std::move(dress)](Box& box, const Place& p, const Tuple& value) {
    box.links = element_link(field.index(p.slice, p.row, p.column));
    dress(box, p, value);
  };
}

// Tells which box of the operand an element of the result comes from: by its origin, else by its
// value.
class Matching {
 public:
  Matching(const Operation& operation, const Field& operand, const Field& result,
           const Limits& limits)
      : shape_(domain_of(operation.operands.front().layout).shape), result_(result) {
    if (operation.origin) origin_.emplace(*operation.origin, limits);
    for (int s = 0; s < operand.slices(); ++s)
      for (int j = 0; j < operand.columns(); ++j)
        for (int i = 0; i < operand.rows(); ++i)
          index_.emplace(operand.value(s, i, j).to_string(), operand.index(s, i, j));
  }

  // The operand's 1-D index; nothing past its end.
  std::optional<std::int64_t> index(const Place& p) const {
    if (!origin_) {
      const auto at = index_.find(result_.value(p.slice, p.row, p.column).to_string());
      return at == index_.end() ? std::nullopt : std::optional(at->second);
    }
    Facts facts;
    // Modes that the value does not reach are 0.
    const Tuple coordinate = add(repeat_like(shape_, 0), origin_->value(p.slice, p.row, p.column));
    if (inside(facts, coordinate, shape_) == Verdict::refuted) return std::nullopt;
    return crd2idx(facts, coordinate, shape_).value();
  }

 private:
  Tuple shape_;
  const Field& result_;
  std::optional<Field> origin_;
  std::map<std::string, std::int64_t> index_;
};

// Returns true if the result has the operand's values where the origin says so. An operation may
// give other values (a recast), or read its operand's strides. A part counts from where it begins.
bool origin_holds(const Operation& operation, const Limits& limits) {
  if (operation.is_part) return true;
  const Field result(operation.result.layout, limits), origin(*operation.origin, limits);
  const AnyLayout& operand = operation.operands.front().layout;
  const Tuple& shape = domain_of(operand).shape;
  Facts facts;
  for (int s = 0; s < result.slices(); ++s)
    for (int j = 0; j < result.columns(); ++j)
      for (int i = 0; i < result.rows(); ++i) {
        const Tuple from = add(repeat_like(shape, 0), origin.value(s, i, j));
        const bool within = inside(facts, from, shape) == Verdict::proved;
        if (within && !(evaluate(facts, operand, from) == result.value(s, i, j))) return false;
      }
  return true;
}

// The 1-D index of the operand that a value of the second layout names: R(c) = A(B(c)) reads the
// element of A at the index B(c), or at that coordinate.
std::optional<std::int64_t> named_element(const Operation& operation, const Tuple& value) {
  if (value.is_int()) return value.value().value();
  const Tuple& shape = domain_of(operation.operands.front().layout).shape;
  Facts facts;
  const Tuple coordinate = add(repeat_like(shape, 0), value);
  if (inside(facts, coordinate, shape) != Verdict::proved) return std::nullopt;
  return crd2idx(facts, coordinate, shape).value();
}

using Numbers = std::map<std::int64_t, std::int64_t>;  // the operand's index -> the tile, or the
                                                       // element of the result

void draw_tiles(Picture& picture, const Operation& operation, const TileNumbers& tiles,
                const DrawOptions& options) {
  const Field of_result(operation.result.layout, options.limits);
  const Field of_operand(operation.operands.front().layout, options.limits);
  // A product repeats its operand: what is not in it is no end but a copy.
  const Matching matching(operation, of_operand, of_result, options.limits);
  const bool may_end = !tiles.are_copies() && (operation.origin || of_operand.whole());
  Numbers tile_of;
  bool ended = false;
  const Dress dress = [&](Box& box, const Place& p, const Tuple&) {
    const std::int64_t number = tiles.of(of_result.index(p.slice, p.row, p.column));
    const auto from = matching.index(p);
    if (from) tile_of.emplace(*from, number);
    if (may_end && !from) {
      box.kind = BoxKind::past_the_end;
      box.label += '*';
      ended = true;
    }
    in_tile(box, number, "#");
    const std::int64_t index = of_result.index(p.slice, p.row, p.column);
    if (tiles.are_copies())
      box.links = element_link(tiles.element(index)) + " " + copy_link(number);
    else
      box.links = from ? element_link(*from) : "past" + std::to_string(index);
  };
  std::vector<Panel> result = grid_panels(heading(operation.result), of_result, dress);
  const Dress by_index = linked_by_index(of_operand, [&](Box& box, const Place& p, const Tuple&) {
    const auto at = tile_of.find(of_operand.index(p.slice, p.row, p.column));
    if (at != tile_of.end()) in_tile(box, at->second, "#");
  });
  add_panels(picture, grid_panels(heading(operation.operands.front()), of_operand, by_index));
  if (operation.operands.size() > 1) {
    const Field of_tiler(operation.operands[1].layout, options.limits);
    // The tiler of a divide names the elements of the first tile, that of a product the copies.
    const auto numbered = [&](Box& box, const Place& p, const Tuple& value) {
      const std::int64_t index = of_tiler.index(p.slice, p.row, p.column);
      in_tile(box, tiles.are_copies() ? index : 0, "#");
      if (tiles.are_copies())
        box.links = copy_link(index);
      else if (const auto element = named_element(operation, value))
        box.links = element_link(*element);
    };
    add_panels(picture, grid_panels(heading(operation.operands[1]), of_tiler, numbered));
  }
  add_panels(picture, std::move(result));
  add_page_line(picture, "addresses of " + heading(operation.operands.front()), of_operand,
                options.limits, by_index);
  picture.key = tiles.are_copies() ? "the copy, #0 the first" : "the tile, #0 the first";
  picture.owner = tiles.are_copies() ? "copy" : "tile";
  if (ended)
    picture.notes.push_back("* lies past the end of what is divided: the divide rounds up");
}

// R(c) = A(B(c)): the element c in one colour in all of them.
void draw_composition(Picture& picture, const Operation& operation, const DrawOptions& options) {
  const Field a(operation.operands[0].layout, options.limits),
      r(operation.result.layout, options.limits);
  const Matching matching(operation, a, r, options.limits);
  Numbers picked;
  for (int s = 0; s < r.slices(); ++s)
    for (int j = 0; j < r.columns(); ++j)
      for (int i = 0; i < r.rows(); ++i)
        if (const auto from = matching.index({s, i, j})) picked.emplace(*from, r.index(s, i, j));
  const Dress by_index = linked_by_index(a, [&](Box& box, const Place& p, const Tuple&) {
    const auto at = picked.find(a.index(p.slice, p.row, p.column));
    if (at != picked.end()) in_tile(box, at->second, "@");
  });
  add_panels(picture, grid_panels(heading(operation.operands[0]), a, by_index));
  if (operation.operands.size() > 1) {
    const Field b(operation.operands[1].layout, options.limits);
    const auto dress = [&](Box& box, const Place& p, const Tuple& value) {
      in_tile(box, b.index(p.slice, p.row, p.column), "@");
      if (const auto element = named_element(operation, value)) box.links = element_link(*element);
    };
    add_panels(picture, grid_panels(heading(operation.operands[1]), b, dress));
  }
  const auto element_of = [&](const Place& p) {
    const bool by_second = operation.name == "o" && operation.operands.size() > 1;
    if (!by_second) return matching.index(p);
    Facts facts;
    return named_element(operation, evaluate(facts, operation.operands[1].layout,
                                             Tuple(r.index(p.slice, p.row, p.column))));
  };
  const auto of_result = [&](Box& box, const Place& p, const Tuple&) {
    in_tile(box, r.index(p.slice, p.row, p.column), "@");
    if (const auto element = element_of(p)) box.links = element_link(*element);
  };
  add_panels(picture, grid_panels(heading(operation.result), r, of_result));
  add_page_line(picture, "addresses of " + heading(operation.operands[0]), a, options.limits,
                by_index);
  picture.key = "the index @i of the result";
  picture.owner = "index";
  const Tuple begin = r.value(0, 0, 0);
  for (int k = 0; operation.is_part && k < a.slices() * a.rows() * a.columns(); ++k) {
    const Place p{k / a.rows() / a.columns(), k % a.rows(), k / a.rows() % a.columns()};
    const auto at = picked.find(a.index(p.slice, p.row, p.column));
    const Tuple value = a.value(p.slice, p.row, p.column);
    if (at == picked.end() || at->second != 0 || value == begin) continue;
    picture.notes.push_back("the " + (operation.name == "slice" ? operation.name : "part") +
                            " begins at " + value.to_string() +
                            ", and its own offsets count from there");
  }
}

void draw_beside(Picture& picture, const Operation& operation, const DrawOptions& options) {
  const auto same_offset = [](Box& box, const Place&, const Tuple& v) {
    if (v.is_int())
      box.colour = static_cast<int>((v.value().value() % kColours + kColours) % kColours);
  };
  for (const Named& operand : operation.operands)
    add_panels(picture,
               grid_panels(heading(operand), Field(operand.layout, options.limits), same_offset));
  add_panels(picture, grid_panels(heading(operation.result),
                                  Field(operation.result.layout, options.limits), same_offset));
  picture.key = "the offset mod 32";
  if (operation.is_part)
    picture.notes.push_back("the part's own offsets count from where it begins");
}

// A layout and its complement side by side reach every offset once, as far as they go: the line
// shows it, one colour for each copy of the layout.
void draw_together(Picture& picture, const Operation& operation, const DrawOptions& options) {
  const auto* a = std::get_if<Layout>(&operation.operands.front().layout);
  const auto* r = std::get_if<Layout>(&operation.result.layout);
  if (!a || !r) return;
  const std::vector<Layout> both = {*a, *r};
  const Field field(make_layout(both), options.limits);
  picture.key += "; of both together, the copy";
  const auto by_copy = [](Box& box, const Place& p, const Tuple&) { in_tile(box, p.column, "#"); };
  add_panels(picture,
             line_panels("the offsets of both together, #0 the layout, the others its copies",
                         field, options.limits, by_copy));
}

}  // namespace

Picture draw_operation(const Operation& operation, const DrawOptions& options) {
  Picture picture;
  picture.title = operation.result.name;
  picture.subtitle = to_string(operation.result.layout);
  Operation titled = operation;
  titled.result.name = "result";
  if (titled.origin && !origin_holds(titled, options.limits)) titled.origin.reset();
  if (const auto tiles = TileNumbers::of_operation(operation))
    draw_tiles(picture, titled, *tiles, options);
  else if (operation.name == "o" || titled.origin)
    draw_composition(picture, titled, options);
  else
    draw_beside(picture, titled, options);
  if (operation.name == "complement") draw_together(picture, titled, options);
  return picture;
}

}  // namespace lay::picture
