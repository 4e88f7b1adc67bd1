// The cover law of thread-value layouts.
#pragma once

#include <string>

#include "frontend/algebra/layouts/layout.h"

namespace lay::sema {

// (thread, value) -> column-major index in a tile of rows x columns.
struct Covering {
  std::string name;  // "A"
  Layout layout;
  int rows = 1, columns = 1;
  // No repetition, not even along threads.
  bool once = false;
};

// Law: `threads` threads; every index of the tile is held, none outside it, and none twice but
// along modes of the threads whose stride is 0, or, with `once`, not at all. Refusal "atom-cover"
// with the thread and value that break it.
void check_cover(const std::string& atom, const Covering& covering, int threads);

}  // namespace lay::sema
