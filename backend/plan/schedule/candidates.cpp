#include "backend/plan/schedule/candidates.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backend/plan/make.h"
#include "backend/plan/model/model.h"
#include "backend/plan/schedule/fitting.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/algebra/support/overloaded.h"
#include "frontend/sema/stdlib.h"

namespace lay::plan {
namespace {

constexpr Family all_families[] = {
    {"simt", simt_proposals},
    {"sm90", sm90_proposals},
};

sema::KernelPtr with_schedules(const sema::Kernel& kernel, std::vector<sema::Schedule> schedules) {
  auto made = std::make_shared<sema::Kernel>(kernel);
  made->schedules = std::move(schedules);
  return made;
}

// Nothing where the laws refuse the schedule, or no variant of it takes these sizes.
std::optional<Candidate> judged(const sema::Kernel& kernel, const sema::Schedule& schedule,
                                const Binding& sizes, const Target& target) {
  // A proposal goes through the planner as if the script said it: what the laws refuse is dropped,
  // and no candidate is timed that could not be written down.
  Candidate candidate{schedule, make_plan(with_schedules(kernel, {schedule}), target), 0, 0};
  if (!candidate.plan.problems.empty()) return std::nullopt;
  const auto fitting = fitting_variants(candidate.plan, sizes);
  // The plan has the library's variants behind the schedule's: only a variant of the schedule
  // counts.
  const auto found = std::find_if(fitting.begin(), fitting.end(),
                                  [](const Variant* variant) { return variant->schedule.known(); });
  if (found == fitting.end()) return std::nullopt;
  candidate.variant = static_cast<std::size_t>(*found - candidate.plan.variants.data());
  candidate.seconds = predicted_seconds(kernel, **found, sizes, target);
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

}  // namespace

std::span<const Family> families() {
  return all_families;
}

std::vector<Candidate> ranked_candidates(const sema::KernelPtr& kernel, const Binding& sizes,
                                         const Target& target) {
  std::vector<Candidate> candidates;
  const auto form = recognise_coalesced(kernel, facts_of(*kernel));
  const auto* gemm = std::get_if<Gemm>(&form);
  if (!gemm) return candidates;
  // Only products have families that propose. The model ranks all proposals; the caller times the
  // first few.
  for (const Family& family : families())
    for (const sema::Schedule& schedule : family.propose(*gemm->kernel, gemm->form))
      if (auto candidate = judged(*gemm->kernel, schedule, sizes, target))
        candidates.push_back(std::move(*candidate));
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  // Sorted first, so that of equal schedules the one kept is the one predicted the fastest.
  std::set<std::string> known;
  std::erase_if(candidates,
                [&](const Candidate& each) { return !known.insert(identity(each)).second; });
  return candidates;
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
    if (auto made = judged(*kernel, schedule, sizes, target))
      candidates.push_back(std::move(*made));
  }
  return candidates;
}

std::set<std::string> libraries_of(const sema::Schedule& schedule) {
  std::set<std::string> libraries;
  for (const sema::ScheduleEntry& entry : schedule.entries)
    if (const auto* atom = std::get_if<sema::Atom>(&entry.value))
      if (const std::string part = "atoms." + atom->name.substr(0, atom->name.find('.'));
          sema::stdlib_text(part))
        libraries.insert("use " + part);
  return libraries;
}

std::vector<std::string> entry_lines(const sema::Schedule& schedule) {
  std::vector<std::string> lines;
  for (const sema::ScheduleEntry& entry : schedule.entries) {
    const std::string value = std::visit(overloaded{
                                             [](const std::string& text) { return text; },
                                             [](const sema::Atom& atom) { return atom.name; },
                                             [](const auto& other) { return other.to_string(); },
                                         },
                                         entry.value);
    lines.push_back(entry.key + (entry.argument.empty() ? "" : " " + entry.argument) + " = " +
                    value);
  }
  return lines;
}

}  // namespace lay::plan
