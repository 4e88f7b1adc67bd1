#include "runtime/compile/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
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

// Starts a program, in a process group of its own so that the program's own children end with it,
// after `redirect` has said what its standard streams are. Returns -1 if it did not start.
template <class Redirect>
pid_t spawned(std::vector<std::string> argv, const std::string& folder, const Redirect& redirect) {
  std::vector<std::string> variables = environment_in(folder);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect(actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = -1;
  const bool started = posix_spawn(&child, argv[0].c_str(), &actions, &attributes,
                                   pointers(argv).data(), pointers(variables).data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return started ? child : -1;
}

ChildEnd end_of(int status) {
  if (!WIFEXITED(status)) return {ChildEnd::How::killed, -1};
  return {ChildEnd::How::exited, WEXITSTATUS(status)};
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
  const pid_t child = spawned(std::move(argv), folder, [&](posix_spawn_file_actions_t& actions) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
  });
  if (child < 0) return {};
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
  return end_of(status);
}

ChildDialogue::ChildDialogue(std::vector<std::string> argv, const std::string& folder,
                             const std::string& log) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  child_ = spawned(std::move(argv), folder, [&](posix_spawn_file_actions_t& actions) {
    posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  });
  close(pair[1]);
  socket_ = pair[0];
}

ChildDialogue::~ChildDialogue() {
  if (child_ > 0) end(ChildEnd::How::killed);
  if (socket_ >= 0) close(socket_);
}

ChildEnd ChildDialogue::end(ChildEnd::How how) {
  int status = 0;
  kill(-child_, SIGKILL);
  waitpid(child_, &status, 0);
  child_ = -1;
  return ended_ = {how, -1};
}

void ChildDialogue::send(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; child_ > 0 && sent < text.size();) {
    const ssize_t some = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (some <= 0) return;  // it has ended: receive() tells how
    sent += static_cast<std::size_t>(some);
  }
}

ChildEnd ChildDialogue::receive(std::string& text, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (const std::size_t at = received_.find('\n'); at != std::string::npos) {
      text = received_.substr(0, at);
      received_.erase(0, at + 1);
      return {ChildEnd::How::answered, -1};
    }
    if (child_ < 0) return ended_;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return end(ChildEnd::How::too_long);
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    char some[4096];
    const ssize_t count = recv(socket_, some, sizeof some, 0);
    if (count > 0) {
      received_.append(some, static_cast<std::size_t>(count));
      continue;
    }
    // It says nothing more. One that ends by itself does so soon.
    constexpr std::chrono::milliseconds soon = std::chrono::seconds(1);
    const auto patience = std::chrono::steady_clock::now() + soon;
    int status = 0;
    while (waitpid(child_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > patience) return end(ChildEnd::How::killed);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(-child_, SIGKILL);  // the children that it left behind
    child_ = -1;
    ended_ = end_of(status);
  }
}

}  // namespace lay::runtime
