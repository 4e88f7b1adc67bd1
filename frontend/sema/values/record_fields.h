// The fields of one record, asked for by name and kind. A field that is missing or of another kind
// goes to `complain`, which does not return. Internal to this folder and to code that turns records
// of the library into data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "frontend/sema/values/value.h"

namespace lay::sema {

// Every function returns the field as one kind of value, or complains.
class RecordFields {
 public:
  // `complain` throws; it is told what is wrong: "it has no field kind".
  RecordFields(const Record& record, std::function<void(const std::string&)> complain);

  const Record& record() const { return record_; }
  [[noreturn]] void complain(const std::string& what) const;

  // Returns true if there is such a field, of any kind.
  bool has(const std::string& field) const { return record_.find(field) != nullptr; }
  // The field as a T; `wanted` is what it should be: "a layout".
  template <typename T>
  const T& of(const std::string& field, const char* wanted) const {
    const Value& value = required(field);
    if (const T* found = value.as<T>()) return *found;
    complain("its " + field + " is " + wanted + ", not " + kind_name(value));
  }

  Layout layout(const std::string& field) const;  // of known numbers
  ElementType type(const std::string& field) const;
  const std::string& text(const std::string& field) const;
  // "" where there is none.
  std::string optional_text(const std::string& field) const;
  std::int64_t integer(const std::string& field, std::int64_t least, std::int64_t most) const;
  std::int64_t optional_integer(const std::string& field, std::int64_t least,
                                // 0.
                                std::int64_t most) const;
  std::vector<int> numbers(const std::string& field, std::int64_t least, std::int64_t most) const;
  // At least 0.
  double real(const std::string& field) const;
  // 0 where there is none.
  double optional_real(const std::string& field) const;
  bool truth(const std::string& field, bool otherwise) const;
  const Record& inner(const std::string& field) const;
  std::vector<RecordPtr> records(const std::string& field) const;  // of a list

 private:
  const Value& required(const std::string& field) const;
  std::int64_t number(const Tuple& leaf, const std::string& field, std::int64_t least,
                      std::int64_t most) const;

  const Record& record_;
  std::function<void(const std::string&)> complain_;
};

}  // namespace lay::sema
