#include "frontend/sema/kernel/atom.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "frontend/algebra/support/refusal.h"
#include "frontend/algebra/tuples/tuple_operations.h"
#include "frontend/sema/kernel/atom_cover.h"
#include "frontend/sema/values/record_fields.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kLargestExtent = 1024;  // of an instruction's tile

const std::map<std::string_view, int> kThreads = {
    {"thread", 1}, {"quad pair", 8}, {"warp", 32}, {"warpgroup", 128}};

[[noreturn]] void no_atom(const Record& record, const std::string& what) {
  throw refusal("not-an-atom", record.head + " is no multiply-add: " + what,
                "its fields are kind, shape, threads, A, B, C, a_type, b_type, accumulator; "
                "docs/language.md, Atoms");
}

}  // namespace

int Atom::count() const {
  return static_cast<int>(size(threads.shape).value());
}

Atom atom_of(const Record& record) {
  const RecordFields fields(record, [&](const std::string& what) { no_atom(record, what); });
  if (!fields.truth("valid", true))
    fields.complain("the machine has no instruction with these parameters");
  Atom atom;
  atom.name = (record.library.empty() ? "" : record.library + ".") + record.head;
  atom.kind = fields.text("kind");
  const auto threads = kThreads.find(atom.kind);
  if (threads == kThreads.end())
    fields.complain("its kind is thread, quad pair, warp or warpgroup");
  const std::vector<int> shape = fields.numbers("shape", 1, kLargestExtent);
  if (shape.size() != 3) fields.complain("its shape is a tuple of three numbers: M, N, K");
  std::copy(shape.begin(), shape.end(), atom.shape.begin());
  atom.threads = fields.layout("threads");
  if (atom.count() != threads->second) {
    fields.complain("a " + atom.kind + " is " + std::to_string(threads->second) +
                    " threads, and its threads are " + atom.threads.to_string());
  }
  atom.a = fields.layout("A");
  atom.b = fields.layout("B");
  atom.c = fields.layout("C");
  atom.a_type = fields.type("a_type");
  atom.b_type = fields.type("b_type");
  atom.accumulator = fields.type("accumulator");
  atom.a_shared = fields.truth("a_shared", false);
  atom.b_shared = fields.truth("b_shared", false);
  atom.instruction = fields.optional_text("instruction");
  atom.since = static_cast<int>(fields.optional_integer("since", 0, 1000));
  atom.alignment = static_cast<int>(fields.optional_integer("alignment", 0, 4096));
  if (fields.has("swizzle_widths")) atom.swizzle_widths = fields.numbers("swizzle_widths", 16, 128);
  atom.cost = fields.optional_real("cost");
  atom.error = fields.optional_real("error");
  const auto [m, n, k] = atom.shape;
  check_cover(atom.name, {"A", atom.a, m, k, false}, atom.count());
  check_cover(atom.name, {"B", atom.b, n, k, false}, atom.count());
  check_cover(atom.name, {"C", atom.c, m, n, true}, atom.count());
  return atom;
}

}  // namespace lay::sema
