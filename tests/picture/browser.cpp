#include "tests/picture/browser.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "tests/runtime/temporary.h"

namespace lay::test {
namespace {

const char* const helpers = R"(
const noted = [];
const say = (...words) => noted.push(words.join(" "));
const box = (panel, offset) => [...document.querySelectorAll("#picture svg > g")[panel].querySelectorAll(".box")]
  .find(b => b.dataset.offset === String(offset));
const point = b => b.querySelector("rect").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
const press = b => b.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
const shown = b => b.querySelector(".l").textContent;
const every = [...document.querySelectorAll(".box")];
const style = (element, name) => getComputedStyle(element)[name];
const bright = box => [...box.children].every(part => style(part, "fillOpacity") === "1" && style(part, "strokeOpacity") === "1");
const status_line = () => document.querySelector("output").textContent;
const pick = value => document.querySelector(`input[value=${value}]`).click();
window.onerror = message => say("error", message);
)";

std::string found_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (std::system((std::string(name) + " --version >/dev/null 2>&1").c_str()) == 0) return name;
  return "";
}

const std::string& browser() {
  static const std::string name = found_browser();
  return name;
}

}  // namespace

bool has_browser() {
  return !browser().empty();
}

std::vector<std::string> browse(const std::string& html, const std::string& probe,
                                const std::string& fragment) {
  const TemporaryFolder folder;
  const std::string end = "</body>";
  const auto at = html.rfind(end);
  REQUIRE(at != html.npos);
  put(folder / "page.html",
      html.substr(0, at) + "<script>" + helpers + "try {" + probe +
          "} catch (e) { say('error', e.message); }\nconst seen = document.createElement('pre'); "
          "seen.id = 'seen';\n"
          "seen.textContent = noted.join('\\n'); document.body.append(seen);</script>\n" +
          html.substr(at));
  // Processor time ends a page that never does, and a machine that is busy with something else does
  // not.
  const std::string command = "ulimit -t 60; timeout 900 " + browser() +
                              " --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
                              "--window-size=1600,1200 --user-data-dir='" +
                              folder / "profile" + "' --dump-dom 'file://" + folder / "page.html" +
                              (fragment.empty() ? "" : "#" + fragment) + "' >'" + folder / "dom" +
                              "' 2>'" + folder / "log" + "'";
  const int status = std::system(command.c_str());
  const std::string dom = slurp(folder / "dom");
  INFO(slurp(folder / "log"));
  REQUIRE(status == 0);
  const auto begin = dom.find("<pre id=\"seen\">");
  REQUIRE(begin != dom.npos);
  const auto from = begin + 15;
  std::istringstream text(dom.substr(from, dom.find("</pre>", from) - from));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace lay::test
