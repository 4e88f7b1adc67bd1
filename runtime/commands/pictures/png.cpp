#include "runtime/commands/pictures/png.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "frontend/source/diagnostic.h"
#include "runtime/commands/commands.h"
#include "runtime/compile/child.h"
#include "runtime/io/file.h"

namespace lay::runtime {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
constexpr std::chrono::minutes kLimit{2};

struct Files {
  std::string svg, png, folder;
};

struct Converter {
  const char* program;
  std::vector<std::string> (*arguments)(const Files&);
};

// The number that the root element gives for `name`, as `width="572"`.
int extent_of(const std::string& svg, const std::string& name) {
  const auto at = svg.find(" " + name + "=\"");
  return at == svg.npos
             ? 1000
             : static_cast<int>(std::ceil(std::atof(svg.c_str() + at + name.size() + 3)));
}

std::vector<std::string> by_rsvg(const Files& f) {
  return {"--zoom=2", "--output=" + f.png, f.svg};
}

std::vector<std::string> by_inkscape(const Files& f) {
  return {"--export-type=png", "--export-dpi=192", "--export-filename=" + f.png, f.svg};
}

// A browser draws what its window shows, so that the window is as large as the picture.
std::vector<std::string> by_browser(const Files& f) {
  const std::string svg = read_file(f.svg, kMostBytes);
  std::vector<std::string> arguments = {"--headless",
                                        "--disable-gpu",
                                        "--disable-dev-shm-usage",
                                        "--hide-scrollbars",
                                        "--force-device-scale-factor=2",
                                        "--user-data-dir=" + f.folder + "/profile",
                                        "--window-size=" + std::to_string(extent_of(svg, "width")) +
                                            "," + std::to_string(extent_of(svg, "height")),
                                        "--screenshot=" + f.png};
  if (geteuid() == 0) arguments.emplace_back("--no-sandbox");  // which Chromium asks of root
  arguments.push_back("file://" + f.svg);
  return arguments;
}

std::vector<std::string> by_imagemagick(const Files& f) {
  return {"-density", "192", f.svg, "png:" + f.png};
}

const Converter kConverters[] = {
    {"rsvg-convert", by_rsvg},        {"inkscape", by_inkscape},     {"chromium", by_browser},
    {"chromium-browser", by_browser}, {"google-chrome", by_browser}, {"magick", by_imagemagick},
    {"convert", by_imagemagick},
};

// A program of that name may be another one, or fail: what it wrote says.
std::string png_in(const std::string& file) {
  if (!std::filesystem::is_regular_file(file)) return "";
  std::string bytes = read_file(file, kMostBytes);
  return bytes.starts_with("\x89PNG\r\n\x1a\n") ? bytes : "";
}

}  // namespace

std::string png_of(const std::string& svg) {
  const PrivateFolder folder;
  if (folder.path().empty()) throw MachineLacks("no temporary folder could be made for a PNG");
  const Files files{folder.path() + "/picture.svg", folder.path() + "/picture.png", folder.path()};
  write_file(files.svg, {svg});
  std::string failed;
  for (const Converter& converter : kConverters) {
    const std::string program = find_program(converter.program);
    if (program.empty()) continue;
    std::vector<std::string> argv = {program};
    for (std::string& argument : converter.arguments(files)) argv.push_back(std::move(argument));
    const ChildEnd end = run_child(argv, folder.path(), folder.path() + "/log", kLimit);
    if (std::string png = end.well() ? png_in(files.png) : ""; !png.empty()) return png;
    failed += (failed.empty() ? "" : ", ") + std::string(converter.program);
  }
  throw MachineLacks(
      failed.empty()
          ? "a PNG needs rsvg-convert, inkscape, chromium or ImageMagick on PATH, and none is "
            "there; an .svg or .html file needs none of them"
          : "no PNG came from " + failed + "; an .svg or .html file needs no converter");
}

}  // namespace lay::runtime
