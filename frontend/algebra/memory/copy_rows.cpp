#include "frontend/algebra/memory/copy_rows.h"

#include <algorithm>
#include <string>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/support/memo.h"

namespace lay {

namespace {

std::optional<CopyRows> list_rows(const Layout& memory, const Layout& registers, int element_bits) {
  const auto extent = [](const Layout& layout, int mode) {
    return static_cast<int>(size(layout.shape[mode]).value());
  };
  CopyRows made;
  made.threads = extent(registers, 0);
  const int held = extent(registers, 1), row = extent(memory, 1), namers = extent(memory, 0);
  if (held % element_bits != 0 || row % element_bits != 0) return std::nullopt;
  made.values = held / element_bits;
  made.length = row / element_bits;
  // The first thread that names a bit's row, and which bit of the row it is.
  struct Bit {
    int row = -1, at = 0;
  };
  const auto named = values(memory), holds = values(registers);
  std::vector<Bit> bits(static_cast<std::size_t>(*std::ranges::max_element(named)) + 1);
  // Threads are fastest: of those that name one bit the last one seen here is the first.
  for (std::size_t i = named.size(); i-- > 0;)
    bits[static_cast<std::size_t>(named[i])] = {static_cast<int>(i) % namers,
                                                static_cast<int>(i) / namers};
  // A thread whose row another one has named before, as those beyond 8 of one matrix, names none.
  std::vector<bool> is_row(static_cast<std::size_t>(namers), false);
  for (int value = 0; value < made.values; ++value) {
    for (int thread = 0; thread < made.threads; ++thread) {
      const auto bit = [&](int i) {
        const int at = value * element_bits + i, place = thread + made.threads * at;
        return bits.at(static_cast<std::size_t>(holds[static_cast<std::size_t>(place)]));
      };
      // Elements of 16 bits in a row of 128: bits from 16 j on are element j, whoever has them.
      const Bit first = bit(0);
      if (first.row < 0 || first.at % element_bits != 0) return std::nullopt;
      for (int i = 1; i < element_bits; ++i)
        if (bit(i).row != first.row || bit(i).at != first.at + i) return std::nullopt;
      is_row[static_cast<std::size_t>(first.row)] = true;
      made.rows = std::max(made.rows, first.row + 1);
      made.places.push_back({first.row, first.at / element_bits});
    }
  }
  const bool all =
      std::all_of(is_row.begin(), is_row.begin() + made.rows, [](bool is) { return is; });
  return all ? std::optional(std::move(made)) : std::nullopt;
}

}  // namespace

std::optional<CopyRows> copy_rows(const Layout& memory, const Layout& registers, int element_bits) {
  // Every statement of a kernel asks for the same few copies.
  static Memo<std::string, std::optional<CopyRows>> known;
  return known(
      memory.to_string() + " " + registers.to_string() + " " + std::to_string(element_bits),
      [&] { return list_rows(memory, registers, element_bits); });
}

}  // namespace lay
