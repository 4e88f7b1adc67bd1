// export(L, "cute"): a layout in the words of another tool.

#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/show/export.h"

namespace lay::sema {

std::optional<exports::Exported> to_exported(const Value& value, const std::string& name) {
  exports::Exported x{name, Swizzle()};
  if (const auto* l = value.as<Layout>()) {
    x.value = *l;
  } else if (const auto* c = value.as<Composed>()) {
    x.value = *c;
  } else if (const auto* s = value.as<Swizzle>()) {
    x.value = *s;
  } else {
    return std::nullopt;
  }
  for (const Guard& guard : value.guards) x.guards.push_back(guard.to_string());
  return x;
}

namespace {

Value export_(Arguments& a) {
  auto x = to_exported(a[0].value, "L");
  if (!x) a.wrong_kind(0, "a layout or a swizzle");
  if (a.count() > 2) x->tile = a.tuple(2);
  std::string text = exports::exported(*x, a.string(1));
  while (text.ends_with('\n')) text.pop_back();
  return Value(std::move(text));
}

constexpr Builtin kExportRows[] = {
    {"export", "export(L, target [, tile])",
     "L as text for \"cute\", \"cutedsl\", \"triton\", \"numpy\" or \"latex\", with what cannot be "
     "said there",
     2, 3, export_},
};

}  // namespace

std::span<const Builtin> export_builtins() {
  return kExportRows;
}

}  // namespace lay::sema
