#include "runtime/compile/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

namespace lay::runtime {
namespace {

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

}  // namespace

std::string find_program(const std::string& name, const std::vector<std::string>& further) {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::istringstream parts(path);
    for (std::string folder; std::getline(parts, folder, ':');)
      if (!folder.empty() && folder[0] == '/') folders.push_back(folder);
  }
  folders.insert(folders.end(), further.begin(), further.end());
  for (const std::string& folder : folders)
    if (const std::string path = folder + "/" + name; access(path.c_str(), X_OK) == 0) return path;
  return "";
}

PrivateFolder::PrivateFolder() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base && base[0] == '/' ? base : "/tmp") + "/lay-XXXXXX";
  if (mkdtemp(pattern.data())) path_ = pattern;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

ChildEnd run_child(std::vector<std::string> argv, const std::string& folder, const std::string& log,
                   std::chrono::milliseconds limit) {
  std::vector<std::string> variables = environment_in(folder);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // A process group of its own, so that the program's own children end with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = -1;
  const bool started = posix_spawn(&child, argv[0].c_str(), &actions, &attributes,
                                   pointers(argv).data(), pointers(variables).data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (!started) return {};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return {ChildEnd::How::too_long, -1};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (!WIFEXITED(status)) return {ChildEnd::How::killed, -1};
  return {ChildEnd::How::exited, WEXITSTATUS(status)};
}

}  // namespace lay::runtime
