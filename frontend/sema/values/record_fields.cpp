#include "frontend/sema/values/record_fields.h"

#include <stdexcept>
#include <utility>

#include "frontend/sema/values/operators.h"

namespace lay::sema {

RecordFields::RecordFields(const Record& record, std::function<void(const std::string&)> complain)
    : record_(record), complain_(std::move(complain)) {}

void RecordFields::complain(const std::string& what) const {
  complain_(what);
  throw std::logic_error("internal: " + record_.head + ": " + what);
}

const Value& RecordFields::required(const std::string& field) const {
  const Value* value = record_.find(field);
  if (!value) complain("it has no field " + field);
  return *value;
}

Layout RecordFields::layout(const std::string& field) const {
  const Layout& found = of<Layout>(field, "a layout");
  if (!found.is_known() || found.has_basis()) complain("its " + field + " has no known numbers");
  return found;
}

ElementType RecordFields::type(const std::string& field) const {
  return of<ElementType>(field, "an element type");
}

const std::string& RecordFields::text(const std::string& field) const {
  return of<std::string>(field, "a string");
}

std::string RecordFields::optional_text(const std::string& field) const {
  return has(field) ? text(field) : std::string();
}

std::int64_t RecordFields::number(const Tuple& leaf, const std::string& field, std::int64_t least,
                                  std::int64_t most) const {
  if (leaf.is_int() && leaf.value().is_literal() && leaf.value().value() >= least &&
      leaf.value().value() <= most) {
    return leaf.value().value();
  }
  complain("its " + field + " holds " + leaf.to_string() + ", not a number from " +
           std::to_string(least) + " to " + std::to_string(most));
}

std::int64_t RecordFields::integer(const std::string& field, std::int64_t least,
                                   std::int64_t most) const {
  return number(of<Tuple>(field, "a number"), field, least, most);
}

std::int64_t RecordFields::optional_integer(const std::string& field, std::int64_t least,
                                            std::int64_t most) const {
  return has(field) ? integer(field, least, most) : 0;
}

std::vector<int> RecordFields::numbers(const std::string& field, std::int64_t least,
                                       std::int64_t most) const {
  const Tuple& found = of<Tuple>(field, "a tuple of numbers");
  const auto at = [&](const Tuple& leaf) {
    return static_cast<int>(number(leaf, field, least, most));
  };
  if (found.is_leaf()) return {at(found)};
  std::vector<int> result;
  for (int i = 0; i < found.rank(); ++i) result.push_back(at(found[i]));
  return result;
}

double RecordFields::real(const std::string& field) const {
  const auto found = real_of(required(field));
  if (!found || !(*found >= 0)) complain("its " + field + " is a number of at least 0");
  return *found;
}

double RecordFields::optional_real(const std::string& field) const {
  return has(field) ? real(field) : 0;
}

bool RecordFields::truth(const std::string& field, bool otherwise) const {
  if (!has(field)) return otherwise;
  const Predicate& found = of<Predicate>(field, "true or false");
  if (!found.is_always() && !found.is_never()) complain("its " + field + " depends on sizes");
  return found.is_always();
}

const Record& RecordFields::inner(const std::string& field) const {
  return *of<RecordPtr>(field, "a record");
}

std::vector<RecordPtr> RecordFields::records(const std::string& field) const {
  std::vector<RecordPtr> all;
  for (const Value& each : of<ListPtr>(field, "a list of records")->elements) {
    const auto* record = each.as<RecordPtr>();
    if (!record) complain("its " + field + " holds " + kind_name(each) + ", which is no record");
    all.push_back(*record);
  }
  return all;
}

}  // namespace lay::sema
