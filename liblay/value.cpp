#include "frontend/sema/values/value.h"

#include <algorithm>
#include <cstring>

#include "frontend/algebra/memory/convert.h"
#include "liblay/objects.h"
#include "runtime/io/value_json.h"

namespace lay::api {
namespace {

std::string json_of(const sema::Value& value) {
  runtime::JsonObject object;
  runtime::describe(object, value);
  if (!value.guards.empty()) object.raw("guards", runtime::to_json(value.guards));
  return object.text();
}

// Makes a value that belongs to no program.
template <class Make>
lay_result new_of(lay_context* context, lay_value** value, Make make) {
  if (!context) return LAY_RESULT_MISUSE;
  return guarded(context->context, nullptr, [&] {
    require(value, "value");
    *value = nullptr;
    *value = new_value(context->context, nullptr, make());
  });
}

sema::Array array_of(const lay_array* array) {
  require(array, "array");
  if (array->size != sizeof(lay_array)) throw Misuse{"`array->size` is not sizeof(lay_array)"};
  require(array->element, "array->element");
  const auto element = parse_element(array->element);
  if (!element) throw Misuse{"`" + std::string(array->element) + "` is no element type"};
  if (array->rank < 0) throw Misuse{"`array->rank` is negative"};
  if (array->rank > 0) require(array->shape, "array->shape");
  std::vector<std::int64_t> shape;
  if (array->rank > 0) shape.assign(array->shape, array->shape + array->rank);
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; }))
    throw Misuse{"`array->shape` has a negative extent"};
  sema::Array made = sema::Array::make(*element, std::move(shape));
  const auto bytes = static_cast<std::int64_t>(made.bytes->size());
  if (bytes != array->bytes)
    throw Misuse{"`array->bytes` is " + std::to_string(array->bytes) + ", expected " +
                 std::to_string(bytes) + " for the shape"};
  if (bytes > 0) {
    require(array->data, "array->data");
    std::memcpy(made.bytes->data(), array->data, made.bytes->size());
  }
  // An integer of 4 bits fills its byte, sign and all.
  for (std::int64_t i = 0; is_half_byte(*element) && i < made.size(); ++i)
    if (saturate(*element, made.integer(i)) != made.integer(i))
      throw Misuse{"`array->data` has " + std::to_string(made.integer(i)) + ", which is no " +
                   array->element};
  return made;
}

}  // namespace

lay_value* new_value(const ContextPtr& context, const ProgramPtr& state, sema::Value value) {
  std::string element;
  if (const auto* array = value.as<sema::Array>()) element = element_name(array->element);
  return new lay_value{context, state, std::move(value), std::move(element), {}, {}, {}};
}

const sema::Value& value_for(const ProgramPtr& state, const lay_value* value, const char* name) {
  require(value, name);
  if (value->state && value->state != state)
    throw Misuse{std::string("`") + name + "` is a value of another program"};
  return value->value;
}

}  // namespace lay::api

using namespace lay::api;
using namespace lay;

void lay_value_free(lay_value* value) {
  delete value;
}

const char* lay_value_kind(lay_value* value) {
  if (!value) return nullptr;
  return kept_text(value->kind, [&] { return sema::kind_word(value->value); });
}

const char* lay_value_text(lay_value* value) {
  if (!value) return nullptr;
  return kept_text(value->text, [&] { return sema::text(value->value); });
}

const char* lay_value_json(lay_value* value) {
  if (!value) return nullptr;
  return kept_text(value->json, [&] { return json_of(value->value); });
}

lay_result lay_value_to_integer(const lay_value* value, int64_t* number) {
  if (!value || !number) return LAY_RESULT_MISUSE;
  const auto* tuple = value->value.as<Tuple>();
  if (!tuple || !tuple->is_int() || !tuple->value().is_literal()) return LAY_RESULT_MISUSE;
  *number = tuple->value().value();
  return LAY_RESULT_OK;
}

lay_result lay_value_to_real(const lay_value* value, double* number) {
  if (!value || !number) return LAY_RESULT_MISUSE;
  if (const auto* real = value->value.as<double>()) {
    *number = *real;
    return LAY_RESULT_OK;
  }
  int64_t integer = 0;
  const lay_result result = lay_value_to_integer(value, &integer);
  if (result == LAY_RESULT_OK) *number = static_cast<double>(integer);
  return result;
}

lay_result lay_value_of_integer(lay_context* context, int64_t number, lay_value** value) {
  return new_of(context, value, [&] { return sema::Value(Int(number)); });
}

lay_result lay_value_of_real(lay_context* context, double number, lay_value** value) {
  return new_of(context, value, [&] { return sema::Value(number); });
}

lay_result lay_value_of_string(lay_context* context, const char* string, lay_value** value) {
  return new_of(context, value, [&] {
    require(string, "string");
    return sema::Value(std::string(string));
  });
}

lay_result lay_value_of_array(lay_context* context, const lay_array* array, lay_value** value) {
  return new_of(context, value, [&] { return sema::Value(array_of(array)); });
}

lay_result lay_value_to_array(const lay_value* value, lay_array* array) {
  if (!value || !array || array->size != sizeof(lay_array)) return LAY_RESULT_MISUSE;
  const auto* elements = value->value.as<sema::Array>();
  if (!elements) return LAY_RESULT_MISUSE;
  array->rank = elements->rank();
  array->element = value->element.c_str();
  array->shape = elements->shape.data();
  array->data = elements->bytes->data();
  array->bytes = static_cast<int64_t>(elements->bytes->size());
  return LAY_RESULT_OK;
}
