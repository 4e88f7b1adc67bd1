// How fast the algebra is, on one core:
//
//   lay_algebra_bench
//
// Composition of typical literal layouts; evaluation of a layout over its whole domain; the
// decisions of typical symbolic divides and products; and how each grows with rank, depth and the
// number of symbols. Processor time, the median of five rounds.

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "frontend/algebra/layouts/operations.h"
#include "tests/bench/processor_time.h"

namespace {

using namespace lay;

size_t used = 0;  // keeps results from being left out

struct Pair {
  Layout a, b;
};

// Returns the pairs that tiling a GEMM's operands and dealing tiles to threads compose.
std::vector<Pair> typical_pairs() {
  return {
      {layout(tuple(128, 64), tuple(64, 1)), layout(tuple(32, 4), tuple(1, 32))},
      {layout(tuple(tuple(8, 16), tuple(64, 1)), tuple(tuple(64, 512), tuple(1, 0))),
       layout(tuple(128, 8), tuple(8, 1))},
      {layout(tuple(6, 2), tuple(8, 2)), layout(tuple(4, 3), tuple(3, 1))},
      {layout(256, 4), layout(tuple(tuple(4, 8), tuple(2, 2)), tuple(tuple(32, 1), tuple(16, 8)))},
      {layout(tuple(tuple(4, 8), tuple(2, 2, 2)), tuple(tuple(32, 1), tuple(16, 8, 128))),
       layout(tuple(16, 16), tuple(16, 1))},
      {layout(tuple(10, 2), tuple(16, 4)), layout(tuple(5, 4), tuple(1, 5))},
      {layout(tuple(64, 64, 4), tuple(1, 64, 4096)), layout(tuple(8, 8, 4), tuple(8, 64, 4096))},
      {layout(4096, 1), layout(tuple(128, 32), tuple(32, 1))},
  };
}

void composition_rate() {
  const std::vector<Pair> pairs = typical_pairs();
  Facts facts;
  const double seconds = bench::median_seconds(200'000, [&](int i) {
    const Pair& p = pairs[static_cast<size_t>(i) % pairs.size()];
    used += static_cast<size_t>(composition(facts, p.a, p.b).rank());
  });
  std::printf("composition, typical literal layouts     %10.0f ns   %.2f s a million\n",
              seconds * 1e9, seconds * 1e6);
  for (const Pair& p : pairs) {
    const double one = bench::median_seconds(
        20'000, [&](int) { used += static_cast<size_t>(composition(facts, p.a, p.b).rank()); });
    std::printf("  %-62s %6.0f ns\n", (p.a.to_string() + " o " + p.b.to_string()).c_str(),
                one * 1e9);
  }
}

void evaluation_rate() {
  const Layout layouts[] = {
      layout(tuple(1024, 1024), tuple(1024, 1)),
      layout(tuple(tuple(8, 128), tuple(64, 16)), tuple(tuple(64, 512), tuple(1, 65536))),
      make_layout(tuple(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2)),
      layout(1 << 20, 3),
  };
  for (const Layout& a : layouts) {
    const double seconds = bench::median_seconds(20, [&](int) { used += values(a).size(); });
    std::printf("evaluation of %-34s %8.0f M coordinates/s\n", a.to_string().substr(0, 34).c_str(),
                static_cast<double>(size(a).value()) / seconds * 1e-6);
  }
}

void time(const char* name, const std::function<void()>& operation) {
  std::printf("%-40s %10.1f us\n", name,
              bench::median_seconds(200, [&](int) { operation(); }) * 1e6);
}

void symbolic_divides() {
  time("symbolic divide, tile known to divide", [] {
    Facts facts;
    const Int M = facts.dim("M"), K = facts.dim("K");
    facts.assume(both(divides(M, 128), divides(K, 64)));
    used += static_cast<size_t>(
        zipped_divide(facts, Layout(tuple(M, K), tuple(K, 1)), Tiler::of(tuple(128, 64))).rank());
  });
  time("symbolic divide, rounds up", [] {
    Facts facts;
    const Int M = facts.dim("M"), K = facts.dim("K");
    used += static_cast<size_t>(
        zipped_divide(facts, Layout(tuple(M, K), tuple(K, 1)), Tiler::of(tuple(96, 64))).rank());
  });
  time("symbolic divide, guarded", [] {
    Facts facts;
    const Int M = facts.dim("M"), N = facts.dim("N");
    GuardScope scope(facts);
    used += static_cast<size_t>(
        composition(facts, Layout(tuple(96, N), tuple(1, 100)), Layout(4, M)).rank());
  });
  time("symbolic divide, leading dimension", [] {
    Facts facts;
    const Int M = facts.dim("M"), N = facts.dim("N"), lda = facts.dim("lda");
    facts.assume(both(divides(M, 128), less_equal(N, lda)));
    used += static_cast<size_t>(
        zipped_divide(facts, Layout(tuple(M, N), tuple(lda, 1)), Tiler::of(tuple(128, 32))).rank());
  });
}

void symbolic_products() {
  time("symbolic product, block of numbers", [] {
    Facts facts;
    const Layout block(tuple(8, 8), tuple(8, 1));
    used += static_cast<size_t>(
        blocked_product(facts, block, make_layout(tuple(facts.dim("M"), facts.dim("N")))).rank());
  });
  time("symbolic product, both of symbols", [] {
    Facts facts;
    const Int M = facts.dim("M"), N = facts.dim("N"), K = facts.dim("K"), L = facts.dim("L");
    used += static_cast<size_t>(
        blocked_product(facts, Layout(tuple(M, N), tuple(N, 1)), make_layout(tuple(K, L))).rank());
  });
  time("symbolic product, leading dimension", [] {
    Facts facts;
    const Int M = facts.dim("M"), N = facts.dim("N"), K = facts.dim("K"), ld = facts.dim("ld");
    facts.assume(less_equal(M, ld));
    GuardScope scope(facts);
    used += static_cast<size_t>(
        raked_product(facts, Layout(tuple(M, N), tuple(1, ld)), make_layout(tuple(K, 4))).rank());
  });
}

// One symbol, and as many modes of 2, beside one another or one inside the other.
double seconds_of_divide(int modes, bool nested) {
  return bench::median_seconds(50, [&](int) {
    Facts sizes;
    const Int dim = sizes.dim("M");
    sizes.assume(divides(dim, 64));
    Tuple shape = dim;
    std::vector<Tuple> flat{dim};
    for (int i = 1; i < modes; ++i) {
      shape = tuple(2, shape);
      flat.insert(flat.begin(), 2);
    }
    const Layout a = make_layout_right(nested ? shape : Tuple(flat));
    used += static_cast<size_t>(logical_divide(sizes, a, Layout(2, divided(size(a), 2))).rank());
  });
}

void growth() {
  std::printf("growth of literal composition:      rank");
  Facts facts;
  for (const int rank : {1, 2, 4, 8, 16}) {
    std::vector<Tuple> shape(static_cast<size_t>(rank), Tuple(2));
    const Layout a = make_layout_right(Tuple(shape)), b = make_layout_right(Tuple(shape));
    const double seconds = bench::median_seconds(
        5000, [&](int) { used += static_cast<size_t>(composition(facts, a, b).rank()); });
    std::printf("  %d: %.2f us", rank, seconds * 1e6);
  }
  std::printf("\n                                   depth");
  for (const int depth : {1, 2, 4, 8, 16}) {
    Tuple shape = tuple(2, 2);
    for (int i = 1; i < depth; ++i) shape = tuple(shape, 2);
    const Layout a = make_layout_right(shape), b = make_layout_right(shape);
    const double seconds = bench::median_seconds(
        5000, [&](int) { used += static_cast<size_t>(composition(facts, a, b).rank()); });
    std::printf("  %d: %.2f us", depth, seconds * 1e6);
  }
  for (const bool nested : {false, true}) {
    std::printf(nested ? "\n                                   depth"
                       : "\ngrowth of a symbolic divide:        rank");
    for (const int modes : {1, 2, 4, 8, 16})
      std::printf("  %d: %.0f us", modes, seconds_of_divide(modes, nested) * 1e6);
  }
  std::printf("\n                                 symbols");
  for (const int symbols : {1, 2, 4, 8}) {
    const double seconds = bench::median_seconds(50, [&](int) {
      Facts sizes;
      std::vector<Tuple> shape, tile;
      for (int i = 0; i < symbols; ++i) {
        const Int dim = sizes.dim("M" + std::to_string(i));
        sizes.assume(divides(dim, 64));
        shape.push_back(dim);
        tile.push_back(32);
      }
      const Layout a = make_layout(Tuple(shape));
      used += static_cast<size_t>(zipped_divide(sizes, a, Tiler::of(Tuple(tile))).rank());
    });
    std::printf("  %d: %.0f us", symbols, seconds * 1e6);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  composition_rate();
  evaluation_rate();
  symbolic_divides();
  symbolic_products();
  growth();
  return used == 0;
}
