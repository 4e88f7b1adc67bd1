// A picture as one HTML page. The script below says what the page does; it asks nothing of any
// other place.
#include "frontend/picture/escape.h"
#include "frontend/picture/render.h"
#include "frontend/picture/svg.h"

namespace lay::picture {
namespace {

constexpr std::string_view style = R"(
body { margin: 1rem; font: 15px system-ui, sans-serif; color: #111; background: #fff; }
form { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; align-items: center;
  margin-bottom: .6rem; }
fieldset { border: 0; margin: 0; padding: 0; display: flex; gap: .8rem; }
output { display: block; min-height: 1.4em; font-family: ui-monospace, monospace; }
#picture { overflow: auto; }
.box { cursor: pointer; }
/* of fills and strokes: an opacity of the box as a whole would be a picture of its own for each */
.box.other { fill-opacity: .15; stroke-opacity: .15; }
.relabelled .m { display: none; }
@media screen and (prefers-color-scheme: dark) { body { color: #eee; background: #16181c; } }
@media print {
  body { margin: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  form, output { display: none; }
  #picture { overflow: visible; }
  #picture svg { max-width: 100%; height: auto; }
}
.box.linked rect { stroke: #d00000; stroke-width: 3; stroke-dasharray: none; }
)";

constexpr std::string_view script = R"(
"use strict";
const boxes = [...document.querySelectorAll(".box")];
const controls = document.querySelector("form"), status = document.querySelector("output");
const picture = document.querySelector("#picture");

// Boxes by what they say; an element that several threads hold belongs to each of them.
function grouped(name) {
  const groups = new Map();
  for (const box of boxes)
    for (const key of (box.dataset[name] ?? "").split(" ").filter(Boolean)) {
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(box);
    }
  return groups;
}
const byOwner = grouped("owner");

// What a box stands for, as words: the elements that it corresponds to, else its offset.
const words = box => (box.dataset.links ?? box.dataset.offset ?? "").split(" ").filter(Boolean);
const panels = [...document.querySelectorAll("#picture svg > g")].map(panel => {
  const named = new Map();
  for (const box of panel.querySelectorAll(".box"))
    for (const word of words(box)) {
      if (!named.has(word)) named.set(word, []);
      named.get(word).push(box);
    }
  return named;
});

// What stands in the boxes: as drawn, or the offset, index or coordinate of each, small enough to
// fit. The browser lays out anew what is written, which is all that takes time: only what changes
// is.
const labels = boxes.filter(box => box.querySelector(".l")).map(box => {
  const text = box.querySelector(".l");
  const room = Number(box.querySelector("rect").getAttribute("width")) - 4;
  return { box, text, drawn: text.textContent, words: text.textContent, room, size: "" };
});
function label(what) {
  picture.classList.toggle("relabelled", what !== "drawn");
  for (const at of labels) {
    const words = what === "drawn" ? at.drawn : at.box.dataset[what] ?? "";
    const size = Math.min(12, at.room / (0.6 * words.length)).toFixed(1) + "px";
    if (words !== at.words) at.text.textContent = at.words = words;
    if (size !== at.size) at.text.style.fontSize = at.size = size;
  }
}

// The boxes of one owner (a thread, a tile, a bank) alone; all of them for "".
function isolate(owner) {
  const chosen = new Set(byOwner.get(owner) ?? []);
  for (const box of boxes) box.classList.toggle("other", chosen.size > 0 && !chosen.has(box));
}

// In every panel the boxes that stand for all that the box stands for; where a panel has none,
// those that share a part of it: an element of C = A B shares its row with A and its column with B.
function corresponding(box) {
  const wanted = words(box);
  return panels.flatMap(named => {
    const some = [...new Set(wanted.flatMap(word => named.get(word) ?? []))];
    const all = some.filter(other => wanted.every(word => words(other).includes(word)));
    return all.length ? all : some;
  });
}
let linked = [];
function link(box) {
  for (const old of linked) old.classList.remove("linked");
  linked = box ? corresponding(box) : [];
  for (const now of linked) now.classList.add("linked");
  status.textContent = box ? describe(box) : "";
}
function describe(box) {
  const named = name => box.dataset[name === owner ? "owner" : name];
  return ["offset", "index", "coordinate", owner].filter(name => name && named(name))
    .map(name => name + " " + named(name)).join("   ");
}

// The state stands in the address, so that it can be sent.
function apply() {
  const only = controls.only?.value.trim() ?? "";
  label(controls.label.value);
  isolate(only);
  const isolated = only ? "&only=" + encodeURIComponent(only) : "";
  history.replaceState(null, "", "#label=" + controls.label.value + isolated);
}
function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  const asked = state.get("label");
  if ([...controls.label].some(each => each.value === asked)) controls.label.value = asked;
  if (controls.only) controls.only.value = state.get("only") ?? "";
  apply();
}
function choose(box) {
  if (!controls.only) return;
  const first = (box?.dataset.owner ?? "").split(" ")[0];
  controls.only.value = controls.only.value === first ? "" : first;
  apply();
}

const owner = document.body.dataset.owner;
picture.addEventListener("mouseover", event => link(event.target.closest(".box")));
picture.addEventListener("mouseleave", () => link(null));
picture.addEventListener("click", event => choose(event.target.closest(".box")));
controls.addEventListener("input", apply);
controls.addEventListener("submit", event => event.preventDefault());
document.addEventListener("keydown", event => { if (event.key === "Escape") choose(null); });
restore();
)";

std::string choice(const std::string& value, const std::string& words, bool chosen) {
  return "<label><input type=\"radio\" name=\"label\" value=\"" + value + "\"" +
         (chosen ? " checked" : "") + "> " + words + "</label>\n";
}

// Returns true if boxes say something else than their offsets.
bool says_more(const Picture& picture) {
  for (const Panel& panel : picture.panels)
    for (const Box& box : panel.boxes)
      if (box.kind != BoxKind::gap && (box.label != box.offset || !box.mark.empty())) return true;
  return false;
}

std::string form(const Picture& picture) {
  const bool more = says_more(picture);
  std::string text = "<form>\n<fieldset>\n";
  if (more) text += choice("drawn", "as drawn", true);
  text += choice("offset", "offset", !more) + choice("index", "index", false) +
          choice("coordinate", "coordinate", false);
  text += "</fieldset>\n";
  if (!picture.owner.empty()) {
    const std::string owner = xml(picture.owner);
    text += "<label>only " + owner +
            " <input name=\"only\" size=\"5\" autocomplete=\"off\"></label>\n<span>click a box to "
            "see its " +
            owner + " alone</span>\n";
  }
  return text + "</form>\n";
}

}  // namespace

std::string to_html(const Picture& picture) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" +
         xml(picture.title) + "</title>\n<style>" + std::string(style) +
         "</style>\n</head>\n<body data-owner=\"" + xml(picture.owner) + "\">\n" + form(picture) +
         "<output></output>\n<div id=\"picture\">\n" + svg_element(picture, true) +
         "</div>\n<script>" + std::string(script) + "</script>\n</body>\n</html>\n";
}

}  // namespace lay::picture
