#include "tests/tile/hopper/proposals.h"

#include <optional>

#include "backend/plan/sm90/sm90_gemm.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/library.h"

namespace lay::test {
namespace {

using plan::GemmForm;
using plan::rows_of_atom;

class Proposer {
 public:
  Proposer(const sema::Kernel& kernel, const GemmForm& form)
      : kernel_(kernel),
        factors_(kernel.loaded(form.a).element),
        sum_(kernel.node(form.contraction).type) {}

  std::vector<sema::Schedule> run() {
    for (const int n : {32, 64, 96, 112, 128, 160, 176, 192, 200, 256})
      if (const auto mma = atom(n)) wide(n, *mma);
    for (const int n : {8, 16, 32})
      if (const auto mma = atom(n)) swapped(n, *mma);
    return std::move(schedules_);
  }

 private:
  // Nothing where there is no instruction for these types and this width.
  std::optional<sema::Atom> atom(int n) const {
    try {
      return sema::library_atom("atoms.sm90", "wgmma", {{"n", n}, {"ab", factors_}, {"acc", sum_}});
    } catch (const Refusal&) {
      return std::nullopt;
    }
  }

  template <class Value>
  sema::ScheduleEntry entry(const char* key, Value value) const {
    return {key, "", value, kernel_.where};
  }

  void add(int m, int n, const sema::Atom& mma, const Tuple& groups, const Tuple& cluster,
           bool swap_ab) {
    // 128 bytes along k: 64 elements of 16 bits, 128 of 8.
    constexpr int span_bits = 1024;  // of a row of shared memory: the widest swizzle
    for (const int spans : {1, 2})
      for (const int stages : {0, 3, 4}) {  // 0: as many as there is room for
        std::vector<sema::ScheduleEntry> entries{
            entry("tile", tuple(m, n, spans * span_bits / bits(factors_))), entry("mma", mma),
            entry("groups", groups), entry("cluster", cluster)};
        if (swap_ab) entries.push_back(entry("swap_ab", Tuple(1)));
        if (stages > 0) entries.push_back(entry("stages", Tuple(stages)));
        schedules_.push_back({"sm90", {}, std::move(entries), kernel_.where});
      }
  }

  void wide(int n, const sema::Atom& mma) {
    struct Consumers {
      int atoms, cooperative, pingpong;  // of 64 rows; consumers of a tile; tiles at once
    };
    // 64, 128 and 256 rows cooperative, 64 and 128 in ping-pong.
    for (const Consumers& of : {Consumers{1, 1, 1}, {2, 2, 1}, {4, 2, 1}, {1, 1, 2}, {2, 1, 2}}) {
      const Tuple groups = tuple(of.cooperative, 1, 1, of.pingpong);
      for (const Tuple& cluster : {tuple(1, 1), tuple(2, 1), tuple(1, 2)})
        add(rows_of_atom * of.atoms, n, mma, groups, cluster, false);
      if (of.pingpong == 1) add(rows_of_atom * of.atoms, n, mma, groups, tuple(1, 1, 2), false);
    }
  }

  // Tiles are named as the instruction sees them: its rows first.
  void swapped(int n, const sema::Atom& mma) {
    for (const int atoms : {1, 2})
      for (const Tuple& cluster : {tuple(1, 1), tuple(1, 1, 2)})
        add(rows_of_atom * atoms, n, mma, tuple(atoms, 1, 1, 1), cluster, true);
  }

  const sema::Kernel& kernel_;
  const ElementType factors_, sum_;
  std::vector<sema::Schedule> schedules_;
};

}  // namespace

std::vector<sema::Schedule> sm90_proposals(const sema::Kernel& kernel, const GemmForm& form) {
  const ElementType factors = kernel.loaded(form.a).element;
  if (kernel.loaded(form.b).element != factors || bits(factors) > 32) return {};
  return Proposer(kernel, form).run();
}

}  // namespace lay::test
