#include "runtime/repl/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "frontend/source/text.h"

namespace lay::runtime {
namespace {

constexpr char escape = '\x1b';
constexpr int pause_ms = 50;

bool ready(int in, int timeout_ms) {
  pollfd p{in, POLLIN, 0};
  return ::poll(&p, 1, timeout_ms) > 0;
}

std::optional<char> read_byte(int in) {
  for (;;) {
    char c = 0;
    const ssize_t n = ::read(in, &c, 1);
    if (n == 1) return c;
    if (n < 0 && errno == EINTR) continue;
    return std::nullopt;
  }
}

std::string pasted(int in) {
  constexpr std::string_view end = "\x1b[201~";
  std::string text;
  while (const auto c = read_byte(in)) {
    text += *c == '\r' ? '\n' : *c;
    if (text.ends_with(end)) {
      text.resize(text.size() - end.size());
      break;
    }
  }
  return text;
}

// The rest of `ESC [ parameters letter`.
KeyPress control_sequence(int in) {
  std::string parameters;
  while (const auto c = read_byte(in)) {
    if ((*c >= '0' && *c <= '9') || *c == ';') {
      parameters += *c;
      continue;
    }
    const bool with_modifier = parameters.ends_with(";5") || parameters.ends_with(";3");
    switch (*c) {
      case 'A':
        return {Key::up, ""};
      case 'B':
        return {Key::down, ""};
      case 'C':
        return {with_modifier ? Key::word_right : Key::right, ""};
      case 'D':
        return {with_modifier ? Key::word_left : Key::left, ""};
      case 'H':
        return {Key::home, ""};
      case 'F':
        return {Key::end, ""};
      case '~':
        if (parameters == "200") return {Key::paste, pasted(in)};
        if (parameters == "1" || parameters == "7") return {Key::home, ""};
        if (parameters == "4" || parameters == "8") return {Key::end, ""};
        if (parameters == "3") return {Key::remove, ""};
        return {};
      default:
        return {};
    }
  }
  return {Key::closed, ""};
}

KeyPress after_escape(int in) {
  if (!ready(in, pause_ms)) return {Key::cancel, ""};
  const auto c = read_byte(in);
  if (!c) return {Key::closed, ""};
  switch (*c) {
    case '[':
      return control_sequence(in);
    case 'O':
      return control_sequence(in);
    case 'b':
      return {Key::word_left, ""};
    case 'f':
      return {Key::word_right, ""};
    case 'd':
      return {Key::remove_word_right, ""};
    case '\x7f':
      return {Key::remove_word_left, ""};
    default:
      return {};
  }
}

Key control_key(char c) {
  switch (c) {
    case 'A' & 0x1f:
      return Key::home;
    case 'B' & 0x1f:
      return Key::left;
    case 'C' & 0x1f:
      return Key::interrupt;
    case 'D' & 0x1f:
      return Key::end_of_input;
    case 'E' & 0x1f:
      return Key::end;
    case 'F' & 0x1f:
      return Key::right;
    case 'G' & 0x1f:
      return Key::cancel;
    case '\b':
    case '\x7f':
      return Key::backspace;
    case '\t':
      return Key::tab;
    case '\n':
    case '\r':
      return Key::enter;
    case 'K' & 0x1f:
      return Key::kill_to_end;
    case 'L' & 0x1f:
      return Key::clear_screen;
    case 'N' & 0x1f:
      return Key::down;
    case 'P' & 0x1f:
      return Key::up;
    case 'R' & 0x1f:
      return Key::search;
    case 'T' & 0x1f:
      return Key::transpose;
    case 'U' & 0x1f:
      return Key::kill_to_start;
    case 'W' & 0x1f:
      return Key::remove_word_left;
    case 'Y' & 0x1f:
      return Key::yank;
    case 'Z' & 0x1f:
      return Key::suspend;
    default:
      return Key::unknown;
  }
}

int utf8_length(unsigned char first) {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  if (first >= 0xc0) return 2;
  return 1;
}

bool terminal_is_dumb() {
  const char* term = std::getenv("TERM");
  return !term || !*term || std::string_view(term) == "dumb";
}

}  // namespace

RawMode::RawMode(int in, int out) : in_(in), out_(out) {
  if (::tcgetattr(in_, &saved_) != 0) return;
  raw_ = saved_;
  raw_.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  raw_.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
  raw_.c_cflag |= CS8;
  raw_.c_cc[VMIN] = 1;
  raw_.c_cc[VTIME] = 0;
  active_ = ::tcsetattr(in_, TCSADRAIN, &raw_) == 0;
  if (active_) write_all(out_, "\x1b[?2004h");
}

void RawMode::signals(bool on) {
  if (!active_) return;
  termios mode = raw_;
  if (on) mode.c_lflag |= ISIG;
  ::tcsetattr(in_, TCSADRAIN, &mode);
}

RawMode::~RawMode() {
  if (!active_) return;
  write_all(out_, "\x1b[?2004l");
  ::tcsetattr(in_, TCSADRAIN, &saved_);
}

KeyPress read_key(int in) {
  const auto first = read_byte(in);
  if (!first) return {Key::closed, ""};
  if (*first == escape) return after_escape(in);
  const auto byte = static_cast<unsigned char>(*first);
  if (byte < 0x20 || byte == 0x7f) return {control_key(*first), ""};
  std::string text(1, *first);
  for (int more = utf8_length(byte) - 1; more > 0; --more) {
    const auto next = read_byte(in);
    if (!next) return {Key::closed, ""};
    text += *next;
  }
  return {find_invalid_utf8(text) ? Key::unknown : Key::text, text};
}

void write_all(int out, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(out, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

int terminal_columns(int out) {
  winsize size{};
  if (::ioctl(out, TIOCGWINSZ, &size) != 0 || size.ws_col < 8) return 80;
  return size.ws_col;
}

int columns_of(char32_t code) {
  if (code >= 0x300 && code <= 0x36f) return 0;
  if (code == 0x200b || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0;
  const bool wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                    (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                    (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                    (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

bool colour_wanted(int out) {
  const char* no_colour = std::getenv("NO_COLOR");
  return ::isatty(out) && !terminal_is_dumb() && !(no_colour && *no_colour);
}

bool can_edit(int in, int out) {
  return ::isatty(in) && ::isatty(out) && !terminal_is_dumb();
}

}  // namespace lay::runtime
