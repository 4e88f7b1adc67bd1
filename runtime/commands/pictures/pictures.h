// Pictures where they go: the terminal, with the colours and the width that it has, or a file of
// the kind that its name says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/picture/render.h"

namespace lay::runtime {

enum class PictureForm { text, svg, png, html, tex };

// "svg", "png", "html", "tex" or "latex", "text"; nothing for another word.
std::optional<PictureForm> picture_form(std::string_view word);

// By the ending .svg .png .html .htm .tex .txt. Error `file` for another.
PictureForm form_of_file(const std::string& file);

// Returns how to draw on the descriptor: NO_COLOR, TERM and COLORTERM say the colours, the terminal
// its width. A descriptor that is no terminal gets no colours, and nothing is cut.
picture::TextOptions text_options(int out);

// One document for all of the pictures. A PNG throws MachineLacks where no converter is found
// (png.h).
std::string rendered(const std::vector<picture::Picture>& pictures, PictureForm form,
                     const picture::TextOptions& options = {});

// Draws on standard output.
void show_picture(const picture::Picture& picture);

}  // namespace lay::runtime
