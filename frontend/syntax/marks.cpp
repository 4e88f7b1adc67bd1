#include "frontend/syntax/marks.h"

#include "grammar/LayLexer.h"

namespace lay::syntax {
namespace {

using generated::LayLexer;

bool is_arithmetic(std::size_t type) {
  return type == LayLexer::PLUS || type == LayLexer::MINUS || type == LayLexer::TIMES ||
         type == LayLexer::DIVIDE || type == LayLexer::FLOOR_DIVIDE || type == LayLexer::MODULO;
}

class Marker {
 public:
  Marker(const std::vector<Word>& words, const std::vector<bool>& begins)
      : words_(words), begins_(begins), marks_(words.size()) {}

  std::vector<Mark> run() {
    for (i_ = 0; i_ < words_.size(); ++i_) {
      Mark& m = marks_[i_];
      m.begins_statement = begins_[i_];
      if (m.begins_statement && (open_.empty() || marks_[open_.back()].bracket == Bracket::brace))
        statement_ = i_;
      word(m);
    }
    for (i_ = 0; i_ < words_.size(); ++i_) {
      if (words_[i_].type == LayLexer::COLON && !marks_[i_].names_type) marks_[i_].wide = is_wide();
    }
    return std::move(marks_);
  }

 private:
  std::size_t type(std::size_t back) const {
    return back <= i_ ? words_[i_ - back].type : std::size_t{LayLexer::NEWLINE};
  }
  bool operand_before() const { return i_ > 0 && ends_operand(words_[i_ - 1], marks_[i_ - 1]); }

  void word(Mark& m) {
    switch (words_[i_].type) {
      case LayLexer::LEFT_PAREN:
        return open(m, paren());
      case LayLexer::LEFT_BRACKET:
        return open(m, operand_before() ? Bracket::index : Bracket::list);
      case LayLexer::LEFT_BRACE:
        return open(m, Bracket::brace);
      case LayLexer::SWIZZLE:
        return open(m, Bracket::angle);
      case LayLexer::LESS:
        if (type(2) == LayLexer::KERNEL) return open(m, Bracket::generic);
        break;
      case LayLexer::GREATER:
        if (!open_.empty() && is_angle(marks_[open_.back()].bracket)) return close(m);
        break;
      case LayLexer::RIGHT_PAREN:
      case LayLexer::RIGHT_BRACKET:
      case LayLexer::RIGHT_BRACE:
        return close(m);
      case LayLexer::COMMA:
        if (!open_.empty() && marks_[open_.back()].bracket == Bracket::group) {
          marks_[open_.back()].bracket = Bracket::tuple;
        }
        break;
      case LayLexer::MINUS:
        m.sign = !operand_before();
        break;
      case LayLexer::COLON:
        m.names_type = names_type();
        break;
      default:
        break;
    }
    m.inside = open_.empty() ? kNowhere : open_.back();
  }

  static bool is_angle(Bracket b) { return b == Bracket::angle || b == Bracket::generic; }

  void open(Mark& m, Bracket bracket) {
    m.inside = open_.empty() ? kNowhere : open_.back();
    m.bracket = bracket;
    open_.push_back(i_);
  }

  void close(Mark& m) {
    if (open_.empty()) return;
    m.partner = open_.back();
    m.bracket = marks_[m.partner].bracket;
    marks_[m.partner].partner = i_;
    open_.pop_back();
    m.inside = open_.empty() ? kNowhere : open_.back();
  }

  bool in_header() const {
    const std::size_t head = words_[statement_].type;
    return head == LayLexer::DEF || head == LayLexer::RECORD || head == LayLexer::KERNEL;
  }

  // The type of a parameter ends before this word: A: f32 (M,K)
  bool type_before() const {
    return type(1) == LayLexer::NAME &&
           (type(2) == LayLexer::INOUT || (i_ >= 2 && marks_[i_ - 2].names_type));
  }

  Bracket paren() const {
    if (type(1) == LayLexer::ARROW) return Bracket::call;
    if (type_before() || !operand_before()) return Bracket::group;
    return Bracket::call;
  }

  // The colon behind a parameter's name.
  bool names_type() const {
    if (!in_header() || type(1) != LayLexer::NAME) return false;
    if (type(2) == LayLexer::ARROW) return true;
    if (open_.empty() || (type(2) != LayLexer::COMMA && open_.back() + 2 != i_)) return false;
    const Bracket bracket = marks_[open_.back()].bracket;
    const bool outermost = marks_[open_.back()].inside == kNowhere;
    return outermost && (bracket == Bracket::call || bracket == Bracket::generic);
  }

  // Looks from the colon to both sides, over brackets, for an operator that binds tighter.
  bool is_wide() const {
    const std::size_t bracket = marks_[i_].inside;
    if (bracket != kNowhere && marks_[bracket].bracket == Bracket::index &&
        names_accumulator(bracket))
      return true;
    for (std::size_t k = i_; k-- > 0;) {
      if (marks_[k].partner != kNowhere && marks_[k].partner < k)
        k = marks_[k].partner;
      else if (is_arithmetic(words_[k].type) && !marks_[k].sign)
        return true;
      else if (!continues_operand(k))
        break;
    }
    for (std::size_t k = i_ + 1; k < words_.size(); ++k) {
      if (marks_[k].partner != kNowhere && marks_[k].partner > k)
        k = marks_[k].partner;
      else if (is_arithmetic(words_[k].type) && !marks_[k].sign)
        return true;
      else if (!continues_operand(k))
        break;
    }
    return false;
  }

  bool continues_operand(std::size_t k) const {
    const std::size_t t = words_[k].type;
    return t == LayLexer::NAME || t == LayLexer::INTEGER || t == LayLexer::CUTE ||
           t == LayLexer::FLOAT || t == LayLexer::AT || t == LayLexer::DOT ||
           t == LayLexer::UNDERSCORE || marks_[k].sign;
  }

  // The colon of sum[k : f64](...): a name on both sides, and behind the bracket a call.
  bool names_accumulator(std::size_t bracket) const {
    const std::size_t closing = marks_[bracket].partner;
    return words_[bracket - 1].type == LayLexer::NAME && closing == i_ + 2 &&
           words_[i_ - 1].type == LayLexer::NAME && words_[i_ + 1].type == LayLexer::NAME &&
           closing + 1 < words_.size() && words_[closing + 1].type == LayLexer::LEFT_PAREN;
  }

  const std::vector<Word>& words_;
  const std::vector<bool>& begins_;
  std::vector<Mark> marks_;
  std::vector<std::size_t> open_;
  std::size_t i_ = 0;
  std::size_t statement_ = 0;  // the first word of the statement around this one
};

}  // namespace

bool ends_operand(const Word& word, const Mark& mark) {
  switch (word.type) {
    case LayLexer::NAME:
    case LayLexer::INTEGER:
    case LayLexer::CUTE:
    case LayLexer::FLOAT:
    case LayLexer::STRING:
    case LayLexer::TRUE:
    case LayLexer::FALSE:
    case LayLexer::UNDERSCORE:
    case LayLexer::RIGHT_PAREN:
    case LayLexer::RIGHT_BRACKET:
      return true;
    case LayLexer::GREATER:
      return mark.bracket == Bracket::angle || mark.bracket == Bracket::generic;
    default:
      return false;
  }
}

std::vector<Mark> mark(const std::vector<Word>& words, const std::vector<bool>& begins) {
  return Marker(words, begins).run();
}

}  // namespace lay::syntax
