#include "runtime/nvcc.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "runtime/library.h"

namespace lay::runtime {
namespace {

namespace fs = std::filesystem;

constexpr auto time_limit = std::chrono::seconds(120);

std::string find_nvcc() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream parts(path);
    for (std::string folder; std::getline(parts, folder, ':');)
      if (!folder.empty() && folder[0] == '/') folders.push_back(folder);
  }
  for (const std::string& toolkit : toolkit_folders()) folders.push_back(toolkit + "/bin");
  for (const std::string& folder : folders)
    if (const std::string path = folder + "/nvcc"; access(path.c_str(), X_OK) == 0) return path;
  return "";
}

// A folder of our own under the system's temporary folder, mode 0700, removed with everything in it.
class PrivateFolder {
 public:
  PrivateFolder() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base && base[0] == '/' ? base : "/tmp") + "/lay-XXXXXX";
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The environment of this process with another TMPDIR.
std::vector<std::string> environment_in(const std::string& folder) {
  std::vector<std::string> variables;
  for (char** each = environ; *each; ++each)
    if (std::string(*each).rfind("TMPDIR=", 0) != 0) variables.emplace_back(*each);
  variables.push_back("TMPDIR=" + folder);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& each : strings) result.push_back(each.data());
  result.push_back(nullptr);
  return result;
}

// Runs argv[0] with output and errors going to `log`; the exit status, or -1 if it did not start or took too long.
int run(std::vector<std::string> argv, const std::string& folder, const std::string& log) {
  std::vector<std::string> variables = environment_in(folder);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // A process group of its own, so that the compiler's own children end with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = -1;
  const bool started = posix_spawn(&child, argv[0].c_str(), &actions, &attributes, pointers(argv).data(),
                                   pointers(variables).data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (!started) return -1;
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string identify(const std::string& path) {
  const PrivateFolder folder;
  if (path.empty() || folder.path().empty()) return "";
  const std::string log = folder.path() + "/log";
  run({path, "--version"}, folder.path(), log);
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
  if (nvcc_path().empty()) throw std::logic_error("internal: compiling with an nvcc that is not there");
  const PrivateFolder folder;
  if (folder.path().empty()) return {"", "no private folder could be made for the compiler"};
  const std::string source = folder.path() + "/kernel.cu", image = folder.path() + "/kernel.out",
                    log = folder.path() + "/log";
  if (std::ofstream out(source, std::ios::binary); !(out << text) || !out.flush())
    return {"", "the text could not be written to " + source};
  const std::string number = target.substr(target.find('_') + 1);
  std::vector<std::string> argv = {nvcc_path(), kind == ImageKind::ptx ? "-ptx" : "-cubin",
                                   "-arch=" + (kind == ImageKind::ptx ? "compute_" + number : target)};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.insert(argv.end(), {"-o", image, source});
  const int status = run(argv, folder.path(), log);
  CompilerOutput output{"", contents(log)};
  if (status == 0) output.image = contents(image);
  if (status == -1) output.log += "\nnvcc did not finish";
  return output;
}

}  // namespace lay::runtime
