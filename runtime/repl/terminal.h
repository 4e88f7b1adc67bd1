// The terminal below the line editor: raw mode while a line is typed, bytes to keys, and what the
// screen can show.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>

namespace lay::runtime {

// The meaning of a key to the editor, whatever bytes the terminal sends for it.
enum class Key {
  text,   // KeyPress::text is a printable character
  paste,  // KeyPress::text is all that was pasted, with newlines
  enter,
  tab,
  backspace,
  remove,
  left,
  right,
  up,
  down,
  home,
  end,
  word_left,
  word_right,
  remove_word_left,
  remove_word_right,
  kill_to_end,
  kill_to_start,
  yank,
  clear_screen,
  search,
  transpose,
  interrupt,     // Ctrl-C
  end_of_input,  // Ctrl-D, where something stands before it the same as `remove`
  suspend,       // Ctrl-Z
  cancel,        // Ctrl-G, Escape
  closed,        // the terminal is gone
  unknown,
};

// A key, and the text of those that have one.
struct KeyPress {
  Key key = Key::unknown;
  std::string text;
};

// Raw mode with bracketed paste for as long as the object lives: every key is a byte to read, and
// none is lost or changed between two texts. Does nothing on what is no terminal.
class RawMode {
 public:
  RawMode(int in, int out);
  ~RawMode();
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

  // Makes Ctrl-C, Ctrl-Z and Ctrl-\ signals, as while a statement runs, or keys to read as all
  // others. They are keys at first.
  void signals(bool on);

 private:
  int in_, out_;
  bool active_ = false;
  termios saved_{}, raw_{};
};

// Waits for the next key. A character of UTF-8 arrives whole; a lone Escape is told from a sequence
// by a pause of 50 ms.
KeyPress read_key(int in);

// Writes all of it, over interruptions and short writes.
void write_all(int out, std::string_view text);

// Columns of the terminal, 80 where it does not say.
int terminal_columns(int out);

// Columns that a character takes: 0 for combining marks, 2 for wide ones.
int columns_of(char32_t code);

// Returns true if colours may be written to `out`: a terminal that is not TERM=dumb, and NO_COLOR
// is not set.
bool colour_wanted(int out);

// Returns true if a line can be edited on this pair: both terminals, and not TERM=dumb.
bool can_edit(int in, int out);

}  // namespace lay::runtime
