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

}  // namespace

ScheduleEntry schedule_entry(const std::string& key, const std::string& argument,
                             const Value& value, Span where) {
  ScheduleEntry result{key, argument, {}, where};
  if (key == "mma") {
    result.value = atom_entry(value, where);
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
