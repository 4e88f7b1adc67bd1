// The part of a layout that takes coordinates, whatever is put behind it.
#pragma once

#include "frontend/algebra/layouts/layout.h"

namespace lay {

// The layout itself, or that inside of a composed one; null where a swizzle is inside.
inline const Layout* inner_layout(const AnyLayout& layout) {
  const auto* composed = std::get_if<Composed>(&layout);
  return composed ? std::get_if<Layout>(&composed->inner) : std::get_if<Layout>(&layout);
}

}  // namespace lay
