#pragma once

// The colours of a picture: eight hues for black text that people with any colour vision tell apart
// (Paul Tol's "light" scheme, SRON technical note EPS/TN/09-002), each in four shades. Number n has
// hue n % 8 and shade n / 8 % 4, so that neighbours differ in hue; numbers repeat after 32.

#include <cstdint>

namespace lay::picture {

inline constexpr int kHues = 8;
inline constexpr int kColours = 32;

struct Colour {
  uint8_t red, green, blue;
};

Colour colour(int number);

// The same colour for light text on a dark ground: 42 % of its brightness.
Colour dark_colour(int number);

// The number of the colour of a bank of shared memory: the four banks of one 16-byte group share a
// hue.
int bank_colour(int bank);

// The index of the nearest colour of the 256 of a terminal (the 6x6x6 cube).
int terminal_colour(Colour c);

// Contrast of two colours, as WCAG 2 defines it: 1 to 21.
double contrast(Colour a, Colour b);

// Contrast of black text on the colour, as WCAG 2 defines it: 1 to 21.
double contrast_with_black(Colour c);

}  // namespace lay::picture
