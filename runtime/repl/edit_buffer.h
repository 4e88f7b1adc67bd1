// The text being typed and the cursor in it: every edit as a function on the two, without a
// terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lay::runtime {

// The cursor is a byte offset that always stands between two characters.
class EditBuffer {
 public:
  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }
  bool at_end() const { return cursor_ == text_.size(); }

  void set(std::string text);  // and the cursor to its end
  void replace(std::size_t begin, std::size_t end,
               std::string_view by);  // and the cursor behind it
  void insert(std::string_view text) { replace(cursor_, cursor_, text); }

  void left();
  void right();
  void word_left() { cursor_ = word_begin(); }
  void word_right() { cursor_ = word_end(); }
  void line_start();
  void line_end();
  // To the same column of the line above or below; false where there is none.
  bool line_up();
  bool line_down();

  void backspace();
  void remove();
  void remove_word_left();
  void remove_word_right();
  void kill_to_line_end();
  void kill_to_line_start();
  void yank() { insert(killed_); }
  void transpose();

 private:
  std::size_t before(std::size_t at) const;
  std::size_t after(std::size_t at) const;
  std::size_t word_begin() const;
  std::size_t word_end() const;
  std::size_t start_of_line(std::size_t at) const;
  std::size_t end_of_line(std::size_t at) const;
  void kill(std::size_t begin, std::size_t end);
  void move_to_column(std::size_t line_start, std::size_t column);

  std::string text_;
  std::size_t cursor_ = 0;
  std::string killed_;
};

}  // namespace lay::runtime
