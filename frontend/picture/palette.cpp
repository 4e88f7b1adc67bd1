#include "frontend/picture/palette.h"

#include <array>
#include <cmath>
#include <cstdlib>

namespace lay::picture {
namespace {

// Light blue, orange, mint, pink, pear, light cyan, light yellow, grey: neighbours are far apart.
constexpr std::array<Colour, kHues> kHue = {{{0x77, 0xaa, 0xdd},
                                             {0xee, 0x88, 0x66},
                                             {0x44, 0xbb, 0x99},
                                             {0xff, 0xaa, 0xbb},
                                             {0xbb, 0xcc, 0x33},
                                             {0x99, 0xdd, 0xff},
                                             {0xee, 0xdd, 0x88},
                                             {0xdd, 0xdd, 0xdd}}};

// How far a shade lies towards white (positive) or black (negative), in percent.
constexpr std::array<int, 4> kShade = {0, 45, -22, 72};

uint8_t shaded(uint8_t component, int percent) {
  const int target = percent > 0 ? 255 : 0;
  return static_cast<uint8_t>(component + (target - component) * std::abs(percent) / 100);
}

double linear(uint8_t component) {
  const double c = component / 255.0;
  return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

}  // namespace

Colour colour(int number) {
  const auto n = static_cast<unsigned>(number);
  const Colour base = kHue[n % kHues];
  const int percent = kShade[n / kHues % kShade.size()];
  return {shaded(base.red, percent), shaded(base.green, percent), shaded(base.blue, percent)};
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

double contrast_with_black(Colour c) {
  const double luminance =
      0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
  return (luminance + 0.05) / 0.05;
}

}  // namespace lay::picture
