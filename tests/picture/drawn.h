// The pictures of a script's `show` statements.
#pragma once

#include <string>
#include <vector>

#include "frontend/picture/picture.h"

namespace lay::test {

struct Drawn {
  std::vector<picture::Picture> pictures;
  std::string errors;  // the codes, with a blank between
};

// `for_tex`: as few boxes as TeX has room for.
Drawn drawn(const std::string& script, bool for_tex = false);

// The one picture of a script that draws one.
picture::Picture one_picture(const std::string& script);

}  // namespace lay::test
