// Bank conflicts, sectors and the search for layouts, against counting lane by lane.

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/algebra/memory/find_layout.h"
#include "tests/laws/random_layouts.h"

using namespace lay;
using laws::Random;

namespace {

// As the hardware is described: the lanes of a phase, and for each bank the set of words that they
// want from it.
int slow_wavefronts(const std::vector<int64_t>& addresses, int bytes) {
  const int together = bytes <= 4 ? 32 : 128 / bytes;
  int sum = 0;
  for (int first = 0; first < 32; first += together) {
    std::map<int64_t, std::set<int64_t>> words;
    for (int lane = first; lane < first + together && lane < static_cast<int>(addresses.size());
         ++lane) {
      if (addresses[static_cast<size_t>(lane)] < 0) continue;
      for (int byte = 0; byte < bytes; ++byte) {
        const int64_t word = (addresses[static_cast<size_t>(lane)] + byte) / 4;
        words[word % 32].insert(word);
      }
    }
    size_t most = 0;
    for (const auto& [bank, wanted] : words) most = std::max(most, wanted.size());
    sum += static_cast<int>(most);
  }
  return sum;
}

int slow_sectors(const std::vector<int64_t>& addresses, int bytes) {
  std::set<int64_t> touched;
  for (const int64_t address : addresses) {
    for (int byte = 0; byte < bytes; ++byte) touched.insert((address + byte) / 32);
  }
  return static_cast<int>(touched.size());
}

// Wavefronts of a whole pattern under a layout, with vectors of that many elements.
int64_t slow_service(const Layout& access, const AnyLayout& layout, const Tuple& tile, int bits,
                     int64_t vector) {
  Facts facts;
  const int64_t threads = size(access.shape[0]).value(),
                count = size(access.shape).value() / threads;
  int64_t sum = 0;
  for (int64_t warp = 0; warp < threads; warp += 32) {
    for (int64_t value = 0; value < count; value += vector) {
      std::vector<int64_t> addresses;
      for (int64_t t = warp; t < std::min(warp + 32, threads); ++t) {
        const Tuple at = evaluate(facts, access, t + threads * value);
        const Int element = access.has_basis() ? crd2idx(facts, at, tile) : at.value();
        addresses.push_back(evaluate(facts, layout, element).value().value() * bits / 8);
      }
      sum += slow_wavefronts(addresses, std::max(1, static_cast<int>(vector * bits / 8)));
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("wavefronts and sectors of random accesses") {
  Random random{11};
  for (int i = 0; i < 4000; ++i) {
    const int bytes = 1 << random.in(0, 4);
    std::vector<int64_t> addresses;
    const int64_t reach = random.in(1, 200);
    for (int64_t lane = random.in(1, 32); lane > 0; --lane)
      addresses.push_back(random.in(0, reach) * bytes);
    CAPTURE(bytes, addresses);
    CHECK(sectors(addresses, bytes).taken == slow_sectors(addresses, bytes));
    if (random.once_in(3))
      addresses[static_cast<size_t>(random.in(0, static_cast<int64_t>(addresses.size()) - 1))] = -1;
    const Wavefronts w = wavefronts(addresses, bytes);
    CHECK(w.taken == slow_wavefronts(addresses, bytes));
    CHECK(w.taken >= w.least);
    CHECK(w.worst <= w.taken);
  }
}

TEST_CASE("an access is served as it is counted lane by lane") {
  const Tuple tile = tuple(64, 64);
  const Layout write(tuple(tuple(8, 16), tuple(8, 4)),
                     tuple(tuple(Tuple::basis(8, {1}), Tuple::basis(1, {0})),
                           tuple(Tuple::basis(1, {1}), Tuple::basis(16, {0}))));
  const AccessPattern pattern = access_pattern(write, tile);
  for (const AnyLayout& layout :
       std::vector<AnyLayout>{make_layout(tile), make_layout_right(tile),
                              composition(Swizzle(3, 3, 3), make_layout_right(tile)),
                              composition(Swizzle(2, 3, 3), make_layout_right(tile)),
                              Layout(tile, tuple(72, 1)), Layout(tile, tuple(65, 1))}) {
    const Placement where = placement_of(layout, 16);
    const int64_t vector = widest_vector(pattern, where);
    CAPTURE(to_string(layout), vector);
    CHECK(shared_service(pattern, where, std::nullopt).taken ==
          slow_service(write, layout, tile, 16, vector));
    CHECK(shared_service(pattern, where, 1).taken == slow_service(write, layout, tile, 16, 1));
    CHECK(moves_as_one(pattern, where, vector));
    CHECK_FALSE(moves_as_one(pattern, where, 2 * vector));
  }
}

TEST_CASE("the elements that are touched alone are served as among all") {
  Random random{11};
  for (int i = 0; i < 200; ++i) {
    const Tuple tile = tuple(random.in(1, 16) * 4, random.in(1, 16) * 4);
    const int64_t n = size(tile).value(), threads = random.in(1, 64), values = 1 << random.in(0, 3);
    const Layout access(tuple(threads, values), tuple(random.in(0, 3), random.in(0, 9)));
    if ((threads - 1) * access.stride[0].value().value() +
            (values - 1) * access.stride[1].value().value() >=
        n) {
      continue;
    }
    const Layout plain(tile, tuple(random.in(1, 80), random.in(1, 80)));
    const AnyLayout layout =
        i % 2 ? AnyLayout(plain) : AnyLayout(composition(Swizzle(2, 2, 3), plain));
    CAPTURE(to_string(layout), access.to_string());
    const AccessPattern pattern = access_pattern(access, tile);
    AccessPattern touched = pattern;
    const Placement all = placement_of(layout, 16), few = placement_of(layout, 16, touched);
    CHECK(few.offsets.size() <= pattern.elements.size());
    CHECK(widest_vector(touched, few) == widest_vector(pattern, all));
    const Service a = shared_service(pattern, all, std::nullopt),
                  b = shared_service(touched, few, std::nullopt);
    CHECK((a.taken == b.taken && a.least == b.least && a.worst_phases == b.worst_phases));
    const Service c = global_service(pattern, all, std::nullopt),
                  d = global_service(touched, few, std::nullopt);
    CHECK((c.taken == d.taken && c.bytes == d.bytes));
  }
}

TEST_CASE(
    "what is found is what was counted, is a layout of the tile, and is not worse than any other "
    "tried") {
  Random random{5};
  for (int i = 0; i < 80; ++i) {
    const int64_t grain = i % 2 ? 4 : 1;
    const int64_t rows = random.in(1, 12) * grain, columns = random.in(1, 8) * grain;
    const Tuple tile = tuple(rows, columns);
    const Layout by_rows(tuple(rows, columns), tuple(Tuple::basis(1, {0}), Tuple::basis(1, {1})));
    const Layout by_columns(tuple(columns, rows),
                            tuple(Tuple::basis(1, {1}), Tuple::basis(1, {0})));
    LayoutSearch search;
    search.tile = tile;
    search.bits = 1 << random.in(0, 7);
    const std::vector<Layout> accesses{random.once_in(2) ? by_rows : by_columns,
                                       random.once_in(2) ? by_rows : by_columns};
    for (const Layout& a : accesses)
      search.accesses.push_back({"access", access_pattern(a, tile), std::nullopt});
    const FoundLayout found = find_layout(search);
    CAPTURE(to_string(found.layout), tile.to_string(), search.bits);
    const std::vector<int64_t> offsets = values(found.layout);
    CHECK(std::set<int64_t>(offsets.begin(), offsets.end()).size() == offsets.size());
    CHECK(found.size == *std::max_element(offsets.begin(), offsets.end()) + 1);
    int64_t sum = 0;
    for (size_t k = 0; k < accesses.size(); ++k) {
      sum += slow_service(accesses[k], found.layout, tile, search.bits, found.services[k].vector);
    }
    CHECK(sum == found.wavefronts);
    CHECK(found.fewest <= found.wavefronts);
    for (int64_t pad = 0; pad < 40; ++pad) {
      for (const Layout& other :
           {Layout(tile, tuple(1, rows + pad)), Layout(tile, tuple(columns + pad, 1))}) {
        int64_t taken = 0;
        for (const WantedAccess& a : search.accesses) {
          taken += shared_service(a.pattern, placement_of(other, search.bits), std::nullopt).taken;
        }
        CHECK(taken >= found.wavefronts);
      }
    }
  }
}

TEST_CASE("no layout of a small tile goes below the bound") {
  // All orders of the elements of a (4,2) tile of 16 bits: two lanes write rows of 2, four write
  // columns.
  const Tuple tile = tuple(4, 2);
  const Layout write(tuple(2, tuple(2, 2)), tuple(2, tuple(4, 1))), read(tuple(4, 2), tuple(1, 4));
  LayoutSearch search;
  search.tile = tile;
  search.bits = 16;
  search.memory = {2, 4, 2};
  search.accesses = {{"write", access_pattern(write, tile), std::nullopt},
                     {"read", access_pattern(read, tile), std::nullopt}};
  const FoundLayout found = find_layout(search);
  std::vector<int64_t> order{0, 1, 2, 3, 4, 5, 6, 7};
  int64_t least = INT64_MAX;
  do {
    int64_t taken = 0;
    for (const WantedAccess& a : search.accesses) {
      taken += shared_service(a.pattern, Placement{order, 16}, std::nullopt, search.memory).taken;
    }
    least = std::min(least, taken);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(found.fewest <= least);
  CHECK(least <= found.wavefronts);
}
