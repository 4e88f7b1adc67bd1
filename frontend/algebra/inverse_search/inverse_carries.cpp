#include "frontend/algebra/inverse_search/inverse_carries.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "frontend/algebra/integers/int.h"
#include "frontend/algebra/integers/polynomial.h"
#include "frontend/algebra/inverse_search/inverse_modular.h"
#include "frontend/algebra/inverse_search/lattice_chains.h"
#include "frontend/algebra/support/digest.h"
#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/refusal.h"

namespace lay {
namespace {

constexpr size_t kMostStrides = 8;
constexpr size_t kMostLinear = 64;     // ways to choose the linear part
constexpr size_t kMostAbove = 1 << 9;  // cuts above the one that carries
constexpr size_t kMostCarriers = 1 << 15;
constexpr size_t kMostShared = 6;  // carries that cuts take away again
constexpr int64_t kAsked = 4096;
constexpr int64_t kMostValue = int64_t{1} << 52;  // so that sums stay within 64 bits

struct Group {
  int64_t stride, most;  // x goes from 0 to most
};

// An entry of the table.
struct Point {
  std::vector<int64_t> x;
  std::vector<std::span<const int64_t>> choices;  // of what each part has in it
};

// What a cut gives at x: sum of whole*x + floor(sum of part*x / cut).
struct Split {
  int64_t cut = 1;
  std::vector<int64_t> whole, part;
  int64_t most = 0;  // the carry where all x are greatest; no other is greater

  int64_t carry(const Point& p) const {
    int64_t sum = 0;
    for (size_t g = 0; g < p.x.size(); ++g) sum += part[g] * p.x[g];
    return sum / cut;
  }
};

// What may be due of a part but for carries: a factor for each x, 0 for those of other parts.
struct Linear {
  std::vector<int64_t> factors;
  int64_t left;  // what is not linear where all x are greatest
};

// Strides of which some sums are others, or one alone.
struct Part {
  std::vector<size_t> groups;
  std::vector<Linear> linear;
  bool has_choice = false;
};

class Carries {
 public:
  using Serves = std::function<bool(const std::vector<int64_t>& extents)>;

  Carries(const ValueTable& table, int64_t& steps, const Serves& serves)
      : table_(table), steps_(steps), serves_(serves) {}

  bool run() {
    if (!find_groups()) return false;
    find_parts();
    find_points();
    for (int64_t cut = 2; cut <= table_.largest() && steps_ > 0 && carriers_.size() < kMostCarriers;
         ++cut) {
      if (cut % kAsked == 0) ask();
      steps_ -= 1;
      split(cut, at_);
      if (at_.most == 0) continue;
      bool any = false;
      for (size_t part = 0; part < parts_.size(); ++part) {
        if (!parts_[part].has_choice) continue;
        for (const Linear& linear : parts_[part].linear) {
          if (!fits(part, linear)) continue;
          carriers_.push_back({at_, part, &linear});
          any = true;
        }
      }
      if (any && choose({}, carriers_.size())) return true;
    }
    return false;
  }

 private:
  struct Carrier {
    Split split;
    size_t part;
    const Linear* linear;
  };

  bool find_groups() {
    for (const auto& [extent, stride, place] : table_.modes()) {
      if (stride < 0) return false;
      const auto same = [step = stride](const Group& group) { return group.stride == step; };
      auto group = std::find_if(groups_.begin(), groups_.end(), same);
      if (group == groups_.end()) group = groups_.insert(groups_.end(), {stride, 0});
      group->most += extent - 1;
    }
    return groups_.size() <= kMostStrides && table_.count() > 0 && table_.largest() < kMostValue;
  }

  std::span<const int64_t> choices_at(int64_t value) const {
    static constexpr int64_t kZero[] = {0};
    if (value == 0) return kZero;
    size_t entry = 0;
    for (size_t step = table_.count(); step > 0; step /= 2) {
      while (entry + step < table_.count() && table_[entry + step].at <= value) entry += step;
    }
    return table_[entry].choices;
  }

  // Whether some steps of one are some of the other.
  static bool meet(const Group& x, const Group& y) {
    const int64_t common = gcd(x.stride, y.stride);
    return y.stride / common <= x.most && x.stride / common <= y.most;
  }

  void find_parts() {
    std::vector<bool> taken(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) {
      if (taken[g]) continue;
      Part part{{g}, {}};
      taken[g] = true;
      for (size_t k = 0; k < part.groups.size(); ++k) {
        for (size_t h = 0; h < groups_.size(); ++h) {
          if (taken[h] || !meet(groups_[part.groups[k]], groups_[h])) continue;
          part.groups.push_back(h);
          taken[h] = true;
        }
      }
      find_linear(part);
      parts_.push_back(std::move(part));
    }
  }

  // No cut carries at a stride by itself: there the linear part is what is due.
  void find_linear(Part& part) const {
    int64_t greatest = 0;
    for (const size_t g : part.groups) greatest += groups_[g].stride * groups_[g].most;
    part.linear = {{std::vector<int64_t>(groups_.size()), choices_at(greatest)[0]}};
    for (const size_t g : part.groups) {
      std::vector<Linear> longer;
      for (const int64_t index : choices_at(groups_[g].stride)) {
        for (const Linear& shorter : part.linear) {
          if (longer.size() == kMostLinear) break;
          longer.push_back(shorter);
          longer.back().factors[g] = index;
          longer.back().left -= index * groups_[g].most;
        }
      }
      part.linear = std::move(longer);
    }
  }

  Point point(size_t entry) {
    Point p{std::vector<int64_t>(groups_.size()), {}};
    const int64_t index = table_[entry].choices[0];
    for (const auto& mode : table_.modes()) {
      for (size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g].stride == mode.stride) p.x[g] += index / mode.place % mode.extent;
      }
    }
    for (Part& part : parts_) {
      int64_t value = 0;
      for (const size_t g : part.groups) value += groups_[g].stride * p.x[g];
      p.choices.push_back(choices_at(value));
      part.has_choice |= p.choices.back().size() > 1;
    }
    return p;
  }

  // Those first that fail soonest: by turns few indices and many, which say what must lie between.
  void find_points() {
    std::vector<size_t> entries(table_.count());
    std::iota(entries.begin(), entries.end(), size_t{0});
    entries = few_of(entries);
    std::stable_sort(entries.begin(), entries.end(), [&](size_t x, size_t y) {
      const size_t of_x = table_[x].choices.size(), of_y = table_[y].choices.size();
      return of_x != of_y ? of_x < of_y : x > y;
    });
    for (size_t low = 0, high = entries.size(); low < high;) {
      points_.push_back(point(entries[low++]));
      if (low < high) points_.push_back(point(entries[--high]));
    }
  }

  void split(int64_t cut, Split& split) const {
    split.cut = cut;
    split.whole.resize(groups_.size());
    split.part.resize(groups_.size());
    int64_t sum = 0;
    for (size_t g = 0; g < groups_.size(); ++g) {
      split.whole[g] = groups_[g].stride / cut;
      split.part[g] = groups_[g].stride - split.whole[g] * cut;
      sum += split.part[g] * groups_[g].most;
    }
    split.most = sum / cut;
  }

  // The carry of the cut, some number of times, gives what is not linear in the part.
  bool fits(size_t part, const Linear& linear) {
    if (linear.left == 0 || linear.left % at_.most != 0) return false;
    const int64_t times = linear.left / at_.most;
    for (const Point& p : points_) {
      --steps_;
      int64_t due = times * at_.carry(p);
      for (const size_t g : parts_[part].groups) due += linear.factors[g] * p.x[g];
      if (!std::binary_search(p.choices[part].begin(), p.choices[part].end(), due)) return false;
    }
    return true;
  }

  bool same_carry(const Split& x, const Split& y) {
    if (x.most != y.most) return false;
    for (const Point& p : points_) {
      --steps_;
      if (x.carry(p) != y.carry(p)) return false;
    }
    return true;
  }

  // One carrier for each part that has a choice, each cut a divisor of the one chosen before it. Of
  // the first `end`.
  bool choose(std::vector<const Carrier*> chosen, size_t end) {
    std::vector<bool> has(parts_.size());
    for (const Carrier* carrier : chosen) has[carrier->part] = true;
    bool all = true;
    for (size_t part = 0; part < parts_.size(); ++part)
      all &= has[part] || !parts_[part].has_choice;
    if (all) return chains_through(chosen);
    for (size_t k = end; k-- > 0 && steps_ > 0;) {
      const Carrier& carrier = carriers_[k];
      if (chosen.empty() && carrier.split.cut != at_.cut) break;
      --steps_;
      if (has[carrier.part] ||
          (!chosen.empty() && chosen.back()->split.cut % carrier.split.cut != 0))
        continue;
      chosen.push_back(&carrier);
      if (choose(chosen, k)) return true;
      chosen.pop_back();
    }
    return false;
  }

  // The cuts that may stand in one chain with the lowest of those chosen, each with a factor for
  // each x and for each carry: those of `carries`, and those that two cuts share and can take away
  // again.
  std::vector<CutRow> cuts_beside(int64_t lowest, const std::vector<const Split*>& carries) {
    std::vector<CutRow> cuts;
    std::map<Digest, std::vector<size_t>> others;  // of the cuts with another carry
    const auto add = [&](int64_t at) {
      Split here;
      split(at, here);
      --steps_;
      cuts.push_back({at, here.whole});
      cuts.back().row.resize(groups_.size() + carries.size());
      if (here.most == 0) return;
      const auto same = [&](const Split* carry) { return same_carry(here, *carry); };
      const auto found = std::find_if(carries.begin(), carries.end(), same);
      if (found != carries.end()) {
        cuts.back().row[groups_.size() + static_cast<size_t>(found - carries.begin())] = 1;
        return;
      }
      Digest digest;
      steps_ -= std::ssize(points_);
      for (const Point& p : points_) digest.mix(here.carry(p));
      others[digest].push_back(cuts.size() - 1);
    };
    std::vector<int64_t> divisors;
    for (int64_t n = 1; n * n <= lowest; ++n) {
      --steps_;
      if (lowest % n != 0) continue;
      divisors.push_back(n);
      if (n > 1 && n * n != lowest) divisors.push_back(lowest / n);
    }
    std::sort(divisors.begin(), divisors.end());
    for (const int64_t cut : divisors) add(cut);
    const size_t most = cuts.size() + kMostAbove;
    for (int64_t cut = lowest; cut <= table_.largest() && cuts.size() < most && steps_ > 0;
         cut += lowest)
      add(cut);

    std::vector<std::vector<size_t>> shared;
    std::set<size_t> left_out;
    for (const auto& [digest, own] : others) {
      left_out.insert(own.begin(), own.end());
      if (own.size() > 1) shared.push_back(own);
    }
    std::stable_sort(shared.begin(), shared.end(),
                     [](const auto& x, const auto& y) { return x.size() > y.size(); });
    if (shared.size() > kMostShared) shared.resize(kMostShared);
    for (CutRow& cut : cuts) cut.row.resize(cut.row.size() + shared.size());
    for (size_t k = 0; k < shared.size(); ++k) {
      for (const size_t which : shared[k]) {
        cuts[which].row[groups_.size() + carries.size() + k] = 1;
        left_out.erase(which);
      }
    }
    std::vector<CutRow> kept;
    for (size_t k = 0; k < cuts.size(); ++k) {
      if (left_out.count(k) == 0) kept.push_back(std::move(cuts[k]));
    }
    return kept;
  }

  bool chains_through(const std::vector<const Carrier*>& chosen) {
    std::vector<const Split*> carries;
    std::vector<int64_t> target(groups_.size());
    for (const Part& part : parts_) {
      if (part.has_choice) continue;
      for (const size_t g : part.groups) target[g] = part.linear[0].factors[g];
    }
    for (const Carrier* carrier : chosen) {
      for (const size_t g : parts_[carrier->part].groups) target[g] = carrier->linear->factors[g];
      const auto same = [&](const Split* carry) { return same_carry(carrier->split, *carry); };
      const auto found = std::find_if(carries.begin(), carries.end(), same);
      const auto which = groups_.size() + static_cast<size_t>(found - carries.begin());
      if (found == carries.end()) {
        carries.push_back(&carrier->split);
        target.push_back(0);
      }
      target[which] += carrier->linear->left / carrier->split.most;
    }
    const int64_t lowest = chosen.back()->split.cut;
    const std::vector<CutRow> cuts = cuts_beside(lowest, carries);
    target.resize(cuts[0].row.size());
    try {
      return each_lattice_chain(cuts, lowest, target, steps_, serves_);
    } catch (const Refusal&) {  // numbers beyond 64 bits
      return false;
    }
  }

  const ValueTable& table_;
  int64_t& steps_;
  const Serves& serves_;
  std::vector<Group> groups_;
  std::vector<Part> parts_;
  std::vector<Point> points_;
  Split at_;  // that is looked at
  std::vector<Carrier> carriers_;
};

}  // namespace

bool each_by_carries(const ValueTable& table, int64_t& steps,
                     const std::function<bool(const std::vector<int64_t>& extents)>& serves) {
  return Carries(table, steps, serves).run();
}

}  // namespace lay
