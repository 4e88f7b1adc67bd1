#include "runtime/repl/line_editor.h"

#include <algorithm>
#include <csignal>

#include "frontend/source/text.h"

namespace lay::runtime {
namespace {

// Lays text out on rows of a given width and remembers the cell of the cursor. Wide characters take
// two columns, and a character that does not fit moves to the next row.
class Page {
 public:
  explicit Page(std::size_t columns) : columns_(columns) {}

  void put(char32_t code, std::string_view bytes) {
    const auto width = static_cast<std::size_t>(columns_of(code));
    if (column_ + width > columns_) break_row();
    text_ += bytes;
    column_ += width;
  }
  void put_text(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const Character c = character_at(text, at);
      put(c.code, text.substr(at, c.length));
      at += c.length;
    }
  }
  void put_style(std::string_view sgr) {
    text_ += "\x1b[";
    text_ += sgr;
    text_ += 'm';
  }
  void break_row() {
    text_ += "\r\n";
    column_ = 0;
    ++row_;
  }
  void mark_cursor() {
    if (column_ == columns_) break_row();
    cursor_row_ = row_;
    cursor_column_ = column_;
  }
  // A full last row leaves the terminal's cursor undecided between two rows: go on to the next.
  void end() {
    if (column_ == columns_) break_row();
  }

  const std::string& text() const { return text_; }
  std::size_t row() const { return row_; }
  std::size_t cursor_row() const { return cursor_row_; }
  std::size_t cursor_column() const { return cursor_column_; }

 private:
  std::size_t columns_, column_ = 0, row_ = 0, cursor_row_ = 0, cursor_column_ = 0;
  std::string text_;
};

// The escape sequences that move the terminal's cursor; empty for no move.
std::string up(std::size_t rows) {
  return rows == 0 ? "" : "\x1b[" + std::to_string(rows) + "A";
}
std::string right(std::size_t columns) {
  return columns == 0 ? "" : "\x1b[" + std::to_string(columns) + "C";
}

std::string common_prefix(const std::vector<std::string>& words) {
  std::string prefix = words.front();
  for (const auto& word : words) {
    const auto [in_prefix, in_word] =
        std::mismatch(prefix.begin(), prefix.end(), word.begin(), word.end());
    prefix.erase(in_prefix, prefix.end());
  }
  return prefix;
}

// The words in columns, as `ls` lists names.
std::string table(const std::vector<std::string>& words, std::size_t columns) {
  std::size_t width = 0;
  for (const auto& word : words) width = std::max(width, word.size() + 2);
  const std::size_t across = std::max<std::size_t>(1, columns / width);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += words[i];
    if ((i + 1) % across == 0 || i + 1 == words.size())
      text += "\r\n";
    else
      text += std::string(width - words[i].size(), ' ');
  }
  return text;
}

}  // namespace

std::optional<std::string> LineEditor::read(const std::string& prompt,
                                            const std::string& continuation) {
  if (raw_)
    raw_->signals(false);
  else
    raw_.emplace(in_, out_);
  prompt_ = prompt;
  continuation_ = continuation;
  buffer_.set("");
  draft_.clear();
  history_at_ = history_.entries().size();
  cursor_row_ = 0;
  Outcome outcome = Outcome::going_on;
  while (outcome == Outcome::going_on) {
    refresh(buffer_.cursor());
    outcome = handle(read_key(in_));
  }
  finish_line();
  if (outcome == Outcome::done) raw_->signals(true);
  if (outcome == Outcome::ended) raw_.reset();
  gave_up_nothing_ = outcome == Outcome::given_up && buffer_.text().empty();
  if (outcome == Outcome::ended) return std::nullopt;
  if (outcome == Outcome::given_up) return "";
  history_.add(buffer_.text());
  return buffer_.text();
}

LineEditor::Outcome LineEditor::handle(const KeyPress& key) {
  switch (key.key) {
    case Key::enter:
      return enter();
    case Key::interrupt:
      return Outcome::given_up;
    case Key::closed:
      return Outcome::ended;
    case Key::end_of_input:
      if (buffer_.text().empty()) return Outcome::ended;
      buffer_.remove();
      return Outcome::going_on;
    case Key::up:
      if (!buffer_.line_up()) history_step(-1);
      return Outcome::going_on;
    case Key::down:
      if (!buffer_.line_down()) history_step(+1);
      return Outcome::going_on;
    case Key::tab:
      complete();
      return Outcome::going_on;
    case Key::search:
      return search();
    case Key::clear_screen:
      write_all(out_, "\x1b[H\x1b[2J");
      cursor_row_ = 0;
      return Outcome::going_on;
    case Key::suspend:
      suspend();
      return Outcome::going_on;
    default:
      return handle_edit(key);
  }
}

LineEditor::Outcome LineEditor::handle_edit(const KeyPress& key) {
  switch (key.key) {
    case Key::text:
      buffer_.insert(key.text);
      break;
    case Key::paste:
      buffer_.insert(language_.pasted ? language_.pasted(key.text) : key.text);
      break;
    case Key::backspace:
      buffer_.backspace();
      break;
    case Key::remove:
      buffer_.remove();
      break;
    case Key::left:
      buffer_.left();
      break;
    case Key::right:
      buffer_.right();
      break;
    case Key::home:
      buffer_.line_start();
      break;
    case Key::end:
      buffer_.line_end();
      break;
    case Key::word_left:
      buffer_.word_left();
      break;
    case Key::word_right:
      buffer_.word_right();
      break;
    case Key::remove_word_left:
      buffer_.remove_word_left();
      break;
    case Key::remove_word_right:
      buffer_.remove_word_right();
      break;
    case Key::kill_to_end:
      buffer_.kill_to_line_end();
      break;
    case Key::kill_to_start:
      buffer_.kill_to_line_start();
      break;
    case Key::yank:
      buffer_.yank();
      break;
    case Key::transpose:
      buffer_.transpose();
      break;
    default:
      break;
  }
  return Outcome::going_on;
}

// Enter ends the text only where the statement is complete.
LineEditor::Outcome LineEditor::enter() {
  if (!language_.needs_more || !language_.needs_more(buffer_.text())) return Outcome::done;
  // An empty last line shows that the writer wants an answer: the error will say what is missing.
  if (buffer_.at_end() && buffer_.text().ends_with('\n')) return Outcome::done;
  buffer_.insert("\n");
  return Outcome::going_on;
}

void LineEditor::history_step(int direction) {
  // The index entries().size() stands for the draft.
  const std::size_t count = history_.entries().size();
  if (direction < 0 ? history_at_ == 0 : history_at_ >= count) return;
  if (history_at_ == count) draft_ = buffer_.text();
  show_entry(direction < 0 ? history_at_ - 1 : history_at_ + 1);
}

void LineEditor::show_entry(std::size_t index) {
  history_at_ = index;
  buffer_.set(index < history_.entries().size() ? history_.entries()[index] : draft_);
}

void LineEditor::complete() {
  if (!language_.complete) return;
  const Completions found = language_.complete(buffer_.text(), buffer_.cursor());
  const std::string prefix = found.words.empty() ? "" : common_prefix(found.words);
  // All candidates agree on more than is typed.
  if (prefix.size() > buffer_.cursor() - found.begin) {
    buffer_.replace(found.begin, buffer_.cursor(), prefix);
    return;
  }
  if (found.words.empty() && found.hints.empty()) return;
  finish_line();
  for (const std::string& hint : found.hints) write_all(out_, hint + "\r\n");
  if (found.hints.empty())
    write_all(out_, table(found.words, static_cast<std::size_t>(terminal_columns(out_))));
}

// Incremental search backwards: what is found stands in the buffer at once.
LineEditor::Outcome LineEditor::search() {
  const std::string prompt = prompt_, before = buffer_.text();
  const std::size_t none = history_.entries().size();
  std::string wanted;
  std::size_t from = none;
  for (;;) {
    const std::size_t hit = wanted.empty() ? none : history_.find(wanted, from);
    if (hit != none) show_entry(hit);
    prompt_ = (hit == none && !wanted.empty() ? "not found: `" : "search `") + wanted + "': ";
    refresh(buffer_.cursor());
    const KeyPress key = read_key(in_);
    if (key.key == Key::text) {
      wanted += key.text;
      if (hit != none) from = hit + 1;
    } else if (key.key == Key::backspace) {
      do {  // bytes, until a whole character is gone
        if (!wanted.empty()) wanted.pop_back();
      } while (find_invalid_utf8(wanted));
      from = none;
    } else if (key.key == Key::search) {
      if (hit != none) from = hit;
    } else {
      // Any other key ends the search and does its own work on what was found.
      prompt_ = prompt;
      if (key.key != Key::cancel && key.key != Key::interrupt) return handle(key);
      buffer_.set(before);
      return Outcome::going_on;
    }
  }
}

void LineEditor::suspend() {
  finish_line();
  raw_.reset();
  std::raise(SIGTSTP);
  raw_.emplace(in_, out_);
}

void LineEditor::refresh(std::size_t cursor) {
  Page page(static_cast<std::size_t>(terminal_columns(out_)));
  page.put_text(prompt_);
  const std::string& text = buffer_.text();
  const std::vector<Style> styles =
      language_.highlight ? language_.highlight(text) : std::vector<Style>{};
  auto style = styles.begin();
  for (std::size_t at = 0; at < text.size();) {
    if (at == cursor) page.mark_cursor();
    for (; style != styles.end() && style->begin <= at; ++style) page.put_style(style->sgr);
    const Character c = character_at(text, at);
    if (c.code == '\n') {
      page.break_row();
      page.put_text(continuation_);
    } else if (c.code == '\t') {
      page.put_text("  ");
    } else if (!c.valid || c.code < 0x20 || c.code == 0x7f || is_bidi_control(c.code)) {
      page.put(0xfffd, "\xef\xbf\xbd");
    } else {
      page.put(c.code, std::string_view(text).substr(at, c.length));
    }
    at += c.length;
  }
  if (!styles.empty()) page.put_style("0");
  if (cursor == text.size()) page.mark_cursor();
  page.end();
  // From the row of the prompt: erase everything below, draw, and go back to the cursor's cell.
  write_all(out_, up(cursor_row_) + "\r\x1b[J" + page.text() + up(page.row() - page.cursor_row()) +
                      "\r" + right(page.cursor_column()));
  cursor_row_ = page.cursor_row();
}

// Leaves the edited text on the screen and goes to the row below it.
void LineEditor::finish_line() {
  refresh(buffer_.text().size());
  write_all(out_, "\r\n");
  cursor_row_ = 0;
}

}  // namespace lay::runtime
