// export(L, "cute"): a layout in the words of another tool.

#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/prelude.h"
#include "frontend/sema/show/export.h"

namespace lay::sema {

namespace {

std::optional<exports::Exported> plain(const Value& value, const std::string& name) {
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

template <typename T>
const T* field(const Record& record, const char* name) {
  const Value* found = record.find(name);
  return found ? found->as<T>() : nullptr;
}

}  // namespace

std::vector<exports::Exported> to_exported(Session& session, const Value& value,
                                           const std::string& name, Span where) {
  if (auto one = plain(value, name)) return {*one};
  const auto* record = value.as<RecordPtr>();
  if (!record) return {};
  const Tuple *tile = field<Tuple>(**record, "tile"), *shape = field<Tuple>(**record, "shape");
  const Value* tv = (*record)->find("tv");
  if (auto of_copy = tv && tile ? plain(*tv, name) : std::nullopt) {
    of_copy->tile = *tile;
    return {*of_copy};
  }
  std::vector<exports::Exported> made;
  if (!field<RecordPtr>(**record, "atom") || !field<Layout>(**record, "lanes") || !shape ||
      !shape->is_tuple() || shape->rank() != 3)
    return {};
  struct Role {
    const char* name;
    int row, column;  // modes of the shape (M,N,K)
  };
  for (const Role& of : {Role{"A", 0, 2}, Role{"B", 1, 2}, Role{"C", 0, 1}}) {
    const Module::Entry* function = session.prelude().find(std::string("layout_") + of.name);
    auto operand = plain(apply(session, {*function->value, where}, {{"", value, where}}, where),
                         name + "_" + of.name);
    if (!operand) continue;
    operand->tile = tuple((*shape)[of.row], (*shape)[of.column]);
    made.push_back(std::move(*operand));
  }
  return made;
}

std::string exported_text(Session& session, const Value& value, const std::string& name,
                          const std::string& target, const std::optional<Tuple>& tile, Span where) {
  std::vector<exports::Exported> all = to_exported(session, value, name, where);
  if (all.size() > 1 && target == "latex") {
    Refusal refusal;
    refusal.code = "export";
    refusal.message = "LaTeX draws one layout, and " + name + " is three";
    refusal.help = "`lay show M -o M.tex` draws a multiply-add; export layout_A(M), B or C";
    throw refusal;
  }
  std::string text;
  for (exports::Exported& each : all) {
    if (tile) each.tile = tile;
    text += exports::exported(each, target);
  }
  return text;
}

namespace {

Value export_(Arguments& a) {
  const auto tile = a.count() > 2 ? std::optional(a.tuple(2)) : std::nullopt;
  std::string text = exported_text(a.session, a[0].value, "L", a.string(1), tile, a.whole());
  if (text.empty()) a.wrong_kind(0, kExportable);
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
