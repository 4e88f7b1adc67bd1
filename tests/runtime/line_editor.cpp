#include "runtime/repl/line_editor.h"

#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <future>

#include "generated/tests/paths.h"
#include "runtime/repl/highlight.h"
#include "tests/runtime/temporary.h"

namespace {

using namespace lay::runtime;
using lay::test::slurp;
using lay::test::TemporaryFolder;

// A terminal: what is typed on it, and what it shows.
class Terminal {
 public:
  explicit Terminal(unsigned short columns = 40) {
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 20;
    REQUIRE(openpty(&master_, &slave_, nullptr, nullptr, &size) == 0);
  }
  ~Terminal() {
    close(master_);
    close(slave_);
  }

  // Returns what the editor makes of the keys, typed all at once when its prompt is there.
  std::optional<std::string> type(LineEditor& editor, const std::string& keys) {
    auto result = std::async(std::launch::async, [&] { return editor.read("> ", "| "); });
    for (const auto ready = shown.size(); shown.find("> ", ready) == std::string::npos;) drain();
    write_all(master_, keys);
    while (result.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready) drain();
    drain();
    return result.get();
  }

  int slave() const { return slave_; }
  std::string shown;

 private:
  void drain() {
    pollfd p{master_, POLLIN, 0};
    char block[4096];
    while (poll(&p, 1, 1) > 0) {
      const auto n = ::read(master_, block, sizeof block);
      if (n <= 0) return;
      shown.append(block, static_cast<std::size_t>(n));
    }
  }
  int master_ = -1, slave_ = -1;
};

bool open_bracket(std::string_view text) {
  return std::count(text.begin(), text.end(), '(') > std::count(text.begin(), text.end(), ')');
}

Completions complete(std::string_view text, std::size_t cursor) {
  std::size_t begin = cursor;
  while (begin > 0 && std::isalpha(static_cast<unsigned char>(text[begin - 1]))) --begin;
  Completions found{begin, {}, {}};
  for (const std::string word : {"coalesce", "complement", "composition", "size"})
    if (word.rfind(text.substr(begin, cursor - begin), 0) == 0) found.words.push_back(word);
  if (found.words.size() == 1) found.hints = {found.words[0] + "(L)"};
  if (begin == cursor && cursor > 0 && text[cursor - 1] == '(')
    found = {cursor, {}, {"any layout"}};
  return found;
}

struct Session {
  explicit Session(std::string path = "") : history(std::move(path)) {}
  Terminal terminal;
  History history;
  LineEditor editor{
      terminal.slave(), terminal.slave(), history, {open_bracket, complete, highlight}};

  std::string type(const std::string& keys) {
    const auto text = terminal.type(editor, keys);
    return text ? *text : "<end>";
  }
};

}  // namespace

TEST_CASE("keys edit the line") {
  Session s;
  CHECK(s.type("abc\r") == "abc");
  CHECK(s.type("ab\x02X\r") == "aXb");                            // left
  CHECK(s.type("abc\x01X\x05Y\r") == "XabcY");                    // home, end
  CHECK(s.type("abc\x1b[D\x1b[DX\x1b[CY\r") == "aXbYc");          // arrows
  CHECK(s.type("abc\x7f\x7f\r") == "a");                          // backspace
  CHECK(s.type("abc\x01\x1b[3~\x04\r") == "c");                   // delete, Ctrl-D inside
  CHECK(s.type("one two\x17x\r") == "one x");                     // a word back
  CHECK(s.type("one two\x1b\x62\x0b\x01\x19 \r") == "two one ");  // kill, yank
  CHECK(s.type("one two\x15\x19\x19\r") == "one twoone two");     // kill to the start
  CHECK(s.type("ab\x14\r") == "ba");                              // transpose
  CHECK(s.type("a\xc3\xa9z\x02\x7f\r") == "az");                  // a character of two bytes is one
  CHECK(s.type("x \xe2\x88\x98 y\x02\x02\x7fo\r") == "x o y");
  CHECK(s.type("ab\x1b[1;5DX\x1b[99zY\r") == "XYab");  // unknown sequences do nothing
}

TEST_CASE("Ctrl-C gives up the text and Ctrl-D ends") {
  Session s;
  CHECK(s.type("abc\x03") == "");
  CHECK(s.type("\x04") == "<end>");
  CHECK(s.history.entries().empty());
}

TEST_CASE("Enter goes on while the text needs more") {
  Session s;
  CHECK(s.type("f(\r1)\r") == "f(\n1)");
  CHECK(s.terminal.shown.find("| ") != std::string::npos);
  CHECK(s.type("f(\r\r") == "f(\n");              // an empty line asks for the error
  CHECK(s.type("f(\r1)\x1b[AX\r") == "f(X\n1)");  // up inside the text
  CHECK(s.type("a(\rbcd)\x1b[A\x1b[B\x01Y\r") == "a(\nYbcd)");
}

TEST_CASE("history is walked and searched, and keeps the draft") {
  Session s;
  s.type("first\r");
  s.type("second\r");
  s.type("second\r");
  CHECK(s.history.entries() == std::vector<std::string>{"first", "second"});
  CHECK(s.type("\x1b[A\x1b[A!\r") == "first!");
  CHECK(s.type("draft\x1b[A\x1b[B?\r") == "draft?");
  CHECK(s.type("\x12irs\x12\r") == "first");  // Ctrl-R: `first!` first, then the older one
  CHECK(s.type("\x12seco\x05X\r") == "secondX");
  CHECK(s.type("keep\x12nothing\x07\r") == "keep");
}

TEST_CASE("history outlives the session") {
  TemporaryFolder folder;
  const std::string path = folder / "state/history";
  {
    Session s(path);
    s.type("a(\rb\\n)\r");
    s.type("c\r");
  }
  CHECK(slurp(path) == "a(\\nb\\\\n)\nc\n");
  Session s(path);
  CHECK(s.type("\x1b[A\x1b[A\r") == "a(\nb\\n)");
  History nowhere("/proc/none/history");
  nowhere.add("x");
  CHECK(nowhere.entries() == std::vector<std::string>{"x"});
}

TEST_CASE("Tab completes as far as the words agree and then lists them") {
  Session s;
  CHECK(s.type("s\t(x)\r") == "size(x)");
  CHECK(s.type("f(co\tm\to\t)\r") == "f(composition)");
  s.terminal.shown.clear();
  CHECK(s.type("comp\t\x03") == "");
  CHECK(s.terminal.shown.find("complement") != std::string::npos);
  CHECK(s.type("zzz\t\r") == "zzz");
}

TEST_CASE("a second Tab shows the hints, and so does one where nothing is typed") {
  Session s;
  CHECK(s.type("size\t(x)\r") == "size(x)");
  CHECK(s.terminal.shown.find("size(L)") != std::string::npos);
  s.terminal.shown.clear();
  CHECK(s.type("size(\tx)\r") == "size(x)");
  CHECK(s.terminal.shown.find("any layout") != std::string::npos);
}

TEST_CASE("a paste is one text, whatever it holds") {
  Session s;
  CHECK(s.type("\x1b[200~a\rb\tc(\x1b[201~)\r") == "a\nb\tc()");
}

TEST_CASE("long lines wrap at the terminal's edge") {
  Session s;
  const std::string text(200, 'x');
  CHECK(s.type(text + "\x01y\r") == "y" + text);
}

TEST_CASE("what is typed is coloured, and control characters never reach the screen") {
  Session s;
  CHECK(s.type("let a = 12 // b\r") == "let a = 12 // b");
  CHECK(s.terminal.shown.find("\x1b[1;35mlet\x1b[0m") != std::string::npos);
  CHECK(s.terminal.shown.find("\x1b[36m12\x1b[0m") != std::string::npos);
  s.terminal.shown.clear();
  CHECK(s.type("\x1b[200~a\x07z\x1b[201~\r") == "a\x07z");
  CHECK(s.terminal.shown.find('\x07') == std::string::npos);
}

TEST_CASE("the words that are coloured are the grammar's") {
  std::vector<std::string> words = {"o"};
  std::ifstream grammar(LAY_SOURCE_DIR "/grammar/LayLexer.g4");
  for (std::string line; std::getline(grammar, line);) {
    const auto quote = line.find(": '"), end = line.find("' ;");
    if (quote == std::string::npos || end == std::string::npos) continue;
    const std::string word = line.substr(quote + 3, end - quote - 3);
    if (std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c); }))
      words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  CHECK(words == std::vector<std::string>(keywords().begin(), keywords().end()));
}

TEST_CASE("every stretch of a text is coloured as what it is") {
  const auto text_of = [](std::string_view text) {
    std::string marked;
    std::size_t at = 0;
    for (const Style& style : highlight(text)) {
      marked += text.substr(at, style.begin - at);
      marked += style.sgr == "0"      ? "]"
                : style.sgr == "1;35" ? "k["
                : style.sgr == "36"   ? "n["
                : style.sgr == "32"   ? "s["
                                      : "c[";
      at = style.begin;
    }
    return marked + std::string(text.substr(at));
  };
  CHECK(text_of("let x1 = 0..4  // let") == "k[let] x1 = n[0]..n[4]  c[// let]");
  CHECK(text_of("print \"a\\\"b\" lets") == "k[print] s[\"a\\\"b\"] lets");
  CHECK(text_of("\"open\\") == "s[\"open\\]");
  CHECK(text_of("7 // 2") == "n[7] // n[2]");
  CHECK(text_of("7 //") == "n[7] c[//]");
  CHECK(text_of("// a\nb") == "c[// a]\nb");
  CHECK(text_of("1.5e3 _4") == "n[1.5e3] _4");
}
