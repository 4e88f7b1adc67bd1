#include "frontend/sema/atom_cover.h"

#include <cstdint>
#include <vector>

#include "frontend/algebra/operations.h"
#include "frontend/algebra/refusal.h"

namespace lay::sema {
namespace {

constexpr std::int64_t kMostValues = 1 << 20;

// The index of the first thread that holds what `thread` holds: its coordinates along modes of stride 0 set to 0.
std::int64_t first_holder(const Layout& threads, std::int64_t thread) {
  const std::vector<Tuple> extents = leaves(threads.shape), strides = leaves(threads.stride);
  std::int64_t first = 0, below = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t extent = extents[i].value().value(), digit = thread / below % extent;
    if (!strides[i].is_literal(0)) first += digit * below;
    below *= extent;
  }
  return first;
}

}  // namespace

void check_cover(const std::string& atom, const Covering& covering, int threads) {
  const Layout& layout = covering.layout;
  const auto wrong = [&](const std::string& what, std::int64_t index) {
    Refusal r = refusal("atom-cover", covering.name + " of " + atom + ", " + layout.to_string() + ", " + what);
    r.sizes = {{"thread", index % threads}, {"value", index / threads}};
    throw r;
  };
  const auto plainly_wrong = [&](const std::string& what) {
    throw refusal("atom-cover", covering.name + " of " + atom + ", " + layout.to_string() + ", " + what,
                  "a layout of (thread, value)");
  };
  if (!layout.shape.is_tuple() || layout.rank() != 2) plainly_wrong("does not take (thread, value)");
  if (size(layout.shape[0]) != Int(threads)) {
    plainly_wrong("is of " + size(layout.shape[0]).to_string() + " threads, and the atom has " +
                  std::to_string(threads));
  }
  const std::int64_t elements = std::int64_t{covering.rows} * covering.columns;
  const Int all = size(layout);
  if (!all.is_literal() || all.value() > kMostValues) plainly_wrong("holds more values than can be checked");
  std::vector<char> repeats(static_cast<std::size_t>(threads));
  for (std::int64_t t = 0; t < threads; ++t) {
    repeats[static_cast<std::size_t>(t)] = !covering.once && first_holder(layout[0], t) != t;
  }
  std::vector<std::int64_t> holder(static_cast<std::size_t>(elements), -1);
  std::int64_t index = -1;
  for (const std::int64_t element : values(layout)) {
    ++index;
    if (element < 0 || element >= elements) {
      wrong("leaves the tile of " + std::to_string(covering.rows) + " x " + std::to_string(covering.columns) + " at " +
                std::to_string(element),
            index);
    }
    if (repeats[static_cast<std::size_t>(index % threads)]) continue;
    std::int64_t& taken = holder[static_cast<std::size_t>(element)];
    if (taken >= 0) {
      wrong("holds element " + std::to_string(element) + " twice, first as value " + std::to_string(taken / threads) +
                " of thread " + std::to_string(taken % threads),
            index);
    }
    taken = index;
  }
  for (std::int64_t element = 0; element < elements; ++element) {
    if (holder[static_cast<std::size_t>(element)] >= 0) continue;
    plainly_wrong("misses element (" + std::to_string(element % covering.rows) + "," +
                  std::to_string(element / covering.rows) + ") of the tile of " + std::to_string(covering.rows) +
                  " x " + std::to_string(covering.columns));
  }
}

}  // namespace lay::sema
