#include "frontend/picture/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace lay::picture {
namespace {

// Light blue, orange, mint, pink, pear, light cyan, light yellow, grey, and each of these in three
// shades more. The shades were searched so that the two nearest of the 32 colours lie 0.078 apart
// in OKLab (a just noticeable difference is about 0.02) and every one carries black text.
constexpr std::array<std::array<std::uint32_t, kHues>, 4> kShades = {{
    {0x77aadd, 0xee8866, 0x44bb99, 0xffaabb, 0xbbcc33, 0x99ddff, 0xeedd88, 0xdddddd},
    {0x93c0fe, 0xfb5b3f, 0xbafddd, 0xf97ba7, 0xd4ff5e, 0x25caf9, 0xd5bc70, 0xb7b7b7},
    {0x0d7cf4, 0xab6e62, 0x1e966c, 0xde4182, 0x718d15, 0x4f87aa, 0x947e3c, 0x808080},
    {0x4998fe, 0xd1601f, 0x66f6bc, 0xc68196, 0xa2b281, 0x0f9fd2, 0xa39c39, 0x9e9e9e},
}};

double linear(uint8_t component) {
  const double c = component / 255.0;
  return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(Colour c) {
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

}  // namespace

Colour colour(int number) {
  const auto n = static_cast<unsigned>(number);
  const std::uint32_t rgb = kShades[n / kHues % kShades.size()][n % kHues];
  return {static_cast<uint8_t>(rgb >> 16), static_cast<uint8_t>(rgb >> 8),
          static_cast<uint8_t>(rgb)};
}

Colour dark_colour(int number) {
  const auto darker = [](int component) { return static_cast<uint8_t>(component * 42 / 100); };
  const Colour c = colour(number);
  return {darker(c.red), darker(c.green), darker(c.blue)};
}

int bank_colour(int bank) {
  return bank / 4 % kHues + kHues * (bank % 4);
}

int terminal_colour(Colour c) {
  const auto step = [](int component) {
    constexpr std::array<int, 6> levels = {0, 95, 135, 175, 215, 255};
    int best = 0;
    for (int i = 1; i < 6; ++i)
      if (std::abs(levels[i] - component) < std::abs(levels[best] - component)) best = i;
    return best;
  };
  return 16 + 36 * step(c.red) + 6 * step(c.green) + step(c.blue);
}

double contrast(Colour a, Colour b) {
  const double one = luminance(a), other = luminance(b);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

double contrast_with_black(Colour c) {
  return contrast(c, {0, 0, 0});
}

}  // namespace lay::picture
