#include <algorithm>

#include "frontend/syntax/words.h"
#include "grammar/LayLexer.h"

namespace lay::syntax {
namespace {

using generated::LayLexer;

bool begins_statement(std::size_t type) {
  return type >= LayLexer::LET && type <= LayLexer::SCHEDULE;
}

// Demands another word behind it, so that a newline there ends nothing.
bool goes_on(std::size_t type) {
  switch (type) {
    case LayLexer::COMPOSE:
    case LayLexer::OR:
    case LayLexer::AND:
    case LayLexer::NOT:
    case LayLexer::IF:
    case LayLexer::THEN:
    case LayLexer::ELSE:
    case LayLexer::FOR:
    case LayLexer::IN:
    case LayLexer::WHERE:
    case LayLexer::WHEN:
    case LayLexer::ARROW:
    case LayLexer::RANGE:
    case LayLexer::DOT:
    case LayLexer::COMMA:
    case LayLexer::COLON:
    case LayLexer::AT:
    case LayLexer::EQUAL:
    case LayLexer::UNEQUAL:
    case LayLexer::ASSIGN:
    case LayLexer::LESS_EQUAL:
    case LayLexer::LESS:
    case LayLexer::GREATER:
    case LayLexer::PLUS:
    case LayLexer::MINUS:
    case LayLexer::TIMES:
    case LayLexer::FLOOR_DIVIDE:
    case LayLexer::DIVIDE:
    case LayLexer::MODULO:
      return true;
    default:
      return false;
  }
}

// Goes on from the line before.
bool comes_after(std::size_t type) {
  return type == LayLexer::LEFT_BRACE || type == LayLexer::WHERE || type == LayLexer::ARROW ||
         type == LayLexer::THEN || type == LayLexer::ELSE;
}

class Filter {
 public:
  Filter(const std::vector<Word>& words, int bracket_limit)
      : words_(words), limit_(bracket_limit) {}

  Filtered run() {
    for (std::size_t i = 0; i < words_.size() && !result_.too_deep; ++i) {
      const Word& word = words_[i];
      if (word.type == LayLexer::COMMENT) continue;
      if (word.type == LayLexer::NEWLINE) {
        const std::size_t next = next_type(i);
        const bool last = next == LayLexer::EOF;
        if (!last && !inside_brackets() && !demands_more() && !comes_after(next)) end_statement();
        continue;
      }
      if (begins_statement(word.type) && word.first_on_line) {
        while (inside_brackets()) result_.open.pop_back();
        end_statement();
      }
      bracket(word);
      result_.words.push_back(word);
    }
    result_.wants_more = demands_more() || opens_block_later() || conditions_ > 0;
    end_statement();
    return std::move(result_);
  }

 private:
  bool inside_brackets() const {
    return !result_.open.empty() && result_.open.back().type != LayLexer::LEFT_BRACE;
  }

  bool demands_more() const {
    return !result_.words.empty() && !closed_angle_ && goes_on(result_.words.back().type);
  }

  std::size_t next_type(std::size_t i) {
    for (next_ = std::max(next_, i + 1); next_ < words_.size(); ++next_) {
      if (words_[next_].type != LayLexer::NEWLINE && words_[next_].type != LayLexer::COMMENT)
        return words_[next_].type;
    }
    return LayLexer::EOF;
  }

  void end_statement() {
    statement_ = LayLexer::NEWLINE;
    closed_angle_ = false;
    conditions_ = 0;
    if (result_.words.empty()) return;
    const Word& last = result_.words.back();
    if (last.type == LayLexer::NEWLINE || last.type == LayLexer::SEMICOLON ||
        last.type == LayLexer::LEFT_BRACE)
      return;
    result_.words.push_back({LayLexer::NEWLINE, last.end, last.end, false});
  }

  void open(const Word& word) {
    if (static_cast<int>(result_.open.size()) >= limit_) result_.too_deep = word;
    result_.open.push_back(word);
  }

  // Closes the innermost open bracket of the kind; those left open inside it are dropped.
  void close(std::size_t kind) {
    for (std::size_t i = result_.open.size(); i-- > 0;) {
      const std::size_t type = result_.open[i].type;
      if (type == kind) {
        result_.mismatch |= i + 1 != result_.open.size();
        result_.open.resize(i);
        return;
      }
      if (type == LayLexer::LEFT_BRACE) break;
    }
    result_.mismatch = true;
  }

  void bracket(const Word& word) {
    if (statement_ == LayLexer::NEWLINE) statement_ = word.type;
    closed_angle_ = false;
    switch (word.type) {
      case LayLexer::LEFT_BRACE:
        statement_ = LayLexer::LEFT_BRACE;
        open(word);
        break;
      case LayLexer::LEFT_PAREN:
      case LayLexer::LEFT_BRACKET:
      case LayLexer::SWIZZLE:
        open(word);
        break;
      case LayLexer::LESS:
        if (names_kernel()) open({LayLexer::SWIZZLE, word.begin, word.end, false});
        break;
      case LayLexer::IF:
        ++conditions_;
        break;
      case LayLexer::ELSE:
        --conditions_;
        break;
      case LayLexer::ASSIGN:  // schedule NAME for M = 4096
        if (statement_ == LayLexer::SCHEDULE && result_.open.empty()) statement_ = LayLexer::ASSIGN;
        break;
      case LayLexer::GREATER:
        if (!result_.open.empty() && result_.open.back().type == LayLexer::SWIZZLE) {
          result_.open.pop_back();
          closed_angle_ = true;
        }
        break;
      case LayLexer::RIGHT_PAREN:
        close(LayLexer::LEFT_PAREN);
        break;
      case LayLexer::RIGHT_BRACKET:
        close(LayLexer::LEFT_BRACKET);
        break;
      case LayLexer::RIGHT_BRACE:
        close_brace();
        break;
      case LayLexer::SEMICOLON:
        while (inside_brackets()) result_.open.pop_back();
        statement_ = LayLexer::NEWLINE;
        break;
      default:
        break;
    }
  }

  // The last two words are `kernel NAME`.
  bool names_kernel() const {
    const std::size_t count = result_.words.size();
    return count >= 2 && result_.words[count - 2].type == LayLexer::KERNEL;
  }

  void close_brace() {
    while (inside_brackets()) {
      result_.open.pop_back();
      result_.mismatch = true;
    }
    end_statement();
    if (result_.open.empty()) {
      result_.mismatch = true;
    } else {
      result_.open.pop_back();
    }
    statement_ = LayLexer::RIGHT_BRACE;
  }

  // A kernel, record or schedule whose `{` has not come yet; a schedule for sizes has none.
  bool opens_block_later() const {
    return statement_ == LayLexer::KERNEL || statement_ == LayLexer::RECORD ||
           statement_ == LayLexer::SCHEDULE;
  }

  const std::vector<Word>& words_;
  int limit_;
  Filtered result_;
  std::size_t next_ = 0;
  int conditions_ = 0;  // `if`s of the statement whose `else` has not come yet
  std::size_t statement_ = LayLexer::NEWLINE;  // the first word of the statement that is being read
  bool closed_angle_ = false;  // the last word is a `>` that closes Sw< or kernel NAME<
};

}  // namespace

Filtered filter_newlines(const std::vector<Word>& words, int bracket_limit) {
  return Filter(words, bracket_limit).run();
}

}  // namespace lay::syntax
