#include <algorithm>

#include "frontend/algebra/composition/compose.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

using trace::Meeting;  // how s:d meets a mode of extent c

class Meeter {
 public:
  Meeter(Facts& facts, const Int& extent, const Int& count, const Int& step, Undecided undecided)
      : facts_(facts), c_(extent), s_(count), d_(step), undecided_(undecided) {}

  // The three cases of compose_known.cpp, asked of the facts. Where none is proved, guards may
  // decide, in an order that prefers what callers most often mean.
  Meeting meet() {
    if (facts_.proves(stays_inside())) return Meeting::inside;
    // divides(d, c): d is a multiple of c. d is at least c then, but for d == 0, which is handled
    // before.
    if (facts_.proves(divides(d_, c_)) && facts_.proves(less_equal(c_, d_))) return Meeting::over;
    if (facts_.proves(divides(c_, d_))) return meet_dividing();
    // With numbers there is nothing to assume: the table of values decides (compose_table.cpp).
    if (known()) return refuse("composition-stride", {});
    return undecided_ == Undecided::open ? meet_open() : meet_undecided();
  }

  std::string code;
  std::string missing;
  bool chosen = false;

 private:
  bool known() const { return c_.is_literal() && d_.is_literal() && s_.is_literal(); }
  Predicate stays_inside() const { return less((s_ - 1) * d_, c_); }

  Meeting refuse(const char* why, const Predicate& lacking) {
    code = why;
    missing = lacking.is_always() ? "" : lacking.to_string();
    return Meeting::misfit;
  }

  bool guard(const Predicate& predicate) { return facts_.try_require(predicate, "composition"); }

  // In any of the cases the digit here runs over min(s, n) steps, and ceil_div(s, n) steps of
  // ceil_div(d, c) go on, with n = ceil_div(c, d): inside, s <= n; through, n divides s and d
  // divides c; over, n == 1. Which it is stays open.
  Meeting meet_open() {
    const Predicate through = both(divides(c_, d_), divides(s_, facts_.ceil_div(c_, d_)));
    const bool some = guard(either(either(stays_inside(), through), divides(d_, c_)));
    return some ? Meeting::open : refuse("composition-stride", {});
  }

  // d divides c, so n = c/d steps fill the mode: through where n divides s, inside where s <= n.
  Meeting meet_dividing() {
    const Int n = divided(c_, d_);
    if (facts_.proves(divides(s_, n))) return Meeting::through;
    if (n.is_literal() && s_.is_literal()) return refuse("composition-shape", {});
    if (undecided_ == Undecided::open) {
      return guard(either(less_equal(s_, n), divides(s_, n))) ? Meeting::open
                                                              : refuse("composition-shape", {});
    }
    // Both inside and through could hold for other sizes: the caller may come back with the other
    // choice.
    chosen = n.is_literal();
    if (n.is_literal() && undecided_ == Undecided::stays && guard(less_equal(s_, n)))
      return Meeting::inside;
    if (n.is_literal() && guard(divides(s_, n))) return Meeting::through;
    // A literal s is a tile, M/d the rest of a problem: the tile lies inside the mode.
    if (s_.is_literal() && guard(less_equal(s_, n))) return Meeting::inside;
    const Predicate fills = divides(s_, n), fits = less_equal(s_, n);
    // One of the two is ruled out: only the other is asked for.
    if (facts_.proves(negate(fills)) && guard(fits)) return Meeting::inside;
    if (facts_.proves(less_equal(n, s_)) && guard(fills)) return Meeting::through;
    if (facts_.proves(negate(fills)) && facts_.proves(negate(fits)))
      return refuse("composition-shape", {});
    return refuse("undecided", fills);
  }

  // Neither of c and d is known to divide the other. Literal numbers say which case a user means: a
  // literal s and d a tile inside c, a literal c a mode that symbolic steps go over, a literal d a
  // vector that fills a symbolic mode.
  Meeting meet_undecided() {
    if (s_.is_literal() && d_.is_literal() && guard(stays_inside())) return Meeting::inside;
    if (c_.is_literal() && !d_.is_literal() && guard(divides(d_, c_))) return Meeting::over;
    if (d_.is_literal() && !c_.is_literal() && guard(divides(c_, d_))) return meet_dividing();
    if (c_.is_literal() && d_.is_literal()) {
      return guard(stays_inside()) ? Meeting::inside : refuse("composition-stride", {});
    }
    const bool never_over = facts_.proves(negate(divides(d_, c_))),
               never_through = facts_.proves(negate(divides(c_, d_)));
    if (never_over && never_through)
      return guard(stays_inside()) ? Meeting::inside : refuse("composition-stride", {});
    // Which of the two is smaller leaves one case, but for a single step.
    if (facts_.proves(less_equal(c_, d_)) && guard(divides(d_, c_))) return Meeting::over;
    if (facts_.proves(less_equal(d_, c_)) && guard(divides(c_, d_))) return meet_dividing();
    return refuse("undecided", divides(d_, c_));
  }

  Facts& facts_;
  Int c_, s_, d_;
  Undecided undecided_;
};

Tuple scaled(const Int& by, const Tuple& stride) {
  return Tuple::basis(by * stride.value(), stride.path());
}

// The stride that a mode of extent 1 gets. It is never used; this is CuTe's.
Int leftover_step(const std::vector<Mode>& left, Int step) {
  for (size_t i = 0; i + 1 < left.size(); ++i) {
    if (!left[i].extent.is_literal() || !step.is_literal()) continue;
    step = ceil_div(step, left[i].extent);
  }
  return step;
}

}  // namespace

// As `coalesce`, but that the last mode stays, even of extent 1: beyond the size values go on along
// it.
std::vector<Mode> extended_modes(const Facts& facts, const Layout& a) {
  std::vector<Mode> merged;  // last mode first
  const std::vector<Mode> modes = flat_modes(a);
  for (auto mode = modes.rbegin(); mode != modes.rend(); ++mode) {
    if (merged.empty()) {
      merged.push_back(*mode);
    } else if (is_one(facts, mode->extent)) {
      continue;
    } else if (steps_into(facts, mode->extent, mode->stride, merged.back().stride)) {
      merged.back() = {mode->extent * merged.back().extent, mode->stride};
    } else {
      merged.push_back(*mode);
    }
  }
  if (merged.empty()) merged.push_back({1, 0});
  std::reverse(merged.begin(), merged.end());
  return merged;
}

Part compose_mode(Facts& facts, const std::vector<Mode>& left, const Int& count, const Int& step,
                  Undecided undecided) {
  Part part;
  const Tuple& last = left.back().stride;
  const auto take_rest = [&](const Int& s, const Int& d, Meeting meeting, const Tuple& stride) {
    part.modes.push_back({s, stride});
    trace::report(
        [&] { return trace::Meets{meeting, left.back(), s, d, part.modes.back(), {}, {}, {}}; });
  };
  // A broadcast: every coordinate goes to the value at 0.
  if (step.is(0)) {
    take_rest(count, step, Meeting::still, 0);
    return part;
  }
  // One mode has no end to carry at; and a single coordinate, whose stride is never used, goes
  // nowhere.
  if (left.size() == 1 || is_one(facts, count)) {
    take_rest(count, step, Meeting::last, scaled(leftover_step(left, step), last));
    return part;
  }
  Int s = count, d = step;
  for (size_t i = 0; i + 1 < left.size(); ++i) {
    s = facts.simplify(s);
    const Int& c = left[i].extent;
    Meeter meeter(facts, c, s, d, undecided);
    const Meeting meeting =
        facts.try_require(less(0, d), "composition") ? meeter.meet() : Meeting::misfit;
    part.chosen |= meeter.chosen;
    const auto report = [&](const std::optional<Mode>& piece,
                            const std::optional<Mode>& rest = std::nullopt) {
      trace::report([&] {
        return trace::Meets{meeting, left[i], s, d, piece, meeter.code, meeter.missing, rest};
      });
    };
    if (meeting == Meeting::misfit) {
      part.misfit = Misfit{meeter.code.empty() ? "composition-stride" : meeter.code,
                           0,
                           i,
                           c,
                           s,
                           d,
                           meeter.missing,
                           false};
      report(std::nullopt);
      return part;
    }
    //     4:8 through (8,6):(1,100)     goes over 8, and steps by 8/8 = 1 through 6:100
    if (meeting == Meeting::over) {
      report(std::nullopt);
      d = divided(d, c);
      continue;
    }
    // Any case: min(s, n) steps here and ceil_div(s, n) further on, by ceil_div(d, c). One of the
    // two is 1 unless the steps fill the mode.
    if (meeting == Meeting::open) {
      const Int most = facts.ceil_div(c, d), here = facts.min(s, most);
      const Mode rest{facts.ceil_div(s, most), facts.ceil_div(d, c)};
      part.modes.push_back({here, scaled(d, left[i].stride)});
      part.digits.push_back({i, here, d});
      report(part.modes.back(), rest);
      s = rest.extent;
      d = rest.stride.value();
      if (is_one(facts, s)) return part;
      continue;
    }
    //     6:2 through (4,5):(1,10)      2 steps of 2 fill 4, and 3 steps of 1 go on through 5:10
    const Int n = meeting == Meeting::inside ? s : divided(c, d);
    part.modes.push_back({n, scaled(d, left[i].stride)});
    part.digits.push_back({i, n, d});
    report(part.modes.back());
    if (meeting == Meeting::inside) return part;
    s = divided(s, n);
    d = 1;
    if (is_one(facts, s)) return part;
  }
  take_rest(s, d, Meeting::last, scaled(d, last));
  return part;
}

}  // namespace lay
