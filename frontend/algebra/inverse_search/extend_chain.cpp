#include <algorithm>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/linear_forms.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/difference_candidates.h"
#include "frontend/algebra/inverse_search/upper_table.h"
#include "frontend/algebra/support/interruption.h"

namespace lay {
namespace {

constexpr int64_t kStepsToBegin = 64;
constexpr size_t kMostToNarrow = 300;
constexpr size_t kMostToGather = 1 << 12;

// The plans to decide what the values of each part above a mode of extent n differ by. Equations
// leave many of the differences one value. Among the others, the one with fewest candidates is
// tried with each, and then others follow.
class Branches {
 public:
  Branches(const UpperTable& rest, int64_t n, int64_t& steps, size_t few,
           const std::function<bool(UpperTable)>& take)
      : rest_(rest), n_(n), steps_(steps), few_(few), take_(take) {}

  // Entries with one part above the new mode differ by digits of it and of the modes below alone,
  // so their differences are equations without the strides above. For entries with one index these
  // are required at once; those with several stay open.
  bool run() {
    group();
    State state{forms(), {}, {}, rest_.decided};
    for (const Group& group : groups_) {
      for (size_t i = group.begin; i < group.end; ++i) {
        if (i == group.first || !rest_.is_chosen(i)) continue;
        if (!require(state, form_[i], 0)) return false;
      }
      if (group.slot == kNone) continue;
      state.slots.push_back({group.first, rest_.choices[group.first], 0});
      for (size_t i = group.begin; i < group.end; ++i) {
        if (i != group.first && !rest_.is_chosen(i)) state.open.push_back({i, group.slot});
      }
    }
    return decide(std::move(state));
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  // Entries of one part above the mode. The first stands for all: one that is chosen, if any is.
  struct Group {
    size_t begin, end, first;
    size_t slot;  // where there is a choice between several
  };
  struct Slot {
    size_t first;
    Indices choices;
    int64_t index;  // without choices: the one chosen
  };
  struct Open {
    size_t entry, slot;  // not yet compared with the first of its part
  };
  struct State {
    LinearForms
        forms;  // by how much more of what is chosen an entry has than the first of its part
    std::vector<Slot> slots;
    std::vector<Open> open;
    std::vector<Difference> decided;
  };

  // Entries are sorted by value: those with one part are neighbours.
  void group() {
    form_.assign(rest_.at.size(), kNone);
    size_t forms = 0, slots = 0;
    for (size_t begin = 0; begin < rest_.at.size();) {
      Group group{begin, begin + 1, begin, kNone};
      const int64_t part = part_of(begin);
      while (group.end < rest_.at.size() && part_of(group.end) == part) ++group.end;
      bool open = false;
      for (size_t i = group.end; i-- > begin;) {
        if (rest_.is_chosen(i)) group.first = i;
        open |= !rest_.is_chosen(i);
      }
      if (group.end - begin > 1) {
        if (open) group.slot = slots++;
        for (size_t i = begin; i < group.end; ++i) {
          if (i != group.first) form_[i] = forms++;
        }
      }
      groups_.push_back(group);
      begin = group.end;
    }
    count_ = forms;
    steps_ -= static_cast<int64_t>(rest_.at.size() + forms * rest_.width);
  }

  LinearForms forms() const {
    LinearForms forms(rest_.width, count_);
    std::vector<int64_t> factors(rest_.width);
    for (const Group& group : groups_) {
      const int64_t* from = rest_.of(group.first);
      for (size_t i = group.begin; i < group.end; ++i) {
        if (i == group.first) continue;
        const int64_t* to = rest_.of(i);
        // Column 0 holds constants, the others are factors of unknown strides of the modes below;
        // the digit of the new mode is value modulo n, whose difference is that of the values.
        for (size_t k = 1; k < rest_.width; ++k) factors[k - 1] = checked_sub(from[k], to[k]);
        factors.back() = checked_sub(rest_.at[i], rest_.at[group.first]);
        forms.set(form_[i], checked_sub(from[0], to[0]), factors);
      }
    }
    return forms;
  }

  int64_t part_of(size_t i) const { return n_ == 0 ? 0 : rest_.at[i] / n_; }

  bool require(State& state, size_t form, int64_t value) {
    steps_ -= state.forms.cost();
    return state.forms.require(form, value);
  }

  // The choices of one part go together where the equations leave one number for what they differ
  // by. False if they cannot.
  // An entry whose difference is one number shares a choice with the first of its part: of the
  // indices of both those stay that differ by it.
  bool join_all(State& state) {
    size_t kept = 0;
    for (const Open& open : state.open) {
      steps_ -= static_cast<int64_t>(1 + state.forms.free() / 4);
      if (state.forms.factor(form_[open.entry]) == 0) {
        Slot& slot = state.slots[open.slot];
        steps_ -= static_cast<int64_t>(count(slot.choices));
        if (!join(slot, open.entry, state.forms.value(form_[open.entry]), state.decided))
          return false;
      } else {
        state.open[kept++] = open;
      }
    }
    state.open.resize(kept);
    return true;
  }

  // Requires what all numbers have in common that an entry may differ by from the first of its
  // part: one number, or one up to a multiple.
  enum class Narrowed : uint8_t { no, yes, to_none };
  // Narrows the differences that indices allow and equations do not contradict: none ends the
  // branch; one becomes an equation; several that are equal modulo m become an equation modulo m.
  Narrowed narrow(State& state, const Open& open) {
    const Slot& slot = state.slots[open.slot];
    const Indices& to = rest_.choices[open.entry];
    steps_ -= static_cast<int64_t>(1 + state.forms.free() / 4);
    if (count(slot.choices) * count(to) > kMostToNarrow) return Narrowed::no;
    const size_t form = form_[open.entry];
    const int64_t factor = state.forms.factor(form), offset = slot.choices ? 0 : slot.index;
    if (factor == 0) return Narrowed::no;
    const int64_t base = checked_add(state.forms.value(form), offset);
    std::optional<int64_t> one;
    int64_t modulus = 0;
    for (const int64_t second : listed(to)) {
      for (const int64_t first : listed(slot.choices)) {
        --steps_;
        const int64_t difference = checked_sub(second, first);
        if (factor != 1 && checked_sub(base, difference) % factor != 0) continue;
        if (one) modulus = gcd(modulus, checked_sub(difference, *one));
        if (!one) one = difference;
        // The equations know as much: the form steps by multiples of `factor` anyway.
        if (modulus == factor) return Narrowed::no;
      }
    }
    if (!one) return Narrowed::to_none;
    if (modulus != 0) {
      steps_ -= state.forms.cost();
      return state.forms.require_modulo(form, checked_sub(*one, offset), modulus)
                 ? Narrowed::yes
                 : Narrowed::to_none;
    }
    if (!require(state, form, checked_sub(*one, offset))) return Narrowed::to_none;
    state.decided.push_back(
        {slot.choices ? rest_.values[slot.first] : 0, rest_.values[open.entry], *one});
    return Narrowed::yes;
  }

  // Both, until neither says more.
  bool narrow_all(State& state) {
    while (true) {
      if (!join_all(state)) return false;
      bool narrower = false;
      for (const Open& open : state.open) {
        const Narrowed narrowed = narrow(state, open);
        if (narrowed == Narrowed::to_none) return false;
        narrower |= narrowed == Narrowed::yes;
      }
      if (!narrower) return true;
      if (steps_ < 0) return false;
    }
  }

  bool decide(State state) {
    ask();
    if (!narrow_all(state)) return false;
    // Everything is decided: the table above the mode goes to the caller, which adds boundaries to
    // it.
    if (state.open.empty()) return take_(rest_above(state));
    // Nothing follows any more: one difference is tried with each of its candidates, the one with
    // fewest.
    Candidates candidates(rest_, steps_);
    steps_ -= static_cast<int64_t>(kStepsToBegin + state.open.size() * (8 + state.forms.free()));
    for (size_t k = 0; k < state.open.size(); ++k) {
      const auto& [entry, slot] = state.open[k];
      const Slot& own = state.slots[slot];
      candidates.add({own.first, entry}, own.choices, own.choices ? 0 : own.index,
                     left_of(state.forms, entry));
      if (k == 0 || state.open[k - 1].slot != slot) continue;
      const size_t before = state.open[k - 1].entry;
      auto left = left_of(state.forms, entry);
      const auto less = left_of(state.forms, before);
      left.value = checked_sub(left.value, less.value);
      for (size_t f = 0; f < left.steps.size(); ++f)
        left.steps[f] = checked_sub(left.steps[f], less.steps[f]);
      candidates.add({before, entry}, rest_.choices[before], 0, std::move(left));
    }
    const auto fewest = candidates.fewest(few_, kMostToGather);
    // Too many ways: the differences stay open, and the boundaries above may settle them.
    if (!fewest || fewest->differences.size() > few_) return take_(rest_above(state));
    const auto [first, second] = fewest->pair;
    const bool one = !fewest->choices;
    for (const int64_t difference : fewest->differences) {
      if (steps_ < 0) return false;
      State next = state;
      steps_ -= static_cast<int64_t>(kStepsToBegin + state.open.size());
      steps_ -= state.forms.cost();
      const int64_t more = checked_sub(difference, fewest->index);
      const bool holds = form_[first] == kNone
                             ? next.forms.require(form_[second], more)
                             : next.forms.require_difference(form_[second], form_[first], more);
      if (!holds) continue;
      next.decided.push_back({one ? 0 : rest_.values[first], rest_.values[second], difference});
      if (decide(std::move(next))) return true;
    }
    return false;
  }

  IntegerEquations::Left left_of(const LinearForms& forms, size_t entry) const {
    IntegerEquations::Left left{forms.value(form_[entry]), {}};
    left.steps.reserve(forms.free());
    for (size_t k = 0; k < forms.free(); ++k) left.steps.push_back(forms.step(k, form_[entry]));
    return left;
  }

  // The part's first goes with those choices of i that are `difference` more. False if there are
  // none.
  bool join(Slot& slot, size_t i, int64_t difference, std::vector<Difference>& decided) {
    if (!slot.choices) {
      const auto& choices = *rest_.choices[i];
      return std::binary_search(choices.begin(), choices.end(),
                                checked_add(slot.index, difference));
    }
    slot.choices = together(slot.choices, rest_.choices[i], difference);
    if (slot.choices->empty()) return false;
    if (slot.choices->size() > 1) return true;
    slot.index = slot.choices->front();
    slot.choices = nullptr;
    decided.push_back({0, rest_.values[slot.first], slot.index});
    return true;
  }

  UpperTable rest_above(const State& state) {
    const LinearForms& forms = state.forms;
    UpperTable next;
    next.at.clear(), next.values.clear(), next.choices.clear(), next.numbers.clear();
    next.width = 1 + forms.free();
    next.stride = forms.particular()[rest_.width - 1];
    for (size_t k = 0; k < forms.free(); ++k) {
      if (forms.free(k)[rest_.width - 1] != 0) next.stride.reset();
    }
    auto open = state.open.begin();
    for (const Group& group : groups_) {
      const bool has_slot = group.slot != kNone;
      const Slot* slot = has_slot ? &state.slots[group.slot] : nullptr;
      add(next, group.first, slot ? slot->choices : rest_.choices[group.first],
          slot ? slot->index : 0, forms);
      for (; has_slot && open != state.open.end() && open->slot == group.slot; ++open) {
        add(next, open->entry, rest_.choices[open->entry], 0, forms);
      }
    }
    steps_ -= static_cast<int64_t>(next.at.size() * next.width * rest_.width / 4);
    next.decided = state.decided;
    return next;
  }

  // Adds what the equations leave of the numbers of an entry, with `more` on top.
  void add(UpperTable& next, size_t i, const Indices& choices, int64_t more,
           const LinearForms& forms) const {
    next.at.push_back(part_of(i));
    next.values.push_back(rest_.values[i]);
    next.choices.push_back(choices);
    const int64_t* numbers = rest_.of(i);
    const int64_t digit = n_ == 0 ? rest_.at[i] : rest_.at[i] % n_;
    const auto sum = [&](const int64_t* unknowns, int64_t start) {
      for (size_t k = 1; k < rest_.width; ++k) {
        if (unknowns[k - 1] != 0)
          start = checked_add(start, checked_mul(unknowns[k - 1], numbers[k]));
      }
      return digit == 0 ? start : checked_sub(start, checked_mul(unknowns[rest_.width - 1], digit));
    };
    next.numbers.push_back(sum(forms.particular(), checked_add(numbers[0], more)));
    for (size_t k = 0; k < forms.free(); ++k) next.numbers.push_back(sum(forms.free(k), 0));
  }

  const UpperTable& rest_;
  int64_t n_;
  int64_t& steps_;
  size_t few_;
  const std::function<bool(UpperTable)>& take_;
  std::vector<Group> groups_;
  std::vector<size_t> form_;  // of each entry that does not stand for its part
  size_t count_ = 0;
};

}  // namespace

bool each_above(const UpperTable& rest, int64_t n, int64_t& steps, size_t few,
                const std::function<bool(UpperTable)>& take) {
  steps -= kStepsToBegin;
  return Branches(rest, n, steps, few, take).run();
}

}  // namespace lay
