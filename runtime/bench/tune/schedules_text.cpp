#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
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

// Returns true if the header is of sizes alone: "M >= 64 and M < 65 and ...". The first schedule
// that takes the sizes counts, so that these stand before those of classes.
bool is_of_sizes(const std::string& header) {
  std::istringstream words(header);
  std::optional<std::int64_t> least;
  bool has_ranges = false;
  for (std::string word, next; words >> word;) {
    if (word != ">=" && word != "<") continue;
    words >> next;
    std::int64_t number = 0;
    const auto read = std::from_chars(next.data(), next.data() + next.size(), number);
    if (read.ec != std::errc() || read.ptr != next.data() + next.size() || number < 0) return false;
    if (word == ">=") {
      least = number;
    } else {
      if (!least || number - 1 != *least) return false;
      has_ranges = true;
    }
  }
  return has_ranges;
}

// The schedules of an earlier file, by the text up to the brace. Its blocks are parted by empty
// lines.
std::map<std::string, std::string> blocks_of(const std::string& before) {
  std::map<std::string, std::string> blocks;
  for (std::size_t begin = 0; begin < before.size();) {
    const std::size_t end = std::min(before.find("\n\n", begin), before.size());
    const std::string block = before.substr(begin, end - begin);
    const std::size_t at = block.rfind("schedule ", 0) == 0 ? 0 : block.find("\nschedule ");
    if (at != std::string::npos) {
      const std::size_t from = block[at] == '\n' ? at + 1 : at;
      blocks[block.substr(from, block.find('{', from) - from)] =
          block + (block.ends_with("\n") ? "" : "\n");
    }
    begin = end + 2;
  }
  return blocks;
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
  // What is new replaces what was.
  blocks.merge(blocks_of(before));
  for (const bool of_sizes : {true, false})
    for (const auto& [header, block] : blocks)
      if (is_of_sizes(header) == of_sizes) text += "\n" + block;
  return text;
}

}  // namespace lay::bench
