// Reads one statement from a terminal: editing over several lines, history, search, completion,
// highlighting. The language is a set of functions given from outside, so the editor knows none of
// it.
//
//   LineEditor editor(0, 1, history, language);
//   while (auto statement = editor.read("lay> ", "   > ")) ...
//
// Keys are those of Emacs and readline. Enter breaks the line while the text needs more, Up and
// Down move between lines and then through the history, Ctrl-R searches it, Tab completes, Ctrl-C
// gives up the text, Ctrl-D on an empty line ends. Pasted text is inserted as it stands, newlines
// included.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/repl/edit_buffer.h"
#include "runtime/repl/history.h"
#include "runtime/repl/terminal.h"

namespace lay::runtime {

// The words that could replace the bytes from `begin` to the cursor, sorted. `hints` are lines to
// show in place of a list of the words, such as signatures.
struct Completions {
  std::size_t begin = 0;
  std::vector<std::string> words, hints;
};

// The style of the text from `begin` to the next style: the parameters of a terminal's SGR
// sequence, "1;34".
struct Style {
  std::size_t begin = 0;
  std::string_view sgr;
};

// The editor's knowledge of the language. Every function but `needs_more` may be empty.
struct EditorLanguage {
  // True if Enter breaks the line, because the text is unfinished.
  std::function<bool(std::string_view)> needs_more;
  std::function<Completions(std::string_view text, std::size_t cursor)> complete;
  // In order; may be empty: no colours.
  std::function<std::vector<Style>(std::string_view)> highlight;
  std::function<std::string(std::string_view)> pasted{};  // what to insert; empty: all of it
};

// Reads from the file descriptor `in` and draws on `out`, both a terminal. From the first read()
// to the end of input the terminal is in raw mode, also between two texts: keys that are typed
// ahead wait for the next read(), and show when it draws them. Between a text and the next read()
// Ctrl-C is SIGINT.
class LineEditor {
 public:
  LineEditor(int in, int out, History& history, EditorLanguage language)
      : in_(in), out_(out), history_(history), language_(std::move(language)) {}

  // Reads a text. Returns it without a final newline; empty after Ctrl-C; nothing at the end of
  // input.
  std::optional<std::string> read(const std::string& prompt, const std::string& continuation);

  // Returns whether the last read() ended with Ctrl-C on an empty line: someone wants to leave.
  bool gave_up_nothing() const { return gave_up_nothing_; }

 private:
  enum class Outcome { going_on, done, given_up, ended };

  // Each handles a key and returns whether the text is finished.
  Outcome handle(const KeyPress& key);
  Outcome handle_edit(const KeyPress& key);
  Outcome enter();
  // Moves through the history, -1 to older entries; the text that was typed is kept as a draft.
  void history_step(int direction);
  // Puts an entry of the history into the buffer.
  void show_entry(std::size_t index);
  // Inserts what all completions have in common, or lists them below.
  void complete();
  // Ctrl-R: searches the history backwards, incrementally.
  Outcome search();
  // Ctrl-Z: gives the terminal back to the shell until the process continues.
  void suspend();

  // Draws prompt and text again, with the cursor at this byte of the text.
  void refresh(std::size_t cursor);
  // Moves below the text that was read.
  void finish_line();

  int in_, out_;
  History& history_;
  EditorLanguage language_;

  std::optional<RawMode> raw_;  // from the first read() to the end of input
  std::string prompt_, continuation_;
  EditBuffer buffer_;
  bool gave_up_nothing_ = false;
  std::string draft_;  // what was typed before walking into the history
  // history_.entries().size(): the draft.
  std::size_t history_at_ = 0;
  std::size_t cursor_row_ = 0;  // of the screen, counted from the prompt's row
};

}  // namespace lay::runtime
