#include <algorithm>
#include <map>

#include "frontend/algebra/composition/compose.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

void check_units(const Layout& a, const Layout& b) {
  const Unit &takes = a.units.domain, &gives = b.units.codomain;
  if (may_meet(takes, gives)) return;
  throw refusal(
      "units",
      "the left side takes " + takes.to_string() + " and the right side gives " + gives.to_string(),
      "recast converts between element types and bytes");
}

// Composes the leaves of b one by one. Leaves with integer strides go through all of a, those with
// a basis path through the mode of a that the path names; carries are counted for each path by
// itself.
class Composer {
 public:
  Composer(Facts& facts, const Layout& a, Undecided undecided)
      : facts_(facts), a_(a), undecided_(undecided) {}

  Layout run(const Layout& b) {
    if (b.shape.is_leaf()) return leaf(b.shape.value(), b.stride, 0);
    std::vector<Layout> modes;
    for (int i = 0; i < b.rank(); ++i) modes.push_back(compose(b.shape[i], b.stride[i], i));
    check_carries();
    return make_layout(modes);
  }

  std::optional<Misfit> misfit() const {
    auto misfit = misfit_;
    if (misfit) misfit->chosen = chosen_;
    return misfit;
  }

 private:
  struct Used {
    Digit digit;
    int right_mode;
  };
  struct Path {
    std::vector<Mode> left;
    std::vector<Used> used;
    bool steps_up = false;  // by a leaf of extent 2 or more
    bool steps_down = false;
    int last_mode = 0;  // of the right side
  };

  Layout compose(const Tuple& shape, const Tuple& stride, int right_mode) {
    if (shape.is_leaf()) return leaf(shape.value(), stride, right_mode);
    std::vector<Layout> modes;
    for (int i = 0; i < shape.rank(); ++i)
      modes.push_back(compose(shape[i], stride[i], right_mode));
    return make_layout(modes);
  }

  Path& path_of(const std::vector<int>& path) {
    const auto found = paths_.find(path);
    if (found != paths_.end()) return found->second;
    Path& fresh = paths_[path];
    fresh.left = extended_modes(facts_, get(a_, path));
    trace::report([&] { return trace::LeftSide{path, fresh.left}; });
    return fresh;
  }

  Layout leaf(const Int& count, const Tuple& stride, int right_mode) {
    Path& path = path_of(stride.path());
    trace::report([&] { return trace::Walk{count, stride, right_mode}; });
    // The sign of a symbol is not looked at here: `compose_downwards` tries a whole right side
    // mirrored.
    const bool down = stride.value().is_literal() && stride.value().value() < 0;
    Part part =
        compose_mode(facts_, path.left, count, down ? -stride.value() : stride.value(), undecided_);
    chosen_ |= part.chosen;
    if (down) mirror(part);
    path.last_mode = right_mode;
    if (!count.is(1) && !stride.value().is(0)) (down ? path.steps_down : path.steps_up) = true;
    if (part.misfit) {
      // The first misfit is kept, and the walk goes on, so that `explain` shows every mode.
      if (!misfit_) misfit_ = part.misfit, misfit_->right_mode = right_mode;
      return Layout(count, 0);
    }
    for (const Digit& digit : part.digits) path.used.push_back({digit, right_mode});
    return from_modes(part.modes, {});
  }

  static void mirror(Part& part) {
    for (Mode& mode : part.modes)
      mode.stride = Tuple::basis(-mode.stride.value(), mode.stride.path());
  }

  // Together the leaves must stay below the extent of every mode of the left side but the last.
  void check_carries() {
    for (auto& [name, path] : paths_) {
      // Steps up and down together borrow from modes in between: left to the table of values.
      if (path.steps_up && path.steps_down && path.left.size() > 1 && !misfit_) {
        misfit_ =
            Misfit{"composition-carry", path.last_mode, 0, path.left[0].extent, 0, -1, {}, false};
      }
      for (size_t mode = 0; mode + 1 < path.left.size() && !misfit_; ++mode)
        check_carry(path, mode);
    }
  }

  // Each leaf alone stays inside the mode, or fills it. Two leaves that both step through it may
  // together reach its end: (2,2):(1,3) through (4,..) reaches 1 + 3 = 4.
  void check_carry(const Path& path, size_t mode) {
    Int reach = 0;
    const Used* last = nullptr;
    int users = 0;
    for (const Used& used : path.used) {
      if (used.digit.mode != mode) continue;
      reach += (used.digit.extent - 1) * used.digit.step;
      last = &used;
      ++users;
    }
    // One leaf alone was checked by compose_mode.
    if (users < 2) return;
    const bool stays = facts_.try_require(less(reach, path.left[mode].extent), "composition");
    trace::report([&] { return carry(path, mode, reach, stays); });
    if (stays) return;
    misfit_ = Misfit{"composition-carry", last->right_mode, mode, path.left[mode].extent,
                     last->digit.extent,  last->digit.step, {},   false};
  }

  static trace::Carry carry(const Path& path, size_t mode, const Int& reach, bool stays) {
    std::vector<Int> reaches;
    for (const Used& used : path.used) {
      if (used.digit.mode == mode) reaches.push_back((used.digit.extent - 1) * used.digit.step);
    }
    return {path.left[mode], reaches, reach, stays};
  }

  Facts& facts_;
  const Layout& a_;
  Undecided undecided_;
  bool chosen_ = false;  // a case was taken that could have been another
  std::map<std::vector<int>, Path> paths_;
  std::optional<Misfit> misfit_;
};

// Returns true if a known layout has at most as many values as compose_by_table compares.
bool few_values(const Layout& b) {
  int64_t n = 1;
  for (const Mode& mode : flat_modes(b)) {
    if (__builtin_mul_overflow(n, mode.extent.value(), &n) || n > (int64_t{1} << 20)) return false;
  }
  return true;
}

// By what is known with the guards raised on the way.
Layout simplified(const Facts& facts, const Layout& a) {
  const auto simple = [&](const Tuple& leaf) {
    return leaf.value().is_literal() ? leaf
                                     : Tuple::basis(facts.simplify(leaf.value()), leaf.path());
  };
  return Layout(transform(a.shape, simple), transform(a.stride, simple), a.units);
}

// Several modes that all step down: what is below 0 mirrors what is above.
// A leaf that steps down by a symbol, or several leaves of which none steps up.
bool steps_down(const Facts& facts, const Layout& b) {
  bool down = false;
  for (const Mode& mode : flat_modes(b)) {
    if (!mode.stride.is_int()) return false;
    const Int& stride = mode.stride.value();
    if (stride.is(0)) continue;
    down = true;
    if (!(stride.is_literal() ? stride.value() < 0 : facts.proves(less_equal(stride, 0))))
      return false;
  }
  return down;
}

Layout mirrored(const Layout& a) {
  const auto negated = [](const Tuple& leaf) { return Tuple::basis(-leaf.value(), leaf.path()); };
  return Layout(a.shape, transform(a.stride, negated), a.units, a.names);
}

// -(a o -b), where that has a form.
// Below 0 the left side is its mirror image, a(-i) == -a(i), so all of b can be turned upwards.
std::optional<Layout> compose_downwards(Facts& facts, const Layout& a, const Layout& b) {
  trace::Derivation* const listener = trace::listener;
  trace::Derivation attempted;
  try {
    const trace::Listening listening(listener ? &attempted : nullptr);
    GuardScope scope = GuardScope::attempt(facts);
    Layout result = mirrored(composition(facts, a, mirrored(b)));
    scope.keep();
    if (listener) listener->append(std::move(attempted));
    return result;
  } catch (const Refusal&) {
    return std::nullopt;  // said of b itself
  }
}

}  // namespace

Layout composition(Facts& facts, const Layout& a, const Layout& b) {
  check_units(a, b);
  // A right side that says nothing of its units rearranges what the left side takes.
  // A reshape such as (4,2):(2,1) rearranges coordinates that the left side takes; what the result
  // takes then is what the left side took.
  const bool rearranges = b.units == Units{};
  const Units units{rearranges ? a.units.domain : b.units.domain, a.units.codomain};
  // Modes are parts of the right side's modes; those of a tile without names, of the one mode that
  // it tiles.
  const auto give_units_and_names = [&](Layout& result) {
    result.units = units;
    if (b.names)
      result.names = refined_names(result.shape, b);
    else if (a.names)
      result.names = same_names(result.shape, only_name(a));
  };
  // The fast way says nothing of its steps, so it is not taken while `explain` listens.
  if (!trace::heard()) {
    if (auto known = compose_known(a, b)) {
      give_units_and_names(*known);
      return std::move(*known);
    }
  }
  trace::Operation operation("composition", a, b);
  const bool known = a.is_known() && b.is_known();
  if (!known && steps_down(facts, b)) {
    if (auto downwards = compose_downwards(facts, a, b))
      return operation.gives(std::move(*downwards));
  }
  std::optional<Misfit> misfit;
  trace::Derivation* const listener = trace::listener;
  trace::Derivation
      told;  // of the first attempt that meets what no case avoids, where none succeeds
  // Each attempt raises guards of its own, which go with it where it fails. `open` comes last: its
  // result has minima and quotients for extents.
  for (const Undecided undecided : {Undecided::fills, Undecided::stays, Undecided::open}) {
    // Where no case was chosen another attempt would meet the same misfit.
    if (misfit && (known || (!misfit->chosen && misfit->code != "undecided"))) break;
    trace::Derivation attempted;
    std::optional<Layout> result;
    {
      const trace::Listening listening(listener ? &attempted : nullptr);
      GuardScope scope = GuardScope::attempt(facts);
      Composer composer(facts, a, undecided);
      Layout composed = composer.run(b);
      if (const auto lacking = composer.misfit()) {
        if (!misfit || misfit->code == "undecided") misfit = lacking, told = std::move(attempted);
        continue;
      }
      result = known ? std::move(composed) : simplified(facts, composed);
      scope.keep();
    }
    give_units_and_names(*result);
    if (listener) listener->append(std::move(attempted));
    return operation.gives(std::move(*result));
  }
  if (listener) listener->append(std::move(told));
  // With numbers the rule is not complete: (6,4):(4,1) o 4:7 carries unevenly, yet its four values
  // may be a layout. The table of values says.
  auto fitted = compose_by_table(a, b);
  if (known) trace::report([&] { return trace::Tabulated{fitted || few_values(b), fitted}; });
  if (!fitted) throw refuse_composition(facts, a, b, *misfit);
  give_units_and_names(*fitted);
  return operation.gives(std::move(*fitted));
}

Layout composition(Facts& facts, const Layout& a, const Tiler& tiler) {
  if (std::holds_alternative<Tiler::Keep>(tiler.value)) return a;
  if (const Layout* b = std::get_if<Layout>(&tiler.value)) return composition(facts, a, *b);
  if (const Int* n = std::get_if<Int>(&tiler.value)) return composition(facts, a, Layout(*n, 1));
  const auto& tiles = std::get<std::vector<Tiler>>(tiler.value);
  if (static_cast<int>(tiles.size()) > a.rank() || (a.shape.is_leaf() && tiles.size() > 1)) {
    throw refusal("rank",
                  "the tiler " + tiler.to_string() + " has more modes than " + a.to_string());
  }
  std::vector<Layout> modes;
  for (size_t i = 0; i < tiles.size(); ++i)
    modes.push_back(composition(facts, a[static_cast<int>(i)], tiles[i]));
  return make_layout(modes);
}

Layout with_shape(Facts& facts, const Layout& a, const Tuple& shape) {
  const Int had = size(a), gets = size(shape);
  if (!facts.try_require(equal(gets, had), "with_shape")) {
    Refusal r = refusal("size-mismatch", "the shape " + shape.to_string() + " has " +
                                             gets.to_string() + " coordinates, and " +
                                             a.to_string() + " has " + had.to_string());
    r.operands = {a.to_string(), shape.to_string()};
    throw r;
  }
  return composition(facts, a, make_layout(shape));
}

}  // namespace lay
