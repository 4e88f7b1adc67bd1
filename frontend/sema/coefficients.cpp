#include "frontend/sema/coefficients.h"

#include <stdexcept>

#include "frontend/sema/values/value.h"

namespace lay::sema {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 20;

std::int64_t number_of(const Tuple& leaf, const std::string& field) {
  const bool is_number = leaf.is_int() && leaf.is_known();
  if (!is_number || leaf.value().value() < 0 || leaf.value().value() > most)
    throw std::invalid_argument("its " + field + " is " + leaf.to_string() +
                                ", not an integer from 0 to " + std::to_string(most));
  return leaf.value().value();
}

}  // namespace

Coefficients coefficients_of(const Record& record) {
  Coefficients all;
  for (const auto& [field, value] : record.fields) {
    const auto* numbers = value.as<Tuple>();
    if (!numbers || (numbers->is_tuple() && numbers->rank() == 0))
      throw std::invalid_argument("its " + field + " is " + kind_name(value) +
                                  ", not an integer or a tuple of integers");
    Coefficient made{field, {}, numbers->is_tuple()};
    if (made.is_tuple)
      for (const Tuple& each : numbers->modes()) made.numbers.push_back(number_of(each, field));
    else
      made.numbers.push_back(number_of(*numbers, field));
    all.push_back(std::move(made));
  }
  return all;
}

std::string numbers_text(const Coefficient& coefficient) {
  std::string inside;
  for (const std::int64_t number : coefficient.numbers)
    inside += (inside.empty() ? "" : ",") + std::to_string(number);
  if (!coefficient.is_tuple) return inside;
  return "(" + inside + (coefficient.numbers.size() == 1 ? ",)" : ")");
}

std::string coefficients_text(const Coefficients& coefficients) {
  std::string text;
  for (const Coefficient& each : coefficients)
    text += (text.empty() ? "" : ", ") + each.name + " = " + numbers_text(each);
  return "cost_coefficients(" + text + ")";
}

}  // namespace lay::sema
