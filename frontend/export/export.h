#pragma once

// Layouts in the words of other tools, each with what cannot be said there as comments:
//
//     Exported x{"a", layout(tuple(4, tuple(2, M)), ...)};
//     to_cute(x)       using a_t = cute::Layout<...>;  auto a = cute::make_layout(...);       CuTe
//     C++ (CUTLASS 3 and 4) to_cute_dsl(x)   a = cute.make_layout((4, (2, M)), stride=...) CuTe
//     DSL, Python to_triton(x)     a = gl.SharedLinearLayout(offset_bases=[...]) Triton's Gluon:
//     powers of two to_numpy(x)      a = np.lib.stride_tricks.as_strided(x, shape=..., strides=...)
//     NumPy to_latex(x) the picture, as TikZ
//
// Law: what a text says has the values of the layout, at every coordinate, for all sizes that the
// guards allow. Parts that the text does not say stand in a comment; where nothing can be said,
// Refusal "export" says why.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay::exports {

struct Exported {
  std::string name = "L";  // of the variable; an identifier
  std::variant<Layout, Composed, Swizzle> value;
  // Conditions on sizes, in Lay.
  std::vector<std::string> guards = {};
  std::optional<Tuple> tile = {};  // of a thread-value layout: the tile that it covers
};

std::string to_cute(const Exported& x);
std::string to_cute_dsl(const Exported& x);
std::string to_triton(const Exported& x);
std::string to_numpy(const Exported& x);
std::string to_latex(const Exported& x);

// The words that name them: cute, cutedsl, triton, numpy, latex.
const std::vector<std::string>& targets();
// The one that a word names; Refusal "export" for another word.
std::string exported(const Exported& x, const std::string& target);

}  // namespace lay::exports
