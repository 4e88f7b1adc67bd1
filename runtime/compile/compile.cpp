#include "runtime/compile/compile.h"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "runtime/compile/nvcc.h"
#include "runtime/compile/sha256.h"

namespace lay::runtime {
namespace {

// Bumped when the payload of a cache entry changes its form.
constexpr std::string_view schema = "lay kernel 1";

// Without contraction a * b + c is rounded twice, as the interpreter does it.
const std::vector<std::string> nvrtc_options = {"--fmad=false", "--std=c++17",
                                                "--ptxas-options=-v"};
const std::vector<std::string> nvrtc_ptx_options = {"--fmad=false", "--std=c++17"};
const std::vector<std::string> nvcc_options = {"--fmad=false", "--std=c++17", "-Xptxas=-v"};

enum class Compiler { none, nvrtc, nvcc };

Compiler compiler() {
  if (!nvrtc_version().empty()) return Compiler::nvrtc;
  return nvcc_path().empty() ? Compiler::none : Compiler::nvcc;
}

std::string field(std::string_view text) {
  return std::to_string(text.size()) + ":" + std::string(text) + "\n";
}

std::string key_of(const cuda::Emitted& emitted, const Target& target,
                   const CompileOptions& options, Compiler with) {
  std::string all = field(schema) + field(emitted.text) + field(target.architecture) +
                    field(options.kind == ImageKind::ptx ? "ptx" : "cubin") +
                    field(with == Compiler::nvrtc ? nvrtc_identity() : nvcc_identity());
  for (const std::string& option : with == Compiler::nvrtc ? nvrtc_options : nvcc_options)
    all += field(option);
  return hex(sha256(all));
}

// A cache entry: the log and the image, each with its length.
std::string payload(const Compilation& made) {
  return field(made.log) + field(made.image);
}

std::optional<std::string> take_field(std::string_view& text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > 12) return std::nullopt;
  const std::size_t size = std::strtoull(std::string(text.substr(0, colon)).c_str(), nullptr, 10);
  if (text.size() < colon + 1 + size + 1) return std::nullopt;
  std::string taken(text.substr(colon + 1, size));
  text.remove_prefix(colon + 1 + size + 1);
  return taken;
}

bool restore(std::string_view bytes, Compilation& made) {
  const auto log = take_field(bytes), image = take_field(bytes);
  if (!log || !image || image->empty()) return false;
  made.log = *log;
  made.image = *image;
  return true;
}

}  // namespace

bool can_compile(std::string* why_not) {
  if (compiler() != Compiler::none) return true;
  if (why_not) *why_not = nvrtc_why_not() + ", and there is no nvcc in PATH or /usr/local/cuda";
  return false;
}

Compilation compile(const cuda::Emitted& emitted, const Target& target,
                    const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Compilation made;
  made.kind = options.kind;
  const Compiler with = compiler();
  if (with == Compiler::none) {
    std::string why;
    can_compile(&why);
    made.messages.push_back({true, 0, 0, "no CUDA compiler: " + why});
    return made;
  }
  made.compiler = with == Compiler::nvrtc ? "NVRTC " + nvrtc_version() : "nvcc";
  const std::string key = options.cache ? key_of(emitted, target, options, with) : "";
  if (options.cache)
    if (const auto found = options.cache->find(key, &made.warning))
      made.from_cache = restore(*found, made);
  if (!made.from_cache) {
    const std::string name(target.architecture);
    const auto& nvrtc = options.kind == ImageKind::ptx ? nvrtc_ptx_options : nvrtc_options;
    CompilerOutput output =
        with == Compiler::nvrtc
            ? nvrtc_compile(emitted.text, options.file, name, options.kind, nvrtc)
            : nvcc_compile(emitted.text, name, options.kind, nvcc_options);
    made.image = std::move(output.image);
    made.log = std::move(output.log);
    if (made.ok() && options.cache) options.cache->store(key, payload(made));
  }
  made.resources = resources_in(made.log);
  made.remarks = remarks_in(made.log);
  made.messages = messages_in(made.log, emitted.lines);
  if (!made.ok() && made.messages.empty()) made.messages.push_back({true, 0, 0, made.log});
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

// "kernel.cu(12): error: identifier "x" is undefined", and "ptxas error   : ..." without a line.
std::vector<CompilerMessage> messages_in(const std::string& log,
                                         const std::vector<int>& script_lines) {
  std::vector<CompilerMessage> messages;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto error = line.find("error"), warning = line.find("warning");
    const bool is_error =
        error != std::string::npos && (warning == std::string::npos || error < warning);
    const auto word = is_error ? error : warning;
    if (word == std::string::npos) continue;
    const auto close = line.rfind("): ", word), open = line.rfind('(', close);
    const bool has_line =
        close != std::string::npos && open != std::string::npos && close + 3 == word;
    const auto colon = line.find(':', word);
    if (!has_line && line.rfind("ptxas", 0) != 0 && line.rfind("nvcc", 0) != 0) continue;
    CompilerMessage message{is_error, 0, 0,
                            line.substr(colon == std::string::npos ? word : colon + 1)};
    message.text.erase(0, message.text.find_first_not_of(' '));
    if (has_line) {
      message.text_line = std::atoi(line.substr(open + 1, close - open - 1).c_str());
      // A line that stands for nothing of its own belongs to the last one before it that does.
      for (auto at = static_cast<std::size_t>(message.text_line);
           at > 0 && message.script_line == 0; --at)
        if (at <= script_lines.size()) message.script_line = script_lines[at - 1];
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace lay::runtime
