#include "frontend/sema/kernel/atom_cover.h"

#include <cstdint>
#include <vector>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/refusal.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kMostValues = 1 << 20;

// Threads that hold what no other does: the coordinates of all along modes of stride 0 are 0.
struct Holders {
  Layout threads;                  // without those modes
  std::vector<std::int64_t> step;  // of each of its modes, in numbers of threads

  std::int64_t thread(std::int64_t holder) const {
    std::int64_t number = 0;
    const std::vector<Tuple> extents = leaves(threads.shape);
    for (std::size_t i = 0; i < step.size(); ++i) {
      const std::int64_t extent = extents[i].value().value();
      number += holder % extent * step[i];
      holder /= extent;
    }
    return number;
  }
};

Holders holders(const Layout& threads, bool all) {
  const std::vector<Tuple> extents = leaves(threads.shape), strides = leaves(threads.stride);
  std::vector<Tuple> kept_extents, kept_strides;
  Holders made;
  std::int64_t below = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t extent = extents[i].value().value();
    if (all || !strides[i].is_literal(0)) {
      kept_extents.push_back(extents[i]);
      kept_strides.push_back(strides[i]);
      made.step.push_back(below);
    }
    below *= extent;
  }
  made.threads =
      kept_extents.empty() ? Layout(1, 0) : Layout(Tuple(kept_extents), Tuple(kept_strides));
  return made;
}

}  // namespace

void check_cover(const std::string& atom, const Covering& covering, int threads) {
  const Layout& layout = covering.layout;
  const auto wrong = [&](const std::string& what, std::int64_t index) {
    Refusal r = refusal("atom-cover",
                        covering.name + " of " + atom + ", " + layout.to_string() + ", " + what);
    r.sizes = {{"thread", index % threads}, {"value", index / threads}};
    throw r;
  };
  const auto plainly_wrong = [&](const std::string& what) {
    throw refusal("atom-cover",
                  covering.name + " of " + atom + ", " + layout.to_string() + ", " + what,
                  "a layout of (thread, value)");
  };
  if (!layout.shape.is_tuple() || layout.rank() != 2)
    plainly_wrong("does not take (thread, value)");
  if (size(layout.shape[0]) != Int(threads)) {
    plainly_wrong("is of " + size(layout.shape[0]).to_string() + " threads, and the atom has " +
                  std::to_string(threads));
  }
  const std::int64_t elements = std::int64_t{covering.rows} * covering.columns;
  const Int all = size(layout);
  if (!all.is_literal() || all.value() > kMostValues)
    plainly_wrong("holds more values than can be checked");
  const Holders who = holders(layout[0], covering.once);
  const std::int64_t count = size(who.threads).value();
  const Layout held(tuple(who.threads.shape, layout.shape[1]),
                    tuple(who.threads.stride, layout.stride[1]));
  const auto index_of = [&](std::int64_t at) {
    return who.thread(at % count) + at / count * threads;
  };
  std::vector<std::int64_t> holder(static_cast<std::size_t>(elements), -1);
  std::int64_t at = -1;
  for (const std::int64_t element : values(held)) {
    ++at;
    if (element < 0 || element >= elements) {
      wrong("leaves the tile of " + std::to_string(covering.rows) + " x " +
                std::to_string(covering.columns) + " at " + std::to_string(element),
            index_of(at));
    }
    std::int64_t& taken = holder[static_cast<std::size_t>(element)];
    if (taken >= 0) {
      wrong("holds element " + std::to_string(element) + " twice, first as value " +
                std::to_string(taken / count) + " of thread " +
                std::to_string(who.thread(taken % count)),
            index_of(at));
    }
    taken = at;
  }
  for (std::int64_t element = 0; element < elements; ++element) {
    if (holder[static_cast<std::size_t>(element)] >= 0) continue;
    plainly_wrong("misses element (" + std::to_string(element % covering.rows) + "," +
                  std::to_string(element / covering.rows) + ") of the tile of " +
                  std::to_string(covering.rows) + " x " + std::to_string(covering.columns));
  }
}

}  // namespace lay::sema
