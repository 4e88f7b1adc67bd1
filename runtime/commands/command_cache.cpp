#include <cstdio>
#include <iostream>

#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/compile/cache.h"

namespace lay::runtime {
namespace {

std::string mebibytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

// "12 entries, 1.3 MiB"
std::string sum_of(const Cache::Contents& contents) {
  std::string text =
      std::to_string(contents.entries) + (contents.entries == 1 ? " entry" : " entries");
  if (contents.damaged > 0) text += ", " + std::to_string(contents.damaged) + " damaged";
  if (contents.drafts > 0) text += ", " + std::to_string(contents.drafts) + " unfinished";
  return text + ", " + mebibytes(contents.bytes);
}

}  // namespace

int show_cache(const CacheOptions& options) {
  const Cache cache;
  if (!cache.usable()) {
    std::cout << "no cache: " << cache.why_not() << "\n";
    return exit_ok;
  }
  if (options.clear)
    std::cout << "removed " << sum_of(cache.clear()) << ": " << cache.path() << "\n";
  else
    std::cout << cache.path() << ": " << sum_of(cache.contents()) << " of "
              << mebibytes(cache.limit()) << "\n";
  return exit_ok;
}

}  // namespace lay::runtime
