#include "frontend/algebra/memory/find_layout.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "frontend/algebra/claims/propositions.h"
#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/trace.h"

namespace lay {
namespace {

constexpr int64_t kMostSteps = int64_t{1} << 27;  // elements looked at, over all candidates
// 4! orders; of more modes only the two that run left to right and right to left.
constexpr int kMostModes = 4;
constexpr size_t kMostAccesses = 8;

enum class Kind : uint8_t { plain, swizzled, padded };

struct Candidate {
  Layout base;
  Kind kind = Kind::plain;
  std::optional<Swizzle> swizzle;
  int64_t padding = 0;

  AnyLayout layout() const {
    const trace::Quiet quiet;
    return swizzle ? AnyLayout(composition(*swizzle, base)) : AnyLayout(base);
  }
};

int64_t bit_length(int64_t x) {
  int64_t bits = 0;
  for (; x > 0; x /= 2) ++bits;
  return bits;
}

// Every order of the modes, packed: left-most fastest first, then right-most fastest, then the
// rest.
std::vector<Layout> packed(const Tuple& tile) {
  const Tuple modes = tile.is_tuple() ? tile : Tuple(std::vector<Tuple>{tile});
  if (modes.rank() == 1 || modes.rank() > kMostModes) {
    std::vector<Layout> two{make_layout(tile)};
    if (modes.rank() > 1) two.push_back(make_layout_right(tile));
    return two;
  }
  std::vector<int> order(static_cast<size_t>(modes.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Layout> result{make_layout(tile), make_layout_right(tile)};
  do {
    std::vector<Tuple> numbers;
    for (const int k : order) numbers.emplace_back(k);
    const Layout layout = make_ordered_layout(tile, Tuple(std::move(numbers)));
    if (std::find(result.begin(), result.end(), layout) == result.end()) result.push_back(layout);
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

// Elements that fill every bank once, at least one.
// Offsets that are equal modulo a row lie in one bank.
int64_t row_of(const LayoutSearch& search) {
  return std::max<int64_t>(
      1, int64_t{8} * search.memory.banks * search.memory.bank_bytes / search.bits);
}

// Every swizzle whose target bits lie within a row of banks and whose source bits lie inside the
// layout: others change no bank, or nothing at all. From the largest M down, so that of equals the
// one that keeps the longest runs comes first.
void add_swizzles(const LayoutSearch& search, const Layout& base,
                  std::vector<Candidate>& candidates) {
  Facts facts;
  // Bits that offsets of the base have.
  const int64_t inside = bit_length(cosize(facts, base).value() - 1);
  const int64_t row = bit_length(row_of(search) - 1);
  for (int64_t b = 1; b <= row; ++b) {
    for (int64_t m = row - b; m >= 0; --m) {
      for (int64_t s = b; s + m + b <= inside; ++s) {
        const Swizzle swizzle(b, m, s);
        candidates.push_back({base, Kind::swizzled, swizzle, 0});
      }
    }
  }
}

// Every stride beyond the fastest mode grows by what the padding adds to each of its runs.
//     (8,32):(32,1) with padding 4: (8,32):(36,1), row after row begins 4 elements later
std::optional<Layout> padded(const Layout& base, int64_t padding) {
  const std::vector<Tuple> extents = leaves(base.shape), strides = leaves(base.stride);
  int64_t run = 0;  // of the fastest mode with more than one element
  for (size_t k = 0; k < extents.size(); ++k) {
    if (extents[k].value().value() > 1 && strides[k].is_literal(1))
      run = extents[k].value().value();
  }
  const Tuple stride = transform(base.stride, [&](const Tuple& d) {
    const int64_t step = d.value().value();
    return run > 0 && step >= run && step % run == 0 ? Tuple(checked_mul(step / run, run + padding))
                                                     : d;
  });
  if (stride == base.stride) return std::nullopt;
  return Layout(base.shape, stride, base.units);
}

void add_paddings(const LayoutSearch& search, const Layout& base,
                  std::vector<Candidate>& candidates) {
  for (int64_t padding = 1; padding < row_of(search); ++padding) {
    if (auto layout = padded(base, padding))
      candidates.push_back({*layout, Kind::padded, std::nullopt, padding});
  }
}

// Plain orders first: a swizzle or padding must gain something to be chosen.
std::vector<Candidate> candidates_of(const LayoutSearch& search) {
  const std::vector<Layout> bases =
      search.base ? std::vector<Layout>{*search.base} : packed(search.tile);
  std::vector<Candidate> candidates;
  for (const Layout& base : bases) candidates.push_back({base, Kind::plain, std::nullopt, 0});
  for (const Layout& base : bases) {
    if (search.swizzles) add_swizzles(search, base, candidates);
    if (search.paddings) add_paddings(search, base, candidates);
  }
  return candidates;
}

std::string orders_of(const Tuple& tile) {
  return tile.is_tuple() && tile.rank() > kMostModes
             ? "the two packed orders, left to right and right to left, of "
             : "every packed order of ";
}

std::string family_of(const LayoutSearch& search, const std::vector<Candidate>& candidates) {
  const bool padded = std::any_of(candidates.begin(), candidates.end(),
                                  [](const Candidate& c) { return c.kind == Kind::padded; });
  std::string text = search.base
                         ? search.base->to_string()
                         : orders_of(search.tile) + "the modes of " + search.tile.to_string();
  if (search.swizzles) text += ", under every Sw<B,M,S> that changes the bank";
  if (padded) {
    text += ", with every padding below " + std::to_string(row_of(search)) +
            " elements after the fastest mode";
  } else if (search.paddings) {
    text += "; no stride is a multiple of a run of neighbours, to be padded";
  }
  return text;
}

// Where the elements lie under one candidate after the other; a swizzle moves what lay there
// before.
class Placements {
 public:
  explicit Placements(int bits) { now_.bits = plain_.bits = bits; }

  // Candidates of one base follow one another, so that the base is evaluated once.
  const Placement& of(const Candidate& candidate) {
    if (!base_ || !(*base_ == candidate.base)) {
      base_ = candidate.base;
      plain_ = placement_of(candidate.base, plain_.bits);
    }
    if (!candidate.swizzle) return plain_;
    now_.offsets.clear();
    for (const int64_t offset : plain_.offsets)
      now_.offsets.push_back((*candidate.swizzle)(offset));
    return now_;
  }

 private:
  std::optional<Layout> base_;
  Placement plain_, now_;
};

int64_t memory_of(const Placement& where) {
  return *std::max_element(where.offsets.begin(), where.offsets.end()) + 1;
}

// Wavefronts, accesses, memory, kind: less is better.
// They count in this order: the time, then instructions, then memory, then how simple it is.
using Key = std::tuple<int64_t, int64_t, int64_t, Kind>;

// The widest vectors that there can be, whatever the layout, and the fewest accesses.
int64_t widest(const LayoutSearch& search, const WantedAccess& a) {
  return a.vector ? *a.vector : widest_possible(a.pattern, search.bits);
}
int64_t fewest_accesses(const LayoutSearch& search, const WantedAccess& a) {
  const int64_t warps = (a.pattern.threads + search.memory.lanes - 1) / search.memory.lanes;
  return warps * (a.pattern.values / widest(search, a));
}
int64_t fewest_accesses(const LayoutSearch& search) {
  int64_t sum = 0;
  for (const WantedAccess& a : search.accesses) sum += fewest_accesses(search, a);
  return sum;
}

void report_bounds(const LayoutSearch& search) {
  for (const WantedAccess& a : search.accesses) {
    trace::report([&] {
      return trace::Bound{a.name, widest(search, a), fewest_accesses(search, a),
                          fewest_wavefronts(a.pattern, search.bits, a.vector, search.memory)};
    });
  }
}

void report_best(const LayoutSearch& search, const FoundLayout& best) {
  trace::report([&] {
    trace::Tried tried{best.layout, {}, best.wavefronts};
    for (size_t i = 0; i < search.accesses.size(); ++i) {
      tried.wavefronts.emplace_back(search.accesses[i].name, best.services[i].taken);
    }
    return tried;
  });
}

// Returns, for each access, the fewest wavefronts of those behind it.
// Suffix sums, for the bound in `served`.
std::vector<int64_t> fewest_behind(const LayoutSearch& search) {
  std::vector<int64_t> behind(search.accesses.size(), 0);
  for (size_t i = behind.size(); i-- > 1;) {
    const WantedAccess& a = search.accesses[i];
    behind[i - 1] = behind[i] + fewest_wavefronts(a.pattern, search.bits, a.vector, search.memory);
  }
  return behind;
}

// The accesses under a candidate; nothing if a vector asked for is not in one piece, or all take
// more than `enough`.
// Branch and bound: an access is counted only as long as it and the least that those behind it take
// stay below the best candidate.
std::optional<std::vector<Service>> served(const LayoutSearch& search,
                                           const std::vector<int64_t>& behind,
                                           const Placement& where, int64_t enough) {
  std::vector<Service> services;
  for (size_t i = 0; i < search.accesses.size(); ++i) {
    const WantedAccess& access = search.accesses[i];
    if (access.vector && !moves_as_one(access.pattern, where, *access.vector)) return std::nullopt;
    services.push_back(
        shared_service(access.pattern, where, access.vector, search.memory, enough - behind[i]));
    enough -= services.back().taken;
    if (enough < behind[i]) return std::nullopt;
  }
  return services;
}

template <typename Part>
int64_t total(const std::vector<Service>& services, const Part& part) {
  int64_t sum = 0;
  for (const Service& s : services) sum += part(s);
  return sum;
}

// The neighbour in memory that the vectors of an access give each element: -1 for none. An element
// has one.
std::vector<int64_t> neighbours(const WantedAccess& access, const Tuple& tile) {
  std::vector<int64_t> next(static_cast<size_t>(size(tile).value()), -1);
  const AccessPattern& p = access.pattern;
  for (int64_t thread = 0; thread < p.threads; ++thread) {
    for (int64_t value = 0; value + 1 < p.values; value += 2) {
      const int64_t first = p.element(thread, value), second = p.element(thread, value + 1);
      next[static_cast<size_t>(first)] = second;
      next[static_cast<size_t>(second)] = first;
    }
  }
  return next;
}

// Vectors of both would give an element two different neighbours.
// A row-wise access pairs (i,j) with (i,j+1), a column-wise one with (i+1,j): an element has one
// neighbour in memory on its side of a vector of two.
bool clash(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i]) return true;
  }
  return false;
}

// The fewest wavefronts of all accesses together: each as wide as it can be, or element by element
// where its vectors clash with those of another that are wide.
// Each access could be as wide as possible if it were alone. Vectors of a row-wise and a
// column-wise access cannot both be contiguous, so of each clashing pair one goes element by
// element: the least over all choices is a bound for every layout.
int64_t fewest_together(const LayoutSearch& search) {
  const size_t n = search.accesses.size();
  std::vector<int64_t> wide, narrow;
  std::vector<std::vector<int64_t>> next;
  for (const WantedAccess& a : search.accesses) {
    wide.push_back(fewest_wavefronts(a.pattern, search.bits, a.vector, search.memory));
    narrow.push_back(a.vector ? wide.back()
                              : fewest_wavefronts(a.pattern, search.bits, 1, search.memory));
    next.push_back(a.pattern.values % 2 == 0 ? neighbours(a, search.tile) : std::vector<int64_t>{});
  }
  std::vector<std::vector<bool>> clashes(n, std::vector<bool>(n, false));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool free = search.accesses[i].vector || search.accesses[j].vector || next[i].empty() ||
                        next[j].empty();
      clashes[i][j] = clashes[j][i] = !free && clash(next[i], next[j]);
    }
  }
  int64_t least = INT64_MAX;
  // Every set of accesses that are wide: at most 2^8 of them.
  for (size_t chosen = 0; chosen < (size_t{1} << n); ++chosen) {
    int64_t sum = 0;
    bool possible = true;
    for (size_t i = 0; i < n; ++i) {
      const bool is_wide = chosen >> i & 1;
      sum += is_wide ? wide[i] : narrow[i];
      for (size_t j = 0; j < i; ++j) possible &= !(is_wide && (chosen >> j & 1) && clashes[i][j]);
    }
    if (possible) least = std::min(least, sum);
  }
  return least;
}

// Asked before the search: candidates times the elements looked at for each.
void check_length(const LayoutSearch& search, size_t candidates) {
  int64_t each = size(search.tile).value();
  for (const WantedAccess& a : search.accesses)
    each += static_cast<int64_t>(a.pattern.elements.size());
  if (search.accesses.size() > kMostAccesses)
    throw refusal("limit", "at most 8 accesses are served together");
  if (static_cast<int64_t>(candidates) <= kMostSteps / each) return;
  throw refusal("limit",
                "the search would look at " + std::to_string(candidates) + " layouts of " +
                    std::to_string(each) + " elements",
                "give one layout to start from: base = ...; or the accesses of a single warp");
}

void check_base(const Layout& base) {
  if (!base.is_known()) {
    throw refusal("symbolic", "the strides of " + base.to_string() +
                                  " are not known, and the search counts with them");
  }
  Facts facts;
  const Conclusion j = injective(facts, base);
  if (j.verdict != Verdict::refuted) return;
  throw refusal("not-injective", base.to_string() + " gives two elements of the tile one place: " +
                                     j.failure.sentence);
}

}  // namespace

// Every candidate is counted, best first where the order is known: plain layouts, then swizzles of
// each base. The search ends early where the bound is reached.
FoundLayout find_layout(const LayoutSearch& search) {
  if (search.base) check_base(*search.base);
  const std::vector<Candidate> candidates = candidates_of(search);
  check_length(search, candidates.size());
  FoundLayout best;
  best.fewest = fewest_together(search);
  report_bounds(search);
  std::optional<Key> key;
  const Key ideal{best.fewest, fewest_accesses(search), size(search.tile).value(), Kind::swizzled};
  Placements placements(search.bits);
  const std::vector<int64_t> behind = fewest_behind(search);
  for (const Candidate& candidate : candidates) {
    ask();
    // The bound is reached with the fewest accesses and no byte of padding.
    if (key && candidate.kind != Kind::plain && *key <= ideal)
      break;  // none that follows comes before it
    ++best.candidates;
    const Placement& where = placements.of(candidate);
    const auto services = served(search, behind, where, key ? std::get<0>(*key) : INT64_MAX);
    if (!services) continue;
    const int64_t memory = memory_of(where);
    const Key own{total(*services, [](const Service& s) { return s.taken; }),
                  total(*services, [](const Service& s) { return s.accesses; }), memory,
                  candidate.kind};
    if (key && !(own < *key)) continue;
    key = own;
    best.layout = candidate.layout();
    best.swizzle = candidate.swizzle;
    best.padding = candidate.padding;
    best.size = memory;
    best.services = *services;
    best.wavefronts = std::get<0>(own);
    report_best(search, best);
  }
  if (!key) {
    throw refusal("vector",
                  "no layout of the family keeps the vectors of every access in one piece",
                  "ask for smaller vectors, or let each access take the widest it can");
  }
  best.family = family_of(search, candidates);
  trace::report([&] {
    return trace::Looked{best.family, best.candidates, best.wavefronts, best.fewest};
  });
  return best;
}

}  // namespace lay
