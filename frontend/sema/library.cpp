#include "frontend/sema/library.h"

#include <map>
#include <mutex>
#include <stdexcept>

#include "frontend/algebra/overloaded.h"
#include "frontend/algebra/refusal.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/operators.h"
#include "frontend/sema/schedule_entry.h"
#include "frontend/sema/stdlib.h"

namespace lay::sema {
namespace {

// One evaluator for each library, and the values of the expressions that it was asked for.
class Library {
 public:
  explicit Library(const std::string& name) : evaluator_(sources_, Host{}) { value_of("use " + name); }

  const std::optional<Value>& evaluated(const std::string& expression) {
    const auto at = known_.find(expression);
    return at != known_.end() ? at->second : known_.emplace(expression, value_of(expression)).first->second;
  }

 private:
  std::optional<Value> value_of(const std::string& text) {
    std::optional<Value> value;
    for (const Outcome& outcome : evaluator_.run("library", text)) {
      for (const Diagnostic& d : outcome.diagnostics.list()) {
        if (d.severity == Severity::error) throw refusal(d.code, d.message);
      }
      value = outcome.value;
    }
    return value;
  }

  Sources sources_;
  Evaluator evaluator_;
  std::map<std::string, std::optional<Value>> known_;
};

Value ask(const std::string& library, const std::string& expression) {
  static std::mutex mutex;
  static std::map<std::string, Library> libraries;
  const std::lock_guard lock(mutex);
  const std::optional<Value>& value = libraries.try_emplace(library, library).first->second.evaluated(expression);
  if (!value) throw std::logic_error("internal: " + expression + " of " + library + " is no value");
  return *value;
}

Policy policy_of(const Record& row) {
  Policy policy;
  for (const auto& [field, value] : row.fields) {
    if (field == "name" && value.as<std::string>()) {
      policy.name = *value.as<std::string>();
    } else if (field == "condition" && value.as<Predicate>()) {
      policy.when = *value.as<Predicate>();
    } else if (field == "copies" && value.as<Predicate>()) {
      policy.copies = *value.as<Predicate>();
    } else {
      policy.entries.push_back(schedule_entry(field, "", value, {}));
    }
  }
  return policy;
}

}  // namespace

Atom library_atom(const std::string& library, const std::string& name, const std::vector<LibraryArgument>& arguments) {
  const std::string prefix = library.substr(library.rfind('.') + 1) + ".";
  std::string call = prefix + name + "(";
  for (const auto& [parameter, value] : arguments) {
    if (call.back() != '(') call += ", ";
    call += parameter + " = ";
    call += std::visit(overloaded{[](std::int64_t n) { return std::to_string(n); },
                                  [](ElementType type) { return std::string(element_name(type)); },
                                  [](const std::string& word) { return quoted(word); }},
                       value);
  }
  static std::mutex mutex;
  static std::map<std::string, Atom> atoms;
  {
    const std::lock_guard lock(mutex);
    if (const auto known = atoms.find(call); known != atoms.end()) return known->second;
  }
  const Value value = ask(library, call + ")");
  const auto* record = value.as<RecordPtr>();
  if (!record) throw refusal("not-an-atom", call + ") is " + kind_name(value));
  Atom atom = atom_of(**record);
  const std::lock_guard lock(mutex);
  return atoms.emplace(call, std::move(atom)).first->second;
}

std::vector<RecordPtr> library_records(const std::string& library, const std::string& list) {
  const Value value = ask(library, list);
  std::vector<RecordPtr> records;
  if (const auto* all = value.as<ListPtr>()) {
    for (const Value& each : (*all)->elements) {
      const auto* record = each.as<RecordPtr>();
      if (!record) throw std::logic_error("internal: " + list + " of " + library + " holds what is no record");
      records.push_back(*record);
    }
  }
  return records;
}

Predicate for_extents(const Predicate& condition, const Int& m, const Int& n, const Int& k, const Int& batches,
                      int multiprocessors) {
  std::map<DimId, std::string> dims;
  condition.collect_dims(dims);
  const std::map<std::string, Int> extents{
      {"M", m}, {"N", n}, {"K", k}, {"L", batches}, {"multiprocessors", multiprocessors}};
  std::map<DimId, Int> numbers;
  for (const auto& [dim, word] : dims) numbers.emplace(dim, extents.at(word));
  return condition.substitute(numbers);
}

std::vector<Policy> library_policies(const std::string& target, ElementType a, ElementType b, ElementType accumulator) {
  const std::string library = "policies." + target;
  if (!stdlib_text(library)) return {};
  const auto word = [](ElementType type) { return std::string(element_name(type)); };
  const Value rows =
      ask(library, "policies(a = " + word(a) + ", b = " + word(b) + ", acc = " + word(accumulator) + ")");
  std::vector<Policy> result;
  if (const auto* list = rows.as<ListPtr>()) {
    for (const Value& row : (*list)->elements) {
      const auto* record = row.as<RecordPtr>();
      if (!record) throw std::logic_error("internal: a row of " + library + " is no record");
      result.push_back(policy_of(**record));
    }
  }
  return result;
}

}  // namespace lay::sema
