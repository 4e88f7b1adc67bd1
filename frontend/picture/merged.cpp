#include <algorithm>

#include "frontend/picture/picture.h"

namespace lay::picture {

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
    for (Panel panel : picture.panels) {
      const std::string name =
          picture.title + (picture.subtitle.empty() ? "" : " = " + picture.subtitle);
      panel.title = panel.title.empty() ? name : name + ": " + panel.title;
      all.panels.push_back(std::move(panel));
    }
  }
  return all;
}

}  // namespace lay::picture
