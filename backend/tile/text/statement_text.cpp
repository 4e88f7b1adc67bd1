#include "backend/tile/text/statement_text.h"

#include "backend/tile/products/factors.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/kernel/reduce_function.h"

namespace lay::tile {

std::string_view space_name(Space space) {
  return space == Space::global ? "global" : space == Space::shared ? "shared" : "registers";
}

std::string value_line(const Program& program, const ValueText& values, sema::NodeId id) {
  return "value %" + std::to_string(id) + ": " +
         std::string(element_name(program.kernel->node(id).type)) + " = " +
         values(id, HeldValues(program));
}

std::string copy_suffix(const Program& program, const Copy& copy) {
  const Tile &to = program.tile(copy.dst), &from = program.tile(copy.src);
  if (to.space == Space::global) {
    for (const AxisId axis : to.axes)
      if (const auto& segments = program.axis(axis).segments; segments && segments->stored_at >= 0)
        return " at " + program.kernel->tensor(segments->stored_at).name + "[" +
               program.axis(axis).name + "]";
    return "";
  }
  const auto element = element_of(*program.kernel, to.value);
  return element && element->selection == to.value && element->load == from.value
             ? " with zeros around"
             : "";
}

std::string scales_text(const Program& program, const ValueText& values, const HeldValues& held,
                        const Mma& mma) {
  const sema::Kernel& kernel = *program.kernel;
  const auto a = element_of(kernel, program.tile(mma.a).value),
             b = element_of(kernel, program.tile(mma.b).value);
  const auto factors =
      a && b ? factors_of(kernel, program.tile(mma.out).value, a->load, b->load) : std::nullopt;
  std::string text;
  if (!factors) return text;
  for (const sema::NodeId other : factors->others)
    text += (text.empty() ? " times " : ", ") + values(other, held);
  return text;
}

std::string first_line(const Program& program, const ValueText& values, const HeldValues& held,
                       const Stmt& stmt) {
  return std::visit(
      overloaded{
          [&](const For& loop) {
            const Axis& axis = program.axis(loop.axis);
            const std::string tile = axis.tile > 0 ? " " + std::to_string(axis.tile) : "";
            const std::string step = tile.empty() ? "" : " step" + tile;
            const std::string walk = loop.walk == Walk::grid       ? " in grid" + step
                                     : loop.walk == Walk::sequence ? " in sequence" + step
                                                                   : " whole" + tile;
            const std::string parts =
                loop.parts > 1 ? " by " + std::to_string(loop.parts) + " blocks" : "";
            const std::string tail =
                loop.tail > 1 ? " in " + std::to_string(loop.tail) + " parts in the tail" : "";
            return "for " + axis.name + walk + parts + tail +
                   (loop.alternates ? " alternating" : "") +
                   (axis.segments ? " within segments {" : " {");
          },
          [&](const Copy& copy) {
            const bool plain = copy.vector == 1 && copy.vector_mode == 0;
            std::string text = "copy " + values.tile(copy.dst) + " <- " + values.tile(copy.src);
            if (!plain)
              text += " by " + std::to_string(copy.vector) + " along mode " +
                      std::to_string(copy.vector_mode);
            text += copy_suffix(program, copy);
            for (const Condition& each : copy.where)
              text += (each.holds ? " where " : " unless ") + program.tile(each.tile).name;
            return text;
          },
          [&](const Map& map) {
            return "map " + values.tile(map.out) + " = " +
                   values(program.tile(map.out).value, held);
          },
          [&](const Reduce& reduce) {
            const auto& node =
                std::get<sema::Reduce>(program.kernel->node(program.tile(reduce.out).value).what);
            std::string rescales;
            for (const TileId id : reduce.rescales)
              rescales += (rescales.empty() ? " rescales " : ", ") + program.tile(id).name;
            return "reduce " + values.tile(reduce.out) + " = " +
                   std::string(sema::reduce_row(node.function).name) + " over " +
                   program.axis(reduce.over).name + " of " + values(node.body, held) + rescales;
          },
          [&](const Mma& mma) {
            const std::string scales = scales_text(program, values, held, mma);
            const std::string intervals = mma.interval > 0
                                              ? " in intervals of " + std::to_string(mma.interval)
                                          : !scales.empty() ? " in groups"
                                                            : "";
            return "mma " + values.tile(mma.out) + " += " + values.tile(mma.a) + " * " +
                   values.tile(mma.b) + " over " + program.axis(mma.over).name + intervals +
                   scales + (mma.atom ? " by \"" + mma.atom->name + "\"" : "") +
                   (mma.sets > 1 ? " into " + std::to_string(mma.sets) + " sets" : "");
          },
      },
      stmt.node);
}

}  // namespace lay::tile
