// Choices for Hopper's tensor cores compared field by field.
#pragma once

#include <algorithm>
#include <string>

#include "backend/plan/sm90/sm90_gemm.h"

namespace lay::test {

// The names of the fields that differ, each in a line: "store.width\n". Empty where all are equal.
class DifferentFields {
 public:
  std::string of(const plan::Sm90Gemm& a, const plan::Sm90Gemm& b) {
    field("contraction", a.contraction, b.contraction);
    field("m", a.m, b.m);
    field("n", a.n, b.n);
    field("k", a.k, b.k);
    field("batch", a.batch, b.batch);
    field("mma", a.mma, b.mma);
    field("tile", a.tile, b.tile);
    field("groups", a.groups, b.groups);
    field("stages", a.stages, b.stages);
    field("accumulators", a.accumulators, b.accumulators);
    field("vectors", a.vectors, b.vectors);
    field("order", a.order, b.order);
    field("promotion_interval", a.promotion_interval, b.promotion_interval);
    field("total", a.total, b.total);
    field("cluster", a.cluster, b.cluster);
    field("swap_ab", a.swap_ab, b.swap_ab);
    field("registers", a.registers, b.registers);
    field("accumulator_sets", a.accumulator_sets, b.accumulator_sets);
    field("sms", a.sms, b.sms);
    field("alternate_k", a.alternate_k, b.alternate_k);
    field("tail", a.tail, b.tail);
    operand("a.", a.a, b.a);
    operand("b.", a.b, b.b);
    list("further", a.further, b.further, [&](const auto& x, const auto& y) {
      field("further.contraction", x.contraction, y.contraction);
      operand("further.b.", x.b, y.b);
    });
    list("scales", a.scales, b.scales, [&](const auto& x, const auto& y) { scale(x, y); });
    one("segments", a.segments, b.segments, [&](const auto& x, const auto& y) { segments(x, y); });
    one("store", a.store, b.store, [&](const auto& x, const auto& y) { store(x, y); });
    one("mask", a.mask, b.mask, [&](const plan::Mask& x, const plan::Mask& y) {
      field("mask.condition", x.condition, y.condition);
      field("mask.when", x.when, y.when);
    });
    one("split", a.split, b.split, [&](const plan::Split& x, const plan::Split& y) {
      field("split.values", x.values, y.values);
      field("split.passes", x.passes, y.passes);
      field("split.each", x.each, y.each);
    });
    return std::move(names_);
  }

 private:
  template <class T>
  void field(const std::string& name, const T& a, const T& b) {
    if (!(a == b)) names_ += name + "\n";
  }
  template <class T, class F>
  void one(const std::string& name, const std::optional<T>& a, const std::optional<T>& b, F f) {
    field(name, a.has_value(), b.has_value());
    if (a && b) f(*a, *b);
  }
  template <class T, class F>
  void list(const std::string& name, const std::vector<T>& a, const std::vector<T>& b, F f) {
    field(name, a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) f(a[i], b[i]);
  }

  void operand(const std::string& of, const plan::TmaOperand& a, const plan::TmaOperand& b) {
    field(of + "load", a.load, b.load);
    field(of + "value", a.value, b.value);
    field(of + "converted", a.converted, b.converted);
    field(of + "element_bits", a.element_bits, b.element_bits);
    field(of + "outer", a.outer, b.outer);
    field(of + "along_k", a.along_k, b.along_k);
    field(of + "span", a.span, b.span);
    field(of + "order", a.order, b.order);
    field(of + "box", a.box, b.box);
    field(of + "slice", a.slice, b.slice);
    field(of + "shared", a.shared, b.shared);
    field(of + "view", a.view, b.view);
    one(of + "fragment", a.fragment, b.fragment,
        [&](const plan::Fragment& x, const plan::Fragment& y) {
          field(of + "fragment.held", x.held, y.held);
          field(of + "fragment.warps", x.warps, y.warps);
          field(of + "fragment.along_k", x.along_k, y.along_k);
          field(of + "fragment.row", x.row, y.row);
          field(of + "fragment.together", x.together, y.together);
          field(of + "fragment.rows", x.rows, y.rows);
          field(of + "fragment.copy", x.copy, y.copy);
        });
  }

  void scale(const plan::ProductScale& a, const plan::ProductScale& b) {
    field("scale.factor", a.factor.value, b.factor.value);
    field("scale.varies", a.varies, b.varies);
    field("scale.held", a.held, b.held);
    field("scale.read", a.read, b.read);
    field("scale.count", a.count, b.count);
  }

  void segments(const plan::RowSegments& a, const plan::RowSegments& b) {
    field("segments.count", a.count, b.count);
    field("segments.rows", a.rows, b.rows);
    field("segments.first_row", a.first_row, b.first_row);
    field("segments.first_tile", a.first_tile, b.first_tile);
    field("segments.row_of", a.row_of, b.row_of);
    field("segments.by_row", a.by_row, b.by_row);
  }

  void store(const plan::StagedStore& a, const plan::StagedStore& b) {
    field("store.width", a.width, b.width);
    field("store.rest", a.rest, b.rest);
    field("store.buffers", a.buffers, b.buffers);
    field("store.loads_ahead", a.loads_ahead, b.loads_ahead);
    field("store.by_warps", a.by_warps, b.by_warps);
    list("outputs", a.outputs, b.outputs,
         [&](const auto& x, const auto& y) { staged("output.", x, y); });
    list("inputs", a.inputs, b.inputs, [&](const auto& x, const auto& y) {
      staged("input.", x, y);
      field("input.load", x.load, y.load);
    });
    list("vectors", a.vectors, b.vectors, [&](const auto& x, const auto& y) {
      field("vector.load", x.load, y.load);
      field("vector.axis", x.axis, y.axis);
      field("vector.held", x.held, y.held);
      field("vector.read", x.read, y.read);
      field("vector.together", x.together, y.together);
    });
  }

  void staged(const std::string& of, const plan::StagedTensor& a, const plan::StagedTensor& b) {
    field(of + "tensor", a.tensor, b.tensor);
    field(of + "indices", a.indices, b.indices);
    field(of + "along_n", a.along_n, b.along_n);
    field(of + "tma", a.tma, b.tma);
    field(of + "span", a.span, b.span);
    field(of + "order", a.order, b.order);
    field(of + "box", a.box, b.box);
    field(of + "runs", a.runs, b.runs);
    field(of + "run", a.run, b.run);
    field(of + "shared", a.shared, b.shared);
    field(of + "matrices", a.matrices, b.matrices);
    field(of + "lanes", a.lanes, b.lanes);
    field(of + "copies", a.copies, b.copies);
    field(of + "held", a.held, b.held);
    field(of + "vector", a.vector, b.vector);
    field(of + "step", a.step, b.step);
    one(of + "rotated", a.rotated, b.rotated, [&](const auto& x, const auto& y) {
      field(of + "rotated.bit", x.bit, y.bit);
      field(of + "rotated.values", x.values, y.values);
    });
  }

  std::string names_;
};

}  // namespace lay::test
