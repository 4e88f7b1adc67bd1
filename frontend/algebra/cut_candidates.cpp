#include "frontend/algebra/cut_candidates.h"

#include <algorithm>

#include "frontend/algebra/cut_choices.h"
#include "frontend/algebra/int.h"
#include "frontend/algebra/polynomial.h"

namespace lay {
namespace {

constexpr size_t kMostToNarrow = 300;

}  // namespace

Narrowed narrow(const Rest& rest, std::pair<size_t, size_t> pair, const Indices& choices, int64_t index,
                IntegerEquations& equations, std::vector<Difference>& decided, int64_t& steps) {
  const auto [first, second] = pair;
  steps -= static_cast<int64_t>(rest.width * (1 + equations.free().size()));
  if (count(choices) * count(rest.choices[second]) > kMostToNarrow) return Narrowed::no;
  const Line line = Line(rest).between(first, second);
  const auto left = line.all_left_by(equations);
  int64_t factor = 0, modulus = 0;
  for (const int64_t step : left.steps) factor = gcd(factor, step);
  if (factor == 0) return Narrowed::no;
  std::optional<int64_t> one;
  const int64_t base = checked_add(left.value, index);
  for (const int64_t to : listed(rest.choices[second])) {
    for (const int64_t from : listed(choices)) {
      --steps;
      const int64_t difference = checked_sub(to, from);
      if (checked_sub(base, difference) % factor != 0) continue;
      if (one) modulus = gcd(modulus, checked_sub(difference, *one));
      if (!one) one = difference;
      if (modulus == factor) return Narrowed::no;
    }
  }
  if (!one) return Narrowed::to_none;
  if (modulus == 0) {
    if (!line.holds(equations, checked_sub(*one, index))) return Narrowed::to_none;
    decided.push_back({choices ? rest.values[first] : 0, rest.values[second], *one});
    return Narrowed::yes;
  }
  return line.holds_modulo(equations, checked_sub(*one, index), modulus) ? Narrowed::yes : Narrowed::to_none;
}

void Candidates::add(Pair pair, const Indices& choices, int64_t index, const IntegerEquations& equations) {
  steps_ -= static_cast<int64_t>(rest_.width * (1 + equations.free().size()));
  auto left = Line(rest_).between(pair.first, pair.second).all_left_by(equations);
  int64_t factor = 0;
  for (const int64_t step : left.steps) factor = gcd(factor, step);
  if (factor == 0) return;
  const auto first = std::find_if(left.steps.begin(), left.steps.end(), [](int64_t step) { return step != 0; });
  if (*first < 0) factor = -factor;
  for (int64_t& step : left.steps) step /= factor;
  const size_t order = count(choices) * count(rest_.choices[pair.second]);
  added_.push_back({pair, choices, index, std::move(left.steps), checked_add(left.value, index), factor, order});
}

Candidates::Form Candidates::fewest() {
  std::stable_sort(added_.begin(), added_.end(), [](const Added& x, const Added& y) { return x.order < y.order; });
  struct Class {
    const Added* first;
    std::vector<int64_t> numbers;
    std::vector<Pair> pairs;
  };
  std::map<std::vector<int64_t>, Class> classes;
  for (const Added& added : added_) {
    const auto [found, is_new] = classes.try_emplace(added.form, Class{&added, {}, {}});
    Class& own = found->second;
    if (is_new) {
      steps_ -= 8 * static_cast<int64_t>(added.order);
      for (const int64_t difference : differences(added.choices, rest_.choices[added.pair.second])) {
        const int64_t times = checked_sub(added.base, difference);
        if (times % added.factor == 0) own.numbers.push_back(times / added.factor);
      }
      own.pairs.push_back(added.pair);
    } else {
      const size_t before = own.numbers.size();
      std::erase_if(own.numbers, [&](int64_t number) {
        steps_ -= 8 + static_cast<int64_t>(std::min(count(added.choices), count(rest_.choices[added.pair.second])));
        const int64_t difference = checked_sub(added.base, checked_mul(added.factor, number));
        return !any_together(added.choices, rest_.choices[added.pair.second], difference);
      });
      if (own.numbers.size() < before) own.pairs.push_back(added.pair);
    }
    if (own.numbers.empty()) return {added.pair, added.choices, added.index, {}, std::move(own.pairs)};
  }
  const auto least = std::min_element(classes.begin(), classes.end(), [](const auto& x, const auto& y) {
    return x.second.numbers.size() < y.second.numbers.size();
  });
  const Added& first = *least->second.first;
  Form form{first.pair, first.choices, first.index, {}, std::move(least->second.pairs)};
  for (const int64_t number : least->second.numbers) {
    form.differences.push_back(checked_sub(first.base, checked_mul(first.factor, number)));
  }
  return form;
}

}  // namespace lay
