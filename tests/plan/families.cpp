// Narrow inputs, batches, several outputs, and kernels without a tile, interpreted; bank conflicts
// as predicted.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "backend/interpret/interpret.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/simt/bind_simt.h"
#include "tests/plan/kernels.h"

namespace lay::test {

namespace {

using interpret::Argument;
using interpret::Memory;

template <class T>
Memory memory(std::vector<T>& data, bool constant = false) {
  return {data.data(), static_cast<std::int64_t>(data.size() * sizeof(T)), constant};
}

// Small integers, never 0.
double small(std::int64_t i) {
  const auto n = (i * 7919 + 13) % 6;
  return static_cast<double>(n < 3 ? n - 3 : n - 2);
}
template <class T>
std::vector<T> numbers(std::int64_t count, std::int64_t seed) {
  std::vector<T> made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(static_cast<T>(small(i + seed)));
  return made;
}
std::vector<float> unwritten(std::int64_t count) {
  return std::vector<float>(static_cast<size_t>(count), std::numeric_limits<float>::quiet_NaN());
}

// Runs the last variant, which has no conditions.
interpret::Report run(const plan::Plan& plan, const std::vector<Argument>& arguments,
                      interpret::Options options = {}) {
  REQUIRE(plan.problems.empty());
  options.write_once = true;
  auto report = interpret::run(ir::lower(plan, plan.variants.back()), arguments, options);
  if (report.fault) FAIL(report.fault->message);
  return report;
}

constexpr ElementType f32 = ElementType::f32;

}  // namespace

TEST_CASE("inputs of 16 bits are multiplied in f32 by the CUDA cores") {
  KernelMaker k("half");
  const Int M = k.dim("M"), N = k.dim("N"), K = k.dim("K");
  const auto a = k.tensor("A", ElementType::bf16, layout(tuple(M, K), tuple(K, 1)));
  const auto b = k.tensor("B", ElementType::bf16, layout(tuple(N, K), tuple(1, N)));
  const auto c = k.tensor("C", f32, layout(tuple(M, N), tuple(N, 1)), Access::output);
  const auto m = k.index("m", M), n = k.index("n", N), kk = k.index("k", K, true);
  const auto wide = [&](NodeId id) { return k.apply(ElementFunction::cast, {id}, f32); };
  k.assign(c, {m, n},
           k.sum({kk},
                 k.apply(ElementFunction::mul, {wide(k.load(a, {m, kk})), wide(k.load(b, {n, kk}))},
                         f32),
                 f32));
  const std::vector<ScheduleEntry> entries{{"tile", "", tuple(128, 256, 8), {}},
                                           {"groups", "", tuple(2, 4, 1, 1), {}}};
  k.kernel.schedules.push_back({"simt", {}, entries, {}});
  const auto plan = plan::make_plan(k.done());
  const auto simt =
      std::find_if(plan.variants.begin(), plan.variants.end(),
                   [](const plan::Variant& variant) { return plan::simt_of(variant).has_value(); });
  REQUIRE(simt != plan.variants.end());
  CHECK(plan::simt_of(*simt)->a.vector == 4);  // as many as the threads can share
  constexpr std::int64_t m_size = 37, n_size = 41, k_size = 19;
  const auto half = [](double x) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
  };
  std::vector<std::uint16_t> av, bv;
  for (std::int64_t i = 0; i < m_size * k_size; ++i) av.push_back(half(small(i)));
  for (std::int64_t i = 0; i < n_size * k_size; ++i) bv.push_back(half(small(i + 5)));
  auto cv = unwritten(m_size * n_size);
  run(plan, {m_size, n_size, k_size, memory(av, true), memory(bv, true), memory(cv)});
  size_t wrong = 0;
  for (std::int64_t i = 0; i < m_size; ++i) {
    for (std::int64_t j = 0; j < n_size; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < k_size; ++l)
        sum += small(i * k_size + l) * small(j + l * n_size + 5);
      wrong += cv[static_cast<size_t>(i * n_size + j)] != static_cast<float>(sum);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("batches and two outputs") {
  KernelMaker k("batched");
  const Int M = k.dim("M"), N = k.dim("N"), K = k.dim("K"), L = k.dim("L");
  const auto a = k.tensor("A", f32, layout(tuple(M, K, L), tuple(K, 1, M * K)));
  const auto b = k.tensor("B", f32, layout(tuple(L, N, K), tuple(N * K, K, 1)));
  const auto c = k.tensor("C", f32, layout(tuple(M, N, L), tuple(N, 1, M * N)), Access::output);
  const auto d = k.tensor("D", f32, layout(tuple(L, M, N), tuple(M * N, 1, M)), Access::output);
  const auto m = k.index("m", M), n = k.index("n", N), l = k.index("l", L),
             kk = k.index("k", K, true);
  const auto acc = k.sum(
      {kk}, k.apply(ElementFunction::mul, {k.load(a, {m, kk, l}), k.load(b, {l, n, kk})}, f32),
      f32);
  k.assign(c, {m, n, l}, acc);
  k.assign(d, {l, m, n}, k.apply(ElementFunction::max, {acc, k.literal(0, f32)}, f32));
  const auto plan = plan::make_plan(k.done());
  REQUIRE(plan::simt_of(plan.variants.back()).has_value());
  constexpr std::int64_t sm = 70, sn = 9, sk = 11, sl = 3;
  auto av = numbers<float>(sm * sk * sl, 1), bv = numbers<float>(sn * sk * sl, 2);
  auto cv = unwritten(sm * sn * sl), dv = unwritten(sm * sn * sl);
  run(plan, {sm, sn, sk, sl, memory(av, true), memory(bv, true), memory(cv), memory(dv)});
  size_t wrong = 0;
  for (std::int64_t x = 0; x < sl; ++x) {
    for (std::int64_t i = 0; i < sm; ++i) {
      for (std::int64_t j = 0; j < sn; ++j) {
        float sum = 0;
        for (std::int64_t y = 0; y < sk; ++y) {
          sum += av[static_cast<size_t>(i * sk + y + x * sm * sk)] *
                 bv[static_cast<size_t>(x * sn * sk + j * sk + y)];
        }
        wrong += cv[static_cast<size_t>(i * sn + j + x * sm * sn)] != sum;
        wrong += dv[static_cast<size_t>(x * sm * sn + i + j * sm)] != std::max(sum, 0.0f);
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a permute kernel and two sums, one thread an element") {
  KernelMaker k("mixed");
  const Int M = k.dim("M"), N = k.dim("N");
  const auto x = k.tensor("X", f32, layout(tuple(M, N), tuple(N, 1)));
  const auto y = k.tensor("Y", f32, layout(tuple(N, M), tuple(1, N)), Access::output);
  const auto s = k.tensor("S", f32, layout(M, 1), Access::output);
  const auto i = k.index("i", N), j = k.index("j", M), r = k.index("r", M),
             n = k.index("n", N, true), o = k.index("o", N, true);
  k.assign(y, {i, j}, k.load(x, {j, i}));
  const auto row = k.load(x, {r, n}), other = k.load(x, {r, o});
  k.assign(s, {r},
           k.apply(ElementFunction::sub,
                   {k.sum({n}, k.apply(ElementFunction::mul, {row, row}, f32), f32),
                    k.sum({o}, other, f32)},
                   f32));
  plan::Plan plan{k.done(), {}, {}};
  plan.variants.emplace_back().name = "scalar";
  plan.variants.back().programs = tile::bind_each_element(plan.kernel);
  constexpr std::int64_t sm = 29, sn = 23;
  auto xv = numbers<float>(sm * sn, 3), yv = unwritten(sm * sn), sv = unwritten(sm);
  run(plan, {sm, sn, memory(xv, true), memory(yv), memory(sv)});
  size_t wrong = 0;
  for (std::int64_t a = 0; a < sm; ++a) {
    float squares = 0, sum = 0;
    for (std::int64_t b = 0; b < sn; ++b) {
      const float value = xv[static_cast<size_t>(a * sn + b)];
      wrong += yv[static_cast<size_t>(b + a * sn)] != value;
      squares += value * value;
      sum += value;
    }
    wrong += sv[static_cast<size_t>(a)] != squares - sum;
  }
  CHECK(wrong == 0);
}

TEST_CASE("what a dead arm would read is not read, sums included") {
  // y[i] = if i < 5 then (if i > 0 then sum[k](x[i-1] * x[k]) else 7) else x[i]
  KernelMaker k("guarded");
  const Int M = k.dim("M");
  const auto x = k.tensor("x", f32, layout(M, 1)),
             y = k.tensor("y", f32, layout(M, 1), Access::output);
  const auto i = k.index("i", M), kk = k.index("k", M, true);
  const auto integer = [&](std::int64_t value) { return k.node(Literal{value}, ElementType::s32); };
  const auto before = k.apply(ElementFunction::sub, {k.at(i), integer(1)}, ElementType::s32);
  const auto left = k.node(Load{x, {before}}, f32);
  const auto sum = k.sum({kk}, k.apply(ElementFunction::mul, {left, k.load(x, {kk})}, f32), f32);
  const auto inner =
      k.apply(ElementFunction::select,
              {k.apply(ElementFunction::gt, {k.at(i), integer(0)}, ElementType::pred), sum,
               k.literal(7, f32)},
              f32);
  k.assign(y, {i},
           k.apply(ElementFunction::select,
                   {k.apply(ElementFunction::lt, {k.at(i), integer(5)}, ElementType::pred), inner,
                    k.load(x, {i})},
                   f32));
  const auto plan = plan::make_plan(k.done());
  constexpr std::int64_t size = 300;
  auto xv = numbers<float>(size, 4), yv = unwritten(size);
  run(plan, {size, memory(xv, true), memory(yv)});
  float all = 0;
  for (float v : xv) all += v;
  for (size_t e = 0; e < static_cast<size_t>(size); ++e) {
    const float expected = e >= 5 ? xv[e] : e > 0 ? xv[e - 1] * all : 7.0f;
    CHECK(yv[e] == expected);
  }
}

TEST_CASE("an expression whose parts are used again and again stays small") {
  KernelMaker k("chain");
  const Int M = k.dim("M");
  const auto x = k.tensor("x", f32, layout(M, 1)),
             y = k.tensor("y", f32, layout(M, 1), Access::output);
  const auto i = k.index("i", M);
  NodeId value = k.load(x, {i});
  for (int step = 0; step < 14; ++step) value = k.apply(ElementFunction::add, {value, value}, f32);
  k.assign(y, {i}, value);
  const auto plan = plan::make_plan(k.done());
  auto xv = numbers<float>(100, 5), yv = unwritten(100);
  run(plan, {std::int64_t{100}, memory(xv, true), memory(yv)});
  for (size_t e = 0; e < 100; ++e) CHECK(yv[e] == xv[e] * 16384);
  CHECK(ir::lower(plan, plan.variants[0]).exprs.size() < 200);

  for (int step = 0; step < 14; ++step) value = k.apply(ElementFunction::add, {value, value}, f32);
  k.kernel.assignments.back().value = value;
  const auto larger = plan::make_plan(k.done());
  REQUIRE(larger.problems.size() == 1);
  CHECK(larger.problems[0].code == "unsupported");
}

TEST_CASE("bank conflicts are as predicted") {
  const auto entry = [](const char* name, AnyLayout value) {
    ScheduleEntry made{"smem", name, {}, {}};
    std::visit([&](const auto& l) { made.value = l; }, value);
    return made;
  };
  const Layout flat = layout(tuple(128, 8), tuple(1, 128));
  const std::vector<std::vector<ScheduleEntry>> schedules = {
      {},
      {{"tile", "", tuple(128, 128, 8), {}}, entry("A", flat), entry("B", flat)},
      {{"tile", "", tuple(128, 128, 8), {}}, entry("A", Composed{Swizzle(1, 4, 5), 0, flat})},
  };
  for (const std::string order : {"TN", "NT"}) {
    for (const auto& schedule : schedules) {
      auto maker = gemm({order, f32});
      if (!schedule.empty()) maker.kernel.schedules.push_back({"simt", {}, schedule, {}});
      const auto plan = plan::make_plan(maker.done());
      constexpr std::int64_t s = 128;
      auto a = numbers<float>(s * s, 6), b = numbers<float>(s * s, 7), c = unwritten(s * s);
      const std::vector<Argument> arguments{
          s, s, s, s, s, s, memory(a, true), memory(b, true), memory(c)};
      for (const plan::Variant& variant : plan.variants) {
        // The others ask for more tiles.
        if (schedule.empty() && !variant.name.starts_with("simt_64x64")) continue;
        const auto report =
            interpret::run(ir::lower(plan, variant), arguments, {.bank_conflicts = true});
        if (report.fault) FAIL(report.fault->message);
        for (const plan::BankConflicts& predicted : variant.prediction.conflicts) {
          const std::string buffer = predicted.access.back() == 'A' ? "A_shared" : "B_shared";
          const bool reads = predicted.access.starts_with("read");
          int worst = 0;
          for (const auto& counted : report.banks) {
            const bool is_read = counted.statement.find("<- " + buffer) != std::string::npos;
            if (counted.buffer == buffer && is_read == reads)
              worst = std::max(worst, counted.worst);
          }
          CAPTURE(order, variant.name, predicted.access);
          CHECK(worst == predicted.wavefronts);
        }
      }
    }
  }
}

}  // namespace lay::test
