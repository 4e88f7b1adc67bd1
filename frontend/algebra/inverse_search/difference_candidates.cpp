#include "frontend/algebra/inverse_search/difference_candidates.h"

#include <algorithm>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/upper_table.h"

namespace lay {
namespace {

// Once a form with few candidates is known, others with more pairs of indices are not looked at.
constexpr size_t kMostAfterEnough = 64;

}  // namespace

void Candidates::add(Pair pair, const Indices& choices, int64_t index,
                     IntegerEquations::Left left) {
  steps_ -= static_cast<int64_t>(1 + left.steps.size());
  // Forms that are multiples of one another are one class: divided by their common factor, with the
  // first step above 0.
  int64_t factor = 0;
  for (const int64_t step : left.steps) factor = gcd(factor, step);
  // The equations already say what this pair differs by.
  if (factor == 0) return;
  const auto first =
      std::find_if(left.steps.begin(), left.steps.end(), [](int64_t step) { return step != 0; });
  if (*first < 0) factor = -factor;
  for (int64_t& step : left.steps) step /= factor;
  const size_t order = count(choices) * count(rest_.choices[pair.second]);
  added_.push_back(
      {pair, choices, index, std::move(left.steps), checked_add(left.value, index), factor, order});
}

// The forms, those first whose pairs leave fewer differences to look at.
std::vector<Candidates::Class> Candidates::classes() const {
  std::map<std::span<const int64_t>, size_t, Lexicographic> known;
  std::vector<Class> all;
  for (const Added& added : added_) {
    const auto [found, is_new] = known.try_emplace(added.form, all.size());
    if (is_new) all.emplace_back();
    all[found->second].members.push_back(&added);
  }
  const auto smaller = [](const Added* x, const Added* y) { return x->order < y->order; };
  for (Class& own : all) std::stable_sort(own.members.begin(), own.members.end(), smaller);
  std::stable_sort(all.begin(), all.end(), [&](const Class& x, const Class& y) {
    return smaller(x.members[0], y.members[0]);
  });
  return all;
}

// Gathers the numbers that the form may be, and the pairs that say so.
void Candidates::gather(Class& own) {
  for (const Added* added : own.members) {
    const Indices& to = rest_.choices[added->pair.second];
    if (own.pairs.empty()) {
      steps_ -= 8 * static_cast<int64_t>(added->order);
      for (const int64_t difference : differences(added->choices, to)) {
        const int64_t times = checked_sub(added->base, difference);
        if (times % added->factor == 0) own.numbers.push_back(times / added->factor);
      }
      own.pairs.push_back(added->pair);
    } else {
      const size_t before = own.numbers.size();
      // Each further pair of the class must have the same number, or the candidate goes.
      std::erase_if(own.numbers, [&](int64_t number) {
        steps_ -= 8 + static_cast<int64_t>(std::min(count(added->choices), count(to)));
        return !any_together(added->choices, to,
                             checked_sub(added->base, checked_mul(added->factor, number)));
      });
      if (own.numbers.size() < before) own.pairs.push_back(added->pair);
    }
    if (own.numbers.empty() || steps_ < 0) return;
  }
}

// As in constraint search: to branch on what has fewest values left keeps the tree narrow.
std::optional<Candidates::Form> Candidates::fewest(size_t enough, size_t most) {
  std::vector<Class> all = classes();
  const Class* least = nullptr;
  for (Class& own : all) {
    const size_t order = own.members[0]->order;
    if (order > most || (least && least->numbers.size() <= enough && order > kMostAfterEnough))
      break;
    gather(own);
    if (!least || own.numbers.size() < least->numbers.size()) least = &own;
    if (least->numbers.empty()) break;
  }
  if (!least) return std::nullopt;
  const Added& first = *least->members[0];
  Form form{first.pair, first.choices, first.index, {}, least->pairs};
  for (const int64_t number : least->numbers) {
    form.differences.push_back(checked_sub(first.base, checked_mul(first.factor, number)));
  }
  return form;
}

}  // namespace lay
