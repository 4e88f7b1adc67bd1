// A page in a real browser without a window (Chromium): what it shows after a script of the test
// has used it.
#pragma once

#include <string>
#include <vector>

namespace lay::test {

// Returns true if there is a Chromium to ask.
bool has_browser();

// Opens the page (at the fragment) with `probe` run at its end, where `say(...)` notes a line,
// `box(panel, offset)` is the box with that offset, `point(box)` and `press(box)` move the mouse
// there and click, and `shown(box)` is its label. The lines that were noted.
std::vector<std::string> browse(const std::string& html, const std::string& probe,
                                const std::string& fragment = "");

}  // namespace lay::test
