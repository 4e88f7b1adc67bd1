#include "runtime/bench/python.h"

#include <algorithm>
#include <cstdio>

#include "frontend/source/diagnostic.h"
#include "runtime/io/file.h"

namespace lay::bench {
namespace {

std::string seconds_text(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", static_cast<double>(time.count()) / 1e3);
  return text;
}

std::string how_it_ended(const runtime::ChildEnd& end, std::chrono::milliseconds limit) {
  using How = runtime::ChildEnd::How;
  switch (end.how) {
    case How::not_started:
      return "did not start";
    case How::too_long:
      return "did not answer within " + seconds_text(limit) + " s";
    case How::killed:
      return "was ended by a signal";
    case How::exited:
    case How::answered:
      break;
  }
  return end.status > 0 ? "ended with status " + std::to_string(end.status) : "gave no answer";
}

}  // namespace

std::string contents_of(const std::string& path, std::uint64_t limit) {
  try {
    return runtime::read_file(path, limit);
  } catch (const DiagnosticError&) {
    return "";
  }
}

std::string last_line(const std::string& text) {
  std::string last;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
    begin = end + 1;
  }
  constexpr std::size_t longest = 200;
  return last.substr(0, longest);
}

std::string why_no_answer(const std::string& program, const runtime::ChildEnd& end,
                          std::chrono::milliseconds limit, const std::string& log) {
  constexpr std::uint64_t most_log = std::uint64_t{4} << 20;
  const std::string said = last_line(contents_of(log, most_log));
  return program + " " + how_it_ended(end, limit) + (said.empty() ? "" : ": " + said);
}

}  // namespace lay::bench
