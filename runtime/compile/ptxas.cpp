#include "runtime/compile/ptxas.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace lay::runtime {
namespace {

template <class Function>
void for_lines(const std::string& log, Function function) {
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) function(line);
}

// The number that stands before `after`.
int number_before(const std::string& line, std::string_view after) {
  const auto at = line.find(after);
  if (at == std::string::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return std::atoi(line.substr(begin, at - begin).c_str());
}

// "ptxas info    : (C7508) Potential Performance Loss: ..." as C7508 and the words behind it.
std::optional<std::pair<std::string, std::string>> numbered(const std::string& line) {
  const auto open = line.find("(C");
  if (!line.starts_with("ptxas") || open == std::string::npos) return std::nullopt;
  const auto close = line.find(')', open);
  if (close == std::string::npos || close == open + 2) return std::nullopt;
  const std::string number = line.substr(open + 1, close - open - 1);
  if (!std::all_of(number.begin() + 1, number.end(),
                   [](unsigned char c) { return std::isdigit(c); })) {
    return std::nullopt;
  }
  const auto words = line.find_first_not_of(' ', close + 1);
  return std::pair{number, words == std::string::npos ? "" : line.substr(words)};
}

}  // namespace

// "ptxas info : Used 128 registers, used 1 barriers, 16896 bytes smem", and on a line of its own
// "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads".
Resources resources_in(const std::string& log) {
  Resources found;
  for_lines(log, [&](const std::string& line) {
    if (line.find("spill stores") != std::string::npos) {
      found.stack_bytes = std::max(found.stack_bytes, number_before(line, " bytes stack frame"));
      found.spill_store_bytes += number_before(line, " bytes spill stores");
      found.spill_load_bytes += number_before(line, " bytes spill loads");
    }
    if (line.find(" registers") != std::string::npos && line.find("Used ") != std::string::npos) {
      found.registers = number_before(line, " registers");
      found.shared_bytes = number_before(line, " bytes smem");
    }
  });
  return found;
}

std::vector<std::string> remarks_in(const std::string& log) {
  std::vector<std::string> remarks;
  const Resources used = resources_in(log);
  if (used.spill_store_bytes > 0 || used.spill_load_bytes > 0) {
    remarks.push_back("spills registers: " + std::to_string(used.spill_store_bytes) +
                      " bytes of stores and " + std::to_string(used.spill_load_bytes) +
                      " of loads a thread");
  } else if (used.stack_bytes > 0) {
    remarks.push_back("has " + std::to_string(used.stack_bytes) +
                      " bytes of local memory a thread");
  }
  std::vector<std::pair<std::string, int>> seen;  // number, times
  std::vector<std::size_t> places;
  for_lines(log, [&](const std::string& line) {
    const auto remark = numbered(line);
    if (!remark) return;
    const auto known = std::find_if(seen.begin(), seen.end(),
                                    [&](const auto& s) { return s.first == remark->first; });
    if (known != seen.end()) {
      ++known->second;
      return;
    }
    seen.emplace_back(remark->first, 1);
    places.push_back(remarks.size());
    remarks.push_back(remark->first + ": " + remark->second);
  });
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].second > 1) remarks[places[i]] += " (" + std::to_string(seen[i].second) + " times)";
  }
  return remarks;
}

}  // namespace lay::runtime
