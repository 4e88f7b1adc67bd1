// How the value at a coordinate comes about.

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/explain/derivation.h"

namespace lay::sema {
namespace {

trace::Begin value_of(const trace::Item& function, const Tuple& at) {
  return {"value", {function, at}, {"L", "at"}, {}};
}

void report_bits(const Swizzle& swizzle, const Tuple& number) {
  if (!number.is_int() || !number.value().is_literal() || number.value().value() < 0) return;
  const int64_t from = number.value().value();
  trace::report([&] { return trace::Bits{swizzle, from, swizzle(from)}; });
}

Tuple report_at(Facts& facts, const Layout& layout, const Tuple& coordinate) {
  const Tuple value = evaluate(facts, layout, coordinate);
  const Tuple natural = idx2crd(facts, crd2idx(facts, coordinate, layout.shape), layout.shape);
  trace::report([&] { return trace::At{layout, coordinate, natural, value}; });
  return value;
}

}  // namespace

void derive_value(Facts& facts, const Layout& layout, const Tuple& coordinate) {
  if (!trace::heard()) return;
  trace::Operation operation(value_of(layout, coordinate));
  operation.gives(report_at(facts, layout, coordinate));
}

void derive_value(Facts& facts, const Composed& layout, const Tuple& coordinate) {
  const Layout* inner = std::get_if<Layout>(&layout.inner);
  if (!trace::heard() || !inner) return;
  trace::Operation operation(value_of(layout, coordinate));
  const Tuple within = report_at(facts, *inner, coordinate);
  const Tuple moved = add(layout.offset, within);
  if (!layout.offset.is_literal(0)) {
    trace::report([&] { return trace::Moved{layout.offset, within, moved}; });
  }
  if (const auto* swizzle = std::get_if<Swizzle>(&layout.outer)) report_bits(*swizzle, moved);
  if (const auto* outer = std::get_if<Layout>(&layout.outer)) report_at(facts, *outer, moved);
  operation.gives(evaluate(facts, layout, coordinate));
}

void derive_value(const Swizzle& swizzle, const Tuple& number) {
  if (!trace::heard()) return;
  trace::Operation operation(value_of(swizzle, number));
  report_bits(swizzle, number);
  operation.gives(swizzle(number.value()));
}

void derive_slice(Facts& facts, const AnyLayout& layout, const Tuple& coordinate,
                  const AnyLayout& result) {
  if (!trace::heard()) return;
  trace::Operation operation(trace::Begin{"slice", {layout, coordinate}, {"L", "at"}, {}});
  const Layout* plain = std::get_if<Layout>(&layout);
  const Slice cut =
      slice_and_offset(facts, coordinate, plain ? *plain : std::get<Composed>(layout).layout());
  trace::report([&] { return trace::Kept{coordinate, cut.sub, cut.offset}; });
  operation.gives(result);
}

}  // namespace lay::sema
