#include "runtime/io/value_json.h"

#include <algorithm>

#include "frontend/algebra/integers/predicate.h"
#include "frontend/algebra/memory/element.h"

namespace lay::runtime {
namespace {

constexpr std::int64_t most_elements_shown = 4096;

std::string swizzle_json(const Swizzle& swizzle) {
  return json_array(
      {std::to_string(swizzle.b), std::to_string(swizzle.m), std::to_string(swizzle.s)});
}

void add_layout(JsonObject& object, const Layout& layout) {
  object.raw("shape", to_json(layout.shape)).raw("stride", to_json(layout.stride));
}

std::string element_json(const sema::Array& array, std::int64_t i) {
  if (array.element == ElementType::pred) return array.integer(i) ? "true" : "false";
  if (!is_float(array.element)) return std::to_string(array.integer(i));
  return bits(array.element) <= 32 ? json_number(static_cast<float>(array.real(i)))
                                   : json_number(array.real(i));
}

// One visitor: a line or two for every kind of value.
struct Describer {
  JsonObject& object;
  const sema::Value& whole;

  JsonObject& kind() { return object.string("kind", sema::kind_word(whole)); }
  JsonObject& head() { return kind().string("text", sema::text(whole)); }

  void operator()(const sema::Nothing&) { kind(); }
  void operator()(const sema::Unknown&) { kind(); }
  void operator()(const Predicate& p) {
    if (p.is_always() || p.is_never())
      kind().boolean("value", p.is_always());
    else
      head().string("value", p.to_string());
  }
  void operator()(const Tuple& t) { head().raw("value", to_json(t)); }
  void operator()(double d) { head().raw("value", json_number(d)); }
  void operator()(const std::string& s) { head().string("value", s); }
  void operator()(const Layout& l) { add_layout(head(), l); }
  void operator()(const Composed& c) {
    head();
    if (const auto* swizzle = std::get_if<Swizzle>(&c.outer)) {
      object.raw("swizzle", swizzle_json(*swizzle));
    } else {
      JsonObject outer;
      describe(outer, sema::Value(std::get<Layout>(c.outer)));
      object.raw("outer", outer.text());
    }
    object.raw("offset", to_json(c.offset));
    if (const auto* inner = std::get_if<Layout>(&c.inner)) {
      add_layout(object, *inner);
    } else {
      JsonObject swizzle;
      describe(swizzle, sema::Value(std::get<Swizzle>(c.inner)));
      object.raw("inner", swizzle.text());
    }
  }
  void operator()(const Swizzle& s) { head().raw("swizzle", swizzle_json(s)); }
  void operator()(ElementType) { head(); }
  void operator()(const sema::Array& a) {
    head().string("element", element_name(a.element));
    std::vector<std::string> shape, values;
    for (const std::int64_t extent : a.shape) shape.push_back(std::to_string(extent));
    object.raw("shape", json_array(shape));
    if (a.size() > most_elements_shown) return;
    for (std::int64_t i = 0; i < a.size(); ++i) values.push_back(element_json(a, i));
    object.raw("values", json_array(values));
  }
  void operator()(const sema::ListPtr& list) {
    std::vector<std::string> elements;
    for (const auto& element : list->elements) {
      if (const auto* tuple = element.as<Tuple>()) {
        elements.push_back(to_json(*tuple));
      } else {
        JsonObject inner;
        describe(inner, element);
        elements.push_back(inner.text());
      }
    }
    head().raw("value", json_array(elements));
  }
  void operator()(const sema::RecordPtr& record) {
    JsonObject fields;
    for (const auto& [name, value] : record->fields) {
      JsonObject field;
      describe(field, value);
      fields.raw(name, field.text());
    }
    head().string("name", record->name).raw("fields", fields.text());
  }
  void operator()(const sema::FunctionPtr&) { head(); }
  void operator()(const sema::RecordMakerPtr&) { head(); }
  void operator()(const sema::Builtin*) { head(); }
  void operator()(const sema::KernelFamilyPtr& k) { head().string("name", k->kernel->name.text); }
  void operator()(const sema::TensorName&) { kind(); }
  void operator()(const sema::Element&) { kind(); }
  void operator()(const sema::IntermediatePtr&) { kind(); }
};

}  // namespace

std::string to_json(const Int& value) {
  return value.is_literal() ? std::to_string(value.value()) : json_string(value.to_string());
}

std::string to_json(const Sizes& sizes) {
  JsonObject object;
  for (const auto& [name, value] : sizes) object.integer(name, value);
  return object.text();
}

std::string to_json(const std::vector<Guard>& guards) {
  std::vector<std::string> texts;
  for (const Guard& guard : guards) texts.push_back(guard.to_string());
  return json_strings(texts);
}

std::string to_json(const Tuple& value) {
  if (value.is_int()) return to_json(value.value());
  if (value.is_leaf()) return json_string(value.to_string());
  std::vector<std::string> modes;
  for (const Tuple& mode : value.modes()) modes.push_back(to_json(mode));
  return json_array(modes);
}

void describe(JsonObject& object, const sema::Value& value) {
  std::visit(Describer{object, value}, value.data);
}

}  // namespace lay::runtime
