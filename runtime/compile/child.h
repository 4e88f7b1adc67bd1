// Other programs: found, run to their end within a time limit, or talked with line by line, in a
// folder of our own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace lay::runtime {

// The first executable of that name in the absolute folders of PATH, then in further ones; empty
// where there is none.
std::string find_program(const std::string& name, const std::vector<std::string>& further = {});

// A folder under the system's temporary folder, mode 0700, removed with everything in it. Its path
// is empty where none could be made.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ChildEnd {
  enum class How { exited, killed, not_started, too_long, answered };
  How how = How::not_started;
  int status = -1;  // of one that exited
  bool well() const { return how == How::exited && status == 0; }
};

// Runs argv[0], a path, with nothing to read, output and errors going to the file `log` and
// `folder` for its temporary files. After the limit it is ended with all its children.
ChildEnd run_child(std::vector<std::string> argv, const std::string& folder, const std::string& log,
                   std::chrono::milliseconds limit);

// A program that answers lines on its standard input by lines on its standard output. Its errors go
// to the file `log`, its temporary files to `folder`. It is ended with all its children.
class ChildDialogue {
 public:
  ChildDialogue(std::vector<std::string> argv, const std::string& folder, const std::string& log);
  ~ChildDialogue();
  ChildDialogue(const ChildDialogue&) = delete;
  ChildDialogue& operator=(const ChildDialogue&) = delete;

  // Sends a line, which has no line break. A program that has ended does not read it.
  void send(const std::string& line);
  // Receives a line into `text` and returns `answered`, or returns why there is none. A program
  // that takes longer than the limit is ended.
  ChildEnd receive(std::string& text, std::chrono::milliseconds limit);

 private:
  ChildEnd end(ChildEnd::How how);

  int child_ = -1, socket_ = -1;
  std::string received_;  // behind the last line
  ChildEnd ended_;        // of a program that no longer runs
};

}  // namespace lay::runtime
