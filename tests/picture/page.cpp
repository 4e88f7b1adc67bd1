// The page in a real browser, by what it shows. Where there is no Chromium these tests say so and
// check nothing.
#include <catch2/catch.hpp>

#include "frontend/picture/draw.h"
#include "frontend/picture/render.h"
#include "tests/golden/golden.h"
#include "tests/picture/browser.h"
#include "tests/picture/drawn.h"

using namespace lay;
using namespace lay::test;
using Lines = std::vector<std::string>;

#define NEEDS_BROWSER()                                   \
  if (!has_browser()) {                                   \
    WARN("no chromium here: the page was not looked at"); \
    return;                                               \
  }

namespace {

std::string page(const std::string& script) {
  return picture::to_html(one_picture(script));
}

const std::string divide = "show zipped_divide((6,8):(8,1), (2,4))";

}  // namespace

TEST_CASE("hovering links equal offsets, in both directions") {
  NEEDS_BROWSER();
  const Lines seen = browse(page(divide), R"(
    const thick = () => every.filter(b => parseFloat(style(b.querySelector("rect"), "strokeWidth")) === 3);
    for (const panel of [0, 1]) {
      point(box(panel, 12));
      say(thick().length, thick().map(shown).join(","), "|", status_line());
    }
    point(box(2, 12));  // the address line
    say(thick().length, status_line());
    document.querySelector("#picture").dispatchEvent(new MouseEvent("mouseleave"));
    say(thick().length, "|", status_line());)");
  CHECK(seen == Lines{"3 12,12,25 | offset 12   index 25   coordinate (1,4)   tile 3",
                      "3 12,12,25 | offset 12   index 25   coordinate ((1,0),(0,1))   tile 3",
                      "3 offset 12   index 25   coordinate (1,4)   tile 3", "0 | "});
}

TEST_CASE("hovering links what corresponds, not equal numbers") {
  NEEDS_BROWSER();
  const std::string probe = R"(
    const panels = [...document.querySelectorAll("#picture svg > g")];
    const lit = () => panels.map(panel => [...panel.querySelectorAll(".linked")].map(shown).join(",")).join(" | ");
    const at = (panel, index) => [...panels[panel].querySelectorAll(".box")].find(b => b.dataset.index === String(index));
    for (const [panel, index] of PLACES) { point(at(panel, index)); say(lit()); })";
  const auto lit = [&](const std::string& script, const std::string& places) {
    std::string text = probe;
    return browse(page(script), text.replace(text.find("PLACES"), 6, places));
  };
  // B(1) = 8 names the element of A at the index 8, whose offset is 16: A's offset 8 stays dark.
  CHECK(lit("show 20:2 o 4:8", "[[1, 1]]") == Lines{"16 | 8 | 16 | 8"});
  CHECK(lit("show (4,5):(1,4) o 4:3", "[[1, 2], [0, 9], [2, 2]]").size() == 3);
  // An element of a product: the operand's element, the copy's number, and itself.
  const Lines product = lit("show zipped_product(2:1, 3:2)", "[[0, 1], [1, 2], [2, 5]]");
  REQUIRE(product.size() == 3);
  CHECK(product[0] == "1 |  | 1,5,9 | 1");
  // An element of C: the row of A and the column of B that it is computed from.
  const Lines multiply_add = browse(page("use atoms.sm80\nshow mma(16, 16, f16, f32)"), R"(
    point(every.filter(b => b.dataset.links === "m13 n3")[0]);
    say([...document.querySelectorAll("#picture svg > g")].slice(0, 3).map(panel =>
      [...panel.querySelectorAll(".linked")].map(b => b.dataset.links).length).join(" "));)");
  CHECK(multiply_add == Lines{"16 16 1"});
}

TEST_CASE("a click shows one tile alone, a second one all of them") {
  NEEDS_BROWSER();
  const Lines seen = browse(page(divide), R"(
    const state = () => {
      const alone = every.filter(bright);
      return alone.length + " " + [...new Set(alone.map(b => b.dataset.owner))].join(",") + " " + location.hash;
    };
    press(box(0, 12)); say(state());
    press(box(1, 12)); say(state());
    press(box(1, 47)); say(state());
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" })); say(state());
    const only = document.querySelector("input[name=only]");
    only.value = "2"; only.dispatchEvent(new Event("input", { bubbles: true })); say(state());)");
  CHECK(seen == Lines{"24 3 #label=drawn&amp;only=3", "144 0,3,1,4,2,5 #label=drawn",
                      "24 5 #label=drawn&amp;only=5", "144 0,3,1,4,2,5 #label=drawn",
                      "24 2 #label=drawn&amp;only=2"});
}

TEST_CASE("boxes show offset, index or coordinate, and the text fits") {
  NEEDS_BROWSER();
  const Lines seen = browse(page("show ((2,2),(2,4)):((1,16),(8,100))"), R"(
    const b = box(0, 117);
    for (const what of ["offset", "index", "coordinate", "offset"]) {
      pick(what);
      const fits = every.filter(e => e.querySelector(".l")).every(e =>
        e.querySelector(".l").getBBox().width <= e.querySelector("rect").getBBox().width);
      say(what, shown(b), fits, location.hash);
    })");
  CHECK(seen == Lines{"offset 117 true #label=offset", "index 11 true #label=index",
                      "coordinate ((1,1),(0,1)) true #label=coordinate",
                      "offset 117 true #label=offset"});
}

TEST_CASE("a thread is shown alone, with all that it holds") {
  NEEDS_BROWSER();
  const Lines seen = browse(page("show ((4,8),(2,2)):((32,1),(16,8)), tile = (16,8)"), R"(
    press(every[17]);
    const text = b => [...b.querySelectorAll("text")].map(t => t.textContent).join("");
    say(every.filter(bright).map(text).join(" "));
    pick("coordinate");
    say(shown(every[17]), style(every[17].querySelector(".m"), "display"));
    pick("drawn");
    say(shown(every[17]), style(every[17].querySelector(".m"), "display"));)");
  CHECK(seen ==
        Lines{"T8V0 T8V1 T8V2 T8V3 (2,0) (2,1) (10,0) (10,1)", "((0,2),(1,0)) none", "T8 block"});
}

TEST_CASE("the address brings the state back") {
  NEEDS_BROWSER();
  const std::string state = "say(shown(box(0, 12)), every.filter(bright).length)";
  CHECK(browse(page(divide), state, "label=index&only=1") == Lines{"25 24"});
  CHECK(browse(page(divide), state, "label=nonsense&only=nobody") == Lines{"12 144"});
}

TEST_CASE("nothing is clipped and no label lies over another, in any golden picture") {
  NEEDS_BROWSER();
  std::string pictures;
  for (const auto& file : files_in("tests/picture/golden", ".lay"))
    for (const auto& picture : drawn(slurp(file)).pictures) pictures += picture::to_svg(picture);
  const Lines seen = browse("<!DOCTYPE html><html><body>" + pictures + "</body></html>", R"(
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
                           Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;
    let texts = 0;
    for (const svg of document.querySelectorAll("svg")) {
      const all = [...svg.querySelectorAll("text")].map(t => ({ words: t.textContent, at: t.getBoundingClientRect() }));
      const frame = svg.getBoundingClientRect();
      texts += all.length;
      for (const t of all)
        if (t.at.left < frame.left - 1 || t.at.right > frame.right + 1 || t.at.top < frame.top - 1 || t.at.bottom > frame.bottom + 1)
          say("clipped:", t.words);
      all.sort((a, b) => a.at.top - b.at.top);
      for (let i = 0; i < all.length; ++i)
        for (let j = i + 1; j < all.length && all[j].at.top < all[i].at.bottom; ++j)
          if (meet(all[i].at, all[j].at)) say("overlap:", all[i].words, "and", all[j].words);
    }
    say(texts > 1000);)");
  CHECK(seen == Lines{"true"});
}

TEST_CASE("a page of 128 x 128 boxes answers within two seconds") {
  NEEDS_BROWSER();
  const Lines seen = browse(page("show (128,128):(1,128)"), R"(
    let labels = Infinity, links = Infinity;  // the best of several tries: the machine may be busy
    for (let i = 0; i < 5; ++i) {
      pick("offset");
      every[200].getBoundingClientRect();
      const start = performance.now();
      pick("coordinate");
      every[200].getBoundingClientRect();
      const middle = performance.now();
      point(every[300 + i]);
      every[300].getBoundingClientRect();
      labels = Math.min(labels, middle - start);
      links = Math.min(links, performance.now() - middle);
    }
    say(every.length, shown(every[130]), labels < 2000, links < 2000);)");
  CHECK(seen == Lines{"16384 (1,2) true true"});
}

TEST_CASE("names that look like markup are words on the page") {
  NEEDS_BROWSER();
  const std::string name =
      "<img src=x onerror=alert(1)></title><script>document.body.remove()</script>";
  const Lines seen =
      browse(picture::to_html(picture::draw_layout({name, layout(tuple(2, 2), tuple(1, 2))})), R"(
    say(document.querySelectorAll("img").length, every.length, document.title.startsWith("<img src=x"),
        document.querySelector("svg .t").textContent.startsWith("<img src=x"));)");
  CHECK(seen == Lines{"0 8 true true"});
}
