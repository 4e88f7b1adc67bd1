#include "backend/plan/schedule/candidates.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "backend/plan/chosen_copies.h"
#include "backend/plan/gemm_variants.h"
#include "backend/plan/make.h"
#include "backend/plan/model/forecast.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/schedule/library_rows.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/stdlib.h"

namespace lay::plan {
namespace {

// A row of the library as a script would say it, for all sizes.
struct Row {
  sema::Schedule schedule;
  std::optional<Width> accesses;  // that its cost is of
  std::optional<Int> cost;        // over the library's dims, in hundredths of a clock
};

// Accesses are left to the planner, which makes a variant of each width; the one that takes the
// sizes must be of the width that the cost is of.
Row as_row(const std::string& family, const sema::Policy& policy, const sema::Kernel& kernel) {
  Row row{{family, {}, {}, kernel.where}, {}, {}};
  std::vector<Problem> none;
  if (const auto cost = cost_of({family, {}, policy.entries, kernel.where}, none))
    row.cost = cost->value;
  for (const sema::ScheduleEntry& entry : policy.entries) {
    if (is_of_cost(entry)) continue;
    if (const auto* word = std::get_if<std::string>(&entry.value); entry.key == "accesses" && word)
      row.accesses = *word == "\"vectors\"" ? Width::vectors : Width::elements;
    else
      row.schedule.entries.push_back(entry);
  }
  return row;
}

// Returns nothing where the laws refuse the schedule, or no variant of it takes these sizes.
// `cost`: that of the row, which the schedule does not say.
std::optional<Candidate> planned(const sema::Kernel& kernel, const sema::Schedule& schedule,
                                 const Binding& sizes, const Target& target,
                                 std::optional<std::int64_t> cost) {
  auto scheduled = std::make_shared<sema::Kernel>(kernel);
  scheduled->schedules = {schedule};
  // A row goes through the planner as if a script said it: what the laws refuse is dropped, and no
  // candidate is timed that could not be written down.
  Candidate candidate{schedule, make_plan(scheduled, target, Searched::nothing), 0, 0};
  if (!candidate.plan.problems.empty()) return std::nullopt;
  const auto fitting = fitting_variants(candidate.plan, sizes);
  // The plan has the library's variants behind the schedule's: only a variant of the schedule
  // counts.
  const auto found = std::find_if(fitting.begin(), fitting.end(),
                                  [](const Variant* variant) { return variant->schedule.known(); });
  if (found == fitting.end()) return std::nullopt;
  candidate.variant = static_cast<std::size_t>(*found - candidate.plan.variants.data());
  candidate.seconds = expected_seconds(candidate.plan, **found, sizes, target, cost);
  return std::isfinite(candidate.seconds) ? std::optional(std::move(candidate)) : std::nullopt;
}

// Returns the text that tells schedules apart: a number of stages that is left to the planner is
// the one that it takes.
std::string identity(const Candidate& candidate) {
  std::string text;
  for (const std::string& line : entry_lines(candidate.schedule))
    if (!line.starts_with("stages ")) text += line + "\n";
  if (const auto gemm = simt_of(candidate.chosen())) return text + std::to_string(gemm->stages);
  if (const auto gemm = sm80_of(candidate.chosen())) return text + std::to_string(gemm->stages);
  if (const auto gemm = sm90_of(candidate.chosen())) return text + std::to_string(gemm->stages);
  return text;
}

// The library's schedules of one family for a product at some sizes.
class Ranking {
 public:
  Ranking(const Gemm& gemm, std::string family, const Binding& sizes, const Target& target)
      : kernel_(*gemm.kernel),
        family_(std::move(family)),
        sizes_(sizes),
        target_(target),
        facts_(facts_of(kernel_)),
        kind_(product_kind(kernel_, gemm.form, facts_, false, target)) {
    const auto size = sized(product_size(kernel_, gemm.form, target), sizes);
    for (const sema::Policy& policy :
         library_rows(family_, kernel_, gemm.form, facts_, false, target)) {
      Row row = as_row(family_, policy, kernel_);
      // A condition beside a cost says where the schedule has work; of a row without a cost it
      // chooses among rows, and times do that here.
      const auto cost = row.cost && size ? under(*row.cost, *size).evaluate({}) : std::nullopt;
      if (!cost)
        without_cost_.push_back(std::move(row));
      else if (!under(policy.when, *size).is_never())
        priced_.push_back({*cost, std::move(row)});
    }
    if (size)
      for (const sema::SpaceRow& row : sema::library_space(family_, kind_, *size))
        priced_.push_back({row.cost, row});
    std::stable_sort(priced_.begin(), priced_.end(),
                     [](const Priced& a, const Priced& b) { return a.cost < b.cost; });
  }

  // Returns at most `most` that keep the laws, fastest first.
  std::vector<Candidate> candidates(std::size_t most) const {
    // Where the planner refuses so many in a row it refuses the rest, too: to plan all takes long.
    const std::size_t most_tried = 24 + 4 * most;
    std::vector<Candidate> made;
    std::set<std::string> known;
    const auto keep = [&](const Row& row, std::optional<std::int64_t> cost) {
      auto candidate = planned(kernel_, row.schedule, sizes_, target_, cost);
      if (!candidate || (row.accesses && candidate->chosen().accesses != *row.accesses)) return;
      if (known.insert(identity(*candidate)).second) made.push_back(std::move(*candidate));
    };
    // By rising cost, so that of equal schedules the cheapest is kept.
    const std::size_t tried = std::min(most_tried, priced_.size());
    for (std::size_t i = 0; i < tried && made.size() < most; ++i)
      if (const auto row = row_of(priced_[i])) keep(*row, priced_[i].cost);
    if (made.empty())
      for (const Row& row : without_cost_) keep(row, {});
    std::stable_sort(made.begin(), made.end(),
                     [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    if (made.size() > most)
      made.erase(made.begin() + static_cast<std::ptrdiff_t>(most), made.end());
    return made;
  }

 private:
  // Rows of a space are thousands: each is asked for when its turn comes.
  struct Priced {
    std::int64_t cost;
    std::variant<Row, sema::SpaceRow> what;
  };

  std::optional<Row> row_of(const Priced& priced) const {
    if (const auto* row = std::get_if<Row>(&priced.what)) return *row;
    const auto policy = sema::space_policy(family_, kind_, std::get<sema::SpaceRow>(priced.what));
    if (!policy) return std::nullopt;
    return as_row(family_, *policy, kernel_);
  }

  const sema::Kernel& kernel_;
  const std::string family_;
  const Binding& sizes_;
  const Target& target_;
  Facts facts_;
  const sema::ProductKind kind_;
  std::vector<Priced> priced_;
  std::vector<Row> without_cost_;
};

}  // namespace

std::vector<Candidate> ranked_candidates(const sema::KernelPtr& kernel, const Binding& sizes,
                                         std::size_t most, const Target& target) {
  const auto form = recognise_coalesced(kernel, facts_of(*kernel));
  const auto* gemm = std::get_if<Gemm>(&form);
  if (!gemm) return {};
  // In the planner's order.
  for (const char* family : {"sm90", "sm80", "simt"}) {
    if (!takes_form(family, gemm->form) || is_too_new({family, {}, {}, {}}, target)) continue;
    auto candidates = Ranking(*gemm, family, sizes, target).candidates(most);
    if (!candidates.empty()) return candidates;
  }
  return {};
}

// Without a cost of its row: a schedule that was found is planned at other sizes.
std::optional<Candidate> candidate_of(const sema::KernelPtr& kernel, const sema::Schedule& schedule,
                                      const Binding& sizes, const Target& target) {
  return planned(*kernel, schedule, sizes, target, {});
}

std::vector<Candidate> reordered(const sema::KernelPtr& kernel, const Candidate& candidate,
                                 const Binding& sizes, const Target& target) {
  std::vector<Candidate> candidates;
  for (const int rows :
       {4, 11, 16}) {  // eight is usual; eleven divides the pairs of blocks of a Hopper
    sema::Schedule schedule = candidate.schedule;
    std::erase_if(schedule.entries, [](const sema::ScheduleEntry& each) {
      return each.key == "rasterization" || each.key == "group_m";
    });
    schedule.entries.push_back({"group_m", "", Tuple(rows), kernel->where});
    if (auto made = planned(*kernel, schedule, sizes, target, {})) {
      made->seconds = candidate.seconds;
      candidates.push_back(std::move(*made));
    }
  }
  return candidates;
}

std::set<std::string> libraries_of(const sema::Schedule& schedule) {
  std::set<std::string> libraries;
  const auto use = [&](const std::string& name) {
    const std::string part = "atoms." + name.substr(0, name.find('.'));
    if (sema::stdlib_text(part)) libraries.insert("use " + part);
  };
  for (const sema::ScheduleEntry& entry : schedule.entries) {
    if (const auto* atom = std::get_if<sema::Atom>(&entry.value)) use(atom->name);
    if (const auto* copies = std::get_if<std::vector<sema::CopyInstruction>>(&entry.value))
      for (const sema::CopyInstruction& each : *copies) use(each.name);
  }
  return libraries;
}

std::vector<std::string> entry_lines(const sema::Schedule& schedule) {
  std::vector<std::string> lines;
  for (const sema::ScheduleEntry& entry : schedule.entries) {
    const std::string value = std::visit(
        overloaded{
            [](const std::string& text) { return text; },
            [](const sema::Atom& atom) { return atom.name; },
            [](const std::vector<sema::CopyInstruction>& copies) { return copies_text(copies); },
            [](const auto& other) { return other.to_string(); },
        },
        entry.value);
    lines.push_back(entry.key + (entry.argument.empty() ? "" : " " + entry.argument) + " = " +
                    value);
  }
  return lines;
}

}  // namespace lay::plan
