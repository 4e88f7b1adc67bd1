#include "tests/command/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "generated/tests/paths.h"

namespace lay::test {
namespace {

// Its shadow memory alone is larger than any limit.
#ifdef __SANITIZE_ADDRESS__
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif

using Clock = std::chrono::steady_clock;

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
};

[[noreturn]] void become_lay(const std::vector<std::string>& arguments, const Setting& setting,
                             int in, int out, int error) {
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(error, 2);
  if (::chdir(setting.folder.c_str()) != 0) ::_exit(127);
  for (const auto& variable : setting.environment) ::putenv(const_cast<char*>(variable.c_str()));
  if (setting.megabytes > 0 && !address_sanitizer) {
    const rlimit limit{static_cast<rlim_t>(setting.megabytes) << 20,
                       static_cast<rlim_t>(setting.megabytes) << 20};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  std::vector<char*> argv = {const_cast<char*>(LAY_BINARY)};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(LAY_BINARY, argv.data());
  ::_exit(127);
}

// Feeds and drains the pipes until all are closed or the time is over.
void converse(Pipe& in, Pipe& out, Pipe& error, const Setting& setting, pid_t child,
              Finished& finished) {
  const auto start = Clock::now();
  std::size_t written = 0;
  bool out_open = true, error_open = true, killed = false;
  ::fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  const auto drain = [](int from, std::string& to) {
    char block[65536];
    const ssize_t n = ::read(from, block, sizeof block);
    if (n > 0) to.append(block, static_cast<std::size_t>(n));
    return n > 0;
  };
  while (out_open || error_open) {
    if (in.write_end >= 0 && written == setting.input.size()) {
      ::close(in.write_end);
      in.write_end = -1;
    }
    pollfd waiting[3] = {{in.write_end, POLLOUT, 0},
                         {out_open ? out.read_end : -1, POLLIN, 0},
                         {error_open ? error.read_end : -1, POLLIN, 0}};
    ::poll(waiting, 3, 100);
    if (waiting[0].revents & POLLOUT) {
      const ssize_t n =
          ::write(in.write_end, setting.input.data() + written, setting.input.size() - written);
      written = n > 0 ? written + static_cast<std::size_t>(n) : setting.input.size();
    } else if (waiting[0].revents) {
      written = setting.input.size();
    }
    if (waiting[1].revents) out_open = drain(out.read_end, finished.out);
    if (waiting[2].revents) error_open = drain(error.read_end, finished.error);
    if (!killed &&
        std::chrono::duration<double>(Clock::now() - start).count() > setting.seconds_allowed) {
      ::kill(child, SIGKILL);
      killed = true;
    }
  }
  if (in.write_end >= 0) ::close(in.write_end);
}

}  // namespace

Finished run_lay(const std::vector<std::string>& arguments, const Setting& setting) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe in, out, error;
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    become_lay(arguments, setting, in.read_end, out.write_end, error.write_end);
  }
  ::close(in.read_end);
  ::close(out.write_end);
  ::close(error.write_end);
  Finished finished;
  converse(in, out, error, setting, child, finished);
  ::close(out.read_end);
  ::close(error.read_end);
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  const auto seconds_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  finished.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  finished.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (WIFEXITED(status)) finished.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  return finished;
}

}  // namespace lay::test
