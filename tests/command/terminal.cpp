#include "tests/command/terminal.h"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "generated/tests/paths.h"

namespace lay::test {

Terminal::Terminal(const std::vector<std::string>& arguments,
                   const std::vector<std::string>& environment)
    : start_(std::chrono::steady_clock::now()) {
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 40;
  child_ = ::forkpty(&master_, nullptr, nullptr, &size);
  REQUIRE(child_ >= 0);
  if (child_ > 0) return;
  ::setenv("TERM", "xterm-256color", 1);
  ::setenv("LAY_HISTORY", "", 1);
  ::unsetenv("NO_COLOR");
  for (const auto& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
  std::vector<char*> argv = {const_cast<char*>(LAY_BINARY)};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(LAY_BINARY, argv.data());
  ::_exit(127);
}

Terminal::~Terminal() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  ::close(master_);
}

bool Terminal::read_more() {
  pollfd p{master_, POLLIN, 0};
  if (::poll(&p, 1, 100) <= 0) return true;
  char block[4096];
  const ssize_t n = ::read(master_, block, sizeof block);
  if (n <= 0) return false;
  shown_.append(block, static_cast<std::size_t>(n));
  return true;
}

std::string Terminal::wait_for(const std::string& text) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (;;) {
    if (const auto at = shown_.find(text, seen_); at != std::string::npos) {
      const std::string upto = shown_.substr(seen_, at + text.size() - seen_);
      seen_ = at + text.size();
      return upto;
    }
    const bool open = read_more();
    INFO("waited for: " << text << "\nshown: " << shown_.substr(seen_));
    REQUIRE(std::chrono::steady_clock::now() < give_up);
    if (!open) REQUIRE(shown_.find(text, seen_) != std::string::npos);
  }
}

void Terminal::type(const std::string& keys) {
  REQUIRE(::write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

int Terminal::finish() {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (read_more()) {
    int status = 0;
    if (::waitpid(child_, &status, WNOHANG) == 0) {
      INFO("waited for the end\nshown: " << shown_.substr(seen_));
      REQUIRE(std::chrono::steady_clock::now() < give_up);
      continue;
    }
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace lay::test
