#include "frontend/algebra/inverse_search/lattice_chains.h"

#include <set>

#include "frontend/algebra/integers/lattice.h"
#include "frontend/algebra/support/digest.h"
#include "frontend/algebra/support/interruption.h"

namespace lay {
namespace {

class LatticeChains {
 public:
  using Serves = std::function<bool(const std::vector<int64_t>& extents)>;

  LatticeChains(const std::vector<CutRow>& cuts, int64_t through,
                const std::vector<int64_t>& target, int64_t& steps, const Serves& serves)
      : cuts_(cuts), through_(through), target_(target), steps_(steps), serves_(serves) {}

  bool run() {
    Lattice rows(target_.size());
    rows.add(cuts_[0].row);
    return descend(0, rows);
  }

 private:
  // The chains that go on from the cut `last`, where those so far span `rows`.
  bool descend(size_t last, const Lattice& rows) {
    ask();
    const auto width = static_cast<int64_t>(target_.size());
    steps_ -= width * width;
    if (steps_ < 0) return false;
    const int64_t at = cuts_[last].at;
    if (at >= through_ && rows.has(target_)) return serves_(extents_);
    Digest digest;
    digest.mix(at);
    rows.mix(digest);
    if (!seen_.insert(digest).second) return false;
    std::vector<size_t> next;
    Lattice all = rows;
    for (size_t k = last + 1; k < cuts_.size() && steps_ > 0; ++k) {
      --steps_;
      if (cuts_[k].at % at != 0) continue;
      if (cuts_[k].at < through_ && through_ % cuts_[k].at != 0) continue;
      steps_ -= width;
      if (cuts_[k].at != through_ && rows.has(cuts_[k].row)) continue;  // it adds nothing
      next.push_back(k);
      if (all.has(cuts_[k].row)) continue;
      steps_ -= width * width;
      all.add(cuts_[k].row);
    }
    if (!all.has(target_)) return false;
    for (const size_t k : next) {
      if (at < through_ && cuts_[k].at > through_) break;
      Lattice more = rows;
      more.add(cuts_[k].row);
      extents_.push_back(cuts_[k].at / at);
      if (descend(k, more)) return true;
      extents_.pop_back();
    }
    return false;
  }

  const std::vector<CutRow>& cuts_;
  int64_t through_;
  const std::vector<int64_t>& target_;
  int64_t& steps_;
  const Serves& serves_;
  std::set<Digest> seen_;
  std::vector<int64_t> extents_;
};

}  // namespace

bool each_lattice_chain(const std::vector<CutRow>& cuts, int64_t through,
                        const std::vector<int64_t>& target, int64_t& steps,
                        const std::function<bool(const std::vector<int64_t>& extents)>& serves) {
  return LatticeChains(cuts, through, target, steps, serves).run();
}

}  // namespace lay
