#include "frontend/sema/explain/derivation.h"

#include <set>

#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

using namespace trace;

constexpr std::size_t kMostLines = 400, kLongest = 400;

// An operation with what it did, in order.
struct Derived {
  const Begin* begin = nullptr;
  std::vector<std::variant<Derived, const Step*>> parts;
  const Item* result = nullptr;  // nothing: it was refused
  std::string
      definition;  // of a def; where that is nothing but another def, the definition of that

  const Derived* only_child() const {
    return parts.size() == 1 ? std::get_if<Derived>(&parts[0]) : nullptr;
  }
};

// The parts up to the End of the operation, or to the end of all.
Derived tree_of(const std::vector<Step>& entries, std::size_t& at) {
  Derived derived;
  while (at < entries.size()) {
    const Step& step = entries[at++];
    if (const auto* begin = std::get_if<Begin>(&step)) {
      Derived child = tree_of(entries, at);
      child.begin = begin;
      child.definition = begin->definition;
      derived.parts.emplace_back(std::move(child));
    } else if (const auto* end = std::get_if<End>(&step)) {
      if (end->result) derived.result = &*end->result;
      return derived;
    } else {
      derived.parts.emplace_back(&step);
    }
  }
  return derived;
}

std::string call_text(const Begin& begin) {
  std::string call = begin.operation + "(";
  for (const Item& operand : begin.operands)
    call += (call.back() == '(' ? "" : ", ") + operand.text;
  return call + ")";
}

// Inside other operations: not what changes nothing, takes a part, or counts.
bool worth_a_line(const Derived& derived) {
  if (!derived.result) return true;
  const bool changed =
      derived.begin->operands.empty() || derived.result->text != derived.begin->operands[0].text;
  if (derived.begin->operation == "get" || (derived.begin->operation == "coalesce" && !changed))
    return false;
  return !derived.parts.empty() || (derived.result->layout && changed);
}

// An operation that is nothing but this one: the same one inside, a def, or a def mode by mode.
bool is_same(const Derived& outer, const Derived& inner) {
  if (outer.begin && call_text(*outer.begin) == call_text(*inner.begin)) return true;
  if (inner.result && outer.result && inner.result->text != outer.result->text) return false;
  const std::string& name = inner.begin->operation;
  return !inner.definition.empty() || name == "by_mode" ||
         (outer.begin && name == outer.begin->operation);
}

// Leaves out what teaches nothing, and what one parent derives twice.
void prune(Derived& derived) {
  std::set<std::string> seen;
  std::erase_if(derived.parts, [&](auto& part) {
    auto* child = std::get_if<Derived>(&part);
    if (!child) return false;
    prune(*child);
    const bool same = derived.begin && derived.begin->operation == child->begin->operation;
    return (!same && !worth_a_line(*child)) || !seen.insert(call_text(*child->begin)).second;
  });
  while (derived.only_child() && is_same(derived, *derived.only_child())) {
    Derived inner = *derived.only_child();
    if (!inner.definition.empty()) derived.definition = inner.definition;
    if (inner.begin->operation == derived.begin->operation) derived.begin = inner.begin;
    derived.parts = std::move(inner.parts);
  }
}

// The names in the parentheses of a signature: "coalesce(L [, profile])" has L and profile.
std::vector<std::string> parameters_of(std::string_view signature) {
  std::vector<std::string> names;
  bool in_name = false;
  for (const char c : signature.substr(std::min(signature.find('('), signature.size()))) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (letter && !in_name) names.emplace_back();
    if (letter) names.back() += c;
    in_name = letter;
  }
  return names;
}

// The first clause of a law.
std::string first_clause(std::string_view law) {
  return std::string(law.substr(0, law.find(';')));
}

class Writer {
 public:
  explicit Writer(Facts& facts) : facts_(facts) {}

  void write(const Derived& derived, int depth) {
    const std::string call = call_text(*derived.begin);
    const std::string result = derived.result ? " = " + derived.result->text : " is refused";
    const bool short_form = depth > 0 && derived.begin->operation == "coalesce" && derived.result;
    if (derived.parts.empty() || short_form) return line(depth, call + result);
    if (!seen_.insert(call).second) return line(depth, call + result + ", as above");
    line(depth, heading(*derived.begin));
    if (laws_.insert(derived.begin->operation).second) write_law(derived, depth + 1);
    write_parts(derived, depth + 1);
    if (!derived.result) return;
    line(depth + 1, "= " + derived.result->text);
    const std::string check = law_check(*derived.begin, *derived.result, guards_, facts_);
    if (!check.empty()) line(depth + 1, "check" + check);
  }

  std::vector<std::string> take() {
    if (left_out_ > 0) lines_.push_back("... " + std::to_string(left_out_) + " more lines");
    return std::move(lines_);
  }

 private:
  void line(int depth, std::string words) {
    if (lines_.size() >= kMostLines) {
      ++left_out_;
      return;
    }
    if (words.size() > kLongest) words = words.substr(0, kLongest - 3) + "...";
    lines_.push_back(std::string(2 * static_cast<std::size_t>(depth), ' ') + words);
  }

  static std::string words(const Step& step) {
    try {
      return step_text(step);
    } catch (const Refusal&) {
      return "(a number here is beyond 64 bits)";
    }
  }

  // Writes what a mode of the right side of a composition meets below that mode.
  void write_parts(const Derived& derived, int depth) {
    bool in_mode = false;
    for (const auto& part : derived.parts) {
      if (const auto* child = std::get_if<Derived>(&part)) {
        write(*child, depth);
        continue;
      }
      const Step& step = *std::get<const Step*>(part);
      const auto* guarded = std::get_if<Guarded>(&step);
      if (guarded) guards_.push_back(guarded->guard);
      const bool meets = std::holds_alternative<Meets>(step);
      line(depth + (meets || (guarded && in_mode) ? 1 : 0), words(step));
      in_mode = meets || std::holds_alternative<Walk>(step) || (guarded && in_mode);
    }
  }

  static std::string heading(const Begin& begin) {
    std::vector<std::string> names = begin.parameters;
    if (const Builtin* builtin = find_builtin(begin.operation); names.empty() && builtin)
      names = parameters_of(builtin->signature);
    std::string text = begin.operation + ":";
    for (std::size_t i = 0; i < begin.operands.size(); ++i) {
      text +=
          (i ? ", " : " ") + (i < names.size() ? names[i] + " = " : "") + begin.operands[i].text;
    }
    return text;
  }

  void write_law(const Derived& derived, int depth) {
    if (!derived.definition.empty()) return line(depth, "definition: " + derived.definition);
    if (const Builtin* builtin = find_builtin(derived.begin->operation))
      line(depth, "law: " + first_clause(builtin->law));
  }

  Facts& facts_;
  std::vector<std::string> lines_;
  std::size_t left_out_ = 0;
  std::set<std::string> seen_, laws_;  // calls that are derived, operations whose law is said
  std::vector<Guard> guards_;          // so far
};

// The numbers of a record that an operation gives.
std::string counts_of(const Record& record) {
  std::string all;
  for (const auto& [name, value] : record.fields) {
    if (value.as<RecordPtr>() == nullptr)
      all += (all.empty() ? "" : ", ") + name + " = " + text(value);
  }
  return all;
}

}  // namespace

Item item_of(const Value& value) {
  if (const auto* l = value.as<Layout>()) return *l;
  if (const auto* c = value.as<Composed>()) return *c;
  if (const auto* r = value.as<RecordPtr>(); r && !(*r)->head.empty()) return Item(counts_of(**r));
  return Item(text(value));
}

std::vector<std::string> derivation_lines(const Derivation& derivation, Facts& facts) {
  std::size_t at = 0;
  Derived all = tree_of(derivation.entries, at);
  for (auto& part : all.parts) {
    if (auto* operation = std::get_if<Derived>(&part)) prune(*operation);
  }
  const Quiet quiet;
  Writer writer(facts);
  for (const auto& part : all.parts) {
    if (const auto* operation = std::get_if<Derived>(&part)) writer.write(*operation, 0);
  }
  std::vector<std::string> lines = writer.take();
  if (derivation.cut) lines.push_back("... and more steps than are kept");
  return lines;
}

}  // namespace lay::sema
