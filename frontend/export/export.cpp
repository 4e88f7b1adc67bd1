#include "frontend/export/export.h"

#include "frontend/algebra/support/overloaded.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/picture/draw.h"
#include "frontend/picture/render.h"
#include "frontend/source/text.h"

namespace lay::exports {

std::string to_latex(const Exported& x) {
  picture::DrawOptions options;
  options.limits = picture::Limits::for_tex();
  const auto drawn = std::visit(
      overloaded{[&](const Swizzle& s) { return picture::draw_swizzle(x.name, s, options); },
                 [&](const auto& layout) {
                   const picture::Named named{x.name, layout};
                   return x.tile ? picture::draw_threads(named, *x.tile, options)
                                 : picture::draw_layout(named, options);
                 }},
      x.value);
  return picture::to_tex(drawn);
}

const std::vector<std::string>& targets() {
  static const std::vector<std::string> names = {"cute", "cutedsl", "triton", "numpy", "latex"};
  return names;
}

std::string exported(const Exported& x, const std::string& target) {
  if (target == "cute") return to_cute(x);
  if (target == "cutedsl") return to_cute_dsl(x);
  if (target == "triton") return to_triton(x);
  if (target == "numpy") return to_numpy(x);
  if (target == "latex") return to_latex(x);
  const auto near = nearest(target, targets());
  throw refusal("export", "nothing is known of how to export to " + target,
                near ? "did you mean " + *near + "?"
                     : "the targets are cute, cutedsl, triton, numpy and latex");
}

}  // namespace lay::exports
