// Entries with which a schedule is one variant: `name`, `accesses` and `repack`.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "backend/plan/make.h"
#include "backend/plan/print.h"
#include "backend/target/target.h"
#include "tests/language/script.h"

namespace lay::test {
namespace {

const std::string product =
    "use atoms.sm80\nuse atoms.sm90\n"
    "kernel f<M, N, K>(X: bf16 (M,K):(K,1), W: bf16 (N,K):(K,1)) -> Y: bf16 (M,N):(N,1) "
    "{ Y[m,n] = sum[k](X[m,k] * W[n,k]) }\n";
const std::string f32_product =
    "kernel f<M, N, K>(X: f32 (M,K):(K,1), W: f32 (N,K):(K,1)) -> Y: f32 (M,N):(N,1) "
    "{ Y[m,n] = sum[k](X[m,k] * W[n,k]) }\n";
// W runs along n, which the instruction of tf32 does not take.
const std::string across =
    "use atoms.sm90\n"
    "kernel f<M, N, K>(X: tf32 (M,K):(K,1), W: tf32 (N,K):(1,N)) -> Y: f32 (M,N):(N,1) "
    "{ Y[m,n] = sum[k](X[m,k] * W[n,k]) }\n";
const std::string transpose =
    "kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }\n";
const std::string row_sum =
    "kernel f<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 M { Y[m] = sum[n](X[m,n]) }\n";

const std::string of_bf16 = "mma = sm90.wgmma(n = 128, ab = bf16, acc = f32)\n";
const std::string of_tf32 = "mma = sm90.wgmma(n = 128, ab = tf32, acc = f32)\n";

plan::Plan planned(const std::string& text, const char* gpu = "h200") {
  const sema::test::Script script(text);
  INFO(text);
  REQUIRE(script.messages == "");
  return plan::make_plan(script.evaluator.kernels().back(), *find_target(gpu));
}

// The names of a schedule's own variants, in order.
std::vector<std::string> own(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (const plan::Variant& variant : plan.variants)
    if (variant.schedule.known()) names.push_back(variant.name);
  return names;
}

std::string problem(const std::string& text, const char* gpu = "h200") {
  const plan::Plan plan = planned(text, gpu);
  REQUIRE(plan.problems.size() == 1);
  std::string words = plan.problems[0].code + ": " + plan.problems[0].message;
  for (const auto& [kind, note] : plan.problems[0].notes) words += " | " + kind + ": " + note;
  return words;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a schedule that says its accesses is one variant with the name that it says") {
  const auto names = [](const std::string& kernel, const std::string& target,
                        const std::string& entries, const char* gpu = "h200") {
    const plan::Plan plan =
        planned(kernel + "schedule f for " + target + " { " + entries + " }", gpu);
    CHECK(plan.problems.empty());
    return own(plan);
  };
  const std::string tile = "tile = (64,64,16)\n";
  CHECK(names(f32_product, "simt", tile) == Names{"simt", "simt_any"});
  CHECK(names(f32_product, "simt", tile + "accesses = \"vectors\"") == Names{"simt"});
  CHECK(names(f32_product, "simt", tile + "accesses = \"elements\"") == Names{"simt"});
  CHECK(names(f32_product, "simt", tile + "name = \"mine\"") == Names{"mine", "mine_any"});
  CHECK(names(f32_product, "simt", tile + "name = \"mine\"\naccesses = \"elements\"") ==
        Names{"mine"});
  const std::string sm80 = "mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)\n";
  CHECK(names(product, "sm80", sm80, "a100") == Names{"sm80", "sm80_any"});
  CHECK(names(product, "sm80", sm80 + "accesses = \"vectors\"", "a100") == Names{"sm80"});
  CHECK(names(product, "sm90", of_bf16) ==
        Names{"sm90", "sm90_any", "sm90_repack_X_W", "sm90_any_repack_X_W"});
  CHECK(names(product, "sm90", of_bf16 + "accesses = \"elements\"") == Names{"sm90"});
  CHECK(names(transpose, "simt", "threads = 128") ==
        Names{"simt_bytes16", "simt_bytes8", "simt_any"});
  CHECK(names(transpose, "simt", "threads = 128\naccesses = 8") == Names{"simt"});
  CHECK(names(transpose, "simt", "name = \"t\"\naccesses = \"elements\"") == Names{"t"});
  const std::string threads = "threads = ((32,8),(4,4)):((4@1,1@0),(1@1,128@1))\n";
  CHECK(names(row_sum, "simt", threads) == Names{"simt", "simt_any"});
  CHECK(names(row_sum, "simt", threads + "name = \"r\"\naccesses = \"vectors\"") == Names{"r"});
}

TEST_CASE("what a schedule of one variant does not take is planned behind it") {
  const plan::Plan plan =
      planned(f32_product + "schedule f for simt { tile = (64,64,16)\naccesses = \"vectors\" }");
  REQUIRE(plan.variants.size() > 1);
  CHECK(plan.variants.front().accesses == plan::Width::vectors);
  CHECK(plan.variants.back().when.empty());
  CHECK(plan.variants.back().aligned.empty());
}

TEST_CASE("a schedule that says its repacks has those and no others") {
  const auto names = [](const std::string& kernel, const std::string& entries) {
    const plan::Plan plan = planned(kernel + "schedule f for sm90 { " + entries + " }");
    CHECK(plan.problems.empty());
    return own(plan);
  };
  const std::string both = "repack X = \"elements\"\nrepack W = \"elements\"\n";
  CHECK(names(product, of_bf16 + both) == Names{"sm90_repack_X_W", "sm90_any_repack_X_W"});
  CHECK(names(product, of_bf16 + both + "accesses = \"vectors\"") == Names{"sm90"});
  CHECK(names(across, of_tf32 + "repack W = \"vectors\"\naccesses = \"vectors\"") == Names{"sm90"});
  // With `swap_ab` the entries name tensors as before.
  const std::string swapped = "mma = sm90.wgmma(n = 16, ab = bf16, acc = f32)\nswap_ab = 1\n";
  const plan::Plan plan =
      planned(product + "schedule f for sm90 { " + swapped + both + "accesses = \"vectors\" }");
  REQUIRE(own(plan) == Names{"sm90"});
  const std::string text = plan::print_plan(plan);
  CHECK(text.find("kernel f_repack_X<") != std::string::npos);
  CHECK(text.find("repack X      = \"elements\"") != std::string::npos);
}

TEST_CASE("names of variants stay unique beside those of schedules") {
  const plan::Plan plan = planned(f32_product +
                                  "schedule f for simt when M >= 8192 { tile = (64,64,16)\n"
                                  "name = \"simt_64x64\" }");
  REQUIRE(plan.problems.empty());
  std::set<std::string> names;
  for (const plan::Variant& variant : plan.variants) CHECK(names.insert(variant.name).second);
  CHECK(names.contains("simt_64x64"));
  CHECK(names.contains("simt_64x64_2"));  // the library's
}

TEST_CASE("entries of one variant that do not fit are refused with what would") {
  const auto simt = [](const std::string& entries) {
    return f32_product + "schedule f for simt { " + entries + " }";
  };
  const auto sm90 = [](const std::string& kernel, const std::string& entries) {
    return kernel + "schedule f for sm90 { " + entries + " }";
  };
  const std::string of_name =
      "schedule-entry: `name` takes a name in quotes: letters, digits and _, a letter first, at "
      "most 64";
  CHECK(problem(simt("name = 3")) == of_name);
  CHECK(problem(simt("name = \"\"")) == of_name);
  CHECK(problem(simt("name = \"2nd\"")) == of_name);
  CHECK(problem(simt("name = \"a b\"")) == of_name);
  CHECK(problem(simt("name = \"" + std::string(65, 'a') + "\"")) == of_name);
  CHECK(problem(transpose + "schedule f for simt { name = (1,2) }") == of_name);
  CHECK(problem(row_sum + "schedule f for simt { name = \"a-b\" }") == of_name);
  CHECK(problem(simt("name = \"x\"") + "\nschedule f for simt when M <= 8 { name = \"x\" }") ==
        "schedule-entry: two schedules of `f` are called \"x\"");
  const std::string of_accesses =
      "schedule-entry: `accesses` takes \"vectors\", the widest accesses that the tensors allow, "
      "or \"elements\"";
  CHECK(problem(simt("accesses = 16")) == of_accesses);
  CHECK(problem(simt("accesses = \"wide\"")) == of_accesses);
  CHECK(problem(row_sum + "schedule f for simt { accesses = 16 }") == of_accesses);
  const std::string of_bytes =
      "schedule-entry: `accesses` takes the bytes of the widest access, 16, 8 or 4, or "
      "\"elements\"";
  CHECK(problem(transpose + "schedule f for simt { accesses = \"vectors\" }") == of_bytes);
  CHECK(problem(transpose + "schedule f for simt { accesses = 32 }") == of_bytes);
  CHECK(problem(transpose + "schedule f for simt { accesses = 0 }") == of_bytes);
  // Nothing is contiguous.
  CHECK(problem("kernel f<M, N, K>(X: f32 (M,K):(2*K,2), W: f32 (N,K):(2*K,2)) -> Y: f32 "
                "(M,N):(2*N,2) { Y[m,n] = sum[k](X[m,k] * W[n,k]) }\n"
                "schedule f for simt { accesses = \"vectors\" }") ==
        "schedule-entry: `accesses` in vectors needs a tensor that is contiguous along a mode of "
        "the product, with strides of whole vectors | works: accesses = \"elements\"");
  CHECK(problem("kernel f<M, N>(X: f32 (M,N):(2*N,2)) -> Y: f32 (M,N):(2*N,2) "
                "{ Y[m,n] = X[m,n] }\nschedule f for simt { accesses = 16 }") ==
        "schedule-entry: no access of this kernel is wider than one element | works: accesses = "
        "\"elements\"");
  CHECK(problem(sm90(product, of_bf16 + "repack X = 16"))
            .starts_with("schedule-entry: `repack` takes \"vectors\", the widest"));
  CHECK(problem(sm90(product, of_bf16 + "repack Y = \"elements\"")) ==
        "schedule-entry: `repack` takes a factor of the product: expected X or W, got Y");
  CHECK(problem(sm90(product, of_bf16 + "repack = \"elements\"")) ==
        "schedule-entry: `repack` takes a factor of the product: expected X or W, got none");
  CHECK(problem(sm90(product, of_bf16 + "repack X = \"elements\"")) ==
        "schedule-entry: `repack` takes operands that are worth a copy for some sizes | works: X "
        "and W");
  CHECK(problem(sm90(product, of_bf16 + "repack X = \"vectors\"\nrepack W = \"vectors\"")) ==
        "schedule-entry: `repack` in vectors is for operands that are transposed on the way, and "
        "these rows only get another pitch | works: \"elements\"");
  CHECK(problem(sm90(across, of_tf32 + "repack X = \"elements\"")) ==
        "schedule-entry: `repack` takes operands that are worth a copy for some sizes | works: W; "
        "X and W");
  CHECK(problem(sm90(product, of_bf16 + "repack X = \"elements\"\nrepack W = \"vectors\"")) ==
        "schedule-entry: `repack` takes the same accesses for both operands: one launch copies "
        "them");
  CHECK(problem(sm90(product, "repack X = \"elements\"")) ==
        "schedule-entry: `repack` goes with `mma`: without it rows of the library choose what they "
        "repack | help: name the atom as `mma`, or leave `repack` out");
  CHECK(problem(simt("repack X = \"elements\"")) ==
        "unsupported: `repack` has no meaning for simt");
  CHECK(problem(simt("access = \"vectors\"")).find("help: did you mean accesses?") !=
        std::string::npos);
  CHECK(problem(transpose + "schedule f for simt { vector_width = 4 }")
            .find("help: did you mean accesses?") != std::string::npos);
  CHECK(problem(sm90(product, of_bf16 + "copies X = 1")).find("help: did you mean repack?") !=
        std::string::npos);
}

}  // namespace lay::test
