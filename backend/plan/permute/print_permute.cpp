#include "backend/plan/permute/print_permute.h"

#include <algorithm>

#include "backend/plan/text.h"
#include "backend/tile/elementwise/elementwise.h"

namespace lay::plan {

std::string index_names(const tile::Program& program) {
  std::string text;
  for (const tile::Axis& axis : program.axes) text += (text.empty() ? "" : ",") + axis.name;
  return text;
}

void permute_lines(const tile::Program& program, int access_bytes,
                   std::vector<std::string>& lines) {
  const std::string at = "(" + index_names(program) + ")";
  const auto along = [&](const tile::Distribution& threads) {
    return " along " + program.axis(threads.along).name;
  };
  const tile::Distribution& own = *program.threads;
  // A number of bytes, or the word for accesses of one element.
  lines.push_back(
      entry("accesses", access_bytes > 0 ? std::to_string(access_bytes) : "\"elements\""));
  std::string tile;
  for (const tile::Axis& axis : program.axes)
    tile += (tile.empty() ? "" : ",") + std::to_string(axis.tile);
  // A tile of one index is a number, since (256) is no tuple of the language.
  lines.push_back(entry("tile", (program.axes.size() == 1 ? tile : "(" + tile + ")")));
  lines.push_back(entry("threads", std::to_string(program.grid->threads)));
  std::vector<std::string> said;
  for (const tile::LoadWay& way : tile::loads_of(program)) {
    const tile::Tile& ahead = program.tile(way.load->dst);
    const std::string& name = program.kernel->loaded(ahead.value).name;
    // A tensor read at several places has one `smem` entry; further tiles of it share its layout.
    const bool first = std::find(said.begin(), said.end(), name) == said.end();
    if (way.is_staged()) {
      const std::string layout = to_string(program.tile(way.put->dst).shared->layout);
      lines.push_back(first ? entry("smem " + name, layout)
                            : "  // and again " + name + " = " + layout);
      said.push_back(name);
    }
    const tile::Distribution& threads = ahead.threads.value_or(own);
    lines.push_back(
        "  // " + name + " is read " + elements(way.load->vector) + " at once" + along(threads) +
        (way.is_staged() ? "; (thread,value) -> " + at + ": " + threads.layout.to_string() : ""));
  }
  lines.push_back(entry("rasterization", program.grid->layout().to_string()));
  for (const tile::Copy* store : tile::stores_of(program)) {
    const auto output = static_cast<std::size_t>(program.tile(store->dst).assignment);
    const sema::Tensor& tensor = program.kernel->tensor(program.kernel->assignments[output].target);
    lines.push_back("  // " + tensor.name + " is written " + elements(store->vector) + " at once" +
                    along(own));
  }
  lines.push_back("  // outputs, (thread,value) -> " + at + ": " + own.layout.to_string());
}

}  // namespace lay::plan
