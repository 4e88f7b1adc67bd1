// NumPy: a view by strides where strides can say it, an array of indices where they cannot.
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/export/dims.h"
#include "frontend/export/export.h"
#include "frontend/export/int_code.h"

namespace lay::exports {
namespace {

struct Axis {
  Int extent;
  Tuple stride;
};

struct Axes {
  std::vector<Axis> list;
  std::vector<std::string> split;  // "mode 1 is the axes 1 to 2"
};

// One axis for each mode, several where a mode does not coalesce to one.
Axes axes_of(const Layout& l) {
  Facts facts;
  Axes axes;
  const int modes = l.shape.is_tuple() ? l.rank() : 1;
  for (int m = 0; m < modes; ++m) {
    const Layout mode = l.has_basis() ? flatten(l.shape.is_tuple() ? l[m] : l)
                                      : coalesce(facts, l.shape.is_tuple() ? l[m] : l);
    const std::vector<Tuple> extents = leaves(mode.shape), strides = leaves(mode.stride);
    const size_t first = axes.list.size();
    for (size_t k = 0; k < extents.size(); ++k)
      axes.list.push_back({extents[k].value(), strides[k]});
    if (extents.size() != 1)
      axes.split.push_back("mode " + std::to_string(m) + " is the axes " + std::to_string(first) +
                           " to " + std::to_string(axes.list.size() - 1) + ", left-most fastest");
  }
  return axes;
}

std::string tuple_text(const std::vector<std::string>& parts) {
  std::string text = "(";
  for (const std::string& part : parts) text += (text.size() > 1 ? ", " : "") + part;
  return text + (parts.size() == 1 ? ",)" : ")");
}

std::string factor(const Int& n) {
  const std::string text = code_of(n, Code::python);
  return n.is_literal() && n.value() >= 0 ? text : n.dim_id() ? text : "(" + text + ")";
}

// The sum of arange * stride, each along its axis, of those whose stride counts component `mode`
// (-1: integers).
std::string indices(const Axes& axes, int mode, const std::string& first) {
  std::string sum = first;
  for (size_t k = 0; k < axes.list.size(); ++k) {
    const Axis& axis = axes.list[k];
    const bool counts = mode < 0 || (axis.stride.is_basis() && axis.stride.path()[0] == mode);
    std::vector<std::string> shape(axes.list.size(), "1");
    shape[k] = "-1";
    sum += (sum.empty() ? "" : " + ") +
           ("np.arange(" + code_of(axis.extent, Code::python) + ").reshape" + tuple_text(shape)) +
           " * " + (counts ? factor(axis.stride.value()) : "0");
  }
  return sum;
}

std::string notes_of(const Exported& x, const Axes& axes) {
  std::string text;
  for (const std::string& split : axes.split)
    text += "# cannot be said in NumPy: nested modes; " + split + "\n";
  for (const std::string& guard : x.guards)
    text += "# cannot be said in NumPy: it holds only where " + guard + "\n";
  return text;
}

std::string view_of(const Exported& x, const Layout& l) {
  const Axes axes = axes_of(l);
  std::vector<std::string> shape, strides;
  Int lowest = 0;
  for (const Axis& axis : axes.list) {
    shape.push_back(code_of(axis.extent, Code::python));
    const Int& d = axis.stride.value();
    strides.push_back(d.is(1) ? "x.itemsize" : factor(d) + " * x.itemsize");
    if (d.is_literal() && d.value() < 0) lowest -= (axis.extent - 1) * d;
    if (!d.is_literal() && !seen_not_negative(d)) lowest -= min((axis.extent - 1) * d, 0);
  }
  std::string text = notes_of(x, axes);
  std::string base = "x";
  if (!lowest.is(0)) {
    base = "x[" + code_of(lowest, Code::python) + ":]";
    text += "# strides run backwards: offset 0 is x[" + code_of(lowest, Code::python) + "]\n";
  }
  return text + x.name + " = np.lib.stride_tricks.as_strided(" + base +
         ", shape=" + tuple_text(shape) + ", strides=" + tuple_text(strides) + ")\n";
}

std::string coordinates_of(const Exported& x, const Layout& l) {
  const Axes axes = axes_of(l);
  int rank = 0;
  for (const Axis& axis : axes.list) {
    if (!axis.stride.is_basis()) continue;
    if (axis.stride.path().size() != 1)
      throw refusal("export", "NumPy has no nested coordinates such as " + axis.stride.to_string());
    rank = std::max(rank, axis.stride.path()[0] + 1);
  }
  std::string text =
      notes_of(x, axes) +
      "# cannot be said in NumPy: a map into coordinates; one array of indices for each\n";
  for (int mode = 0; mode < rank; ++mode)
    text += x.name + "_" + std::to_string(mode) + " = " + indices(axes, mode, "") + "\n";
  return text;
}

std::string swizzle_of(const std::string& name, const Swizzle& s) {
  const std::string shift = s.s >= 0 ? " >> " + std::to_string(s.s) : " << " + std::to_string(-s.s);
  return name + " ^= (" + name + " & " + std::to_string(s.source_mask()) + ")" + shift + "  # " +
         s.to_string() + "\n";
}

std::string gather_of(const Exported& x, const Composed& c) {
  const auto* swizzle = std::get_if<Swizzle>(&c.outer);
  if (!swizzle || !c.offset.is_int() || c.layout().has_basis())
    throw refusal("export", "NumPy has no layout of a layout: " + c.to_string());
  const Axes axes = axes_of(c.layout());
  const std::string first = c.offset.is_literal(0) ? "" : factor(c.offset.value());
  return notes_of(x, axes) +
         "# cannot be said in NumPy: a swizzle in strides; this is an array of indices, x[" +
         x.name + "] a gather\n" + x.name + " = " + indices(axes, -1, first) + "\n" +
         swizzle_of(x.name, *swizzle);
}

}  // namespace

std::string to_numpy(const Exported& x) {
  const std::string sizes = sizes_note(dims_of(x.value), Code::python);
  return "import numpy as np\n" + (sizes.empty() ? "" : "# " + sizes + "\n") +
         std::visit(overloaded{[&](const Layout& l) {
                                 return l.has_basis() ? coordinates_of(x, l) : view_of(x, l);
                               },
                               [&](const Composed& c) { return gather_of(x, c); },
                               [&](const Swizzle& s) {
                                 return "# an array of offsets, in place\n" + swizzle_of(x.name, s);
                               }},
                    x.value);
}

}  // namespace lay::exports
