#include "frontend/sema/kernel/tuned_rows.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/schedule_entry.h"
#include "frontend/sema/values/record_fields.h"
#include "frontend/source/diagnostic.h"

namespace lay::sema {
namespace {

// The fields that are no entry of the schedule.
constexpr std::array<std::string_view, 9> own_fields = {
    "gpu", "a", "b", "acc", "c", "along", "masked", "any_pitch", "condition"};

// M, N, K and L alone: other names have no value in a kernel.
void require_extents(const Predicate& condition, const RecordFields& fields) {
  constexpr std::array<std::string_view, 4> extents = {"M", "N", "K", "L"};
  std::map<DimId, std::string> dims;
  condition.collect_dims(dims);
  for (const auto& [dim, word] : dims)
    if (std::find(extents.begin(), extents.end(), word) == extents.end())
      fields.complain("its condition speaks of " + word + ", and not of M, N, K and L alone");
}

TunedRow row_of(const std::string& library, const Record& record) {
  const RecordFields fields(record, [&](const std::string& what) {
    throw refusal("file", "the row " + record.name + " of " + library_path(library) + ": " + what);
  });
  TunedRow row;
  row.name = record.name;
  row.of = {fields.text("gpu"),           fields.type("a"), fields.type("b"),
            fields.type("acc"),           fields.type("c"), fields.text("along"),
            fields.truth("masked", false)};
  row.when = fields.of<Predicate>("condition", "a condition");
  require_extents(row.when, fields);
  row.any_pitch = fields.truth("any_pitch", false);
  for (const auto& [field, value] : record.fields) try {
      if (std::find(own_fields.begin(), own_fields.end(), field) == own_fields.end())
        row.entries.push_back(schedule_entry(field, "", value, {}));
    } catch (const DiagnosticError& error) {
      fields.complain(error.diagnostic.message);
    }
  return row;
}

}  // namespace

std::vector<TunedRow> tuned_rows(const std::string& target) {
  std::vector<TunedRow> rows;
  for (const std::string& library : {"user.tuned_" + target, "policies.tuned_" + target}) {
    if (!has_library(library)) continue;
    for (const RecordPtr& record : library_records(library, "rows"))
      rows.push_back(row_of(library, *record));
  }
  return rows;
}

}  // namespace lay::sema
