#include <algorithm>

#include "frontend/algebra/tuples/tuple_operations.h"

namespace lay {
namespace {

void check_range(const Tuple& t, int begin, int end) {
  if (begin < 0 || end > t.rank() || begin >= end) {
    throw refusal("range",
                  "[" + std::to_string(begin) + "," + std::to_string(end) +
                      ") is no range of modes of " + t.to_string(),
                  "its rank is " + std::to_string(t.rank()));
  }
}

void check_ranks(const char* operation, const Tuple& a, const Tuple& b) {
  if (a.rank() != b.rank() || a.is_tuple() != b.is_tuple()) {
    throw refusal("rank", std::string(operation) + " needs equal ranks: " + a.to_string() +
                              " has " + std::to_string(a.rank()) + " and " + b.to_string() +
                              " has " + std::to_string(b.rank()));
  }
}

std::vector<Tuple> modes_of(const Tuple& t) {
  return t.is_tuple() ? t.modes() : std::vector<Tuple>{t};
}

void collect_leaves(const Tuple& t, std::vector<Tuple>& found) {
  if (t.is_leaf()) {
    found.push_back(t);
    return;
  }
  for (const Tuple& mode : t.modes()) collect_leaves(mode, found);
}

Tuple fill(const Tuple& profile, const std::vector<Tuple>& modes, size_t& next) {
  if (profile.is_leaf()) {
    if (next >= modes.size()) {
      throw refusal("rank", "the profile asks for more modes than there are: " +
                                std::to_string(modes.size()));
    }
    return modes[next++];
  }
  std::vector<Tuple> filled;
  for (const Tuple& mode : profile.modes()) filled.push_back(fill(mode, modes, next));
  return Tuple(std::move(filled));
}

std::vector<Tuple> pad(const char* operation, const Tuple& t, const Tuple& x, int rank,
                       bool at_end) {
  std::vector<Tuple> modes = modes_of(t);
  if (t.rank() > rank) {
    throw refusal("rank", std::string(operation) + " to rank " + std::to_string(rank) + ": " +
                              t.to_string() + " has rank " + std::to_string(t.rank()) + " already");
  }
  if (rank > 10000) throw refusal("limit", "a tuple of more than 10000 modes is asked for");
  modes.insert(at_end ? modes.end() : modes.begin(), static_cast<size_t>(rank - t.rank()), x);
  return modes;
}

// Collects the modes that slice or dice keeps of one level, spliced together.
void keep(const Tuple& coordinate, const Tuple& t, bool underscores, std::vector<Tuple>& kept) {
  if (coordinate.is_leaf()) {
    if (coordinate.is_underscore() == underscores) kept.push_back(t);
    return;
  }
  if (t.is_leaf() || t.rank() != coordinate.rank()) {
    throw refusal("coordinate-rank",
                  "the coordinate " + coordinate.to_string() + " does not fit " + t.to_string());
  }
  for (int i = 0; i < t.rank(); ++i) keep(coordinate[i], t[i], underscores, kept);
}

}  // namespace

Tuple get(const Tuple& t, std::span<const int> path) {
  Tuple at = t;
  for (int mode : path) at = Tuple(at[mode]);
  return at;
}

Int size(const Tuple& t) {
  if (t.is_tuple()) {
    Int product = 1;
    for (const Tuple& mode : t.modes()) product *= size(mode);
    return product;
  }
  if (!t.is_int())
    throw refusal("not-integer", t.to_string() + " has no size: it is not an integer");
  return t.value();
}

std::vector<Tuple> leaves(const Tuple& t) {
  std::vector<Tuple> found;
  collect_leaves(t, found);
  return found;
}

Tuple select(const Tuple& t, std::span<const int> modes) {
  std::vector<Tuple> chosen;
  for (int mode : modes) chosen.push_back(t[mode]);
  return Tuple(std::move(chosen));
}

Tuple take(const Tuple& t, int begin, int end) {
  check_range(t, begin, end);
  const std::vector<Tuple> modes = modes_of(t);
  return Tuple(std::vector<Tuple>(modes.begin() + begin, modes.begin() + end));
}

Tuple group(const Tuple& t, int begin, int end) {
  check_range(t, begin, end);
  const std::vector<Tuple> modes = modes_of(t);
  std::vector<Tuple> result(modes.begin(), modes.begin() + begin);
  result.push_back(take(t, begin, end));
  result.insert(result.end(), modes.begin() + end, modes.end());
  return Tuple(std::move(result));
}

Tuple flatten(const Tuple& t) {
  return t.is_leaf() ? t : Tuple(leaves(t));
}

Tuple unflatten(const Tuple& flat, const Tuple& profile) {
  const std::vector<Tuple> modes = modes_of(flat);
  size_t next = 0;
  Tuple result = fill(profile, modes, next);
  if (next != modes.size()) {
    throw refusal("rank", "the profile " + profile.to_string() + " has " + std::to_string(next) +
                              " leaves, and " + flat.to_string() + " has " +
                              std::to_string(modes.size()) + " modes");
  }
  return result;
}

Tuple append(const Tuple& t, const Tuple& x) {
  return concatenate(wrap(t), tuple(x));
}

Tuple append(const Tuple& t, const Tuple& x, int rank) {
  if (t.is_leaf() && rank == 1) return t;
  return Tuple(pad("append", t, x, rank, true));
}

Tuple prepend(const Tuple& t, const Tuple& x) {
  return concatenate(tuple(x), wrap(t));
}

Tuple prepend(const Tuple& t, const Tuple& x, int rank) {
  if (t.is_leaf() && rank == 1) return t;
  return Tuple(pad("prepend", t, x, rank, false));
}

Tuple replace(const Tuple& t, int mode, const Tuple& x) {
  static_cast<void>(t[mode]);
  std::vector<Tuple> modes = modes_of(t);
  modes[static_cast<size_t>(mode)] = x;
  return t.is_leaf() ? modes[0] : Tuple(std::move(modes));
}

Tuple zip(const Tuple& a, const Tuple& b) {
  check_ranks("zip", a, b);
  if (a.is_leaf()) return tuple(a, b);
  std::vector<Tuple> pairs;
  for (int i = 0; i < a.rank(); ++i) pairs.push_back(tuple(a[i], b[i]));
  return Tuple(std::move(pairs));
}

Tuple zip(const Tuple& t) {
  if (t.is_leaf()) return t;
  if (t.rank() == 0) return t;
  std::vector<Tuple> columns;
  for (int j = 0; j < t[0].rank(); ++j) {
    std::vector<Tuple> column;
    for (const Tuple& row : t.modes()) {
      check_ranks("zip", t[0], row);
      column.push_back(row[j]);
    }
    columns.push_back(Tuple(std::move(column)));
  }
  return Tuple(std::move(columns));
}

Tuple wrap(const Tuple& t) {
  return t.is_leaf() ? tuple(t) : t;
}

Tuple unwrap(const Tuple& t) {
  Tuple inner = t;
  while (inner.is_tuple() && inner.rank() == 1) inner = Tuple(inner[0]);
  return inner;
}

Tuple concatenate(const Tuple& a, const Tuple& b) {
  std::vector<Tuple> modes = modes_of(a);
  const std::vector<Tuple> more = modes_of(b);
  modes.insert(modes.end(), more.begin(), more.end());
  return Tuple(std::move(modes));
}

Tuple transform(const Tuple& t, const std::function<Tuple(const Tuple&)>& f) {
  if (t.is_leaf()) return f(t);
  std::vector<Tuple> modes;
  for (const Tuple& mode : t.modes()) modes.push_back(transform(mode, f));
  return Tuple(std::move(modes));
}

Tuple transform(const Tuple& a, const Tuple& b,
                const std::function<Tuple(const Tuple&, const Tuple&)>& f) {
  check_ranks("an operation on leaves", a, b);
  if (a.is_leaf()) return f(a, b);
  std::vector<Tuple> modes;
  for (int i = 0; i < a.rank(); ++i) modes.push_back(transform(a[i], b[i], f));
  return Tuple(std::move(modes));
}

Tuple repeat_like(const Tuple& t, const Tuple& x) {
  return transform(t, [&](const Tuple&) { return x; });
}

Tuple slice(const Tuple& coordinate, const Tuple& t) {
  if (coordinate.is_underscore()) return t;
  std::vector<Tuple> kept;
  keep(coordinate, t, true, kept);
  return Tuple(std::move(kept));
}

Tuple dice(const Tuple& coordinate, const Tuple& t) {
  if (coordinate.is_leaf() && !coordinate.is_underscore()) return t;
  std::vector<Tuple> kept;
  keep(coordinate, t, false, kept);
  return Tuple(std::move(kept));
}

bool congruent(const Tuple& a, const Tuple& b) {
  if (a.is_leaf() || b.is_leaf()) return a.is_leaf() && b.is_leaf();
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (!congruent(a[i], b[i])) return false;
  }
  return true;
}

bool weakly_congruent(const Tuple& a, const Tuple& b) {
  if (a.is_leaf()) return true;
  if (b.is_leaf() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (!weakly_congruent(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace lay
