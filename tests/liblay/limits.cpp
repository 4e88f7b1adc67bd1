// The C library within its limits: time, cancellation, memory, files, threads.
#include <lay/lay.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/liblay/session.h"
#include "tests/runtime/temporary.h"

namespace {

using lay::test::Session;
using Clock = std::chrono::steady_clock;

constexpr const char* kProduct =
    "kernel product<M, N, K>(A: f16 (M,K), B: f16 (N,K)) -> C: f16 (M,N)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
// Work of the evaluator, of more than a second.
constexpr const char* kLong = "sum([size((i+1,2):(1,i)) for i in 0..300000])";

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A thread that cancels whatever is in progress, again and again while this lives.
class Canceller {
 public:
  explicit Canceller(lay_context* context)
      : thread_([this, context] {
          while (!ended_) {
            lay_cancel(context);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~Canceller() {
    ended_ = true;
    thread_.join();
  }
  Canceller(const Canceller&) = delete;
  Canceller& operator=(const Canceller&) = delete;

 private:
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

// Files for `use`, by name.
using Files = std::map<std::string, std::string>;
int read(void* user, const char* name, lay_sink* text) {
  const auto& files = *static_cast<const Files*>(user);
  const auto found = files.find(name);
  if (found == files.end()) return 1;
  // In two pieces, as a caller may.
  const std::size_t half = found->second.size() / 2;
  lay_sink_write(text, found->second.data(), half);
  lay_sink_write(text, found->second.data() + half, found->second.size() - half);
  return 0;
}

}  // namespace

TEST_CASE("a call ends when its time is over, and the next one has time of its own") {
  lay_options options = Session::usual();
  options.seconds = 0.05;
  const Session session(options);
  lay_value* value = nullptr;
  lay_result result = LAY_RESULT_OK;
  const double seconds = seconds_of(
      [&] { result = lay_program_evaluate(session.program(), kLong, nullptr, 0, &value); });
  CHECK(result == LAY_RESULT_TIME_LIMIT);
  CHECK(value == nullptr);
  CHECK(session.codes() == "interrupted");
  CHECK(seconds < 1);
  CHECK(session.evaluated("1 + 1") == "2");
}

TEST_CASE("a plan is cancelled, and made the next time") {
  const Session session;
  REQUIRE(session.run(kProduct) == LAY_RESULT_OK);
  lay_kernel* kernel = nullptr;
  REQUIRE(lay_kernel_new(session.program(), nullptr, &kernel) == LAY_RESULT_OK);
  lay_plan* plan = nullptr;
  {
    const Canceller canceller(session.context());
    CHECK(lay_plan_new(kernel, "h200", &plan) == LAY_RESULT_CANCELLED);
  }
  CHECK(plan == nullptr);
  CHECK(session.codes() == "interrupted");
  CHECK(lay_plan_new(kernel, "h200", &plan) == LAY_RESULT_OK);
  CHECK(plan != nullptr);
  lay_plan_free(plan);
  lay_kernel_free(kernel);
}

TEST_CASE("another thread cancels a call in progress, and no other") {
  const Session session;
  lay_cancel(session.context());
  CHECK(session.evaluated("1 + 1") == "2");
  lay_value* value = nullptr;
  lay_result result = LAY_RESULT_OK;
  {
    const Canceller canceller(session.context());
    result = lay_program_evaluate(session.program(), kLong, nullptr, 0, &value);
  }
  CHECK(result == LAY_RESULT_CANCELLED);
  CHECK(value == nullptr);
  CHECK(session.evaluated("2 + 2") == "4");
}

TEST_CASE("a kernel on the host is cancelled, too") {
  lay_options options = Session::usual();
  options.seconds = 0.2;
  const Session session(options);
  REQUIRE(session.run("kernel slow<M, K>(A: f32 (M,K)) -> C: f32 (M,M)\n"
                      "{ C[m,n] = sum[k](exp(A[m,k]) * A[n,k]) }\n") == LAY_RESULT_OK);
  lay_value* value = nullptr;
  const lay_result result =
      lay_program_evaluate(session.program(), "slow(zeros(f32, (512, 4096)))", nullptr, 0, &value);
  INFO(lay_diagnostics_text(session.context()));
  CHECK(result == LAY_RESULT_TIME_LIMIT);
  CHECK(value == nullptr);
}

TEST_CASE("arrays of a context stay within its bytes") {
  lay_options options = Session::usual();
  options.array_bytes = 10000;
  const Session session(options);
  const std::vector<std::int64_t> shape = {1500};
  const std::vector<float> data(1500);
  lay_array array{};
  array.size = sizeof array;
  array.rank = 1;
  array.element = "f32";
  array.shape = shape.data();
  array.data = data.data();
  array.bytes = 6000;
  lay_value *first = nullptr, *second = nullptr;
  REQUIRE(lay_value_of_array(session.context(), &array, &first) == LAY_RESULT_OK);
  CHECK(lay_value_of_array(session.context(), &array, &second) == LAY_RESULT_ERROR);
  CHECK(session.codes() == "limit");
  CHECK(second == nullptr);
  CHECK(session.evaluated("zeros(f32, (1001,))[0]") == "[limit]");
  // What is freed counts no more, and other contexts have bytes of their own.
  const Session other(options);
  REQUIRE(lay_value_of_array(other.context(), &array, &second) == LAY_RESULT_OK);
  lay_value_free(second);
  lay_value_free(first);
  REQUIRE(lay_value_of_array(session.context(), &array, &first) == LAY_RESULT_OK);
  lay_value_free(first);
}

TEST_CASE("scripts reach the files that they are given, and no others") {
  const lay::test::TemporaryFolder folder;
  lay::test::put(folder / "beside.lay", "let there = 3\n");
  const Session closed;
  CHECK(closed.run("use \"beside.lay\"") == LAY_RESULT_ERROR);
  CHECK(closed.codes() == "unavailable");
  CHECK(closed.run("let x = load(\"x.npy\")") == LAY_RESULT_ERROR);
  CHECK(closed.codes() == "unavailable");
  CHECK(closed.run("save(\"x.npy\", zeros(f32, (2,)))") == LAY_RESULT_ERROR);
  CHECK(closed.codes() == "unavailable");

  Files files = {{"mine.lay", "let here = 2\n"}, {"long.lay", std::string(5 << 20, ' ')}};
  lay_options options = Session::usual();
  options.user = &files;
  options.read = read;
  const Session given(options);
  CHECK(given.run("use \"mine.lay\"\nlet a = here + 1") == LAY_RESULT_OK);
  CHECK(given.evaluated("a") == "3");
  CHECK(given.run("use \"beside.lay\"") == LAY_RESULT_ERROR);
  CHECK(given.codes() == "file");
  CHECK(given.run("use \"long.lay\"") == LAY_RESULT_ERROR);
  CHECK(given.codes() == "file");

  const std::string path = folder.path().string();
  options.folder = path.c_str();
  const Session both(options);
  CHECK(both.run("use \"mine.lay\"\nuse \"beside.lay\"\nlet a = here + there") == LAY_RESULT_OK);
  CHECK(both.evaluated("a") == "5");
  CHECK(both.run("save(\"x.npy\", zeros(f32, (2,)))\nlet y = load(\"x.npy\")") == LAY_RESULT_OK);
  CHECK(std::filesystem::exists(folder / "x.npy"));
}

TEST_CASE("prints and logs go to the callbacks") {
  struct Heard {
    std::string printed, logged;
  } heard;
  lay_options options = Session::usual();
  options.user = &heard;
  options.print = [](void* user, const char* text) {
    static_cast<Heard*>(user)->printed += std::string(text) + "\n";
  };
  options.log = [](void* user, const char* line) {
    static_cast<Heard*>(user)->logged += std::string(line) + "\n";
  };
  const Session session(options);
  REQUIRE(session.run("print \"one\"\nprint 2:1\n"
                      "kernel f<N>(X: f32 N) -> Y: f32 N\n{ Y[n] = X[n] }\n"
                      "let y = f(zeros(f32, (4,)))") == LAY_RESULT_OK);
  CHECK(heard.printed == "one\n2:1\n");
  CHECK(heard.logged.starts_with("f: "));
  CHECK(heard.logged.find("in the host interpreter") != std::string::npos);
}

TEST_CASE("a call from a callback, or beside one in progress, does nothing") {
  struct Inner {
    const Session* session = nullptr;
    lay_result result = LAY_RESULT_OK;
  } inner;
  lay_options options = Session::usual();
  options.user = &inner;
  options.print = [](void* user, const char*) {
    auto& from = *static_cast<Inner*>(user);
    from.result = from.session->run("let stolen = 1");
  };
  const Session session(options);
  inner.session = &session;
  CHECK(session.run("print 1") == LAY_RESULT_OK);
  CHECK(inner.result == LAY_RESULT_MISUSE);
  CHECK(session.evaluated("stolen") == "[unknown-name]");
}

TEST_CASE("eight threads work in contexts of their own") {
  std::vector<std::thread> threads;
  std::vector<std::string> plans(8);
  std::atomic<int> failed{0};
  for (std::size_t i = 0; i < plans.size(); ++i)
    threads.emplace_back([&, i] {
      lay_options options{};
      options.size = sizeof options;
      options.machine = LAY_MACHINE_HOST;
      lay_context* context = lay_context_new(&options);
      lay_program* program = nullptr;
      lay_kernel* kernel = nullptr;
      lay_plan* plan = nullptr;
      lay_value* value = nullptr;
      const bool fine =
          lay_program_new(context, nullptr, &program) == LAY_RESULT_OK &&
          lay_program_run(program, "t.lay", kProduct, std::strlen(kProduct)) == LAY_RESULT_OK &&
          lay_program_evaluate(program,
                               "product(zeros(f16, (8,8)), zeros(f16, (8,8))) == "
                               "zeros(f16, (8,8))",
                               nullptr, 0, &value) == LAY_RESULT_OK &&
          lay_kernel_new(program, nullptr, &kernel) == LAY_RESULT_OK &&
          lay_plan_new(kernel, "h200", &plan) == LAY_RESULT_OK;
      if (fine)
        plans[i] = lay_plan_text(plan);
      else
        ++failed;
      // Any order will do.
      lay_context_free(context);
      lay_plan_free(plan);
      lay_program_free(program);
      lay_value_free(value);
      lay_kernel_free(kernel);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  for (const std::string& plan : plans) CHECK(plan == plans[0]);
}
