#include "runtime/execute/host.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <utility>

#include "frontend/algebra/support/refusal.h"
#include "frontend/picture/render.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/text.h"
#include "runtime/io/arrays.h"
#include "runtime/io/file.h"
#include "runtime/repl/interrupt.h"

namespace lay::runtime {
namespace {

namespace fs = std::filesystem;

// Shows an error with a file at the place in the script that asked for the file.
template <class Work>
auto at_the_call(Work work) {
  try {
    return work();
  } catch (const DiagnosticError& e) {
    throw refusal(e.diagnostic.code, e.diagnostic.message);
  }
}

// The text of a script that another one uses.
std::string read_used(const fs::path& folder, const std::string& name) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const fs::path file = fs::weakly_canonical(root / name, error);
  const auto [end_of_root, ignored] =
      std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  if (end_of_root != root.end())
    throw refusal("file", "`" + name + "` lies outside the script's folder",
                  "`use` reads scripts from beside the script");
  return at_the_call([&] { return read_file(file.string()); });
}

}  // namespace

sema::Host make_host(Printer print, const std::string& folder) {
  sema::Host host;
  host.print = print;
  host.show = [print](const picture::Picture& picture) {
    print(picture::to_text(picture, {picture::Colours::none, 100, false}));
  };
  host.load = [](const std::string& path) { return at_the_call([&] { return load_array(path); }); };
  host.save = [](const std::string& path, const sema::Array& array) {
    at_the_call([&] { save_array(path, array); });
  };
  host.interrupted = interrupted;
  host.read = [folder](const std::string& name) { return read_used(folder, name); };
  return host;
}

std::string folder_of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t", at), text.size());
    result += escaped(std::string_view(text).substr(at, end - at));
    if (end < text.size()) result += text[end];
    at = end + 1;
  }
  return result;
}

void print_line(const std::string& text) {
  std::cout << printable(text) << "\n";
}

}  // namespace lay::runtime
