#include "frontend/picture/panels.h"

#include <algorithm>
#include <map>
#include <set>

namespace lay::picture {
namespace {

constexpr int kLongestRow = 64, kBrokenRow = 32;

Panel panel_of_slice(const Field& field, int slice, const Dress& dress) {
  Panel panel;
  panel.rows = field.rows();
  panel.columns = field.columns();
  panel.boxes.reserve(static_cast<size_t>(panel.rows) * static_cast<size_t>(panel.columns));
  for (int i = 0; i < panel.rows; ++i) {
    for (int j = 0; j < panel.columns; ++j) {
      const Tuple value = field.value(slice, i, j);
      Box box;
      box.offset = value.to_string();
      box.label = box.offset;
      box.index = std::to_string(field.index(slice, i, j));
      box.coordinate = field.coordinate(slice, i, j);
      dress(box, {slice, i, j}, value);
      panel.boxes.push_back(std::move(box));
    }
  }
  panel.top = field.column().axis();
  if (field.rank() > 1) panel.left = field.row().axis();
  return panel;
}

// The offsets of a field, and the boxes that reach each.
struct Reached {
  std::int64_t least = 0, greatest = 0;
  std::map<std::int64_t, std::vector<Place>> boxes;
  bool integers = true;
};

Reached reached(const Field& field) {
  Reached result;
  bool first = true;
  for (int s = 0; s < field.slices(); ++s)
    for (int j = 0; j < field.columns(); ++j)
      for (int i = 0; i < field.rows(); ++i) {
        const Tuple value = field.value(s, i, j);
        if (!value.is_int()) return {0, 0, {}, false};
        const std::int64_t offset = value.value().value();
        result.least = first ? offset : std::min(result.least, offset);
        result.greatest = first ? offset : std::max(result.greatest, offset);
        first = false;
        result.boxes[offset].push_back({s, i, j});
      }
  return result;
}

std::string joined(const Field& field, const std::vector<Place>& places, bool coordinates) {
  constexpr size_t most = 6;
  std::string text;
  for (size_t k = 0; k < places.size() && k < most; ++k) {
    const auto& [s, i, j] = places[k];
    text += (k ? " " : "") +
            (coordinates ? field.coordinate(s, i, j) : std::to_string(field.index(s, i, j)));
  }
  return places.size() > most ? text + " ..." : text;
}

// How far apart the offsets lie: they may be further than an offset can be.
std::uint64_t span_of(const Reached& all) {
  return static_cast<std::uint64_t>(all.greatest) - static_cast<std::uint64_t>(all.least);
}

}  // namespace

Panel broken(Panel row, int columns) {
  while (!row.boxes.empty() && row.boxes.back().kind == BoxKind::nothing) row.boxes.pop_back();
  const auto count = static_cast<int>(row.boxes.size());
  row.columns = columns;
  row.rows = (count + columns - 1) / columns;
  Box nothing;
  nothing.kind = BoxKind::nothing;
  row.boxes.resize(static_cast<size_t>(row.rows) * static_cast<size_t>(columns), nothing);
  row.top = counting(columns, 0, 1, "");
  row.left = counting(row.rows, row.first, columns, "");
  return row;
}

std::vector<Panel> grid_panels(const std::string& title, const Field& field, const Dress& dress) {
  std::vector<Panel> panels;
  for (int s = 0; s < field.slices(); ++s) {
    panels.push_back(panel_of_slice(field, s, dress));
    Panel& panel = panels.back();
    panel.is_row = field.rank() == 1;
    if (panel.is_row && panel.columns > kLongestRow) panel = broken(std::move(panel), kBrokenRow);
    const std::string slice = field.slice_text(s);
    panel.title = slice.empty() ? title : title.empty() ? slice : title + " " + slice;
  }
  if (const std::string left_out = field.left_out(); !left_out.empty())
    panels.back().notes.push_back(left_out);
  return panels;
}

std::vector<Panel> line_panels(const std::string& title, const Field& field, const Limits& limits,
                               const Dress& dress) {
  const Reached all = reached(field);
  if (!all.integers) return {};
  const bool cut = span_of(all) >= static_cast<std::uint64_t>(limits.line);
  const std::int64_t last = cut ? all.least + limits.line - 1 : all.greatest;
  const auto count = static_cast<int>(last - all.least + 1);
  Panel panel;
  panel.title = title;
  panel.is_line = true;
  panel.is_row = true;
  panel.first = all.least;
  Box gap;
  gap.kind = BoxKind::gap;
  panel.boxes.assign(static_cast<size_t>(count), gap);
  std::int64_t gaps = 0, aliases = 0;
  for (std::int64_t offset = all.least; offset <= last; ++offset) {
    Box& box = panel.boxes[static_cast<size_t>(offset - all.least)];
    box.offset = std::to_string(offset);
    const auto at = all.boxes.find(offset);
    if (at == all.boxes.end()) {
      ++gaps;
      continue;
    }
    const std::vector<Place>& places = at->second;
    box.kind = places.size() > 1 ? BoxKind::alias : BoxKind::cell;
    aliases += places.size() > 1;
    box.index = joined(field, places, false);
    box.coordinate = joined(field, places, true);
    dress(box, places.front(), Tuple(offset));
    // A box that several elements reach stands for each of them.
    for (size_t k = 1; k < places.size() && !box.links.empty(); ++k) {
      Box other;
      dress(other, places[k], Tuple(offset));
      box.links += " " + other.links;
    }
    box.label = std::to_string(
        field.index(places.front().slice, places.front().row, places.front().column));
    if (places.size() > 1) box.mark = "x" + std::to_string(places.size());
  }
  panel = broken(std::move(panel), std::min(count, kBrokenRow));
  std::string counts = "each offset holds the index of the coordinate that reaches it";
  if (gaps) counts += "; " + std::to_string(gaps) + (gaps == 1 ? " gap" : " gaps");
  if (aliases) counts += "; " + std::to_string(aliases) + " reached more than once (xN)";
  panel.notes.push_back(counts);
  if (cut)
    panel.notes.push_back("drawn: offsets up to " + std::to_string(last) + " of " +
                          std::to_string(all.greatest));
  if (!field.whole()) panel.notes.push_back("of the coordinates that are drawn");
  return {panel};
}

void add_page_line(Picture& picture, const std::string& title, const Field& field,
                   const Limits& limits, const Dress& dress) {
  constexpr std::int64_t most = 1024;
  if (!field.whole() || std::int64_t{1} * field.rows() * field.columns() * field.slices() > most)
    return;
  for (Panel& panel : line_panels(title, field, limits, dress)) {
    panel.on_pages_only = true;
    picture.panels.push_back(std::move(panel));
  }
}

bool worth_a_line(const Field& field) {
  if (!field.whole()) return false;
  const Reached all = reached(field);
  if (!all.integers || all.boxes.empty()) return false;
  const bool aliases = std::any_of(all.boxes.begin(), all.boxes.end(),
                                   [](const auto& b) { return b.second.size() > 1; });
  return aliases || span_of(all) != all.boxes.size() - 1;
}

}  // namespace lay::picture
