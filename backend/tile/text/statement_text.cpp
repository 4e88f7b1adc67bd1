#include "backend/tile/text/statement_text.h"

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
            return "for " + axis.name + walk + parts + " {";
          },
          [&](const Copy& copy) {
            const bool plain = copy.vector == 1 && copy.vector_mode == 0;
            std::string text = "copy " + values.tile(copy.dst) + " <- " + values.tile(copy.src);
            if (!plain)
              text += " by " + std::to_string(copy.vector) + " along mode " +
                      std::to_string(copy.vector_mode);
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
            return "mma " + values.tile(mma.out) + " += " + values.tile(mma.a) + " * " +
                   values.tile(mma.b) + " over " + program.axis(mma.over).name +
                   (mma.atom ? " by \"" + mma.atom->name + "\"" : "");
          },
      },
      stmt.node);
}

}  // namespace lay::tile
