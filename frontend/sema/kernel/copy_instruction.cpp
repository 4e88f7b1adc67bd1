#include "frontend/sema/kernel/copy_instruction.h"

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/atom_cover.h"
#include "frontend/sema/values/record_fields.h"

namespace lay::sema {

namespace {

bool names(const std::string& instruction, const std::string& operand) {
  return instruction.find(operand) != std::string::npos;
}

// A copy of a box is asynchronous: a load tells an mbarrier of its bytes, a store is of a bulk
// group. These operands it must name, and a copy of anything else none of them.
void check_operands(const CopyInstruction& copy, const RecordFields& fields) {
  const bool load = copy.to == CopySpace::shared;
  if (copy.is_box() && !(load ? copy.from == CopySpace::global
                              : copy.from == CopySpace::shared && copy.to == CopySpace::global))
    fields.complain("boxes are copied between global and shared memory");
  if (copy.is_box() && !load && copy.kind != "thread")
    fields.complain("boxes are stored by a thread");
  if (copy.kind == "cluster" && !copy.is_box())
    fields.complain("a cluster copies boxes of a tensor, and it does not say of how many modes");
  if (copy.instruction.empty()) return;
  const auto expect = [&](const char* operand, bool wanted) {
    if (names(copy.instruction, operand) == wanted) return;
    fields.complain("its instruction " + std::string(wanted ? "does not name " : "names ") +
                    operand + ", which a copy of " +
                    (!copy.is_box() ? "neighbouring bytes has not"
                     : load         ? "a box to shared memory has"
                                    : "a box to global memory has") +
                    (copy.is_box() && !wanted ? " not" : ""));
  };
  for (const char* operand : {"$map", "$coordinates"}) expect(operand, copy.is_box());
  expect("$barrier", copy.is_box() && load);
  if (copy.is_box()) expect(load ? "$to" : "$from", true);
  expect("$mask", copy.kind == "cluster");
  if (!copy.is_box() || !load) expect("$offsets", false);
}

CopySpace space_of(const RecordFields& fields, const std::string& field) {
  const std::string word = fields.optional_text(field);
  if (word.empty()) return CopySpace::any;
  if (word == "global") return CopySpace::global;
  if (word == "shared") return CopySpace::shared;
  if (word == "registers") return CopySpace::registers;
  fields.complain("its " + field + " is global, shared or registers, not " + word);
}

}  // namespace

int CopyInstruction::count() const {
  return static_cast<int>(size(threads.shape).value());
}

std::int64_t CopyInstruction::bits() const {
  Facts facts;
  return cosize(facts, source).value();
}

bool CopyInstruction::of_pixels() const {
  return names(instruction, "$offsets");
}

CopyInstruction copy_of(const Record& record) {
  const RecordFields fields(record, [&](const std::string& what) {
    throw refusal(
        "not-an-atom", record.head + " is no copy: " + what,
        "its fields are kind, threads, source, destination, instruction; docs/language.md, Atoms");
  });
  if (!fields.truth("valid", true))
    fields.complain("the machine has no instruction with these parameters");
  CopyInstruction copy;
  copy.name = (record.library.empty() ? "" : record.library + ".") + record.head;
  copy.kind = fields.text("kind");
  copy.from = space_of(fields, "from");
  copy.to = space_of(fields, "to");
  copy.threads = fields.layout("threads");
  const int threads = copy.kind == "thread"    ? 1
                      : copy.kind == "warp"    ? 32
                      : copy.kind == "cluster" ? copy.count()
                                               : 0;
  if (threads == 0) fields.complain("its kind is thread, warp or cluster");
  if (copy.count() != threads) {
    fields.complain("a " + copy.kind + " is " + std::to_string(threads) +
                    " threads, and its threads are " + copy.threads.to_string());
  }
  copy.source = fields.layout("source");
  copy.destination = fields.layout("destination");
  copy.instruction = fields.optional_text("instruction");
  copy.since = static_cast<int>(fields.optional_integer("since", 0, 1000));
  copy.alignment = static_cast<int>(fields.optional_integer("alignment", 0, 4096));
  copy.modes = static_cast<int>(fields.optional_integer("modes", 0, 5));
  copy.pitch = static_cast<int>(fields.optional_integer("pitch", 0, 4096));
  if (fields.has("swizzle_widths")) copy.swizzle_widths = fields.numbers("swizzle_widths", 16, 128);
  copy.cost = fields.optional_real("cost");
  const std::int64_t bits = copy.bits();
  if (bits < 1 || bits > (1 << 20))
    fields.complain("it copies " + std::to_string(bits) + " bits, not 1 to 2^20");
  check_cover(copy.name, {"source", copy.source, static_cast<int>(bits), 1, false}, threads);
  check_cover(copy.name, {"destination", copy.destination, static_cast<int>(bits), 1, false},
              threads);
  check_operands(copy, fields);
  return copy;
}

}  // namespace lay::sema
