#include "frontend/syntax/messages.h"

#include <algorithm>
#include <optional>
#include <string>

#include "frontend/source/text.h"
#include "frontend/syntax/advice.h"
#include "grammar/LayLexer.h"

namespace lay::syntax {
namespace {

using generated::LayLexer;

bool is_keyword(std::size_t type) {
  return type >= LayLexer::LET && type <= LayLexer::FALSE;
}
bool begins_statement(std::size_t type) {
  return type >= LayLexer::LET && type <= LayLexer::SCHEDULE;
}
bool ends_statement(std::size_t type) {
  return type == LayLexer::NEWLINE || type == LayLexer::SEMICOLON;
}

std::size_t opening_of(std::size_t closing) {
  switch (closing) {
    case LayLexer::RIGHT_PAREN:
      return LayLexer::LEFT_PAREN;
    case LayLexer::RIGHT_BRACKET:
      return LayLexer::LEFT_BRACKET;
    default:
      return LayLexer::LEFT_BRACE;
  }
}

std::string joined(const std::vector<std::string>& items) {
  std::string result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) result += i + 1 == items.size() ? " or " : ", ";
    result += items[i];
  }
  return result;
}

class Describer {
 public:
  explicit Describer(const Unexpected& where) : w_(where) {
    found_ = w_.index < w_.words.size()
                 ? w_.words[w_.index]
                 : Word{LayLexer::EOF, static_cast<std::uint32_t>(w_.text.size()),
                        static_cast<std::uint32_t>(w_.text.size()), false};
    if (w_.index > 0) before_ = w_.words[w_.index - 1];
    start_ = w_.index;
    while (start_ > 0 && !ends_statement(w_.words[start_ - 1].type) &&
           w_.words[start_ - 1].type != LayLexer::LEFT_BRACE)
      --start_;
    diagnostic_.primary = span(found_);
  }

  Diagnostic run() {
    if (!reserved() && !misplaced() && !unclosed() && !unmatched() && !not_a_statement()) {
      diagnostic_.code = "syntax";
      diagnostic_.message = "expected " + expectation() + after() + ", found " + quoted(found_);
      next_step();
    }
    comment_hint();
    return std::move(diagnostic_);
  }

 private:
  bool expects(std::size_t type) const { return w_.expected.contains(static_cast<ssize_t>(type)); }
  bool expects_expression() const {
    return expects(LayLexer::LEFT_PAREN) && expects(LayLexer::INTEGER);
  }

  std::string_view spelling(const Word& word) const {
    return w_.text.substr(word.begin, word.end - word.begin);
  }

  Span span(const Word& word) const {
    return {w_.file, word.begin, std::max(word.end, word.begin + 1)};
  }

  std::string quoted(const Word& word) const {
    if (word.type == LayLexer::NEWLINE) {
      const std::size_t rest = w_.text.find_first_not_of(" \t\n", word.begin);
      return rest == std::string_view::npos ? "the end of the text" : "the end of the line";
    }
    if (word.type == LayLexer::EOF) return "the end of the text";
    const std::string_view text = spelling(word);
    if (text.size() <= 40) return '`' + escaped(text) + '`';
    return '`' + escaped(text.substr(0, 30)) + "...`";
  }

  void help(std::string text) { diagnostic_.notes.push_back({"help", std::move(text)}); }

  std::string after() const {
    if (!before_ || start_ == w_.index) return "";
    return " after " + quoted(*before_);
  }

  std::string expectation() const {
    if (start_ == w_.index && expects(LayLexer::NEWLINE)) return "a statement";
    std::vector<std::string> items;
    const auto add = [&](std::size_t type, const char* text) {
      if (expects(type)) items.push_back(text);
    };
    if (expects_expression()) {
      items.push_back(expects(LayLexer::LET) ? "a statement" : "an expression");
    } else {
      if (expects(LayLexer::PLUS)) items.push_back("an operator");
      add(LayLexer::NAME, "a name");
      add(LayLexer::STRING, "a file name in quotes");
      add(LayLexer::INTEGER, "a number");
    }
    add(LayLexer::INOUT, "`inout`");
    add(LayLexer::ASSIGN, "`=`");
    add(LayLexer::ARROW, "`->`");
    if (!expects(LayLexer::PLUS)) add(LayLexer::COLON, "`:`");
    if (!expects_expression() && !expects(LayLexer::PLUS)) add(LayLexer::LEFT_BRACKET, "`[`");
    add(LayLexer::THEN, "`then`");
    add(LayLexer::ELSE, "`else`");
    if (!expects_expression()) add(LayLexer::FOR, "`for`");
    add(LayLexer::IN, "`in`");
    add(LayLexer::RANGE, "`..`");
    add(LayLexer::WHERE, "`where`");
    add(LayLexer::WHEN, "`when`");
    add(LayLexer::LEFT_BRACE, "`{`");
    if (!expects_expression()) add(LayLexer::LEFT_PAREN, "`(`");
    const bool closes = expects(LayLexer::RIGHT_PAREN) || expects(LayLexer::RIGHT_BRACKET);
    if (closes && before_ && before_->type == LayLexer::COMMA) {
      items.push_back(in_header() ? "a parameter" : "an expression");
    } else if (expects(LayLexer::COMMA) || inside_list()) {
      items.push_back("`,`");
    }
    add(LayLexer::GREATER, "`>`");
    add(LayLexer::RIGHT_PAREN, "`)`");
    add(LayLexer::RIGHT_BRACKET, "`]`");
    add(LayLexer::RIGHT_BRACE, "`}`");
    if (!expects_expression()) add(LayLexer::NEWLINE, "the end of the statement");
    return items.empty() ? "something else" : joined(items);
  }

  // A `,` may stand there too, although the parser has already decided against it.
  bool inside_list() const {
    return w_.expected.size() == 1 &&
           (expects(LayLexer::RIGHT_PAREN) || expects(LayLexer::RIGHT_BRACKET));
  }

  bool in_header() const {
    const std::size_t head = w_.words[start_].type;
    return head == LayLexer::DEF || head == LayLexer::RECORD || head == LayLexer::KERNEL;
  }

  bool reserved() {
    const bool name_wanted =
        expects(LayLexer::NAME) && !expects_expression() && !expects(LayLexer::RIGHT_BRACE);
    const bool operand_wanted = expects_expression() && found_.type == LayLexer::COMPOSE;
    if (found_.type == LayLexer::COMPOSE && (name_wanted || operand_wanted)) {
      diagnostic_.code = "reserved-name";
      diagnostic_.message =
          name_wanted ? "`o` cannot be a name: it composes layouts, as in a o b"
                      : "expected an expression" + after() + ", found `o`, which composes layouts";
      help(name_wanted ? "choose another name" : "write a o b with an operand on each side");
      return true;
    }
    if (is_keyword(found_.type) && name_wanted && !expects(found_.type)) {
      diagnostic_.code = "reserved-name";
      diagnostic_.message = quoted(found_) + " cannot be a name: it is a word of the language";
      help("choose another name, such as " + std::string(spelling(found_)) + "_");
      return true;
    }
    return false;
  }

  // Between the braces of a kernel, record or schedule, where a line should begin.
  bool misplaced() {
    if (!expects(LayLexer::RIGHT_BRACE) || !expects(LayLexer::NAME) || found_.type == LayLexer::EOF)
      return false;
    diagnostic_.code = "syntax";
    const bool body = expects(LayLexer::LET);
    diagnostic_.message =
        quoted(found_) + (body ? " cannot begin a line of a kernel" : " cannot begin an entry");
    help(body ? "a kernel holds `let a = ...` and assignments such as `C[m,n] = ...`"
              : "an entry is written `name = ...`");
    if (begins_statement(found_.type)) help("is the `}` before it missing?");
    return true;
  }

  // The innermost bracket that is open before the word.
  std::optional<Word> opener() const {
    int depth = 0;
    for (std::size_t i = w_.index; i-- > start_;) {
      const std::size_t type = w_.words[i].type;
      if (type == LayLexer::RIGHT_PAREN || type == LayLexer::RIGHT_BRACKET) ++depth;
      if (type == LayLexer::LEFT_PAREN || type == LayLexer::LEFT_BRACKET) {
        if (depth == 0) return w_.words[i];
        --depth;
      }
    }
    return std::nullopt;
  }

  bool unclosed() {
    const bool next_line = found_.first_on_line && inside_list();
    const bool ends = ends_statement(found_.type) || found_.type == LayLexer::EOF ||
                      begins_statement(found_.type) || found_.type == LayLexer::RIGHT_BRACE ||
                      next_line;
    if (!ends) return false;
    if (found_.type == LayLexer::EOF && expects(LayLexer::RIGHT_BRACE)) {
      diagnostic_.code = "unclosed-bracket";
      diagnostic_.message = "a `{` is not closed at the end of the text";
      diagnostic_.primary = last_open_brace();
      help("close it with `}`");
      return true;
    }
    const std::optional<Word> open = opener();
    if (!open) return false;
    const std::string closing = open->type == LayLexer::LEFT_PAREN ? "`)`" : "`]`";
    diagnostic_.code = "unclosed-bracket";
    diagnostic_.message = quoted(*open) + " is not closed";
    diagnostic_.primary = span(*open);
    diagnostic_.labels.push_back({span(found_), "expected " + closing + after()});
    return true;
  }

  Span last_open_brace() const {
    int depth = 0;
    for (std::size_t i = w_.words.size(); i-- > 0;) {
      if (w_.words[i].type == LayLexer::RIGHT_BRACE) ++depth;
      if (w_.words[i].type == LayLexer::LEFT_BRACE && depth-- == 0) return span(w_.words[i]);
    }
    return span(found_);
  }

  bool unmatched() {
    const std::size_t type = found_.type;
    if (type != LayLexer::RIGHT_PAREN && type != LayLexer::RIGHT_BRACKET &&
        type != LayLexer::RIGHT_BRACE)
      return false;
    const std::optional<Word> open = type == LayLexer::RIGHT_BRACE ? std::nullopt : opener();
    if (open && open->type == opening_of(type)) return false;
    diagnostic_.code = "unmatched-bracket";
    if (open) {
      diagnostic_.message = quoted(found_) + " does not close " + quoted(*open);
      diagnostic_.labels.push_back({span(*open), "opened here"});
    } else {
      diagnostic_.message = quoted(found_) + " closes nothing";
      help("remove it, or open a bracket before it");
    }
    return true;
  }

  // `lte a = 3`: two words side by side at the start of a statement.
  bool not_a_statement() {
    if (w_.index != start_ + 1 || !before_ || before_->type != LayLexer::NAME) return false;
    if (found_.type != LayLexer::NAME && found_.type != LayLexer::STRING) return false;
    if (!expects(LayLexer::NEWLINE)) return false;
    static const std::vector<std::string> statements = {
        "let",   "def", "dim",     "assume", "assert", "print",   "show",
        "prove", "use", "explain", "record", "kernel", "schedule"};
    diagnostic_.code = "unknown-statement";
    diagnostic_.primary = span(*before_);
    diagnostic_.message = quoted(*before_) + " does not begin a statement";
    if (const std::string_view meant = statement_meant_by(spelling(*before_)); !meant.empty()) {
      help("did you mean `" + std::string(meant) + "`?");
    } else if (const auto near = nearest(spelling(*before_), statements)) {
      help("did you mean `" + *near + "`?");
    } else {
      help(
          "a statement begins with let, def, dim, assume, assert, print, show, explain, prove, "
          "use, record, kernel or "
          "schedule, or is an expression");
    }
    return true;
  }

  void next_step() {
    if (found_.type == LayLexer::NAME && misspelt()) return;
    const bool starts = start_ == w_.index;
    const Word& first = starts ? found_ : w_.words[start_];
    const auto before = starts ? std::nullopt : std::optional(before_->type);
    const std::string text =
        advice({first.type, before, found_.type, spelling(first),
                starts ? std::string_view() : spelling(*before_), w_.expected});
    if (!text.empty()) help(text);
  }

  bool misspelt() {
    std::vector<std::string> words;
    if (expects(LayLexer::THEN)) words.push_back("then");
    if (expects(LayLexer::ELSE)) words.push_back("else");
    if (expects(LayLexer::FOR)) words.push_back("for");
    if (expects(LayLexer::IN)) words.push_back("in");
    if (expects(LayLexer::WHERE)) words.push_back("where");
    if (expects(LayLexer::WHEN)) words.push_back("when");
    const auto near = nearest(spelling(found_), words);
    if (near) help("did you mean `" + *near + "`?");
    return near.has_value();
  }

  // A // after one blank divides; the writer may have meant a comment.
  void comment_hint() {
    for (std::size_t i = start_; i < std::min(w_.index + 1, w_.words.size()); ++i) {
      if (w_.words[i].type == LayLexer::FLOOR_DIVIDE) {
        help("a comment after code has at least two blanks before it; a // b with fewer divides");
        return;
      }
    }
  }

  const Unexpected& w_;
  Word found_;
  std::optional<Word> before_;
  std::size_t start_ = 0;  // the first word of the statement
  Diagnostic diagnostic_;
};

}  // namespace

Diagnostic describe(const Unexpected& where) {
  return Describer(where).run();
}

}  // namespace lay::syntax
