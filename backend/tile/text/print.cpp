#include "backend/tile/text/print.h"

#include "backend/tile/text/statement_text.h"

namespace lay::tile {

namespace {

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return "(" + text + ")";
}

std::string distribution_text(const Program& program, const Distribution& threads) {
  return "threads " + threads.layout.to_string() + " vector " + std::to_string(threads.vector) +
         (threads.along >= 0 ? " along " + program.axis(threads.along).name : "");
}

std::string order_text(const TileOrder& order) {
  if (const auto* layout = std::get_if<Layout>(&order)) return layout->to_string();
  return "in groups of " + std::to_string(std::get<RowGroups>(order).rows) + " rows";
}

std::string cluster_text(const Grid& grid) {
  if (grid.cluster == std::array{1, 1}) return "";
  return " in clusters of " + list({grid.cluster[0], grid.cluster[1]});
}

std::string digit_text(const char* word, const std::optional<Digit>& digit) {
  if (!digit) return "";
  return std::string(word) + digit->below.to_string() + " of " + digit->extent.to_string() +
         (digit->remainder ? " rest" : "");
}

// ((14 rows by 14 of 14 rest sum by 24 of 3 count 12 first -1 step 1 dilation 2),...) run 3
std::string view_text(const Program& program, const OperandView& view) {
  std::string text;
  for (const ViewedMode& mode : view.modes) {
    text += (text.empty() ? "((" : ",(") + mode.extent.to_string() +
            digit_text(" rows by ", mode.outer) + digit_text(" sum by ", mode.k) +
            (mode.batch >= 0 ? " batch " + program.kernel->index(mode.batch).name : "") +
            " count " + mode.count.to_string() + " first " + mode.first.to_string() + " step " +
            std::to_string(mode.step) + " dilation " + std::to_string(mode.dilation) + ")";
  }
  return text + ")" + (view.order.empty() ? "" : " im2col " + list(view.order)) + " run " +
         std::to_string(view.run);
}

std::string threads_text(const Program& program) {
  std::string text;
  if (program.threads) text += "  " + distribution_text(program, *program.threads) + "\n";
  if (program.blocks_per_sm != 1)
    text += "  blocks_per_sm " + std::to_string(program.blocks_per_sm) + "\n";
  if (program.sms > 0) text += "  sms " + std::to_string(program.sms) + "\n";
  if (const auto& grid = program.grid)
    text += "  blocks " + order_text(grid->order) + cluster_text(*grid) + " of " +
            std::to_string(grid->threads) + " threads\n";
  if (const auto& groups = program.warpgroups)
    text += "  warpgroups " + std::to_string(groups->consumers) + " registers " +
            list({groups->registers[0], groups->registers[1]}) +
            (groups->sms > 0 ? " sms " + std::to_string(groups->sms) : "") + "\n";
  if (!program.copies.empty()) {
    std::string names;
    for (const sema::CopyInstruction& each : program.copies)
      names += (names.empty() ? "\"" : ",\"") + each.name + "\"";
    text += "  copies (" + names + ")\n";
  }
  return text;
}

std::string shared_text(const Program& program, const SharedTile& shared) {
  const std::string stages = " stages " + std::to_string(shared.stages);
  std::string text = " as " + to_string(shared.layout) + (shared.own ? " own" : "");
  if (!shared.by_tma() && !shared.part) return text + (shared.stages > 1 ? stages : "");
  if (shared.part) text += " parts " + list({(*shared.part)[0], (*shared.part)[1]});
  text += " span " + std::to_string(shared.span);
  if (shared.by_tma())
    text += " order " + list(shared.order) + " box " + list({shared.box[0], shared.box[1]});
  if (shared.view) text += " view " + view_text(program, *shared.view);
  return text + stages;
}

std::string tile_text(const Program& program, const Tile& tile) {
  std::string axes;
  for (const AxisId axis : tile.axes) axes += (axes.empty() ? "" : ",") + program.axis(axis).name;
  return "  tile " + tile.name + ": " + std::string(element_name(tile.element)) + " (" + axes +
         ") in " + std::string(space_name(tile.space)) + " = %" + std::to_string(tile.value) +
         (tile.assignment >= 0 ? " of output " + std::to_string(tile.assignment) : "") +
         (tile.shared ? shared_text(program, *tile.shared) : "") +
         (tile.threads ? " by " + distribution_text(program, *tile.threads) : "") +
         (tile.filled_by ? " by \"" + tile.filled_by->name + "\"" : "") + "\n";
}

std::string segments_text(const sema::Kernel& kernel, const Segments& segments) {
  std::string text = " in segments of %" + std::to_string(segments.of);
  const auto add = [&](const char* words, sema::TensorId tensor) {
    if (tensor >= 0) text += words + kernel.tensor(tensor).name;
  };
  add(", first rows ", segments.first);
  add(", first tiles ", segments.first_tile);
  add(", stored at ", segments.stored_at);
  return text;
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program), values_(program), held_(program) {}

  std::string run() {
    text_ = "program " + program_.kernel->name + "\n";
    for (const Axis& axis : program_.axes) {
      std::string indices;
      for (const sema::IndexId index : axis.indices)
        indices += (indices.empty() ? "" : ",") + program_.kernel->index(index).name;
      text_ += "  axis " + axis.name + " = (" + indices + ") of " + axis.extent.to_string() +
               (axis.tile > 0 ? " by " + std::to_string(axis.tile) : "") +
               (axis.segments ? segments_text(*program_.kernel, *axis.segments) : "") + "\n";
    }
    if (program_.part >= 0)
      text_ += "  part " + program_.kernel->index(program_.part).name + " of " +
               std::to_string(program_.parts) + "\n";
    text_ += threads_text(program_);
    for (const Tile& tile : program_.tiles) text_ += tile_text(program_, tile);
    for (const sema::NodeId id : values_.written())
      text_ += "  " + value_line(program_, values_, id) + "\n";
    block(program_.body, 0);
    return std::move(text_);
  }

 private:
  void block(const Block& body, int depth) {
    const std::string blanks(static_cast<std::size_t>(2 * depth), ' ');
    for (const Stmt& stmt : body) {
      text_ += blanks + first_line(program_, values_, held_, stmt) + "\n";
      if (const auto* loop = std::get_if<For>(&stmt.node)) {
        held_.enter(*loop);
        block(loop->body, depth + 1);
        held_.leave();
        text_ += blanks + "}\n";
      } else {
        held_.after(stmt);
      }
    }
  }

  const Program& program_;
  ValueText values_;
  HeldValues held_;
  std::string text_;
};

}  // namespace

std::string print(const Program& program) {
  return Printer(program).run();
}

std::string print_first_line(const Program& program, const Stmt& stmt) {
  return first_line(program, ValueText(program), HeldValues(program), stmt);
}

}  // namespace lay::tile
