// Copies as they are emitted are the instructions that the library's records say.
#include <catch2/catch.hpp>
#include <regex>
#include <set>

#include "backend/ir/lower/lower.h"
#include "backend/plan/chosen_copies.h"
#include "backend/plan/make.h"
#include "backend/plan/sm80/bind_sm80.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/sema/library.h"
#include "tests/emitted/emitted.h"
#include "tests/language/script.h"

using namespace lay;

namespace {

// "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

std::set<std::string> said_by_records() {
  std::set<std::string> words;
  const auto add = [&](const std::string& name, const std::vector<sema::LibraryArgument>& with) {
    words.insert(first_word(sema::library_copy("atoms.sm90", name, with).instruction));
  };
  for (const int n : {1, 2, 4})
    for (const char* name : {"ldmatrix", "ldmatrix_trans", "stmatrix", "stmatrix_trans"})
      add(name, {{"n", n}});
  for (const int bytes : {4, 8, 16}) add("cp_async", {{"bytes", bytes}});
  for (const int rank : {1, 2, 3, 4, 5}) {
    for (const char* name : {"tma_load", "tma_store"}) add(name, {{"rank", rank}, {"bytes", 128}});
    add("tma_load_multicast", {{"rank", rank}, {"bytes", 128}, {"blocks", 2}});
    if (rank < 3) continue;
    add("tma_load_im2col", {{"rank", rank}, {"bytes", 128}});
    add("tma_load_im2col_multicast", {{"rank", rank}, {"bytes", 128}, {"blocks", 2}});
  }
  return words;
}

}  // namespace

TEST_CASE("what is emitted for a copy is what its record says") {
  const auto known = said_by_records();
  const std::regex copy(R"rx(asm volatile\("((?:ldmatrix|stmatrix|cp\.async)[^ ;"]*))rx");
  std::set<std::string> seen;
  // An empty text is a convolution.
  for (const char* layouts :
       {"", "A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)", "A: bf16 (M,K):(1,M), B: bf16 (N,K):(1,N)",
        "A: bf16 (64,M,K):(M*K,K,1), B: bf16 (64,N,K):(N*K,K,1)"}) {
    const bool batched = std::string(layouts).find("(64,") != std::string::npos;
    const std::string at = batched ? "l," : "";
    const std::string product = "kernel f<M, N, K>(" + std::string(layouts) + ") -> C: bf16 " +
                                (batched ? "(64,M,N):(M*N,N,1)" : "(M,N):(N,1)") + "\n{ C[" + at +
                                "m,n] = sum[k](A[" + at + "m,k] * B[" + at + "n,k]) }\n";
    const std::string convolution =
        "kernel f<M, N, K>(X: bf16 (M,M+2,M+2,K), W: bf16 (N,3,3,K)) -> Y: bf16 (M,M,M,N)\n"
        "{ Y[b,p,q,n] = sum[r,s,c](X[b,p+r,q+s,c] * W[n,r,s,c]) }\n";
    const sema::test::Script script(*layouts == 0 ? convolution : product);
    REQUIRE(script.messages == "");
    const sema::KernelPtr kernel = script.evaluator.kernels().back();
    plan::Plan plan = plan::make_plan(kernel);
    // By Ampere's instructions too.
    for (plan::Variant& variant : plan::make_plan(kernel, *find_target("a100")).variants)
      plan.variants.push_back(std::move(variant));
    for (const plan::Variant& variant : plan.variants) {
      if (!variant.before.empty()) continue;
      const ir::Kernel lowered = ir::lower(plan, variant);
      // What the planner says of a product's copies are those that its kernel declares.
      std::set<std::string> said, declared;
      for (const sema::CopyInstruction& each : plan::copies_of(variant)) said.insert(each.name);
      for (const ir::CopyAtom& each : lowered.copy_atoms) declared.insert(each.name);
      INFO(variant.name);
      if (plan::is_sm90(variant) || plan::sm80_of(variant)) CHECK(said == declared);
      const std::string text = test::emitted(lowered, "sm_90a").text;
      for (std::sregex_iterator it(text.begin(), text.end(), copy), end; it != end; ++it) {
        const std::string word = (*it)[1];
        if (word.find("commit_group") != std::string::npos ||
            word.find("wait_group") != std::string::npos)
          continue;
        seen.insert(word);
        INFO(variant.name << ": " << word);
        CHECK(known.contains(word));
      }
    }
  }
  for (const char* family :
       {"ldmatrix", "stmatrix", "cp.async.cg", "cp.async.bulk.tensor.2d.shared",
        "cp.async.bulk.tensor.2d.global", "cp.async.bulk.tensor.3d.shared",
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes."
        "multi"}) {
    INFO(family);
    CHECK(std::any_of(seen.begin(), seen.end(),
                      [&](const std::string& word) { return word.starts_with(family); }));
  }
  CHECK(std::any_of(seen.begin(), seen.end(), [](const std::string& word) {
    return word.find("multicast") != std::string::npos;
  }));
}
