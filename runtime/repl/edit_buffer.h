// The text being typed and the cursor in it. Every edit of the line editor is a function of the
// two, without a terminal, so that tests need none.
//
//   EditBuffer buffer;
//   buffer.insert("a o b");
//   buffer.word_left();           the cursor before "b"
//   buffer.kill_to_line_end();    "a o ", and yank() inserts "b"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lay::runtime {

// The text is UTF-8 and may have several lines. The cursor is a byte offset that always stands
// between two characters.
class EditBuffer {
 public:
  // The text, and the cursor as a byte offset in it.
  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }
  bool at_end() const { return cursor_ == text_.size(); }

  // Replaces the whole text and moves the cursor to its end.
  void set(std::string text);
  // Replaces the bytes [begin, end) and moves the cursor behind the new ones.
  void replace(std::size_t begin, std::size_t end, std::string_view by);
  // Inserts at the cursor.
  void insert(std::string_view text) { replace(cursor_, cursor_, text); }

  // Moves by a character, by a word (letters, digits, `_`), or to the ends of the line.
  void left();
  void right();
  void word_left() { cursor_ = word_begin(); }
  void word_right() { cursor_ = word_end(); }
  void line_start();
  void line_end();
  // Moves to the same column of the line above or below; returns false if there is none.
  bool line_up();
  bool line_down();

  // Deletes the character before the cursor, or the one behind it.
  void backspace();
  void remove();
  // Deletes a part of the line and keeps it for yank(), which inserts it.
  void remove_word_left();
  void remove_word_right();
  void kill_to_line_end();
  void kill_to_line_start();
  void yank() { insert(killed_); }
  // Swaps the characters before and behind the cursor, as Ctrl-T does.
  void transpose();

 private:
  // The offset of the neighbouring character, word end or line end.
  std::size_t before(std::size_t at) const;
  std::size_t after(std::size_t at) const;
  // The ends of the word around the cursor: words are letters, digits and `_`.
  std::size_t word_begin() const;
  std::size_t word_end() const;
  // The ends of the line that holds the byte.
  std::size_t start_of_line(std::size_t at) const;
  std::size_t end_of_line(std::size_t at) const;
  // Deletes the bytes and keeps them for yank().
  void kill(std::size_t begin, std::size_t end);
  // Moves into the line, at most to its end.
  void move_to_column(std::size_t line_start, std::size_t column);

  std::string text_;
  std::size_t cursor_ = 0;
  std::string killed_;  // what was deleted last by a kill
};

}  // namespace lay::runtime
