#include "tests/liblay/session.h"

#include <catch2/catch.hpp>

namespace lay::test {

Session::Session(lay_options options) : context_(lay_context_new(&options)) {
  REQUIRE(context_);
  REQUIRE(lay_program_new(context_, nullptr, &program_) == LAY_RESULT_OK);
}

Session::~Session() {
  lay_program_free(program_);
  lay_context_free(context_);
}

lay_options Session::usual() {
  lay_options options{};
  options.size = sizeof options;
  options.machine = LAY_MACHINE_HOST;
  return options;
}

lay_result Session::run(const std::string& text) const {
  return lay_program_run(program_, "test.lay", text.data(), text.size());
}

std::string Session::evaluated(const std::string& expression) const {
  lay_value* value = nullptr;
  const lay_result result = lay_program_evaluate(program_, expression.c_str(), nullptr, 0, &value);
  CHECK((value != nullptr) == (result == LAY_RESULT_OK));
  const std::string text = value ? lay_value_text(value) : "[" + codes() + "]";
  lay_value_free(value);
  return text;
}

std::string Session::codes() const {
  std::string codes;
  for (std::size_t i = 0; i < lay_diagnostic_count(context_); ++i) {
    lay_diagnostic found{};
    found.size = sizeof found;
    REQUIRE(lay_diagnostic_get(context_, i, &found) == LAY_RESULT_OK);
    codes += (codes.empty() ? "" : " ") + std::string(found.code);
  }
  return codes;
}

}  // namespace lay::test
