#include <algorithm>
#include <sstream>

#include "frontend/picture/picture.h"

namespace lay::picture {
namespace {

// Each of the words behind a prefix: elements of one picture are not those of another.
std::string with_prefix(const std::string& words, const std::string& prefix) {
  std::istringstream each(words);
  std::string all;
  for (std::string word; each >> word;) all += (all.empty() ? "" : " ") + prefix + word;
  return all;
}

}  // namespace

Picture without_corner_headers(Picture picture) {
  for (Panel& panel : picture.panels)
    if (panel.stand == Stand::corner) panel.top.levels.clear(), panel.left.levels.clear();
  return picture;
}

Picture merged(const std::vector<Picture>& pictures) {
  if (pictures.size() == 1) return pictures.front();
  Picture all;
  const auto once = [](std::vector<std::string>& lines, const std::string& line) {
    if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(line);
  };
  for (const Picture& picture : pictures) {
    all.title += (all.title.empty() ? "" : ", ") + picture.title;
    all.marks_needed = all.marks_needed || picture.marks_needed;
    if (all.owner.empty()) all.owner = picture.owner;
    all.key = all.key.empty() ? picture.key : all.key;
    if (picture.key != all.key) once(all.notes, "colour of " + picture.title + ": " + picture.key);
    for (const std::string& note : picture.notes) once(all.notes, note);
    const auto number = std::to_string(&picture - pictures.data()) + ".";
    for (Panel panel : picture.panels) {
      for (Box& box : panel.boxes) box.links = with_prefix(box.links, number);
      const std::string name =
          picture.title + (picture.subtitle.empty() ? "" : " = " + picture.subtitle);
      panel.title = panel.title.empty() ? name : name + ": " + panel.title;
      all.panels.push_back(std::move(panel));
    }
  }
  return all;
}

}  // namespace lay::picture
