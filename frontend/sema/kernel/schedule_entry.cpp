#include "frontend/sema/kernel/schedule_entry.h"

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/session.h"

namespace lay::sema {
namespace {

// The value of `mma`, which is a multiply-add.
Atom atom_entry(const Value& value, Span where) {
  const auto* record = value.as<RecordPtr>();
  if (!record) {
    const auto* maker = value.as<RecordMakerPtr>();
    fail("not-an-atom", "`mma` takes a multiply-add, not " + kind_name(value), where, {},
         {{"help",
           maker ? "give its parameters, as in sm90.wgmma(n = 256, ab = bf16, acc = f32)"
                 : "a record of the library, as in sm90.wgmma(n = 256, ab = bf16, acc = f32)"}});
  }
  try {
    return atom_of(**record);
  } catch (const Refusal& refusal) {
    throw DiagnosticError(to_diagnostic(refusal, where, {}));
  }
}

// The value of `copies`: a copy, or several.
std::vector<CopyInstruction> copies_entry(const Value& value, Span where) {
  const auto copy = [&](const Value& each) {
    const auto* record = each.as<RecordPtr>();
    if (!record)
      fail("not-an-atom", "`copies` takes copy instructions, not " + kind_name(each), where, {},
           {{"help", "records of the library, as in (sm75.ldmatrix(n = 2), stmatrix(n = 2))"}});
    try {
      return copy_of(**record);
    } catch (const Refusal& refusal) {
      throw DiagnosticError(to_diagnostic(refusal, where, {}));
    }
  };
  std::vector<CopyInstruction> copies;
  if (const auto* list = value.as<ListPtr>()) {
    for (const Value& each : (*list)->elements) copies.push_back(copy(each));
  } else {
    copies.push_back(copy(value));
  }
  return copies;
}

}  // namespace

ScheduleEntry schedule_entry(const std::string& key, const std::string& argument,
                             const Value& value, Span where) {
  ScheduleEntry result{key, argument, {}, where};
  if (key == "mma") {
    result.value = atom_entry(value, where);
  } else if (key == "copies" && argument.empty()) {
    result.value = copies_entry(value, where);
  } else if (const auto* t = value.as<Tuple>()) {
    result.value = *t;
  } else if (const auto* l = value.as<Layout>()) {
    result.value = *l;
  } else if (const auto* c = value.as<Composed>()) {
    result.value = *c;
  } else {
    result.value = text(value);
  }
  return result;
}

void require_in_elements(const std::string& what, const Units& units, ElementType type,
                         Span place) {
  const Counts takes = units.domain.counts, gives = units.codomain.counts;
  const bool coordinates = takes == Counts::none || takes == Counts::coordinates;
  if (coordinates && may_meet(units.codomain, elements_of(type))) return;
  fail("units",
       what + " maps " + (takes == Counts::none ? "coordinates" : units.domain.to_string()) +
           " to " + (gives == Counts::none ? "offsets" : units.codomain.to_string()),
       place, {},
       {{"help", "recast(L, from, to) converts a layout of one element type to another"}});
}

}  // namespace lay::sema
