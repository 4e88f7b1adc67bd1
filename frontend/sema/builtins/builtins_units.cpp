// The units that layouts count, and the names of their modes: said by the user, asked, and carried
// by the algebra.
//
//     units((128,64):(64,1), f16)                   offsets count elements of f16
//     units(((4,8),(2,2)):((32,1),(16,8)), threads, coordinates)
//     units(Sw<3,4,3>, bytes)                       takes and gives bytes
//     names((128,64):(64,1), ("m","k")).k           64:1

#include <algorithm>

#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

// An element type, or a word: bytes, threads, values, coordinates. Nothing for `_`.
std::optional<Unit> unit_of(Arguments& a, std::size_t i) {
  if (const auto* type = a.as<ElementType>(i)) return elements_of(*type);
  if (const auto* t = a.as<Tuple>(i); t && t->is_underscore()) return std::nullopt;
  const auto* builtin = a.as<const Builtin*>(i);  // `values` is a function as well
  const auto* word = a.as<std::string>(i);
  const std::string_view name = builtin ? (*builtin)->name : word ? std::string_view(*word) : "";
  for (const Counts counts :
       {Counts::bytes, Counts::threads, Counts::values, Counts::coordinates}) {
    const Unit unit{counts, {}};
    if (unit.to_string() == name) return unit;
  }
  a.wrong_kind(i, "an element type, bytes, threads, values, coordinates or `_`");
}

Value with_layout(Arguments& a, Layout layout) {
  const Composed* c = a.as<Composed>(0);
  if (!c) return Value(std::move(layout));
  Composed result = *c;
  if (auto* s = std::get_if<Swizzle>(&result.outer)) s->unit = layout.units.codomain;
  result.inner = std::move(layout);
  return Value(std::move(result));
}

std::string unit_text(const Unit& unit) {
  return unit.counts == Counts::none ? "_" : unit.to_string();
}

Value units_of_swizzle(Arguments& a, Swizzle s) {
  if (a.count() == 1) return Value(unit_text(s.unit) + " -> " + unit_text(s.unit));
  if (a.count() == 3)
    throw refusal("argument-kind", "a swizzle gives what it takes: one unit says it");
  if (const auto unit = unit_of(a, 1)) s.unit = *unit;
  return Value(s);
}

Value units_(Arguments& a) {
  if (const auto* s = a.as<Swizzle>(0)) return units_of_swizzle(a, *s);
  Layout layout = a.inner_layout(0);
  Units& units = layout.units;
  if (a.count() == 1) return Value(unit_text(units.domain) + " -> " + unit_text(units.codomain));
  if (a.count() == 3) {
    if (const auto domain = unit_of(a, 1)) units.domain = *domain;
  }
  if (const auto codomain = unit_of(a, a.count() - 1)) units.codomain = *codomain;
  return with_layout(a, std::move(layout));
}

bool is_name(const std::string& text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return text.empty() || (letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
                            return letter(c) || (c >= '0' && c <= '9');
                          }));
}

// Numbers for names: a string, or a tuple of these. "" is no name.
Tuple numbers_of(const Value& value, Arguments& a) {
  if (const auto* name = value.as<std::string>(); name && is_name(*name)) {
    return name->empty() ? 0 : name_number(*name);
  }
  const auto* list = value.as<ListPtr>();
  if (!list) a.wrong_kind(1, "names (strings, or a tuple of these)");
  std::vector<Tuple> modes;
  for (const Value& element : (*list)->elements) modes.push_back(numbers_of(element, a));
  return Tuple(std::move(modes));
}

// The names as they would be given: one for all leaves of a mode where they agree.
Value names_text(const Layout& layout, bool whole) {
  const bool same = layout.shape.is_leaf() || (!whole && only_name(layout) != 0);
  if (same || !layout.names) {
    if (layout.shape.is_leaf() || !whole) return Value(name_of_number(only_name(layout)));
  }
  std::vector<Value> modes;
  for (int k = 0; k < layout.rank(); ++k) modes.push_back(names_text(layout[k], false));
  return make_tuple(std::move(modes));
}

Value names_(Arguments& a) {
  if (a.count() == 1) return names_text(a.inner_layout(0), true);
  return with_layout(a, with_mode_names(a.inner_layout(0), numbers_of(a[1].value, a)));
}

constexpr Builtin kUnitsRows[] = {
    {"units", "units(L [[, domain], codomain])",
     "L, a layout or swizzle, counting elements of a type, bytes, threads, values or coordinates; "
     "alone, what L counts",
     1, 3, units_},
    {"names", "names(L [, names])",
     "L with names for its modes, as in (\"m\",\"k\"); alone, the names", 1, 2, names_},
};

}  // namespace

std::span<const Builtin> unit_builtins() {
  return kUnitsRows;
}

}  // namespace lay::sema
