// A layout as a grid, and as a line.
#include "frontend/picture/draw.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/panels.h"

namespace lay::picture {
namespace {

void by_offset(Box& box, const Place&, const Tuple& value) {
  if (!value.is_int()) return;
  const std::int64_t offset = value.value().value();
  box.colour = static_cast<int>((offset % kHues + kHues) % kHues);
}

Picture titled(const Named& value, const Field& field) {
  Picture picture;
  picture.title = value.name;
  const std::string text = to_string(value.layout);
  if (text != value.name) picture.subtitle = text;
  if (field.value(0, 0, 0).is_int()) picture.key = "the offset mod 8";
  return picture;
}

}  // namespace

Picture draw_layout(const Named& value, const DrawOptions& options) {
  const auto* composed = std::get_if<Composed>(&value.layout);
  if (composed && std::holds_alternative<Swizzle>(composed->outer) &&
      !composed->layout().has_basis())
    return draw_banks(value, options);
  const Field field(value.layout, options.limits);
  Picture picture = titled(value, field);
  picture.panels = grid_panels("", field, by_offset);
  if (options.line == Line::never) return picture;
  if (options.line == Line::always || worth_a_line(field)) {
    for (Panel& panel : line_panels("addresses", field, options.limits, by_offset))
      picture.panels.push_back(std::move(panel));
  } else {
    add_page_line(picture, "addresses", field, options.limits, by_offset);
  }
  return picture;
}

Picture draw_line(const Named& value, const DrawOptions& options) {
  const Field field(value.layout, options.limits);
  Picture picture = titled(value, field);
  picture.panels = line_panels("addresses", field, options.limits, by_offset);
  if (picture.panels.empty())
    throw refusal("view",
                  to_string(value.layout) + " gives coordinates, and an address line needs offsets",
                  "without a view it is drawn as a grid");
  return picture;
}

}  // namespace lay::picture
