// lay_kernel_tune, on a driver whose GPU is the host interpreter and whose times are set.
#include <lay/lay.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "generated/tests/paths.h"
#include "tests/embed/built.h"
#include "tests/measure/machine.h"
#include "tests/runtime/temporary.h"

namespace {

using Json = nlohmann::json;

const std::string kScript = std::string(LAY_SOURCE_DIR) + "/tests/measure/gemms.lay";

// What the context logs.
struct Log {
  std::vector<std::string> lines;
  lay_context* cancel = nullptr;  // cancelled by the first line
};

// A kernel of the script in a program of its own.
class Tuned {
 public:
  explicit Tuned(const std::string& kernel, const std::string& more = "") {
    lay::test::use_own_cache();
    static const bool known = (lay::test::know_kernels(kScript), true);
    CHECK(known);
    lay_options options{};
    options.size = sizeof options;
    options.machine = LAY_MACHINE_HOST;
    options.user = &log;
    options.log = [](void* user, const char* line) {
      auto& to = *static_cast<Log*>(user);
      to.lines.emplace_back(line);
      if (to.cancel) lay_cancel(to.cancel);
    };
    context = lay_context_new(&options);
    REQUIRE(lay_program_new(context, nullptr, &program) == LAY_RESULT_OK);
    const std::string text = lay::test::slurp(kScript) + more;
    lay_program_run(program, "gemms.lay", text.data(), text.size());
    INFO(lay_diagnostics_text(context));
    REQUIRE(lay_kernel_new(program, kernel.c_str(), &handle) == LAY_RESULT_OK);
  }
  ~Tuned() {
    lay_kernel_free(handle);
    lay_program_free(program);
    lay_context_free(context);
  }
  Tuned(const Tuned&) = delete;
  Tuned& operator=(const Tuned&) = delete;

  static lay_tune_options brief() {
    lay_tune_options options{};
    options.size = sizeof options;
    options.candidates = 2;
    options.milliseconds = 1;
    return options;
  }
  lay_result tune(const std::vector<lay_size>& sizes, const lay_tune_options& options = brief()) {
    const char* text = "";
    const lay_result result = lay_kernel_tune(handle, &options, sizes.data(), sizes.size(), &text);
    json = text ? Json::parse(text) : Json();
    return result;
  }
  // The variant that a plan made now takes, and the plan.
  std::string variant(const std::vector<lay_size>& sizes) {
    lay_plan* plan = nullptr;
    REQUIRE(lay_plan_new(handle, nullptr, &plan) == LAY_RESULT_OK);
    std::size_t chosen = 0;
    REQUIRE(lay_plan_choose(plan, sizes.data(), sizes.size(), &chosen) == LAY_RESULT_OK);
    const std::string name = lay_plan_variant_name(plan, chosen);
    lay_plan_free(plan);
    return name;
  }
  std::string code() const {
    lay_diagnostic found{};
    found.size = sizeof found;
    return lay_diagnostic_get(context, 0, &found) == LAY_RESULT_OK ? found.code : "";
  }
  std::size_t schedules() const {
    const std::string text = json["schedules"];
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("\nschedule ", at)) != std::string::npos; ++at)
      ++count;
    return count;
  }

  Log log;
  lay_context* context = nullptr;
  lay_program* program = nullptr;
  lay_kernel* handle = nullptr;
  Json json;
};

const std::vector<lay_size> kSmall = {{"M", 64}, {"N", 64}, {"K", 16}};
const std::vector<lay_size> kNear = {{"M", 72}, {"N", 48}, {"K", 20}};
const std::vector<lay_size> kFlat = {{"M", 32}, {"N", 64}, {"K", 16}};

// The untuned kernels take three times as long.
void slow_defaults(long cost) {
  for (const char* name : {"lay_linear_simt_64x128_ring", "lay_linear_simt_64x64_any"})
    lay::test::set_cost(name, cost);
}

}  // namespace

TEST_CASE("a kernel that was tuned is planned by what was found, for sizes of the class") {
  slow_defaults(3);
  Tuned linear("linear");
  const std::string before = linear.variant(kSmall);
  REQUIRE(linear.tune(kSmall) == LAY_RESULT_OK);
  INFO(linear.json.dump(1));
  CHECK(linear.json["kernel"] == "linear");
  CHECK(linear.json["sizes"] == Json({{"M", 64}, {"N", 64}, {"K", 16}}));
  CHECK(linear.json["why"] == "");
  CHECK(linear.json["is_faster"] == true);
  const auto& timed = linear.json["timed"];
  REQUIRE(timed.size() >= 2);
  CHECK(timed[0]["schedule"] == "");
  CHECK(timed[0]["variant"] == before);
  CHECK(timed[0]["microseconds"] ==
        Approx(3 * timed[1]["microseconds"].get<double>()).epsilon(0.2));
  CHECK(timed[1]["schedule"].get<std::string>().find("simt:  tile = (") == 0);
  CHECK(timed[1]["predicted_microseconds"] > 0);
  // What was timed was said as it was known.
  CHECK(linear.log.lines.at(0) == "linear M=64 N=64 K=16");
  CHECK(std::any_of(linear.log.lines.begin(), linear.log.lines.end(), [](const auto& line) {
    return line.find("the default, ") != std::string::npos;
  }));

  CHECK(linear.variant(kSmall) != before);
  CHECK(linear.variant(kNear) == linear.variant(kSmall));
  const std::string large = linear.variant({{"M", 640}, {"N", 640}, {"K", 160}});
  CHECK(large != linear.variant(kSmall));

  // A launcher takes it, too.
  lay_launcher* launcher = nullptr;
  REQUIRE(lay_launcher_new(linear.handle, 0, &launcher) == LAY_RESULT_OK);
  lay_launcher_free(launcher);

  // Another class stands beside it, the same one in its place.
  CHECK(linear.schedules() == 1);
  REQUIRE(linear.tune(kFlat) == LAY_RESULT_OK);
  CHECK(linear.schedules() == 2);
  REQUIRE(linear.tune(kSmall) == LAY_RESULT_OK);
  CHECK(linear.schedules() == 2);
  CHECK(linear.variant(kFlat) != linear.variant(kSmall));

  // The text says the same to another program, in which the schedules stand in another order.
  Tuned other("linear", "\n" + linear.json["schedules"].get<std::string>());
  const std::vector<std::string> found = {"simt", "simt2"};
  CHECK(std::vector{linear.variant(kFlat), linear.variant(kSmall)} ==
        std::vector{found[1], found[0]});
  CHECK(std::vector{other.variant(kFlat), other.variant(kSmall)} == found);
  CHECK(other.variant({{"M", 640}, {"N", 640}, {"K", 160}}) == large);
}

TEST_CASE("what was found stands before a schedule of the kernel's own") {
  slow_defaults(3);
  Tuned linear("linear", "\nschedule linear for simt { name = \"mine\", tile = (64,64,16) }\n");
  REQUIRE(linear.variant(kSmall).find("mine") == 0);
  REQUIRE(linear.tune(kSmall) == LAY_RESULT_OK);
  CHECK(linear.variant(kSmall).find("mine") != 0);
  CHECK(linear.variant({{"M", 640}, {"N", 640}, {"K", 160}}).find("mine") == 0);
}

TEST_CASE("a kernel that gains nothing stays as it is") {
  slow_defaults(1);
  lay::test::set_cost("lay_linear_tuned", 3);
  Tuned linear("linear");
  const std::string before = linear.variant(kSmall);
  REQUIRE(linear.tune(kSmall) == LAY_RESULT_OK);
  INFO(linear.json.dump(1));
  CHECK(linear.json["is_faster"] == false);
  CHECK(linear.json["schedules"] == "");
  CHECK(linear.variant(kSmall) == before);
  lay::test::set_cost("lay_linear_tuned", 1);

  Tuned twice("twice");
  std::vector<lay_size> sizes;
  const auto signature = Json::parse(lay_kernel_json(twice.handle));
  std::vector<std::string> names;
  for (const auto& size : signature["sizes"]) names.push_back(size);
  for (const auto& name : names) sizes.push_back({name.c_str(), 64});
  REQUIRE(twice.tune(sizes) == LAY_RESULT_OK);
  CHECK(twice.json["why"].get<std::string>().find("nothing to tune: ") == 0);
  CHECK(twice.json["timed"].empty());
}

TEST_CASE("a tuning that cannot be says why, and changes nothing") {
  slow_defaults(3);
  Tuned linear("linear");
  const std::string before = linear.variant(kSmall);
  CHECK(linear.tune({{"M", 64}}) == LAY_RESULT_ERROR);
  CHECK(linear.code() == "unknown-size");
  CHECK(linear.tune({{"M", 64}, {"N", 64}, {"K", 16}, {"Q", 1}}) == LAY_RESULT_ERROR);
  lay_tune_options options = Tuned::brief();
  options.device = 7;
  CHECK(linear.tune(kSmall, options) == LAY_RESULT_UNAVAILABLE);
  for (const auto spoil : std::vector<void (*)(lay_tune_options&)>{
           [](lay_tune_options& o) { o.size = 4; }, [](lay_tune_options& o) { o.device = -1; },
           [](lay_tune_options& o) { o.candidates = -1; },
           [](lay_tune_options& o) { o.rounds = -1; },
           [](lay_tune_options& o) { o.milliseconds = -1; },
           [](lay_tune_options& o) { o.milliseconds = 1e9; }}) {
    options = Tuned::brief();
    spoil(options);
    CHECK(linear.tune(kSmall, options) == LAY_RESULT_MISUSE);
    CHECK(linear.json.is_null());
  }
  CHECK(lay_kernel_tune(linear.handle, nullptr, kSmall.data(), kSmall.size(), nullptr) ==
        LAY_RESULT_MISUSE);
  linear.log.cancel = linear.context;
  CHECK(linear.tune(kSmall) == LAY_RESULT_CANCELLED);
  linear.log.cancel = nullptr;
  CHECK(linear.variant(kSmall) == before);
  CHECK(linear.tune(kSmall) == LAY_RESULT_OK);
}
