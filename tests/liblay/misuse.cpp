// The C library called wrongly: every function takes a null, and says what is wrong where it has a
// context to say it in.
#include <lay/lay.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "tests/liblay/session.h"

namespace {

using lay::test::Session;

std::string said(const Session& session) {
  lay_diagnostic found{};
  found.size = sizeof found;
  if (lay_diagnostic_get(session.context(), 0, &found) != LAY_RESULT_OK) return "";
  return std::string(found.code) + ": " + found.message;
}

}  // namespace

TEST_CASE("a handle that is null is a misuse, and its text is null") {
  const char* text = nullptr;
  const void* image = nullptr;
  std::size_t count = 0;
  double seconds = 0;
  std::int64_t integer = 0;
  lay_program* program = nullptr;
  lay_value* value = nullptr;
  lay_kernel* kernel = nullptr;
  lay_plan* plan = nullptr;
  lay_build* build = nullptr;
  lay_launcher* launcher = nullptr;
  lay_array array{};
  array.size = sizeof array;
  lay_diagnostic diagnostic{};
  diagnostic.size = sizeof diagnostic;
  for (const lay_result result :
       {lay_diagnostic_get(nullptr, 0, &diagnostic),
        lay_program_new(nullptr, nullptr, &program),
        lay_program_run(nullptr, "a", "", 0),
        lay_program_evaluate(nullptr, "1", nullptr, 0, &value),
        lay_program_prove(nullptr, "1 == 1", nullptr, 0, &text),
        lay_program_show(nullptr, "1", nullptr, 0, "svg", &text, &count),
        lay_program_define(nullptr, "a", nullptr),
        lay_program_answer(nullptr, "1", 1, &text),
        lay_value_to_integer(nullptr, &integer),
        lay_value_to_real(nullptr, &seconds),
        lay_value_of_integer(nullptr, 1, &value),
        lay_value_of_real(nullptr, 1, &value),
        lay_value_of_string(nullptr, "", &value),
        lay_value_of_array(nullptr, &array, &value),
        lay_value_to_array(nullptr, &array),
        lay_kernel_new(nullptr, nullptr, &kernel),
        lay_kernel_run(nullptr, nullptr, 0, nullptr, 0, &value, 1),
        lay_plan_new(nullptr, nullptr, &plan),
        lay_plan_choose(nullptr, nullptr, 0, &count),
        lay_plan_forecast(nullptr, 0, nullptr, 0, &seconds, &text),
        lay_plan_launch_count(nullptr, 0, &count),
        lay_plan_source(nullptr, 0, 0, &text),
        lay_plan_image(nullptr, 0, 0, &image, &count),
        lay_launcher_new(nullptr, 0, &launcher),
        lay_launcher_prepare(nullptr, nullptr, 0, nullptr, 0, &integer),
        lay_launcher_launch(nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, nullptr),
        lay_kernel_tune(nullptr, nullptr, nullptr, 0, &text),
        lay_build_new(nullptr, nullptr, &build)})
    CHECK(result == LAY_RESULT_MISUSE);
  for (const char* none :
       {lay_diagnostics_text(nullptr), lay_diagnostics_json(nullptr),
        lay_program_statements_json(nullptr), lay_value_kind(nullptr), lay_value_text(nullptr),
        lay_value_json(nullptr), lay_kernel_name(nullptr, 0), lay_kernel_json(nullptr),
        lay_plan_text(nullptr), lay_plan_variant_name(nullptr, 0), lay_build_file_name(nullptr, 0),
        lay_launcher_variant(nullptr)})
    CHECK(none == nullptr);
  CHECK(lay_build_file_data(nullptr, 0, &count) == nullptr);
  CHECK(lay_diagnostic_count(nullptr) + lay_kernel_count(nullptr) +
            lay_plan_variant_count(nullptr) + lay_build_file_count(nullptr) ==
        0);
  lay_context_free(nullptr);
  lay_program_free(nullptr);
  lay_value_free(nullptr);
  lay_kernel_free(nullptr);
  lay_plan_free(nullptr);
  lay_build_free(nullptr);
  lay_launcher_free(nullptr);
  lay_cancel(nullptr);
  lay_sink_write(nullptr, "x", 1);
}

TEST_CASE("an argument that is null is named") {
  const Session session;
  lay_value* value = nullptr;
  const char* text = nullptr;
  CHECK(lay_program_new(session.context(), nullptr, nullptr) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `program` is null");
  CHECK(lay_program_run(session.program(), nullptr, "", 0) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `name` is null");
  CHECK(lay_program_run(session.program(), "a", nullptr, 0) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `text` is null");
  CHECK(lay_program_evaluate(session.program(), nullptr, nullptr, 0, &value) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `expression` is null");
  CHECK(lay_program_evaluate(session.program(), "1", nullptr, 1, &value) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `bindings` is null");
  const lay_binding nameless = {nullptr, nullptr}, empty = {"a", nullptr};
  CHECK(lay_program_evaluate(session.program(), "1", &nameless, 1, &value) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `bindings[].name` is null");
  CHECK(lay_program_evaluate(session.program(), "1", &empty, 1, &value) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `bindings[].value` is null");
  CHECK(lay_program_answer(session.program(), nullptr, 1, &text) == LAY_RESULT_MISUSE);
  CHECK(lay_value_of_string(session.context(), nullptr, &value) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `string` is null");
  CHECK(lay_build_new(session.program(), nullptr, nullptr) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `build` is null");
  CHECK(lay_diagnostic_get(session.context(), 0, nullptr) == LAY_RESULT_MISUSE);
}

TEST_CASE("a struct of another size, and an array that is none, are refused") {
  lay_options options = Session::usual();
  options.size = 4;
  CHECK(lay_context_new(&options) == nullptr);
  options = Session::usual();
  options.machine = 7;
  CHECK(lay_context_new(&options) == nullptr);

  const Session session;
  lay_program* program = nullptr;
  lay_program_options wrong{};
  CHECK(lay_program_new(session.context(), &wrong, &program) == LAY_RESULT_MISUSE);
  CHECK(program == nullptr);
  lay_build_options none{};
  lay_build* build = nullptr;
  CHECK(lay_build_new(session.program(), &none, &build) == LAY_RESULT_MISUSE);
  lay_diagnostic diagnostic{};
  CHECK(lay_diagnostic_get(session.context(), 0, &diagnostic) == LAY_RESULT_MISUSE);
  diagnostic.size = sizeof diagnostic;
  CHECK(lay_diagnostic_get(session.context(), 9, &diagnostic) == LAY_RESULT_MISUSE);

  const std::int64_t shape[] = {2, 2}, negative[] = {2, -2};
  const float data[4] = {};
  const lay_array right = {sizeof(lay_array), 2, "f32", shape, data, 16};
  const auto refused = [&](const lay_array& array) {
    lay_value* value = nullptr;
    CHECK(lay_value_of_array(session.context(), &array, &value) == LAY_RESULT_MISUSE);
    CHECK(value == nullptr);
    return said(session);
  };
  lay_array array = right;
  array.size = 0;
  CHECK(refused(array) == "misuse: `array->size` is not sizeof(lay_array)");
  array = right;
  array.element = "f12";
  CHECK(refused(array) == "misuse: `f12` is no element type");
  array = right;
  array.shape = negative;
  CHECK(refused(array) == "misuse: `array->shape` has a negative extent");
  array = right;
  array.shape = nullptr;
  CHECK(refused(array) == "misuse: `array->shape` is null");
  array = right;
  array.rank = -1;
  CHECK(refused(array) == "misuse: `array->rank` is negative");
  array = right;
  array.bytes = 12;
  CHECK(refused(array) == "misuse: `array->bytes` is 12, expected 16 for the shape");
  array = right;
  array.data = nullptr;
  CHECK(refused(array) == "misuse: `array->data` is null");
}

TEST_CASE("a value of one program is none of another's") {
  const Session session, other;
  lay_value* value = nullptr;
  REQUIRE(lay_program_evaluate(session.program(), "4:1", nullptr, 0, &value) == LAY_RESULT_OK);
  CHECK(lay_program_define(other.program(), "a", value) == LAY_RESULT_MISUSE);
  CHECK(said(other) == "misuse: `value` is a value of another program");
  CHECK(lay_program_define(session.program(), "a", value) == LAY_RESULT_OK);
  lay_value_free(value);
}

TEST_CASE("an array of s4 has a byte for each element, and integers of 4 bits alone") {
  const Session session;
  const std::int64_t shape[] = {2};
  lay_array array{};
  array.size = sizeof array;
  array.rank = 1;
  array.element = "s4";
  array.shape = shape;
  array.bytes = 2;
  lay_value* value = nullptr;
  const std::int8_t inside[] = {-8, 7}, outside[] = {-8, 8};
  array.data = inside;
  REQUIRE(lay_value_of_array(session.context(), &array, &value) == LAY_RESULT_OK);
  lay_array again{};
  again.size = sizeof again;
  REQUIRE(lay_value_to_array(value, &again) == LAY_RESULT_OK);
  CHECK(std::string(again.element) == "s4");
  CHECK(again.bytes == 2);
  CHECK(static_cast<const std::int8_t*>(again.data)[0] == -8);
  lay_value_free(value);
  array.data = outside;
  CHECK(lay_value_of_array(session.context(), &array, &value) == LAY_RESULT_MISUSE);
  CHECK(said(session) == "misuse: `array->data` has 8, which is no s4");
}
