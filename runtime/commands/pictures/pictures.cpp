#include "runtime/commands/pictures/pictures.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "frontend/source/diagnostic.h"
#include "runtime/commands/pictures/png.h"
#include "runtime/repl/terminal.h"

namespace lay::runtime {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

picture::Colours colours_of(int out) {
  if (!colour_wanted(out)) return picture::Colours::none;
  const std::string_view colorterm = variable("COLORTERM"), term = variable("TERM");
  if (colorterm == "truecolor" || colorterm == "24bit" || term.ends_with("-direct"))
    return picture::Colours::all;
  return term.find("256color") != term.npos ? picture::Colours::few : picture::Colours::none;
}

}  // namespace

std::optional<PictureForm> picture_form(std::string_view word) {
  if (word == "text" || word == "txt") return PictureForm::text;
  if (word == "svg") return PictureForm::svg;
  if (word == "png") return PictureForm::png;
  if (word == "html" || word == "htm") return PictureForm::html;
  if (word == "tex" || word == "latex") return PictureForm::tex;
  return std::nullopt;
}

PictureForm form_of_file(const std::string& file) {
  const auto dot = file.rfind('.');
  if (dot != file.npos)
    if (const auto form = picture_form(std::string_view(file).substr(dot + 1))) return *form;
  Diagnostic d;
  d.code = "file";
  d.message = "`" + file + "` does not say what kind of picture it is to be";
  d.notes.push_back({"help", "a name that ends in .svg, .png, .html, .tex or .txt"});
  throw DiagnosticError(std::move(d));
}

picture::TextOptions text_options(int out) {
  constexpr int usual = 100;
  const bool terminal = ::isatty(out);
  return {colours_of(out), terminal ? terminal_columns(out) : usual, terminal};
}

std::string rendered(const std::vector<picture::Picture>& pictures, PictureForm form,
                     const picture::TextOptions& options) {
  if (form == PictureForm::text) {
    std::string text;
    for (const picture::Picture& picture : pictures)
      text += picture::to_text(picture, options) + "\n";
    return text;
  }
  const picture::Picture all = picture::merged(pictures);
  if (form == PictureForm::svg) return picture::to_svg(all);
  if (form == PictureForm::png) return png_of(picture::to_svg(all));
  return form == PictureForm::html ? picture::to_html(all) : picture::to_tex(all);
}

void show_picture(const picture::Picture& picture) {
  std::cout << picture::to_text(picture, text_options(STDOUT_FILENO)) << std::endl;
}

}  // namespace lay::runtime
