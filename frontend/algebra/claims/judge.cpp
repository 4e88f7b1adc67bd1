#include "frontend/algebra/claims/judge.h"

#include <algorithm>

#include "frontend/algebra/integers/knowledge.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

// The most values that are walked through for one claim on known numbers, and for one of the many
// sizes that a search for a counterexample tries.
constexpr int64_t kMostWalked = int64_t{1} << 20;
constexpr int64_t kMostWalkedInSearch = int64_t{1} << 10;

bool is_known(const AnyLayout& a) {
  if (const auto* l = std::get_if<Layout>(&a)) return l->is_known();
  const Composed& c = std::get<Composed>(a);
  const auto* outer = std::get_if<Layout>(&c.outer);
  const auto* inner = std::get_if<Layout>(&c.inner);
  return (!outer || outer->is_known()) && (!inner || inner->is_known()) && c.offset.is_known();
}

void collect_dims(const Tuple& t, std::map<DimId, std::string>& dims) {
  for (const Tuple& leaf : leaves(t)) leaf.value().collect_dims(dims);
}
void collect_dims(const Layout& l, std::map<DimId, std::string>& dims) {
  collect_dims(l.shape, dims);
  collect_dims(l.stride, dims);
}
void collect_dims(const AnyLayout& a, std::map<DimId, std::string>& dims) {
  if (const auto* l = std::get_if<Layout>(&a)) return collect_dims(*l, dims);
  const Composed& c = std::get<Composed>(a);
  if (const auto* outer = std::get_if<Layout>(&c.outer)) collect_dims(*outer, dims);
  if (const auto* inner = std::get_if<Layout>(&c.inner)) collect_dims(*inner, dims);
  collect_dims(c.offset, dims);
}

AnyLayout substituted(const AnyLayout& a, const std::map<DimId, Int>& sizes) {
  return std::visit([&](const auto& x) -> AnyLayout { return substitute(x, sizes); }, a);
}

bool makes_coordinates(const AnyLayout& a) {
  if (const auto* l = std::get_if<Layout>(&a)) return l->has_basis();
  const Composed& c = std::get<Composed>(a);
  const auto* outer = std::get_if<Layout>(&c.outer);
  return outer && outer->has_basis();
}

// The claim at given sizes; nothing where an operand has no meaning there.
// The claim with symbols has the meaning that it has at each of its sizes, which `claim.known`
// decides.
std::optional<Conclusion> decided_at(const Claim& claim, const Binding& at, int64_t most_values) {
  std::map<DimId, Int> sizes;
  for (const auto& [id, value] : at) sizes.emplace(id, value);
  try {
    std::vector<AnyLayout> layouts;
    for (const AnyLayout& a : claim.layouts) layouts.push_back(substituted(a, sizes));
    std::vector<Tuple> numbers;
    for (const Tuple& t : claim.numbers) numbers.push_back(substitute(t, sizes));
    return claim.known(layouts, numbers, most_values);
    // At sizes that the facts allow but the operand does not, such as an inexact quotient, there is
    // nothing to decide.
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

// Bounds under which the search of sizes comes to an end.
std::vector<std::string> small_sizes(const std::map<DimId, std::string>& dims) {
  std::string bounds;
  for (const auto& [id, name] : dims) bounds += (bounds.empty() ? "" : " and ") + name + " <= 16";
  return {bounds};
}

Predicate conjunction(const std::vector<Predicate>& all) {
  Predicate result;
  for (const Predicate& p : all) result = both(result, p);
  return result;
}

// Three ways, the cheapest first: sufficient conditions that the facts prove; necessary ones that
// they refute; and sizes, from the smallest, at which the numbers refute it. A search that ends
// because all sizes were tried proves it.
Conclusion judge_sizes(Facts& facts, const Claim& claim, const std::map<DimId, std::string>& dims) {
  Conclusion result;
  std::vector<Predicate> open;
  if (claim.enough) {
    for (const Predicate& p : *claim.enough) {
      const bool proved = facts.proves(p);
      if (!proved) open.push_back(p);
      // `explain` shows the conditions, and which of them were proved.
      if (!p.is_always()) trace::report([&] { return trace::Condition{p, proved}; });
    }
    if (open.empty()) return {Verdict::proved};
  }
  result.never = std::any_of(claim.needed.begin(), claim.needed.end(),
                             [&](const Predicate& p) { return facts.proves(negate(p)); });
  // Yes or no at given sizes; nothing where it stays open, which the search passes over.
  const auto holds = [&](const Binding& at) -> std::optional<bool> {
    const auto verdict = decided_at(claim, at, kMostWalkedInSearch);
    if (!verdict || verdict->verdict == Verdict::undecided) return std::nullopt;
    return verdict->verdict == Verdict::proved;
  };
  // Exact conditions are searched as predicates, which needs no layout at each of the sizes tried.
  Search search = claim.exact ? search_counterexample(Knowledge(facts), conjunction(*claim.enough))
                              : search_counterexample(Knowledge(facts), dims, holds);
  if (claim.exact && search.witness &&
      search.witness->empty()) {  // it fails for all: at the smallest sizes there are
    if (Search smallest = search_counterexample(Knowledge(facts), dims, holds); smallest.witness) {
      search = std::move(smallest);
    }
  }
  if (search.exhausted) return {Verdict::proved};
  if (search.witness) {
    result.verdict = Verdict::refuted;
    result.sizes = *search.witness;
    if (auto verdict = decided_at(claim, search.at, kMostWalkedInSearch))
      result.failure = std::move(verdict->failure);
    // There are finitely many sizes. If none of them makes it hold, no assumption can help:
    // `never`.
    if (search.finite && !result.never) {
      const auto fails = [&](const Binding& at) -> std::optional<bool> {
        const auto verdict = holds(at);
        return verdict ? std::optional(!*verdict) : std::nullopt;
      };
      result.never = search_counterexample(Knowledge(facts), dims, fails).exhausted;
    }
  } else if (result.never) {
    result.verdict = Verdict::refuted;
  }
  // Refuted or undecided: what would decide it. The open conditions, if all of them can hold; else
  // bounds under which the search ends.
  if (result.never) return result;
  for (const Predicate& p : open) {
    if (!p.is_never()) result.assume.push_back(p.to_string());
  }
  if (result.assume.size() != open.size() || open.empty()) result.assume = small_sizes(dims);
  return result;
}

}  // namespace

namespace {

bool all_known(const Claim& claim) {
  return std::all_of(claim.layouts.begin(), claim.layouts.end(), is_known) &&
         std::all_of(claim.numbers.begin(), claim.numbers.end(),
                     [](const Tuple& t) { return t.is_known(); });
}

Conclusion judged(Facts& facts, const Claim& claim) {
  if (all_known(claim)) {
    Conclusion result = claim.known(claim.layouts, claim.numbers, kMostWalked);
    result.never = result.verdict == Verdict::refuted;  // there are no other sizes
    return result;
  }
  std::map<DimId, std::string> dims;
  for (const AnyLayout& a : claim.layouts) collect_dims(a, dims);
  for (const Tuple& t : claim.numbers) collect_dims(t, dims);
  return judge_sizes(facts, claim, dims);
}

}  // namespace

Conclusion judge(Facts& facts, const Claim& claim) {
  const Conclusion result = judged(facts, claim);
  trace::report([&] {
    return trace::Judged{result.verdict, !all_known(claim), result.sizes, result.failure.sentence};
  });
  return result;
}

std::optional<Stripped> stripped(const AnyLayout& a) {
  if (const auto* l = std::get_if<Layout>(&a)) return Stripped{std::nullopt, 0, *l};
  const Composed& c = std::get<Composed>(a);
  const auto* swizzle = std::get_if<Swizzle>(&c.outer);
  const auto* inner = std::get_if<Layout>(&c.inner);
  if (!swizzle || !inner) return std::nullopt;
  // Sw<0,M,S> moves nothing: a layout with an offset.
  if (swizzle->b == 0) return Stripped{std::nullopt, c.offset, *inner};
  return Stripped{*swizzle, c.offset, *inner};
}

std::optional<KnownStripped> known_stripped(const AnyLayout& a) {
  const auto parts = stripped(a);
  if (!parts) return std::nullopt;
  auto known = known_layout(parts->layout, parts->offset);
  if (!known) return std::nullopt;
  if (parts->swizzle) {
    // A swizzle works on bits of integers that are not negative, so neither on coordinates nor
    // below 0.
    const bool integers = known->paths.size() == 1 && known->paths[0].empty();
    if (!integers || known->offsets[0] + least_sum(known->terms(0)) < 0) return std::nullopt;
  }
  return KnownStripped{parts->swizzle, std::move(*known)};
}

const Tuple* shape_of(const AnyLayout& a) {
  if (const auto* l = std::get_if<Layout>(&a)) return &l->shape;
  const auto* inner = std::get_if<Layout>(&std::get<Composed>(a).inner);
  return inner ? &inner->shape : nullptr;
}

Int size_of(const AnyLayout& a) {
  if (const auto* l = std::get_if<Layout>(&a)) return size(*l);
  return size(std::get<Composed>(a).layout());
}

std::string value_text(const AnyLayout& a, int64_t index) {
  Facts facts;
  return evaluate(facts, a, index).to_string();
}

std::string coordinate_text(const AnyLayout& a, int64_t index) {
  Facts facts;
  const Tuple* shape = shape_of(a);
  return shape ? idx2crd(facts, index, *shape).to_string() : std::to_string(index);
}

std::string place_text(const AnyLayout& a, int64_t index) {
  const std::string coordinate = coordinate_text(a, index), plain = std::to_string(index);
  return coordinate == plain ? "at " + plain : "at " + plain + ", coordinate " + coordinate;
}

Conclusion repeated_at(const AnyLayout& a, int64_t index, int64_t before) {
  Conclusion verdict = fails_at(a, index, "as " + place_text(a, before));
  verdict.failure.other = before;
  verdict.failure.other_coordinate = coordinate_text(a, before);
  return verdict;
}

Conclusion fails_at(const AnyLayout& a, int64_t index, const std::string& what) {
  Failure f;
  f.index = index;
  f.coordinate = coordinate_text(a, index);
  f.value = value_text(a, index);
  f.sentence = place_text(a, index) + ", the value is " + f.value + ", " + what;
  return {Verdict::refuted, std::move(f)};
}

std::optional<std::vector<int64_t>> walked(const AnyLayout& a, int64_t most_values) {
  const Int n = size_of(a);
  if (!n.is_literal() || n.value() > most_values || makes_coordinates(a)) return std::nullopt;
  return values(a);
}

}  // namespace lay
