// Shared-memory banks, and swizzles before and after.
#include "frontend/picture/draw.h"
#include "frontend/picture/palette.h"
#include "frontend/picture/panels.h"

namespace lay::picture {
namespace {

constexpr int kBanks = 32, kBankBits = 32;

const Swizzle* swizzle_of(const AnyLayout& layout) {
  const auto* composed = std::get_if<Composed>(&layout);
  return composed ? std::get_if<Swizzle>(&composed->outer) : nullptr;
}

// The layout as it was before its swizzle; its offset stays.
AnyLayout unswizzled(const Composed& composed) {
  return Composed{Swizzle(), composed.offset, composed.inner};
}

// Bits of an element: as asked, as the units say, or such that the swizzle moves 16 bytes.
std::pair<int, std::string> element_bits(const AnyLayout& layout, const std::optional<int>& asked) {
  if (asked) return {*asked, ""};
  const Unit& unit = domain_of(layout).units.codomain;
  if (unit.counts == Counts::elements) return {bits(unit.element), ""};
  if (unit.counts == Counts::bytes) return {8, ""};
  const Swizzle* swizzle = swizzle_of(layout);
  if (swizzle && swizzle->m <= 7)
    return {128 >> swizzle->m, ", for which this swizzle moves 16 bytes at a time"};
  return {kBankBits, ""};
}

void by_bank(Box& box, const Tuple& value, int element) {
  if (!value.is_int()) throw refusal("view", "banks are of offsets, not of coordinates");
  const std::int64_t offset = value.value().value();
  if (offset < 0)
    throw refusal("view", "banks are of offsets of at least 0, not " + value.to_string());
  const std::int64_t per_word = kBankBits / element, per_element = element / kBankBits;
  const std::int64_t word = per_word > 0 ? offset / per_word : offset % kBanks * per_element;
  const auto bank = static_cast<int>(word % kBanks);
  box.colour = bank_colour(bank);
  box.owner = std::to_string(bank);
  box.mark = "b" + box.owner;
}

bool is_width(int element) {
  return element >= 1 && element <= 128 && (element & (element - 1)) == 0;
}

}  // namespace

Picture draw_banks(const Named& value, const DrawOptions& options) {
  const auto [element, why] = element_bits(value.layout, options.bits);
  if (!is_width(element))
    throw refusal("view", "an element has 1, 2, 4 ... 128 bits, not " + std::to_string(element));
  const Dress dress = [e = element](Box& box, const Place&, const Tuple& v) { by_bank(box, v, e); };
  Picture picture;
  picture.title = value.name;
  const std::string text = to_string(value.layout);
  if (text != value.name) picture.subtitle = text;
  picture.key = "the bank b0 to b31 of elements of " + std::to_string(element) + " bits" + why;
  picture.owner = "bank";
  const Swizzle* swizzle = swizzle_of(value.layout);
  if (swizzle)
    picture.panels = grid_panels(
        "before", Field(unswizzled(std::get<Composed>(value.layout)), options.limits), dress);
  const Field field(value.layout, options.limits);
  for (Panel& panel : grid_panels(swizzle ? "after " + swizzle->to_string() : "", field, dress))
    picture.panels.push_back(std::move(panel));
  if (options.line == Line::always)
    for (Panel& panel : line_panels("addresses", field, options.limits, dress))
      picture.panels.push_back(std::move(panel));
  return picture;
}

Picture draw_swizzle(const std::string& name, const Swizzle& swizzle, const DrawOptions& options) {
  constexpr std::int64_t most = 10;  // bits of a side that is worth drawing
  const std::int64_t reach = std::abs(swizzle.s);
  if (reach > most || swizzle.b > most)
    throw refusal("view", swizzle.to_string() + " permutes too large a block to draw");
  const std::int64_t columns = std::int64_t{1} << reach, rows = std::int64_t{1} << swizzle.b;
  const Swizzle groups(swizzle.b, 0, swizzle.s);
  const Layout block = layout(tuple(rows, columns), tuple(columns, 1));
  const Dress dress = [&](Box& box, const Place&, const Tuple& v) {
    const std::int64_t group = v.value().value() % columns;
    box.colour = static_cast<int>(group % kColours);
    box.owner = std::to_string(group);
  };
  Picture picture;
  picture.title = name;
  picture.key = "the column a group lies in";
  picture.owner = "column";
  picture.panels = grid_panels("before", Field(block, options.limits), dress);
  for (Panel& panel : grid_panels("after " + swizzle.to_string(),
                                  Field(Composed{groups, 0, block}, options.limits), dress))
    picture.panels.push_back(std::move(panel));
  if (swizzle.m > 0)
    picture.notes.push_back("a box is a group of " + std::to_string(std::int64_t{1} << swizzle.m) +
                            " neighbours, which a swizzle with M = " + std::to_string(swizzle.m) +
                            " keeps together");
  return picture;
}

}  // namespace lay::picture
