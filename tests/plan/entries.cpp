// The table of schedule entries against the planner: what it lists is read, and nothing else is.
#include "backend/plan/schedule/entries.h"

#include <catch2/catch.hpp>

#include "backend/plan/make.h"
#include "tests/language/script.h"

namespace lay::test {
namespace {

std::string kernel_for(const std::string& family) {
  if (family == "permute")
    return "kernel k<M, N>(X: f32 (M,N):(N,1)) -> Y: f32 (N,M):(M,1) { Y[i,j] = X[j,i] }\n";
  if (family == "reduction")
    return "kernel k<M, N>(X: f32 (M,N)) -> s: f32 M { s[m] = sum[n](X[m,n]) }\n";
  const std::string type = family == "simt" ? "f32" : "bf16";
  return "kernel k<M, N, K>(A: " + type + " (M,K):(K,1), B: " + type +
         " (N,K):(K,1)) -> C: f32 (M,N):(N,1) { C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
}

// The problems of a schedule that has only this entry, as "code: message help".
std::string problems(const std::string& family, const std::string& entry) {
  sema::test::Script script("use atoms.sm90\n" + kernel_for(family) + "schedule k for " +
                            (family.starts_with("s") ? family : "simt") + " { " + entry + " }");
  REQUIRE(script.messages == "");
  std::string result;
  for (const plan::Problem& problem : plan::make_plan(script.evaluator.kernels().back()).problems) {
    result += problem.code + ": " + problem.message + "\n";
    for (const auto& [kind, note] : problem.notes) result += kind + ": " + note + "\n";
  }
  return result;
}

const std::string families[] = {"simt", "sm80", "sm90", "permute", "reduction"};

}  // namespace

TEST_CASE("the planner reads every entry of its table as the example says") {
  for (const std::string& family : families)
    for (const plan::EntryRow* row : plan::entries_of(family)) {
      const std::string said = problems(family, std::string(row->example));
      INFO(family << ": " << row->example << "\n" << said);
      // Alone an example may not fit the rest of a schedule, but it is read.
      for (const char* unread : {"has no entry", "has no meaning", "` takes "})
        CHECK(said.find(unread) == std::string::npos);
    }
}

TEST_CASE("an entry of another family has no meaning, and says so") {
  for (const std::string family : {"simt", "sm80", "sm90"})
    for (const plan::EntryRow& row : plan::entry_rows()) {
      if (plan::find_entry(row.name, family)) continue;
      INFO(family << ": " << row.example);
      CHECK(problems(family, std::string(row.example)).find("has no meaning for " + family) !=
            std::string::npos);
    }
}

TEST_CASE("an unknown entry is answered with the one that was meant") {
  CHECK(problems("sm90", "swapped = 1").find("did you mean swap_ab?") != std::string::npos);
  CHECK(problems("sm90", "serpentine = 1").find("did you mean alternate_k?") != std::string::npos);
  CHECK(problems("sm90", "accumulate = 128").find("did you mean promotion_interval?") !=
        std::string::npos);
  CHECK(problems("simt", "order = 8").find("did you mean rasterization or group_m?") !=
        std::string::npos);
  CHECK(problems("simt", "stage = 2").find("did you mean stages?") != std::string::npos);
  CHECK(problems("permute", "thread = 64").find("did you mean threads?") != std::string::npos);
}

}  // namespace lay::test
