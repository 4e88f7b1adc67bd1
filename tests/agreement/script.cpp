#include "tests/agreement/script.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "frontend/source/diagnostic.h"
#include "generated/tests/paths.h"

namespace lay::test {
namespace {

std::string read(const std::string& file) {
  std::filesystem::path path = std::filesystem::path(LAY_SOURCE_DIR) / file;
  if (!std::filesystem::exists(path)) path = file;
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

Kernels::Kernels(const std::string& file, bool in_f64_too) {
  const std::string text = read(file);
  for (const char* element : {"f32", "f64"}) {
    if (element == std::string("f64") && !in_f64_too) break;
    sema::Evaluator evaluator(sources_, {});
    for (const sema::Outcome& outcome : evaluator.run(file, replaced(text, "f32", element))) {
      if (outcome.ok()) continue;
      throw std::runtime_error(render(sources_, outcome.diagnostics));
    }
    for (const sema::KernelPtr& kernel : evaluator.kernels()) kernels_.push_back(kernel);
  }
}

std::vector<sema::KernelPtr> Kernels::part(int first, int parts) const {
  std::vector<sema::KernelPtr> made;
  for (auto i = static_cast<std::size_t>(first); i < kernels_.size();
       i += static_cast<std::size_t>(parts))
    made.push_back(kernels_[i]);
  return made;
}

}  // namespace lay::test
