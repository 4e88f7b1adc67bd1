#include "frontend/sema/library.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <stdexcept>

#include "frontend/algebra/support/memo.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/copy_instruction.h"
#include "frontend/sema/kernel/schedule_entry.h"
#include "frontend/sema/stdlib.h"
#include "frontend/sema/values/operators.h"

namespace lay::sema {
namespace {

// A file of the user's as a library.
struct Added {
  std::string path, text;
};

// One evaluator for each library, and the values of the expressions that it was asked for.
class Library {
 public:
  // `sizes`: numbers for the library's dims of these names.
  explicit Library(const std::string& name, std::map<std::string, std::int64_t> sizes = {})
      : evaluator_(sources_, Host{}, Options{.sizes = std::move(sizes)}) {
    value_of("library", "use " + name);
  }
  explicit Library(const Added& added) : path_(added.path), evaluator_(sources_, Host{}) {
    value_of(added.path, added.text);
  }

  // Defines what expressions may name.
  void define(const std::string& statement) { value_of("library", statement); }

  const std::optional<Value>& evaluated(const std::string& expression) {
    const auto at = known_.find(expression);
    return at != known_.end()
               ? at->second
               : known_.emplace(expression, value_of("library", expression)).first->second;
  }

 private:
  std::optional<Value> value_of(const std::string& name, const std::string& text) {
    std::optional<Value> value;
    for (const Outcome& outcome : evaluator_.run(name, text)) {
      for (const Diagnostic& d : outcome.diagnostics.list())
        if (d.severity == Severity::error) throw refusal(d.code, place(name, d) + d.message);
      value = outcome.value;
    }
    return value;
  }

  // Returns the place of an error in a file of the user's:
  // "/home/anna/.local/share/lay/policies/tuned_sm90.lay:12: ".
  std::string place(const std::string& name, const Diagnostic& d) const {
    if (path_.empty()) return "";
    const bool in_file =
        name == path_ && d.primary.known() && sources_[d.primary.file].name == path_;
    return path_ + (in_file ? ":" + std::to_string(sources_.position(d.primary).line) : "") + ": ";
  }

  std::string path_;  // of a file of the user's
  Sources sources_;
  Evaluator evaluator_;
  std::map<std::string, std::optional<Value>> known_;
};

std::mutex mutex_of_libraries;
std::map<std::string, Added> added_libraries;
std::map<std::string, Library> libraries;

Value ask(const std::string& library, const std::string& expression) {
  const std::lock_guard lock(mutex_of_libraries);
  auto at = libraries.find(library);
  if (at == libraries.end()) {
    const auto added = added_libraries.find(library);
    at = added == added_libraries.end() ? libraries.try_emplace(library, library).first
                                        : libraries.try_emplace(library, added->second).first;
  }
  const std::optional<Value>& value = at->second.evaluated(expression);
  if (!value) throw std::logic_error("internal: " + expression + " of " + library + " is no value");
  return *value;
}

// Nothing where it is taken for no sizes: then it may name an instruction that there is not.
std::optional<Policy> policy_of(const Record& row) {
  Policy policy;
  std::vector<std::pair<std::string, Value>> entries;
  for (const auto& [field, value] : row.fields) {
    if (field == "name" && value.as<std::string>()) {
      policy.name = *value.as<std::string>();
    } else if (field == "condition" && value.as<Predicate>()) {
      policy.when = *value.as<Predicate>();
    } else if (field == "copies" && value.as<Predicate>()) {
      policy.copies = *value.as<Predicate>();
    } else if (field == "elements" && value.as<Predicate>()) {
      policy.elements = !value.as<Predicate>()->is_never();
    } else {
      entries.emplace_back(field, value);
    }
  }
  if (policy.when.is_never() && policy.copies.is_never()) return std::nullopt;
  // `private_b` is what a schedule says as `private B`.
  for (const auto& [field, value] : entries) {
    const bool of_a = field.ends_with("_a"), of_operand = of_a || field.ends_with("_b");
    policy.entries.push_back(schedule_entry(of_operand ? field.substr(0, field.size() - 2) : field,
                                            of_operand ? (of_a ? "A" : "B") : "", value, {}));
  }
  return policy;
}

}  // namespace

namespace {

// "sm90.wgmma(n = 256, ab = bf16, acc = f32)"
std::string call_text(const std::string& library, const std::string& name,
                      const std::vector<LibraryArgument>& arguments) {
  std::string call = library.substr(library.rfind('.') + 1) + "." + name + "(";
  for (const auto& [parameter, value] : arguments) {
    if (call.back() != '(') call += ", ";
    call += parameter + " = ";
    call += std::visit(overloaded{[](std::int64_t n) { return std::to_string(n); },
                                  [](ElementType type) { return std::string(element_name(type)); },
                                  [](const std::string& word) { return quoted(word); }},
                       value);
  }
  return call + ")";
}

RecordPtr record_of(const std::string& library, const std::string& call) {
  const Value value = ask(library, call);
  const auto* record = value.as<RecordPtr>();
  if (!record) throw refusal("not-an-atom", call + " is " + kind_name(value));
  return *record;
}

// The record that a call gives, turned into data and proved by `made_of` the first time that it is
// asked for.
template <class Instruction>
Instruction instruction_of(const std::string& library, const std::string& name,
                           const std::vector<LibraryArgument>& arguments,
                           Instruction (*made_of)(const Record&)) {
  static Memo<std::string, Instruction> instructions;
  const std::string call = call_text(library, name, arguments);
  return instructions(call, [&] { return made_of(*record_of(library, call)); });
}

}  // namespace

RecordPtr library_record(const std::string& library, const std::string& name,
                         const std::vector<LibraryArgument>& arguments) {
  return record_of(library, call_text(library, name, arguments));
}

Atom library_atom(const std::string& library, const std::string& name,
                  const std::vector<LibraryArgument>& arguments) {
  return instruction_of(library, name, arguments, atom_of);
}

CopyInstruction library_copy(const std::string& library, const std::string& name,
                             const std::vector<LibraryArgument>& arguments) {
  return instruction_of(library, name, arguments, copy_of);
}

namespace {

// Returns true if both are one record, perhaps by the names of two files: sm75.ldmatrix(n = 4) and
// sm90.ldmatrix(n = 4), since atoms.sm90 uses atoms.sm75.
bool is_same(CopyInstruction one, const CopyInstruction& other) {
  if (one.name.substr(one.name.find('.')) != other.name.substr(other.name.find('.'))) return false;
  one.name = other.name;
  return one == other;
}

// The copies that the files of stdlib/atoms give for an expression, a list of records, each once:
// a file that lists none has those of the file that it uses. Those of the oldest machines first.
std::vector<CopyInstruction> listed_copies(const std::string& expression) {
  std::vector<CopyInstruction> made;
  for (const std::string& library : stdlib_names()) {
    if (!library.starts_with("atoms.")) continue;
    for (const RecordPtr& record : library_records(library, expression)) {
      const Value* valid = record->find("valid");
      if (valid && valid->as<Predicate>() && valid->as<Predicate>()->is_never()) continue;
      CopyInstruction copy = copy_of(*record);
      copy.name = library.substr(library.rfind('.') + 1) + "." + record->head;
      const bool known = std::ranges::any_of(
          made, [&](const CopyInstruction& each) { return is_same(each, copy); });
      if (!known) made.push_back(std::move(copy));
    }
  }
  std::ranges::stable_sort(made, {}, &CopyInstruction::since);
  return made;
}

}  // namespace

const std::vector<CopyInstruction>& library_copies() {
  static const std::vector<CopyInstruction> all = listed_copies("copy_instructions");
  return all;
}

std::vector<CopyInstruction> library_box_copies(int modes, int bytes, int blocks) {
  static Memo<std::array<int, 3>, std::vector<CopyInstruction>> known;
  return known({modes, bytes, blocks}, [&] {
    return listed_copies("box_instructions(" + std::to_string(modes) + ", " +
                         std::to_string(bytes) + ", " + std::to_string(blocks) + ")");
  });
}

std::vector<CopyInstruction> library_copies(CopySpace from, CopySpace to, int capability) {
  std::vector<CopyInstruction> found;
  for (const CopyInstruction& each : library_copies())
    if (each.from == from && each.to == to && each.since <= capability) found.push_back(each);
  return found;
}

CopyInstruction as_listed(CopyInstruction copy) {
  // A script's own record has no library before its name.
  if (copy.name.find('.') >= copy.name.find('(')) return copy;
  const std::vector<CopyInstruction> listed =
      copy.is_box()
          ? library_box_copies(copy.modes, static_cast<int>(copy.bits() / 8), copy.count())
          : library_copies();
  const auto found = std::ranges::find_if(
      listed, [&](const CopyInstruction& each) { return is_same(each, copy); });
  return found == listed.end() ? copy : *found;
}

void add_library(const std::string& name, const std::string& path, const std::string& text) {
  const std::lock_guard lock(mutex_of_libraries);
  added_libraries.insert_or_assign(name, Added{path, text});
  libraries.erase(name);
}

bool has_library(const std::string& name) {
  const std::lock_guard lock(mutex_of_libraries);
  return added_libraries.contains(name) || stdlib_text(name).has_value();
}

std::string library_path(const std::string& name) {
  const std::lock_guard lock(mutex_of_libraries);
  if (const auto added = added_libraries.find(name); added != added_libraries.end())
    return added->second.path;
  std::string path = "stdlib/" + name + ".lay";
  std::replace(path.begin(), path.end() - 4, '.', '/');
  return path;
}

std::vector<RecordPtr> library_records(const std::string& library, const std::string& list) {
  const Value value = ask(library, list);
  const auto wrong = [&](const std::string& what) {
    return refusal("file", library_path(library) + ": " + list + " " + what);
  };
  std::vector<RecordPtr> records;
  if (const auto* none = value.as<Tuple>(); none && none->is_tuple() && none->rank() == 0)
    return records;
  const auto* all = value.as<ListPtr>();
  if (!all) throw wrong("is " + kind_name(value) + ", not a list of records");
  for (const Value& each : (*all)->elements) {
    const auto* record = each.as<RecordPtr>();
    if (!record) throw wrong("holds " + kind_name(each) + ", which is no record");
    records.push_back(*record);
  }
  return records;
}

KernelPtr library_kernel(const std::string& library, const std::string& name) {
  const std::string dotted = library.substr(library.rfind('.') + 1) + "." + name;
  const Value value = ask(library, dotted);
  const auto* family = value.as<KernelFamilyPtr>();
  if (!family || !(*family)->checked) throw std::logic_error("internal: no kernel " + dotted);
  return (*family)->checked;
}

namespace {

// What a coefficient is called as a dim, beside M, N, K, L and sms.
constexpr std::string_view coefficient_prefix = "cost_";

// `keeps`: dims of coefficients stay.
template <class Term>
Term term_under(const Term& term, const ProblemSize& given, bool keeps = false) {
  std::map<DimId, std::string> dims;
  term.collect_dims(dims);
  const std::map<std::string, Int> meant{
      {"M", given.m}, {"N", given.n}, {"K", given.k}, {"L", given.batches}, {"sms", given.sms}};
  std::map<DimId, Int> numbers;
  for (const auto& [dim, word] : dims)
    if (!keeps || !word.starts_with(coefficient_prefix)) numbers.emplace(dim, meant.at(word));
  return term.substitute(numbers);
}

}  // namespace

Predicate under(const Predicate& condition, const ProblemSize& given) {
  return term_under(condition, given);
}

Int under(const Int& number, const ProblemSize& given) {
  return term_under(number, given);
}

namespace {

// A list of rows, or of such lists.
void add_policies(const std::string& library, const Value& rows, std::vector<Policy>& policies) {
  if (const auto* list = rows.as<ListPtr>()) {
    for (const Value& each : (*list)->elements) add_policies(library, each, policies);
  } else if (const auto* record = rows.as<RecordPtr>()) {
    if (auto policy = policy_of(**record)) policies.push_back(std::move(*policy));
  } else if (const auto* none = rows.as<Tuple>(); !none || !none->is_tuple() || none->rank() > 0) {
    throw std::logic_error("internal: a row of " + library + " is no record");
  }
}

// What stdlib/targets/gpu.lay fitted, where the caller has no coefficients.
std::string costs_text(const Coefficients& costs) {
  return costs.empty() ? "fitted_on_h200" : coefficients_text(costs);
}

// The arguments of a library's functions about products of this kind. Libraries are asked by text,
// and each answer is kept under it: another GPU's coefficients are another question.
std::string arguments_of(const ProductKind& kind, const std::string& costs) {
  const auto word = [](ElementType type) { return std::string(element_name(type)); };
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  return "a = " + word(kind.a) + ", b = " + word(kind.b) + ", acc = " + word(kind.accumulator) +
         ", arithmetic = " + std::to_string(kind.arithmetic) + ", masked = " + truth(kind.masked) +
         ", stored = " + std::to_string(kind.stored) + ", a_along_k = " + truth(kind.a_along_k) +
         ", b_along_k = " + truth(kind.b_along_k) + ", inputs = " + truth(kind.inputs) +
         ", in_parts = " + truth(kind.in_parts) + ", batched = " + truth(kind.batched) +
         ", scaled = " + truth(kind.scaled) +
         ", columns_alike = " + std::to_string(kind.columns_alike) +
         ", segments = " + truth(kind.segments) +
         ", capability = " + std::to_string(kind.capability) + ", costs = " + costs +
         (kind.products > 1 ? ", products = " + std::to_string(kind.products) : "");
}
std::string arguments_of(const ProductKind& kind) {
  return arguments_of(kind, costs_text(kind.costs));
}

// Candidates, (cost, tile, how), nested in tuples; those of cost 0 are none.
void add_candidates(const Tuple& nested, std::vector<SpaceRow>& rows) {
  if (!nested.is_tuple() || nested.rank() == 0) return;
  if (nested[0].is_tuple()) {
    for (const Tuple& each : nested.modes()) add_candidates(each, rows);
  } else if (nested.rank() == 3 && nested.is_known()) {
    if (const std::int64_t cost = nested[0].value().value(); cost > 0)
      rows.push_back({cost, nested[1], nested[2].value().value()});
  } else {
    throw std::logic_error("internal: no candidate of a space: " + nested.to_string());
  }
}

std::string space_of(const std::string& target) {
  return "policies." + target + "_space";
}

}  // namespace

std::vector<Policy> library_policies(const std::string& target, const ProductKind& kind) {
  const std::string library = "policies." + target;
  if (!stdlib_text(library)) return {};
  std::vector<Policy> result;
  add_policies(library, ask(library, "policies(" + arguments_of(kind) + ")"), result);
  return result;
}

namespace {

// Numbers are a fifth of the work that symbols are, and there are thousands of costs.
std::vector<SpaceRow> ranked_space(const std::string& name, const std::string& question,
                                   const ProblemSize& sizes) try {
  const std::lock_guard lock(mutex_of_libraries);
  Library library(name, {{"M", sizes.m.value()},
                         {"N", sizes.n.value()},
                         {"K", sizes.k.value()},
                         {"L", sizes.batches.value()},
                         {"sms", sizes.sms}});
  const auto& value = library.evaluated(question);
  const auto* nested = value ? value->as<Tuple>() : nullptr;
  if (!nested) throw std::logic_error("internal: the space of " + name + " is no tuple");
  std::vector<SpaceRow> rows;
  add_candidates(*nested, rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SpaceRow& a, const SpaceRow& b) { return a.cost < b.cost; });
  return rows;
} catch (const Refusal& refusal) {
  // Of sizes whose products do not fit 64 bits a launcher does not know the costs either.
  if (refusal.code != "overflow") throw;
  return {};
}

}  // namespace

std::vector<SpaceRow> library_space(const std::string& target, const ProductKind& kind,
                                    const ProblemSize& sizes) {
  const std::string name = space_of(target);
  if (!stdlib_text(name)) return {};
  // A plan that is made again asks for the same; each answer has thousands of rows.
  static Memo<std::string, std::vector<SpaceRow>> known(8);
  const std::string question = "space(" + arguments_of(kind) + ")";
  std::string key = name + " " + question;
  for (const Int& size : {sizes.m, sizes.n, sizes.k, sizes.batches, Int(sizes.sms)})
    key += " " + size.to_string();
  return known(key, [&] { return ranked_space(name, question, sizes); });
}

std::optional<Policy> space_policy(const std::string& target, const ProductKind& kind,
                                   const SpaceRow& row) {
  const Value value = ask(space_of(target), "space_row(tile = " + row.tile.to_string() +
                                                ", how = " + std::to_string(row.how) + ", " +
                                                arguments_of(kind) + ")");
  const auto* record = value.as<RecordPtr>();
  if (!record) throw std::logic_error("internal: a row of a space is no record");
  return policy_of(**record);
}

std::int64_t space_widths(std::int64_t m, std::int64_t n, std::int64_t how) {
  const Value value =
      ask(space_of("sm90"), "widths(m = " + std::to_string(m) + ", n = " + std::to_string(n) +
                                ", how = " + std::to_string(how) + ")");
  const auto* widths = value.as<Tuple>();
  if (!widths || !widths->is_int()) throw std::logic_error("internal: widths are no integer");
  return widths->value().value();
}

struct CostTerms::Asked : Library {
  using Library::Library;
};

CostTerms::CostTerms(const std::string& target, const Coefficients& coefficients) {
  const std::string name = space_of(target);
  if (!stdlib_text(name)) throw std::logic_error("internal: there is no " + name);
  std::string dims, costs;
  for (const Coefficient& each : coefficients) {
    const std::string dim = std::string(coefficient_prefix) + each.name;
    if (!each.is_tuple) dims += (dims.empty() ? "dim " : ", ") + dim;
    costs += (costs.empty() ? "" : ", ") + each.name + " = " +
             (each.is_tuple ? numbers_text(each) : dim);
  }
  asked_ = std::make_unique<Asked>(name);
  asked_->define(dims);
  asked_->define("let costs = cost_coefficients(" + costs + ")");
}

CostTerms::~CostTerms() = default;

Int CostTerms::of(const ProductKind& kind, const SpaceRow& schedule, const ProblemSize& sizes) {
  const std::string question = "schedule_cost(tile = " + schedule.tile.to_string() +
                               ", how = " + std::to_string(schedule.how) + ", " +
                               arguments_of(kind, "costs") + ")";
  const auto& value = asked_->evaluated(question);
  const auto* cost = value ? value->as<Tuple>() : nullptr;
  if (!cost || !cost->is_int())
    throw std::logic_error("internal: the cost of a schedule is no integer");
  return term_under(cost->value(), sizes, true);
}

std::vector<std::pair<DimId, std::size_t>> CostTerms::coefficients_in(
    const Int& cost, const Coefficients& coefficients) {
  std::map<DimId, std::string> dims;
  cost.collect_dims(dims);
  std::vector<std::pair<DimId, std::size_t>> found;
  for (const auto& [dim, word] : dims)
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      if (word == std::string(coefficient_prefix) + coefficients[i].name)
        found.emplace_back(dim, i);
  return found;
}

}  // namespace lay::sema
