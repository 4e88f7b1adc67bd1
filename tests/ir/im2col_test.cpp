// Columns of pixels that TMA copies by maps with im2col, on the host: against plain loops, and
// mistakes in maps and copies. (A CUDA program of our own has compared the same rules with a GPU:
// 2,411 drawn columns of four modes on an H200.)
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/ir/text/parse.h"
#include "backend/ir/verify/verify.h"
#include "tests/ir/mistakes.h"

namespace {

using namespace lay;

// 2 pictures of 5 x 4 pixels with 16 channels; 3 x 2 base pixels each, 2 and 3 apart, the first of
// them outside. Block b copies the 8 pixels from number 6 * b + 3 on.
const std::string kColumns = R"(kernel columns {
  global X : u16 (2,5,4,16):(320,64,16,1) read align 16
  global Y : u16 (16,16):(16,1) write align 16
  shared s : u16 (8,16):(16,1) align 128
  tensor_map x_map of X order (3,2,1,0) box (16,8,1,1) onto (1,0,0,0) im2col (-1,2,3) im2col (-1,3,2)
  copy_atom "pixels" thread global (1,2048):(0,1) to shared (1,2048):(0,1) box 4 align 128 pitch 16 swizzles (128,16)
  barrier all block
  barrier full mbarrier slots 1 count 1
  launch grid (2,1,1) cluster (1,1,1) threads 128
  prologue {
    if thread == 0 {
      init full[0]
      fence mbarrier_init
    }
    sync all
  }
  role one threads 0..128 {
    let first : s32 block = block_x * 6 + 3
    let q : s32 block = first % 2 * 3 - 1
    let p : s32 block = first / 2 % 3 * 2 - 1
    if warp == 0 {
      elect {
        arrive_expect_bytes full[0] bytes 256
        copy tma_load s[0,0] <- X[first / 6,p,q,0] then mbarrier full[0] map x_map offset 2 offset 1 atom "pixels"
      }
    }
    wait full[0] phase 0
    Y[block_x * 8 + thread / 16,thread % 16] = s[thread / 16,thread % 16]
  }
}
)";

interpret::Report run(const std::string& text, std::vector<std::uint16_t>& x,
                      std::vector<std::uint16_t>& y) {
  const auto memory = [](std::vector<std::uint16_t>& v, bool constant) {
    return interpret::Memory{v.data(), static_cast<std::int64_t>(v.size() * 2), constant};
  };
  interpret::Options options;
  options.write_once = true;
  return interpret::run(ir::parse(text), {memory(x, true), memory(y, false)}, options);
}

std::string problem_of(const test::Mistake& mistake) {
  const auto found = ir::verify(ir::parse(test::with(kColumns, mistake)));
  return found.empty() ? "" : found[0].message;
}

}  // namespace

TEST_CASE("a column of pixels goes on over pictures, at offsets, with zeros outside") {
  REQUIRE(ir::verify(ir::parse(kColumns)).empty());
  std::vector<std::uint16_t> x(2 * 5 * 4 * 16), y(16 * 16, 0xffff);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i + 1);
  const interpret::Report report = run(kColumns, x, y);
  if (report.fault) FAIL(report.fault->message);
  for (int i = 0; i < 16; ++i) {
    const int number = i / 8 * 6 + 3 + i % 8, n = number / 6, h = number / 2 % 3 * 2 - 1 + 1,
              w = number % 2 * 3 - 1 + 2;
    const bool inside = n < 2 && h >= 0 && h < 5 && w >= 0 && w < 4;
    for (int c = 0; c < 16; ++c) {
      INFO("pixel " << number << ", channel " << c);
      CHECK(y[static_cast<std::size_t>(i * 16 + c)] ==
            (inside ? x[static_cast<std::size_t>(((n * 5 + h) * 4 + w) * 16 + c)] : 0));
    }
  }
}

TEST_CASE("columns that no instruction copies are faults on the host") {
  using enum interpret::FaultCode;
  const test::Mistake mistakes[] = {
      {"between base pixels", "first % 2 * 3 - 1", "first % 2 * 2 - 1", out_of_bounds},
      {"behind the last base pixel", "first / 2 % 3 * 2 - 1", "first / 2 * 2 + 1", out_of_bounds},
      {"an offset backwards", "offset 2 offset 1", "offset 2 offset 0 - 1", out_of_bounds},
      {"an offset of more than 8 bits", "offset 2 offset 1", "offset 256 offset 1", out_of_bounds},
      {"channels between 16 bytes", "p,q,0]", "p,q,4]", misaligned},
      {"a column too short", "box (16,8,1,1)", "box (16,7,1,1)", bytes},
  };
  for (const test::Mistake& mistake : mistakes) {
    INFO(mistake.what);
    std::vector<std::uint16_t> x(2 * 5 * 4 * 16), y(16 * 16);
    test::check_fault(run(test::with(kColumns, mistake), x, y), mistake.code);
  }
}

TEST_CASE("the verifier knows what maps with im2col say") {
  const auto code = interpret::FaultCode::race;  // none of them runs
  CHECK(problem_of({"", "im2col (-1,2,3) ", "", code}).find("all but two") != std::string::npos);
  CHECK(problem_of({"", "box (16,8,1,1)", "box (16,8,2,1)", code})
            .find("channels and pixels alone") != std::string::npos);
  CHECK(problem_of({"", "im2col (-1,2,3) ", "im2col (-1,2,9) ", code}).find("1 to 8 apart") !=
        std::string::npos);
  CHECK(problem_of({"", "box (16,8,1,1)", "box (16,1025,1,1)", code}).find("1 to 1024 elements") !=
        std::string::npos);
  CHECK(problem_of({"", "offset 2 offset 1", "offset 2", code}).find("expected 2 offsets") !=
        std::string::npos);
}
