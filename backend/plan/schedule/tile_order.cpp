#include "backend/plan/schedule/tile_order.h"

#include "frontend/algebra/support/overloaded.h"

namespace lay::plan {

std::string to_string(const TileOrder& order) {
  return std::visit(overloaded{[](const RowGroups& groups) {
                                 return "groups of at most " + std::to_string(groups.rows) +
                                        (groups.rows == 1 ? " row" : " rows");
                               },
                               [](const Layout& layout) { return layout.to_string(); }},
                    order);
}

std::pair<std::string, std::string> order_entry(const TileOrder& order) {
  if (const auto* layout = std::get_if<Layout>(&order))
    return {"rasterization", layout->to_string()};
  return {"group_m", std::to_string(std::get<RowGroups>(order).rows)};
}

}  // namespace lay::plan
