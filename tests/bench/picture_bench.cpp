// How long a picture takes, from the layout to the text of each form, on one core:
//
//   lay_picture_bench
//
// Processor time, the median of five rounds, by the number of boxes.

#include <cstdio>
#include <functional>
#include <string>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/picture/draw.h"
#include "frontend/picture/render.h"
#include "tests/bench/processor_time.h"

namespace {

using namespace lay;
using namespace lay::picture;

double milliseconds(const std::function<size_t()>& call) {
  const auto drawn = [&](int) {
    if (call() == 0) std::printf("nothing was drawn\n");
  };
  return 1e3 * bench::median_seconds(1, drawn);
}

void row(const std::string& name, const std::function<Picture()>& draw) {
  const Picture p = draw();
  std::printf("%-44s %8.2f %8.2f %8.2f %8.2f %8.2f\n", name.c_str(),
              milliseconds([&] { return draw().panels.size(); }), milliseconds([&] {
                return to_text(p, {Colours::all, 0, false}).size();
              }),
              milliseconds([&] { return to_svg(p).size(); }),
              milliseconds([&] { return to_html(p).size(); }),
              milliseconds([&] { return to_tex(p).size(); }));
}

}  // namespace

int main() {
  std::printf("%-44s %8s %8s %8s %8s %8s   (ms)\n", "", "picture", "text", "SVG", "HTML", "TeX");
  for (const std::int64_t n : {8, 32, 64, 128, 1 << 20}) {
    const std::string side = std::to_string(n);
    row("grid of " + side + " x " + side, [&] {
      return draw_layout({"l", layout(tuple(n, n), tuple(1, n))});
    });
  }
  row("swizzle, 128 x 128, before and after", [] {
    return draw_banks({"l", composition(Swizzle(3, 3, 3), layout(tuple(128, 128), tuple(128, 1)))});
  });
  row("accumulators of 128 threads on (64,256)", [] {
    return draw_threads({"C", layout(tuple(tuple(4, 8, 4), tuple(2, 2, 32)),
                                     tuple(tuple(128, 1, 16), tuple(64, 8, 512)))},
                        tuple(64, 256));
  });
}
