// Every way in which a launch can be wrong has its status, before anything is launched.
#include "runtime/gpu/launch_check.h"

#include <catch2/catch.hpp>

#include "backend/ir/text/parse.h"

namespace {

using lay::runtime::Checked;
using lay::runtime::LaunchArguments;
using lay::runtime::Status;

struct Fixture {
  lay::ir::Kernel kernel = lay::ir::parse(R"(kernel k from "k.lay" {
  size M, N, lda
  assume lda % 4 == 0
  scalar alpha : f32
  global X : f32 (M,N):(lda,1) read align 16
  global Y : f32 (M,N):(N,1) write align 4
  launch grid (ceil_div(M,32),ceil_div(N,32),1) cluster (1,1,1) threads 128
  role all threads 0..128 {
    if block_x < [M*lda] {
      Y[0,0] = X[0,0]
    }
  }
})");

  LaunchArguments arguments(std::int64_t m, std::int64_t n, std::int64_t lda) const {
    LaunchArguments made;
    const std::int64_t values[] = {m, n, lda};
    for (std::size_t i = 0; i < 3; ++i) made.sizes[*kernel.params[i].symbol.dim_id()] = values[i];
    made.scalars = {2.0};
    made.buffers = {{0x10000, 0x10000}, {0x40000, 0x10000}};
    return made;
  }
  Checked check(const LaunchArguments& arguments) const {
    return lay::runtime::check_launch(kernel, arguments, {}, 1024);
  }
  Status status(const LaunchArguments& arguments) const {
    const Checked checked = check(arguments);
    CHECK(checked.outcome.message.empty() == checked.outcome.ok());
    return checked.outcome.status;
  }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a right launch passes with its grid") {
  const Checked checked = check(arguments(100, 33, 64));
  CHECK(checked.outcome.ok());
  CHECK(checked.grid == std::array<std::int64_t, 3>{4, 2, 1});
  CHECK(!checked.nothing_to_do);
}

TEST_CASE_METHOD(Fixture, "sizes are known, not negative, and not too large") {
  auto missing = arguments(100, 33, 64);
  missing.sizes.erase(missing.sizes.begin());
  CHECK(status(missing) == Status::unknown_size);
  CHECK(status(arguments(-1, 33, 64)) == Status::negative_size);
  CHECK(status(arguments(1LL << 31, 1, 4)) == Status::extent_too_large);
  CHECK(status(arguments(lay::runtime::largest_extent + 1, 1, 4)) == Status::extent_too_large);
}

TEST_CASE_METHOD(Fixture, "what the kernel assumes is checked") {
  CHECK(status(arguments(10, 10, 13)) == Status::guard_failed);
}

TEST_CASE_METHOD(Fixture, "an output without elements is a success without a launch") {
  auto empty = arguments(0, 33, 64);
  empty.buffers = {{0, 0}, {0, 0}};
  CHECK(check(empty).outcome.ok());
  CHECK(check(empty).nothing_to_do);
}

TEST_CASE_METHOD(Fixture,
                 "memory is there, aligned, large enough, and no output lies over anything") {
  auto wrong = arguments(10, 10, 12);
  wrong.buffers[0].address = 0;
  CHECK(status(wrong) == Status::null_pointer);
  wrong = arguments(10, 10, 12);
  wrong.buffers[0].address += 4;
  CHECK(status(wrong) == Status::misaligned);
  wrong = arguments(10, 10, 12);
  wrong.buffers[0].bytes = (9 * 12 + 10) * 4;
  CHECK(status(wrong) == Status::ok);
  wrong.buffers[0].bytes -= 1;
  CHECK(status(wrong) == Status::too_small);
  wrong = arguments(10, 10, 12);
  wrong.buffers[1].address = wrong.buffers[0].address + (9 * 12 + 10) * 4;
  CHECK(status(wrong) == Status::ok);
  wrong.buffers[1].address -= 4;
  CHECK(status(wrong) == Status::overlap);
  wrong = arguments(10, 10, 12);
  wrong.buffers.pop_back();
  CHECK(status(wrong) == Status::missing_argument);
  wrong = arguments(10, 10, 12);
  wrong.scalars.clear();
  CHECK(status(wrong) == Status::missing_argument);
}

TEST_CASE_METHOD(Fixture, "offsets beyond 64 bits and grids beyond the device's are refused") {
  const std::int64_t most = lay::runtime::largest_extent;
  CHECK(status(arguments(most, most, most - most % 4)) == Status::extent_too_large);
  auto tall = arguments(32, 32 * 65536, 4);
  tall.buffers = {{0x10000, 1LL << 40}, {1LL << 45, 1LL << 40}};
  CHECK(status(tall) == Status::grid_too_large);
  auto many = arguments(60000, 33, 60000);  // M * lda counts in 32 bits
  many.buffers = {{0x10000, 1LL << 40}, {1LL << 45, 1LL << 40}};
  CHECK(status(many) == Status::extent_too_large);
  CHECK(lay::runtime::check_launch(kernel, arguments(10, 10, 12), {}, 232449).outcome.status ==
        Status::shared_memory);
}
