// Permute kernels drawn at random: rank, order of the coordinates, order in memory, tiles of 8 in
// it, element types, sizes. Every variant gives the bits of the reference.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "tests/plan/script_calls.h"

namespace lay::test {

namespace {

struct Draw {
  std::mt19937 random;

  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  std::vector<int> order(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random);
    return all;
  }

  // A layout of modes D<dims[0]>, D<dims[1]>, ... without gaps; modes with `tiled` dims may be two
  // leaves.
  std::string layout(const std::vector<int>& dims, const std::vector<bool>& tiled) {
    struct Leaf {
      std::string extent, stride;
    };
    std::vector<std::vector<Leaf>> modes;
    std::vector<Leaf*> leaves;
    for (int dim : dims) {
      const std::string name = "D" + std::to_string(dim);
      if (tiled[static_cast<std::size_t>(dim)] && below(2)) {
        modes.push_back({{"8", ""}, {"(" + name + "/8)", ""}});
      } else {
        modes.push_back({{name, ""}});
      }
    }
    for (auto& mode : modes) {
      for (Leaf& leaf : mode) leaves.push_back(&leaf);
    }
    std::shuffle(leaves.begin(), leaves.end(), random);
    std::string stride = "1";
    for (Leaf* leaf : leaves) {
      leaf->stride = stride;
      stride += "*" + leaf->extent;
    }
    const auto text = [&](std::string Leaf::*part) {
      std::string all;
      for (const auto& mode : modes) {
        std::string inner;
        for (const Leaf& leaf : mode) inner += (inner.empty() ? "" : ",") + leaf.*part;
        all += (all.empty() ? "" : ",") + (mode.size() > 1 ? "(" + inner + ")" : inner);
      }
      if (modes.size() == 1) return modes[0].size() > 1 ? "(" + all + ",)" : all;
      return "(" + all + ")";
    };
    return text(&Leaf::extent) + ":" + text(&Leaf::stride);
  }

  std::string kernel_and_call() {
    const int rank = 1 + below(4);
    std::vector<bool> tiled;
    std::vector<int> sizes;
    std::string dims, where, indices, shape;
    for (int k = 0; k < rank; ++k) {
      const std::string name = "D" + std::to_string(k);
      tiled.push_back(below(3) == 0);
      sizes.push_back(tiled.back() ? 8 * (1 + below(rank > 2 ? 3 : 9))
                                   : pick<int>({1, 2, 3, 5, 12, 17, rank > 2 ? 20 : 68}));
      dims += (k ? ", " : "") + name;
      if (tiled.back()) where += (where.empty() ? " where " : " and ") + name + " % 8 == 0";
      indices += (k ? "," : "") + std::string("i") + std::to_string(k);
    }
    std::vector<int> in_order(static_cast<std::size_t>(rank));
    std::iota(in_order.begin(), in_order.end(), 0);
    const std::vector<std::string> types = {"f32", "f32", "bf16", "f16"};
    std::string inputs, value, arrays;
    const int count = 1 + below(2);
    for (int x = 0; x < count; ++x) {
      const std::vector<int> coordinates = order(rank);
      const std::string name = "X" + std::to_string(x);
      inputs += (x ? ", " : "") + name + ": " + pick(types) + " " + layout(coordinates, tiled);
      std::string at, array;
      for (int dim : coordinates) {
        at += (at.empty() ? "i" : ",i") + std::to_string(dim);
        array += (array.empty() ? "" : ",") + std::to_string(sizes[static_cast<std::size_t>(dim)]);
      }
      value += (x ? " - " : "") + name + "[" + at + "]";
      arrays += (x ? ", " : "") + std::string("random(f32, ") +
                (rank > 1 ? "(" + array + ")" : array) + ", " + std::to_string(below(1000)) + ")";
    }
    return "kernel f<" + dims + ">(" + inputs + ") -> Y: " + pick(types) + " " +
           layout(in_order, tiled) + where + "\n{\n  Y[" + indices + "] = " + value + "\n}\nf(" +
           arrays + ")\n";
  }
};

}  // namespace

TEST_CASE("permute kernels drawn at random") {
  Draw draw{std::mt19937(20261122)};
  for (int i = 0; i < 60; ++i) {
    const std::string text = draw.kernel_and_call();
    INFO(text);
    CHECK(messages(text) == "");
  }
}

}  // namespace lay::test
