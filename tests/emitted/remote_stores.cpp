// Stores to another block of the cluster, for every type and count that st.async takes.
#include <catch2/catch.hpp>
#include <string>

#include "backend/ir/text/parse.h"
#include "backend/ir/verify/verify.h"
#include "tests/emitted/emitted.h"

using namespace lay::test;

namespace {

struct RemoteStore {
  std::string type;
  int count;
  std::string emitted;  // up to the address of the barrier
};

const RemoteStore stores[] = {
    {"f32", 1, "st_async_1(&to0_[0]"},     {"f32", 2, "st_async_2(&to1_[0]"},
    {"f32", 4, "st_async_4(&to2_[0]"},     {"s32", 1, "st_async_1(&to3_[0]"},
    {"u32", 4, "st_async_4(&to4_[0]"},     {"f64", 1, "st_async_1_b64(&to5_[0]"},
    {"f64", 2, "st_async_2_b64(&to6_[0]"}, {"s64", 1, "st_async_1_b64(&to7_[0]"},
    {"u64", 2, "st_async_2_b64(&to8_[0]"},
};

// One thread stores registers of every kind in block 1.
std::string kernel_text() {
  std::string buffers, body;
  for (std::size_t i = 0; i < std::size(stores); ++i) {
    const RemoteStore& store = stores[i];
    const std::string n = std::to_string(i), count = std::to_string(store.count);
    buffers += "  shared to" + n + " : " + store.type + " 4:1 align 16\n";
    buffers += "  register r" + n + " : " + store.type + " 4:1\n";
    body += "      fill r" + n + " = " + store.type + "(lane)\n";
    body += "      copy st_async to" + n + "[0] <- r" + n + "[0] count " + count +
            " then mbarrier done[0] remote 1\n";
  }
  return "kernel stores {\n" + buffers +
         "  barrier done mbarrier count 1\n"
         "  launch grid (2,1,1) cluster (2,1,1) threads 32\n"
         "  role all threads 0..32 {\n    if thread == 0 {\n" +
         body + "    }\n  }\n}\n";
}

}  // namespace

TEST_CASE("registers of 32 and 64 bits are stored in another block by st.async") {
  const lay::ir::Kernel kernel = lay::ir::parse(kernel_text());
  for (const lay::ir::Problem& problem : lay::ir::verify(kernel))
    FAIL_CHECK(problem.message + " in " + problem.statement);
  const auto made = emitted(kernel, "sm_90a");
  for (const RemoteStore& store : stores) {
    INFO(store.emitted);
    CHECK(times(made.text, store.emitted + ", ") == 1);
  }
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("not compiled: " << why);
    return;
  }
  check_compiled(lay::runtime::compile(made, *lay::find_target("sm_90a")));
}
