// A warp's mma_sync with operands by ldmatrix, as it lies and transposed, on the host.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backend/interpret/interpret.h"
#include "backend/ir/text/parse.h"
#include "backend/ir/text/print.h"
#include "backend/ir/verify/verify.h"
#include "frontend/algebra/memory/convert.h"

namespace {

using namespace lay;

// C = A B of f16 into f32, A (16,16) and B (16,8) row-major: B's matrices are transposed on the way
// to registers.
const char* const kernel_text = R"(kernel tensor16 {
  global A : f16 (16,16):(16,1) read align 16
  global B : f16 (16,8):(8,1) read align 16
  global C : f32 (16,8):(8,1) write align 8
  shared A_shared : f16 (16,16):(16,1) align 16
  shared B_shared : f16 (16,8):(8,1) align 16
  register a : f16 (8,):(1,)
  register b : f16 (4,):(1,)
  register c : f32 (4,):(1,)
  mma_atom "m16n8k16" shape (16,8,16) d ((4,8),(2,2)):((32,1),(16,8)) a ((4,8),(2,2,2)):((32,1),(16,8,128)) b ((4,8),(2,2)):((16,1),(8,64))
  copy_atom "ldmatrix_x4" warp shared (32,128):(128,1) to register (32,(32,4)):(32,(1,1024))
  copy_atom "ldmatrix_x2_trans" warp shared ((16,2),128):((128,0),1) to register ((4,8),(16,2,2)):((256,16),(1,128,1024))
  barrier all block
  launch grid (1,1,1) cluster (1,1,1) threads 32
  role all threads 0..32 {
    copy A_shared[lane / 2,lane % 2 * 8] <- A[lane / 2,lane % 2 * 8] count 8 along 1, 1
    if lane < 16 {
      copy B_shared[lane,0] <- B[lane,0] count 8 along 1, 1
    }
    sync all
    copy warp a[0] <- A_shared[lane % 16,lane / 16 * 8] count 8 along 0, 1 atom "ldmatrix_x4"
    copy warp b[0] <- B_shared[lane % 16,0] count 4 along 0, 1 atom "ldmatrix_x2_trans"
    mma mma_sync c[] += a[] * b[] zero true atom "m16n8k16"
    mma mma_sync c[] += a[] * b[] atom "m16n8k16"
    for i : s32 grid in 0..2 unrolled {
      copy C[lane / 4 + i * 8,lane % 4 * 2] <- c[i * 2] count 2 along 1, 0
    }
  }
}
)";

interpret::Report run(const ir::Kernel& kernel, std::vector<std::uint16_t>& a,
                      std::vector<std::uint16_t>& b, std::vector<float>& c) {
  const interpret::Memory of_a{a.data(), 512, true}, of_b{b.data(), 256, true},
      of_c{c.data(), 512, false};
  return interpret::run(kernel, {of_a, of_b, of_c}, {.write_once = true});
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::vector<std::string> problems(const std::string& text) {
  std::vector<std::string> all;
  for (const ir::Problem& each : verify(ir::parse(text)))
    all.push_back(each.code + ": " + each.message);
  return all;
}

}  // namespace

TEST_CASE("a warp multiplies matrices that ldmatrix has loaded") {
  const ir::Kernel kernel = ir::parse(kernel_text);
  for (const ir::Problem& p : verify(kernel))
    FAIL(p.code + ": " + p.message + " in " + p.statement);
  REQUIRE(print(kernel) == kernel_text);
  std::vector<std::uint16_t> a(256), b(128);
  std::vector<float> c(128, -1);
  for (int i = 0; i < 256; ++i) a[i] = f32_to_f16(static_cast<float>(i * 37 % 61 - 30));
  for (int i = 0; i < 128; ++i) b[i] = f32_to_f16(static_cast<float>(i * 53 % 47 - 20));
  const interpret::Report report = run(kernel, a, b, c);
  if (report.fault) FAIL(report.fault->message);
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 8; ++n) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += f16_to_f32(a[m * 16 + k]) * f16_to_f32(b[k * 8 + n]);
      INFO(m << ", " << n);
      CHECK(c[m * 8 + n] == 2 * sum);
    }
  }
}

TEST_CASE(
    "matrices are moved and multiplied by whole warps, from memory and registers that hold "
    "something") {
  using enum interpret::FaultCode;
  struct Mistake {
    std::string from, to;
    interpret::FaultCode code;
  };
  const Mistake mistakes[] = {
      {"    sync all\n", "", race},
      {"    mma mma_sync c[] += a[] * b[] zero true atom \"m16n8k16\"\n", "", uninitialised},
      {"B_shared[lane % 16,0] count 4", "B_shared[lane % 16 + 1,0] count 4", out_of_bounds},
  };
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.from << " -> " << mistake.to);
    std::vector<std::uint16_t> a(256), b(128);
    std::vector<float> c(128);
    const auto report = run(ir::parse(with(kernel_text, mistake.from, mistake.to)), a, b, c);
    REQUIRE(report.fault);
    CHECK(std::string(fault_name(report.fault->code)) == std::string(fault_name(mistake.code)));
  }
}

TEST_CASE("an atom covers its tiles, and statements hold what it says") {
  const auto first = [](const std::string& from, const std::string& to) {
    const auto all = problems(with(kernel_text, from, to));
    return all.empty() ? std::string("none") : all.front();
  };
  CHECK(first("d ((4,8),(2,2)):((32,1),(16,8))", "d ((4,8),(2,2)):((32,1),(16,0))") ==
        "atom: \"m16n8k16\": d, ((4,8),(2,2)):((32,1),(16,0)), misses element 8");
  CHECK(first("d ((4,8),(2,2)):((32,1),(16,8))", "d ((4,8),(2,2)):((64,1),(16,8))") ==
        "atom: \"m16n8k16\": d, ((4,8),(2,2)):((64,1),(16,8)), leaves the tile at 128");
  CHECK(first("d ((4,8),(2,2)):((32,1),(16,8))", "d ((4,8),(2,2,2)):((32,1),(16,8,0))") ==
        "atom: \"m16n8k16\": d, ((4,8),(2,2,2)):((32,1),(16,8,0)), repeats an element");
  CHECK(first("d ((4,8),(2,2)):((32,1),(16,8))", "d (4,8):(1,4)")
            .find("has 4 threads, not 32 or 128") != std::string::npos);
  CHECK(first("shape (16,8,16)", "shape (16,8,0)") == "atom: \"m16n8k16\" multiplies 16 x 8 x 0");
  CHECK(first("register c : f32 (4,):(1,)", "register c : f32 (2,):(1,)")
            .find("holds other than the 4 values of a thread") != std::string::npos);
  CHECK(first("zero true atom \"m16n8k16\"", "zero true atom \"m16n8k8\"") ==
        "mma: no mma_atom is called \"m16n8k8\"");
  CHECK(first(" b ((4,8),(2,2)):((16,1),(8,64))\n", "\n")
            .find("lies in shared memory, and `b` does not") != std::string::npos);
}
