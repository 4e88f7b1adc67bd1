// The outputs of a consumer of chained products: from its registers to global memory.
#include "backend/ir/expand/products/each_value.h"
#include "backend/ir/expand/products/product_expander.h"

namespace lay::ir {

void ProductExpander::outputs(const Tile& tile) {
  tile::for_each(program_.body, [&](const tile::Stmt& stmt) {
    const auto* copy = std::get_if<tile::Copy>(&stmt.node);
    if (copy && program_.tile(copy->dst).space == tile::Space::global) store(tile, *copy);
  });
}

// The arithmetic of an output at a place, where the sums are complete.
ElementLowering ProductExpander::finished(const Tile& tile, const Place& at, bool along_result) {
  std::vector<std::pair<sema::NodeId, Term>> known;
  if (along_result) {
    const Term sum = b_.read({result_.registers, {at.value}});
    known.emplace_back(node_of(parts_.result->out),
                       is_rescaled(parts_.result->out) ? unless_empty(sum, at.row_number) : sum);
  }
  if (parts_.maximum)
    known.emplace_back(node_of(parts_.maximum->out), b_.read({maximum_, {at.row_number}}) * scale_);
  for (size_t i = 0; i < sums_.size(); ++i)
    known.emplace_back(node_of(parts_.sums[i]->out),
                       b_.read({sums_[i], {at.row_number, number(0)}}));
  std::vector<sema::NodeId> given;
  for (const auto& [node, term] : known) given.push_back(node);
  ElementLowering element(declared_, given);
  for (const auto& [node, term] : known) element.know(node, term);
  bind_batch(element, tile);
  element.bind(index_of(tile::row_axis), tile.m_first + row_ + at.row);
  if (along_result) element.bind(index_of(tile::result_axis), column_ + at.column);
  return element;
}

void ProductExpander::store(const Tile& tile, const tile::Copy& copy) {
  const tile::Tile& to = program_.tile(copy.dst);
  const auto& assignment = kernel().assignments[static_cast<size_t>(to.assignment)];
  const ElementType type = declared_.tensor(assignment.target).element;
  const bool along_result =
      std::find(to.axes.begin(), to.axes.end(), tile::result_axis) != to.axes.end();
  declared_.from(assignment.where, "registers -> global");
  const BufferId out = b_.registers(declared_.fresh("out"), type, Layout(copy.vector, 1));
  const auto inside = [&](const Place& at) {
    const Term row = tile.m_first + row_ + at.row < b_.size(axis(tile::row_axis).extent);
    if (!along_result) return row;
    return row && column_ + at.column < b_.size(axis(tile::result_axis).extent);
  };
  const auto assign = [&](const Place& at, Term which) {
    ElementLowering element = finished(tile, at, along_result);
    b_.assign({out, {which}}, element.value(assignment.value, type));
  };
  const auto move = [&](const Place& at) {
    ElementLowering element = finished(tile, at, along_result);
    b_.copy(element.element(assignment.target, assignment.indices), {out, {number(0)}}, copy.vector,
            copy.vector_mode, 0);
  };
  if (!along_result) {
    // One lane of those that share a row.
    b_.when(column_ == 0, [&] {
      each_row(b_, scores_.rows, [&](Term row) {
        const Place at{number(0), row * scores_.digits.front().row, number(0), row, number(0)};
        b_.when(inside(at), [&] {
          assign(at, number(0));
          move(at);
        });
      });
    });
    return;
  }
  const size_t kept = copy.vector > 1 ? 1 : 0;
  each_value(
      b_, result_.digits,
      [&](const Place& at) {
        b_.when(inside(at), [&] {
          if (kept == 0) {
            assign(at, number(0));
          } else {
            b_.loop("element", number(0), number(copy.vector), {.unrolled = true}, [&](Term i) {
              Place here = at;
              here.value = here.value + i;
              here.column = here.column + i;
              assign(here, i);
            });
          }
          move(at);
        });
      },
      kept);
}

}  // namespace lay::ir
