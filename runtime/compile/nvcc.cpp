#include "runtime/compile/nvcc.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "runtime/compile/child.h"
#include "runtime/gpu/library.h"

namespace lay::runtime {
namespace {

namespace fs = std::filesystem;

constexpr auto time_limit = std::chrono::seconds(120);

std::string find_nvcc() {
  std::vector<std::string> folders;
  for (const std::string& toolkit : toolkit_folders()) folders.push_back(toolkit + "/bin");
  return find_program("nvcc", folders);
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string identify(const std::string& path) {
  const PrivateFolder folder;
  if (path.empty() || folder.path().empty()) return "";
  const std::string log = folder.path() + "/log";
  run_child({path, "--version"}, folder.path(), log, time_limit);
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return "nvcc " + contents(log) + " " + (error ? path : std::to_string(size));
}

}  // namespace

const std::string& nvcc_path() {
  static const std::string found = find_nvcc();
  return found;
}

const std::string& nvcc_identity() {
  static const std::string identity = identify(nvcc_path());
  return identity;
}

CompilerOutput nvcc_compile(const std::string& text, const std::string& target, ImageKind kind,
                            const std::vector<std::string>& options) {
  if (nvcc_path().empty())
    throw std::logic_error("internal: compiling with an nvcc that is not there");
  const PrivateFolder folder;
  if (folder.path().empty()) return {"", "no private folder could be made for the compiler"};
  const std::string source = folder.path() + "/kernel.cu", image = folder.path() + "/kernel.out",
                    log = folder.path() + "/log";
  if (std::ofstream out(source, std::ios::binary); !(out << text) || !out.flush())
    return {"", "the text could not be written to " + source};
  const std::string number = target.substr(target.find('_') + 1);
  std::vector<std::string> argv = {
      nvcc_path(), kind == ImageKind::ptx ? "-ptx" : "-cubin",
      "-arch=" + (kind == ImageKind::ptx ? "compute_" + number : target)};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"-o", image, source});
  const ChildEnd end = run_child(argv, folder.path(), log, time_limit);
  CompilerOutput output{"", contents(log)};
  if (end.well()) output.image = contents(image);
  if (end.how != ChildEnd::How::exited) output.log += "\nnvcc did not finish";
  return output;
}

}  // namespace lay::runtime
