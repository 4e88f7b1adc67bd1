#include "runtime/repl/edit_buffer.h"

#include <utility>

namespace lay::runtime {
namespace {

// UTF-8: the bytes after the first of a character are 10xxxxxx.
bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Every character beyond ASCII counts as a letter.
bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

void EditBuffer::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void EditBuffer::replace(std::size_t begin, std::size_t end, std::string_view by) {
  text_.replace(begin, end - begin, by);
  cursor_ = begin + by.size();
}

void EditBuffer::left() {
  cursor_ = before(cursor_);
}
void EditBuffer::right() {
  cursor_ = after(cursor_);
}
void EditBuffer::line_start() {
  cursor_ = start_of_line(cursor_);
}
void EditBuffer::line_end() {
  cursor_ = end_of_line(cursor_);
}

bool EditBuffer::line_up() {
  const std::size_t start = start_of_line(cursor_);
  if (start == 0) return false;
  move_to_column(start_of_line(start - 1), cursor_ - start);
  return true;
}

bool EditBuffer::line_down() {
  const std::size_t end = end_of_line(cursor_);
  if (end == text_.size()) return false;
  move_to_column(end + 1, cursor_ - start_of_line(cursor_));
  return true;
}

void EditBuffer::backspace() {
  const std::size_t begin = before(cursor_);
  replace(begin, cursor_, "");
}

void EditBuffer::remove() {
  const std::size_t at = cursor_;
  replace(at, after(at), "");
}

void EditBuffer::remove_word_left() {
  kill(word_begin(), cursor_);
}
void EditBuffer::remove_word_right() {
  kill(cursor_, word_end());
}
void EditBuffer::kill_to_line_end() {
  kill(cursor_, end_of_line(cursor_));
}
void EditBuffer::kill_to_line_start() {
  kill(start_of_line(cursor_), cursor_);
}

void EditBuffer::transpose() {
  if (cursor_ == 0 || text_.empty()) return;
  // At the end of the text the last two characters change places, as in readline.
  const std::size_t middle = at_end() ? before(cursor_) : cursor_;
  const std::size_t begin = before(middle), end = after(middle);
  if (begin == middle) return;
  const std::string swapped =
      text_.substr(middle, end - middle) + text_.substr(begin, middle - begin);
  replace(begin, end, swapped);
}

std::size_t EditBuffer::before(std::size_t at) const {
  if (at == 0) return 0;
  do --at;
  while (at > 0 && continues_character(text_[at]));
  return at;
}

std::size_t EditBuffer::after(std::size_t at) const {
  if (at == text_.size()) return at;
  do ++at;
  while (at < text_.size() && continues_character(text_[at]));
  return at;
}

// Skips what stands between the cursor and the word, then the word.
std::size_t EditBuffer::word_begin() const {
  std::size_t at = cursor_;
  while (at > 0 && !is_word(text_[at - 1])) --at;
  while (at > 0 && is_word(text_[at - 1])) --at;
  return at;
}

std::size_t EditBuffer::word_end() const {
  std::size_t at = cursor_;
  while (at < text_.size() && !is_word(text_[at])) ++at;
  while (at < text_.size() && is_word(text_[at])) ++at;
  return at;
}

std::size_t EditBuffer::start_of_line(std::size_t at) const {
  const std::size_t newline = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
  return newline == std::string::npos ? 0 : newline + 1;
}

std::size_t EditBuffer::end_of_line(std::size_t at) const {
  const std::size_t newline = text_.find('\n', at);
  return newline == std::string::npos ? text_.size() : newline;
}

// Only the last kill is kept; killing nothing keeps the one before.
void EditBuffer::kill(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  killed_ = text_.substr(begin, end - begin);
  replace(begin, end, "");
}

void EditBuffer::move_to_column(std::size_t line_start, std::size_t column) {
  const std::size_t end = end_of_line(line_start);
  // The column is counted in bytes; a cursor inside a character moves to its end.
  cursor_ = line_start + column < end ? line_start + column : end;
  while (cursor_ < end && continues_character(text_[cursor_])) ++cursor_;
}

}  // namespace lay::runtime
