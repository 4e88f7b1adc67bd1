#include "frontend/export/dims.h"

#include "frontend/algebra/support/overloaded.h"

namespace lay::exports {
namespace {

using Dims = std::map<DimId, std::string>;

void collect(const Tuple& t, Dims& dims) {
  if (t.is_tuple()) {
    for (const Tuple& mode : t.modes()) collect(mode, dims);
  } else if (!t.is_underscore()) {
    t.value().collect_dims(dims);
  }
}

}  // namespace

Dims dims_of(const std::variant<Layout, Composed, Swizzle>& value) {
  Dims dims;
  const auto of_part = overloaded{[&](const Layout& l) {
                                    collect(l.shape, dims);
                                    collect(l.stride, dims);
                                  },
                                  [](const Swizzle&) {}};
  std::visit(overloaded{of_part,
                        [&](const Composed& c) {
                          std::visit(of_part, c.outer);
                          collect(c.offset, dims);
                          std::visit(of_part, c.inner);
                        }},
             value);
  return dims;
}

std::string sizes_note(const Dims& dims, Code code) {
  std::string names;
  for (const auto& [id, name] : dims) names += (names.empty() ? "" : ", ") + size_name(name, code);
  return names.empty() ? ""
                       : names + (dims.size() == 1 ? " is an int" : " are ints") + " at run time";
}

}  // namespace lay::exports
