// The statement `show`: its values, its options, and which picture is meant. Internal to this
// folder.
//
//   show a                                  a grid of offsets; a swizzle before and after; a record
//   of an atom by threads show zipped_divide(a, (2,2))            operand and result beside each
//   other show C, tile = (16,8) a thread-value layout on the tile it covers show a, view = line
//   grid, threads, banks or line show a, view = banks, bits = 16         bits of an element show A,
//   M = 8, K = 4                    with numbers for sizes that are not known
//
// Errors: "symbolic" names the sizes that are missing; "view" what cannot be drawn in the way that
// is asked for.
#pragma once

#include <vector>

#include "frontend/picture/picture.h"
#include "frontend/sema/session.h"

namespace lay::sema {

// A check of sizes that are not known yet draws nothing.
std::vector<picture::Picture> draw(Session& session, Frame& frame, const syntax::Show& show,
                                   Span where);

}  // namespace lay::sema
