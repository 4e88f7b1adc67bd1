// The text that CuTe prints, as values: tuples, layouts, swizzles and composed layouts, static (_4)
// and run-time (4) alike. In CuTe's text `(4)` is the tuple of one.
//
//   ((_2,_2),4):((_4,_1),2)                                   the layout
//   Sw<3,3,3> o _0 o (_8,_64):(_64,_1)                        composed
//   Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)      a swizzle of byte addresses:
//   Sw<3,3,3> on 16-bit elements tensor<ptr<f16, smem, align<16>, S<3,4,3>> o (8,64):(64,1)>   the
//   same as the DSL writes it tensor(raw_ptr(...) o (8,64):(64,1))                      a tensor as
//   the DSL's print writes it ArithTuple(1,2) o ((_2,_2),_2):((_1@1,_8@0),_32@0)        coordinates
//   from (1,2) on Layout<Shape<_4,_2>,Stride<_1,_4>>                        names of types, also
//   cute::tuple<cute::C<4> > and Int<4>
#pragma once

#include <string_view>

#include "frontend/sema/values/value.h"

namespace lay::sema {

// Refusal "cute-text" with the place where the text stops making sense, or leaves out a size as
// `?`.
Value read_cute(std::string_view text);

}  // namespace lay::sema
