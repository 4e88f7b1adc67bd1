#pragma once

// The SVG of a picture, for a file of its own or for a page that asks its boxes what they mean.
// Internal.

#include <string>

#include "frontend/picture/picture.h"

namespace lay::picture {

// `boxes` stands for one element a box, with data attributes; without it boxes of one colour are
// one path.
std::string svg_element(const Picture& picture, bool boxes);

}  // namespace lay::picture
