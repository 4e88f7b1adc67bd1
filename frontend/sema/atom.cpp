#include "frontend/sema/atom.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "frontend/algebra/refusal.h"
#include "frontend/algebra/tuple_operations.h"
#include "frontend/sema/atom_cover.h"
#include "frontend/sema/operators.h"
#include "frontend/sema/value.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kLargestExtent = 1024;  // of an instruction's tile

const std::map<std::string_view, int> kThreads = {{"thread", 1}, {"quad pair", 8}, {"warp", 32}, {"warpgroup", 128}};

// The fields of one record, asked for by kind.
class Fields {
 public:
  explicit Fields(const Record& record) : record_(record) {}

  [[noreturn]] void complain(const std::string& what) const {
    throw refusal("not-an-atom", record_.head + " is no multiply-add: " + what,
                  "its fields are kind, shape, threads, A, B, C, a_type, b_type, accumulator; docs/language.md, Atoms");
  }

  template <typename T>
  const T& of(const std::string& field, const char* wanted) const {
    const Value* value = record_.find(field);
    if (!value) complain("it has no field " + field);
    if (const T* found = value->as<T>()) return *found;
    complain("its " + field + " is " + wanted + ", not " + kind_name(*value));
  }
  bool has(const std::string& field) const { return record_.find(field) != nullptr; }

  Layout layout(const std::string& field) const {
    const Layout& found = of<Layout>(field, "a layout");
    if (!found.is_known() || found.has_basis()) complain("its " + field + " has no known numbers");
    return found;
  }
  ElementType type(const std::string& field) const { return of<ElementType>(field, "an element type"); }

  int number(const Tuple& leaf, const std::string& field, std::int64_t least, std::int64_t most) const {
    if (leaf.is_int() && leaf.value().is_literal() && leaf.value().value() >= least && leaf.value().value() <= most) {
      return static_cast<int>(leaf.value().value());
    }
    complain("its " + field + " holds " + leaf.to_string() + ", not a number from " + std::to_string(least) + " to " +
             std::to_string(most));
  }
  std::vector<int> numbers(const std::string& field, std::int64_t least, std::int64_t most) const {
    const Tuple& found = of<Tuple>(field, "a tuple of numbers");
    std::vector<int> result;
    if (found.is_leaf()) return {number(found, field, least, most)};
    for (int i = 0; i < found.rank(); ++i) result.push_back(number(found[i], field, least, most));
    return result;
  }
  int optional_number(const std::string& field, std::int64_t most) const {
    if (!has(field)) return 0;
    return number(of<Tuple>(field, "a number"), field, 0, most);
  }
  double optional_real(const std::string& field) const {
    if (!has(field)) return 0;
    const auto found = real_of(*record_.find(field));
    if (!found || !(*found >= 0)) complain("its " + field + " is a number of at least 0");
    return *found;
  }
  bool truth(const std::string& field, bool otherwise) const {
    if (!has(field)) return otherwise;
    const Predicate& found = of<Predicate>(field, "true or false");
    if (!found.is_always() && !found.is_never()) complain("its " + field + " depends on sizes");
    return found.is_always();
  }

 private:
  const Record& record_;
};

}  // namespace

int Atom::count() const {
  return static_cast<int>(size(threads.shape).value());
}

Atom atom_of(const Record& record) {
  const Fields fields(record);
  if (!fields.truth("valid", true)) fields.complain("the machine has no instruction with these parameters");
  Atom atom;
  atom.name = (record.library.empty() ? "" : record.library + ".") + record.head;
  atom.kind = fields.of<std::string>("kind", "a string");
  const auto threads = kThreads.find(atom.kind);
  if (threads == kThreads.end()) fields.complain("its kind is thread, quad pair, warp or warpgroup");
  const std::vector<int> shape = fields.numbers("shape", 1, kLargestExtent);
  if (shape.size() != 3) fields.complain("its shape is a tuple of three numbers: M, N, K");
  std::copy(shape.begin(), shape.end(), atom.shape.begin());
  atom.threads = fields.layout("threads");
  if (atom.count() != threads->second) {
    fields.complain("a " + atom.kind + " is " + std::to_string(threads->second) + " threads, and its threads are " +
                    atom.threads.to_string());
  }
  atom.a = fields.layout("A");
  atom.b = fields.layout("B");
  atom.c = fields.layout("C");
  atom.a_type = fields.type("a_type");
  atom.b_type = fields.type("b_type");
  atom.accumulator = fields.type("accumulator");
  atom.a_shared = fields.truth("a_shared", false);
  atom.b_shared = fields.truth("b_shared", false);
  if (fields.has("instruction")) atom.instruction = fields.of<std::string>("instruction", "a string");
  atom.since = fields.optional_number("since", 1000);
  atom.alignment = fields.optional_number("alignment", 4096);
  if (fields.has("spans")) atom.spans = fields.numbers("spans", 16, 128);
  atom.cost = fields.optional_real("cost");
  atom.error = fields.optional_real("error");
  const auto [m, n, k] = atom.shape;
  check_cover(atom.name, {"A", atom.a, m, k, false}, atom.count());
  check_cover(atom.name, {"B", atom.b, n, k, false}, atom.count());
  check_cover(atom.name, {"C", atom.c, m, n, true}, atom.count());
  return atom;
}

}  // namespace lay::sema
