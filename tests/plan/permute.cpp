// Permute kernels: every variant against the reference, on sizes that fit no tile; conflicts as
// predicted; schedules that are pasted back; misfits with a witness.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "backend/interpret/interpret.h"
#include "backend/ir/lower/lower.h"
#include "backend/plan/make.h"
#include "backend/plan/permute/permute_smem.h"
#include "backend/plan/print.h"
#include "backend/plan/shared_layout.h"
#include "backend/tile/elementwise/elementwise.h"
#include "frontend/algebra/layouts/operations.h"
#include "tests/plan/script_calls.h"

namespace lay::test {

namespace {

const char* const kTransposes = R"(
kernel transpose<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }
kernel narrow<M, N>(X: bf16 (M,N):(N,1)) -> Y: bf16 (N,M):(M,1) { Y[i,j] = X[j,i] }
kernel bytes<M, N>(X: s8 (M,N):(N,1)) -> Y: s8 (N,M):(M,1) { Y[i,j] = X[j,i] }
kernel wide<M, N>(X: f64 (M,N):(N,1)) -> Y: f64 (N,M):(M,1) { Y[i,j] = X[j,i] }
kernel cast<M, N>(X: f32 (M,N):(N,1)) -> Y: bf16 (N,M):(M,1) { Y[i,j] = 2 * X[j,i] + 1 }
kernel columns<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (M,N):(1,M) { Y[i,j] = X[i,j] }
kernel pitched<M, N, p, q>(X: f32 (M,N):(p,1)) -> Y: f32 (M,N):(1,q) where p >= N and q >= M { Y[i,j] = X[i,j] }
kernel tiled<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 ((8,M/8),(8,N/8)):((1,64),(8,8*M)) where M % 8 == 0 and N % 8 == 0 {
  Y[i,j] = X[i,j]
}
kernel untiled<M, N>(X: bf16 ((8,M/8),(8,N/8)):((1,64),(8,8*M))) -> Y: bf16 (M,N):(N,1) where M % 8 == 0 and N % 8 == 0 {
  Y[i,j] = X[i,j]
}
kernel batched<B, M, N>(X: f32 (B,M,N):(M*N,N,1)) -> Y: f32 (B,N,M):(M*N,M,1) { Y[b,i,j] = X[b,j,i] }
kernel channels<B, H, W, C>(X: f32 (B,H,W,C):(H*W*C,W*C,C,1)) -> Y: f32 (B,C,H,W):(C*H*W,H*W,W,1) {
  Y[b,c,h,w] = X[b,h,w,c]
}
kernel three<I, J, K>(A: f32 (I,J,K):(J*K,K,1), B: f32 (I,J,K):(1,I,I*J), C: f32 (I,J,K):(J,1,I*J)) -> Y: f32 (I,J,K):(J*K,K,1) {
  Y[i,j,k] = A[i,j,k] - B[i,j,k] * C[i,j,k]
}
)";

const char* const kOthers = R"(
kernel rows<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 ((8,M/8),(8,N/8)):((8,64),(1,8*M)) where M % 8 == 0 and N % 8 == 0 {
  Y[i,j] = X[i,j]
}
kernel window<P, Q, R, S, C, W>(X: f32 (P,Q,R,S,C):(W*C,C,W*C,C,1)) -> Y: f32 (P,Q,R,S,C):(Q*R*S*C,R*S*C,S*C,C,1)
  where W == Q + S - 1
{
  Y[p,q,r,s,c] = X[p,q,r,s,c]
}
kernel im2col<H, L, R, S, C>(X: f32 (H,L,C):(L*C,C,1), w: f32 (R,S):(S,1))
  -> Y: f32 (H-R+1,L-S+1,R,S,C):((L-S+1)*R*S*C,R*S*C,S*C,C,1)
  where H >= R and L >= S
{
  Y[p,q,r,s,c] = X[p+r,q+s,c] * w[r,s]
}
kernel frames<T, W>(x: f32 T:1, w: f32 W:1) -> Y: f32 (W,T-W+1):(T-W+1,1) where T >= W { Y[k,t] = x[t+k] * w[k] }
kernel mix<M, N>(X: f32 (M,N):(N,1), Y: bf16 (M,N):(1,M), u: f32 M:1, v: f32 N:1, a: f32) -> Z: f32 (M,N):(N,1) {
  Z[i,j] = if i < j then a * X[i,j] + u[i] * v[j] else X[i,j] - Y[i,j]
}
kernel symmetric<M>(X: f32 (M,M):(M,1)) -> Y: f32 (M,M):(M,1) { Y[i,j] = 0.5 * (X[i,j] + X[j,i]) }
kernel both<M, N>(X: f32 (M,N):(N,1)) -> (Y: f32 (M,N):(N,1), Z: bf16 (N,M):(M,1)) {
  Y[i,j] = X[i,j] + 1
  Z[j,i] = -X[i,j]
}
kernel update<M, N>(X: f32 (M,N):(1,M), a: f32) -> Y: inout f32 (M,N):(N,1) { Y[i,j] = a * X[i,j] + Y[i,j] }
kernel diagonal<M>(X: f32 (M,M):(M,1)) -> y: f32 M:1 { y[i] = X[i,i] }
kernel reversed<M>(x: f32 M:1) -> y: f32 M:1 { y[i] = x[M - 1 - i] }
kernel shifted<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = if j > 0 then X[j-1,i] else 0 }
kernel spread<M, N>(u: f32 M:1) -> Y: f32 (M,N):(N,1) { Y[i,j] = u[i] }
kernel counted<M, N>(u: f32 M:1) -> Y: f32 (M,N):(1,M) { Y[i,j] = f32(i * 3) - f32(j) + u[i] }
kernel stencil<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (M-2,N-2):(N-2,1) where M >= 3 and N >= 3 {
  Y[i,j] = X[i+1,j+1] + X[i+1,j+2] + X[i+2,j+1]
}
kernel many<M, N>(X: f32 (M,N):(N,1), Y: f32 (N,M):(M,1)) -> Z: f32 (M,N):(N,1) where M >= 2 and N >= 2 {
  Z[i,j] = X[i,j] + Y[j,i] + X[M-1-i,j] + X[i,N-1-j] + Y[N-1-j,i] + Y[j,M-1-i] + Y[N-1-j,M-1-i] + X[M-1-i,N-1-j]
}
kernel strided<M, N>(X: f32 (M,N):(2*N,2)) -> Y: f32 (N,M):(3*M,3) { Y[i,j] = X[j,i] }
)";

// A plan of the script's last kernel.
plan::Plan planned(const std::string& text) {
  sema::test::Script script(text);
  INFO(text);
  REQUIRE(script.messages == "");
  return plan::make_plan(script.evaluator.kernels().back());
}

// What a variant decided, read off its program.
struct How {
  struct Load {
    bool staged = false;
    int vector = 1, along = -1, read_vector = 1;
    tile::Distribution threads;
    AnyLayout shared;
  };
  std::vector<int> tile;
  tile::Distribution threads;
  std::vector<Load> loads;
  std::vector<int> stores;  // elements of an access
};

How how(const plan::Variant& variant) {
  const tile::Program* program = plan::elementwise(variant);
  REQUIRE(program != nullptr);
  How made;
  for (const tile::Axis& axis : program->axes) made.tile.push_back(axis.tile);
  made.threads = *program->threads;
  for (const tile::LoadWay& way : tile::loads_of(*program)) {
    How::Load load;
    load.staged = way.is_staged();
    load.vector = way.load->vector;
    load.threads = program->tile(way.load->dst).threads.value_or(made.threads);
    load.along = load.threads.along;
    if (load.staged) {
      load.read_vector = way.get->vector;
      load.shared = program->tile(way.put->dst).shared->layout;
    }
    made.loads.push_back(load);
  }
  for (const tile::Copy* store : tile::stores_of(*program)) made.stores.push_back(store->vector);
  return made;
}

const std::string kTranspose =
    "kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }\n";

}  // namespace

TEST_CASE("a permute kernel through shared memory, in every variant, is what the reference says") {
  for (const char* call :
       {"transpose(random(f32, (70,45)))",
        "transpose(random(f32, (132,72)))",
        "transpose(random(f32, (66,130)))",
        "transpose(random(f32, (1,200)))",
        "narrow(random(f32, (72,136)))",
        "narrow(random(f32, (129,36)))",
        "narrow(random(f32, (67,33)))",
        "wide(random(f64, (38,70)))",
        "cast(random(f32, (136,68)))",
        "cast(random(f32, (35,33)))",
        "columns(random(f32, (68,76)))",
        "pitched(random(f32, (68,76)))",
        "pitched(random(f32, (31,5)))",
        "tiled(random(f32, (72,80)))",
        "untiled(random(f32, (72,136)))",
        "batched(random(f32, (3,36,68)))",
        "batched(random(f32, (2,35,9)))",
        "channels(random(f32, (2,5,12,8)))",
        "channels(random(f32, (2,7,9,3)))",
        "three(random(f32, (12,20,36)), random(f32, (12,20,36)), random(f32, (12,20,36)))",
        "three(random(f32, (5,7,3)), random(f32, (5,7,3)), random(f32, (5,7,3)))"}) {
    INFO(call);
    CHECK(messages(std::string(kTransposes) + call) == "");
  }
}

TEST_CASE("everything else that is computed element by element, in every variant") {
  for (const char* call :
       {"rows(random(f32, (40,264)))", "im2col(random(f32, (9,12,4)), random(f32, (3,2)))",
        "frames(random(f32, 100), random(f32, 9))",
        "mix(random(f32, (70,44)), random(f32, (70,44)), random(f32, 70), random(f32, 44), 2)",
        "mix(random(f32, (31,45)), random(f32, (31,45)), random(f32, 31), random(f32, 45), 2)",
        "symmetric(random(f32, (68,68)))", "symmetric(random(f32, (33,33)))",
        "both(random(f32, (36,72)))", "both(random(f32, (35,71)))",
        "update(random(f32, (36,72)), 3, random(f32, (36,72)))",
        "update(random(f32, (7,71)), 3, random(f32, (7,71)))", "diagonal(random(f32, (70,70)))",
        "reversed(random(f32, 200))", "shifted(random(f32, (36,72)))",
        "strided(random(f32, (36,40)))", "stencil(random(f32, (36,70)))",
        "many(random(f32, (36,68)), random(f32, (68,36)))"}) {
    INFO(call);
    CHECK(messages(std::string(kOthers) + call) == "");
  }
}

TEST_CASE("a transpose goes through shared memory in the order of both sides, vectors first") {
  const auto plan = planned(kTranspose);
  REQUIRE(plan.variants.size() == 3);
  CHECK(plan.variants[0].name == "bytes16");
  CHECK(plan.variants[1].name == "bytes8");
  CHECK(plan.variants[2].name == "any");
  const How first = how(plan.variants[0]);
  REQUIRE(first.loads.size() == 1);
  CHECK(first.loads[0].staged);
  CHECK(first.loads[0].vector == 4);
  CHECK(first.loads[0].along == 0);
  CHECK(first.loads[0].read_vector == 4);
  CHECK(first.threads.along == 1);
  CHECK(first.stores[0] == 4);
  CHECK(plan.variants[0].when.size() == 2);
  CHECK(plan.variants[0].aligned.size() == 2);
  CHECK(plan.variants[2].when.empty());
  CHECK(plan.variants[2].aligned.empty());
}

// More than these, and what the addresses of 256 elements take, spilled.
TEST_CASE("what a thread reads ahead element by element has a register each") {
  const auto plan =
      planned("kernel bytes<M, N>(X: s8 (M,N):(N,1)) -> Y: s8 (N,M):(M,1) { Y[i,j] = X[j,i] }");
  REQUIRE(plan.variants.size() == 4);
  for (const plan::Variant& variant : plan.variants) {
    INFO(variant.name);
    const How made = how(variant);
    REQUIRE(made.loads.at(0).staged);
    const int registers = made.loads[0].threads.accesses() * std::max(1, made.loads[0].vector / 4);
    CHECK(registers <= 96);
  }
  CHECK(how(plan.variants[0]).tile == std::vector<int>{256, 256});
  CHECK(how(plan.variants[3]).tile == std::vector<int>{128, 128});
}

TEST_CASE(
    "tensors whose leading dimensions are never both aligned are not both accessed in vectors") {
  const auto plan =
      planned("kernel f<M, N>(X: f32 (M,N):(1,M+5)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }");
  for (const plan::Variant& variant : plan.variants) {
    const How made = how(variant);
    CHECK((made.loads.empty() || made.loads[0].vector == 1 || made.stores[0] == 1));
  }
  CHECK(how(plan.variants[0]).stores[0] == 4);
}

// With more elements a thread than it has registers to read them ahead.
TEST_CASE("accesses are as wide as what the conditions of a variant are about") {
  const auto plan = planned(
      "kernel f<M, N>(X: f32 (M,N):(1,M)) -> Y: f32 (M,N):(1,M+5) { Y[i,j] = X[i,j] }\n"
      "schedule f for simt { tile = (128,64); threads = 32 }");
  for (const plan::Variant& variant : plan.variants) {
    const How made = how(variant);
    CHECK(made.loads.empty());
    CHECK(made.threads.vector == made.stores[0]);
  }
}

TEST_CASE("where both sides run along one index nothing is staged") {
  const auto plan =
      planned(std::string(kOthers) +
              "kernel last<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (M,N):(N,1) { Y[i,j] = X[i,j] }");
  for (const plan::Variant& variant : plan.variants) {
    CHECK_FALSE(how(variant).loads[0].staged);
    CHECK(variant.prediction.shared_bytes == 0);
  }
  CHECK(how(plan.variants[0]).loads[0].vector == 4);
}

TEST_CASE("literal sizes decide how wide the accesses are") {
  const auto odd =
      planned("kernel f(X: f32 (62,50):(50,1)) -> Y: f32 (50,62):(62,1) { Y[i,j] = X[j,i] }");
  REQUIRE(odd.variants.size() == 2);  // of the widest, narrower ones would be the same
  CHECK(how(odd.variants[0]).loads[0].vector == 2);
  CHECK(how(odd.variants[0]).stores[0] == 2);
  CHECK(odd.variants[0].when.empty());
}

// The interpreter counts what the plan predicted, access by access; and the defaults have no
// conflict.
TEST_CASE("bank conflicts of permute kernels are as predicted") {
  struct Case {
    std::string text;
    bool free;
  };
  const std::vector<Case> cases = {
      {kTranspose, true},
      {"kernel f<M, N>(X: bf16 (M,N):(N,1)) -> Y: bf16 (N,M):(M,1) { Y[i,j] = X[j,i] }", true},
      {"kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: bf16 (N,M):(M,1) { Y[i,j] = X[j,i] }", true},
      {"kernel f<M, N>(X: s8 (M,N):(N,1)) -> Y: s8 (N,M):(M,1) { Y[i,j] = X[j,i] }", true},
      {"kernel f<M, N>(X: f64 (M,N):(N,1)) -> Y: f64 (N,M):(M,1) { Y[i,j] = X[j,i] }", true},
      {"kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 ((8,M/8),(8,N/8)):((1,64),(8,8*M)) where M % "
       "8 == 0 and N % 8 == "
       "0 "
       "{ Y[i,j] = X[i,j] }",
       true},
      {kTranspose + "schedule f for simt { tile = (64,64)\n smem X = (64,64):(64,1) }", false},
      {kTranspose +
           "schedule f for simt { tile = (32,64)\n threads = 128\n smem X = (32,64):(65,1) }",
       false},
      {kTranspose +
           "schedule f for simt { tile = (32,32)\n smem X = Sw<2,2,5> o 0 o (32,32):(32,1) }",
       false},
  };
  for (const Case& each : cases) {
    const auto plan = planned(each.text);
    REQUIRE(plan.problems.empty());
    for (const plan::Variant& variant : plan.variants) {
      constexpr std::int64_t s = 512;
      std::vector<std::byte> in(s * s * 8, std::byte{1}), out(s * s * 8);
      const auto bytes = static_cast<std::int64_t>(in.size());
      const auto report = interpret::run(
          ir::lower(plan, variant),
          {s, s, interpret::Memory{in.data(), bytes, true}, interpret::Memory{out.data(), bytes}},
          {.bank_conflicts = true});
      CAPTURE(each.text, variant.name, to_string(how(variant).loads[0].shared));
      if (report.fault) FAIL(report.fault->message);
      REQUIRE(variant.prediction.conflicts.size() == 2);
      for (const plan::BankConflicts& predicted : variant.prediction.conflicts) {
        const bool reads = predicted.access.starts_with("read");
        int worst = 0;
        for (const auto& counted : report.banks) {
          const bool is_read = counted.statement.find("<- X_shared") != std::string::npos;
          if (counted.buffer == "X_shared" && is_read == reads)
            worst = std::max(worst, counted.worst);
        }
        CAPTURE(predicted.access);
        CHECK(worst == predicted.wavefronts);
        if (each.free) CHECK(predicted.wavefronts == predicted.least);
      }
    }
  }
}

TEST_CASE("every element of a tile has one thread, by enumeration") {
  const auto once = [](const Layout& thread_value, const std::vector<int>& tile) {
    std::set<std::vector<std::int64_t>> seen;
    std::int64_t elements = 1;
    for (int extent : tile) elements *= extent;
    Facts facts;
    const Int count = size(thread_value);
    for (std::int64_t i = 0; i < count.value(); ++i) {
      std::vector<std::int64_t> at(tile.size(), 0);
      const Tuple coordinate = evaluate(facts, thread_value, Tuple(i));
      for (size_t axis = 0; axis < tile.size() && coordinate.is_tuple(); ++axis) {
        if (static_cast<int>(axis) < coordinate.rank())
          at[axis] = coordinate[static_cast<int>(axis)].value().value();
      }
      for (size_t axis = 0; axis < tile.size(); ++axis) {
        if (at[axis] < 0 || at[axis] >= tile[axis]) return false;
      }
      if (!seen.insert(at).second) return false;
    }
    return static_cast<std::int64_t>(seen.size()) == elements;
  };
  int staged = 0;
  sema::test::Script script(std::string(kTransposes) + kOthers);
  REQUIRE(script.messages == "");
  for (const auto& kernel : script.evaluator.kernels()) {
    const auto plan = plan::make_plan(kernel);
    for (const plan::Variant& variant : plan.variants) {
      if (!plan::elementwise(variant)) continue;  // rows that are gathered
      const How made = how(variant);
      CAPTURE(kernel->name, variant.name, made.threads.layout.to_string());
      CHECK(once(made.threads.layout, made.tile));
      for (const How::Load& load : made.loads) {
        if (!load.staged) continue;
        ++staged;
        const Layout& shared = std::holds_alternative<Layout>(load.shared)
                                   ? std::get<Layout>(load.shared)
                                   : std::get<Composed>(load.shared).layout();
        std::vector<int> tile;
        for (int axis = 0; axis < shared.rank(); ++axis)
          tile.push_back(static_cast<int>(size(shared[axis]).value()));
        CAPTURE(load.threads.layout.to_string(), to_string(load.shared));
        CHECK(once(load.threads.layout, tile));
        CHECK(!plan::shared_fault(tile, load.shared));
      }
    }
  }
  CHECK(staged > 20);
}

TEST_CASE("the printed schedule of a permute kernel is one that the planner takes back") {
  const std::vector<std::string> kernels = {
      kTranspose,
      "kernel f<M, N>(X: bf16 (M,N):(N,1)) -> Y: bf16 (N,M):(M,1) { Y[i,j] = X[j,i] }\n",
      "kernel f<B, M, N>(X: f32 (B,M,N):(M*N,N,1), u: f32 N:1) -> Y: f32 (B,N,M):(M*N,M,1) { "
      "Y[b,i,j] = X[b,j,i] + "
      "u[i] }\n",
      "kernel f<M>(x: f32 M:1) -> y: f32 M:1 { y[i] = x[i] + 1 }\n"};
  for (const std::string& kernel : kernels) {
    const auto made = planned(kernel);
    for (const plan::Variant& variant : made.variants) {
      std::string pasted = kernel;
      for (const std::string& line : plan::schedule_lines(made, variant)) pasted += line + "\n";
      const auto again = planned(pasted);
      CAPTURE(pasted);
      REQUIRE(again.problems.empty());
      const auto same =
          std::find_if(again.variants.begin(), again.variants.end(),
                       [&](const plan::Variant& v) { return v.name == variant.name; });
      REQUIRE(same != again.variants.end());
      CHECK(same == again.variants.begin());
      CHECK(plan::schedule_lines(again, *same) == plan::schedule_lines(made, variant));
    }
  }
}

TEST_CASE("a schedule that does not fit a permute kernel is named with a witness") {
  struct Case {
    const char *entries, *code, *words;
  };
  const Case cases[] = {
      {"tile = (64,64,8)", "schedule-entry", "2 positive numbers"},
      {"tile = (64,5000)", "schedule-entry", "2 positive numbers"},
      {"threads = 100", "schedule-entry", "a multiple of 32"},
      {"threads = 2048", "schedule-threads", "at most 1024"},
      {"tile = (4096,4096)", "schedule-registers", "a tile of this size"},
      {"tile = (64,64)\n smem X = (64,32):(1,64)", "schedule-smem",
       "is not one of the tile (64,64)"},
      {"tile = (64,64)\n smem X = (64,64):(1,32)", "schedule-smem",
       "gives two elements one place, (32,0) and (0,1)"},
      {"tile = (64,64)\n smem X = (64,64):(-1,64)", "schedule-smem",
       "has a place before its beginning, for (63,0)"},
      {"tile = (64,64)\n smem = (64,64):(1,64)", "schedule-entry",
       "names an input that is transposed: smem X ="},
      {"tile = (256,256)\n threads = 1024", "schedule-shared", "262144 bytes"},
      {"tile = (64,64)\n rasterization = (ceil_div(N,64),ceil_div(M,64)):(1@1,1@0)",
       "schedule-rasterization", "exactly once"},
      {"groups = (2,2,1,1)", "schedule-entry", "no entry `groups`"},
      {"tile = (64,64)\n smem Y = (64,64):(1,64)", "schedule-entry",
       "an input that is transposed, and Y is not"},
  };
  for (const Case& each : cases) {
    const auto plan = planned(kTranspose + "schedule f for simt { " + each.entries + " }");
    CAPTURE(each.entries);
    REQUIRE(!plan.problems.empty());
    CHECK(plan.problems[0].code == each.code);
    CHECK(plan.problems[0].message.find(each.words) != std::string::npos);
    CHECK(plan.variants.empty());
  }
}

TEST_CASE("schedules of a permute kernel are followed, whatever the tile") {
  for (const char* entries :
       {"tile = (32,32)", "tile = (8,128)\n threads = 64", "tile = (128,8)", "tile = (48,40)",
        "tile = (1,64)\n threads = 32", "tile = (64,1)\n threads = 32", "tile = (20,12)",
        "tile = (64,64)\n threads = 1024", "tile = (7,5)\n threads = 32",
        "tile = (32,32)\n smem X = (32,32):(1,32)",
        "tile = (32,32)\n rasterization = (ceil_div(N,32),ceil_div(M,32)):(1@0,1@1)"}) {
    INFO(entries);
    CHECK(messages(kTranspose + "schedule f for simt { " + entries +
                   " }\nf(random(f32, (70,45)))\nf(random(f32, (72,44)))") == "");
  }
}

}  // namespace lay::test
