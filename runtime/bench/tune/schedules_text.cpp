#include <map>
#include <set>
#include <sstream>

#include "backend/plan/schedule/candidates.h"
#include "runtime/bench/tune/finding.h"

namespace lay::bench {
namespace {

// "schedule tt for sm90 when M >= 3072 ... "
std::string header(const Finding& finding) {
  return "schedule " + finding.kernel + " for " + finding.schedule.target +
         (finding.condition.empty() ? "" : " when " + finding.condition) + " ";
}

// The schedules of an earlier file that none of the new ones replaces; their blocks are parted by
// empty lines.
std::string others(const std::string& before, const std::map<std::string, std::string>& blocks) {
  std::string kept;
  for (std::size_t begin = 0; begin < before.size();) {
    const std::size_t end = std::min(before.find("\n\n", begin), before.size());
    const std::string block = before.substr(begin, end - begin);
    const std::size_t at = block.rfind("schedule ", 0) == 0 ? 0 : block.find("\nschedule ");
    if (at != std::string::npos) {
      const std::size_t from = block[at] == '\n' ? at + 1 : at;
      if (!blocks.contains(block.substr(from, block.find('{', from) - from)))
        kept += "\n" + block + (block.ends_with("\n") ? "" : "\n");
    }
    begin = end + 2;
  }
  return kept;
}

}  // namespace

std::string schedules_text(const std::vector<Finding>& findings, const std::string& before) {
  std::map<std::string, std::string> blocks;  // by the text up to the brace
  std::set<std::string> uses;
  for (const Finding& finding : findings) {
    std::string block = "// " + finding.comment + "\n" + header(finding) + "{\n";
    for (const std::string& line : plan::entry_lines(finding.schedule)) block += "  " + line + "\n";
    blocks[header(finding)] = block + "}\n";
    uses.merge(plan::libraries_of(finding.schedule));
  }
  std::istringstream lines(before);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("use ")) uses.insert(line);
  std::string text =
      "// Schedules found by `lay tune`: the script beside which this file lies is planned with "
      "them.\n";
  for (const std::string& use : uses) text += use + "\n";
  for (const auto& [ignored, block] : blocks) text += "\n" + block;
  return text + others(before, blocks);
}

}  // namespace lay::bench
