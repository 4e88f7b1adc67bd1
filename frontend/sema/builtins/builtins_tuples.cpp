// Structure of tuples and layouts: rank, depth, size, modes and their rearrangement.

#include "frontend/sema/builtins/builtins.h"

namespace lay::sema {
namespace {

// Elements of a tuple of anything.
const List* list_of(Arguments& a, std::size_t i) {
  const ListPtr* list = a.as<ListPtr>(i);
  return list ? list->get() : nullptr;
}

std::size_t list_index(Arguments& a, const List& list, std::size_t i) {
  int n = a.small(i);
  if (n < 0 || n >= static_cast<int>(list.elements.size())) {
    fail("mode",
         "there is no mode " + std::to_string(n) + " in a tuple of " +
             std::to_string(list.elements.size()),
         a[i].span);
  }
  return static_cast<std::size_t>(n);
}

// The part of argument 0 that the path from argument `from` on names.
Value part(Arguments& a, std::size_t from) {
  std::vector<int> path = a.path(from);
  if (const Layout* l = a.as<Layout>(0)) return Value(get(*l, path));
  if (const Composed* c = a.as<Composed>(0)) {
    Composed result = *c;
    if (!path.empty()) result.inner = get(c->layout(), path);
    return Value(std::move(result));
  }
  if (const List* list = list_of(a, 0)) {
    if (path.empty()) return a[0].value;
    const Value& element = list->elements[list_index(a, *list, from)];
    std::vector<CallArgument> rest{{"", element, a[0].span}};
    for (std::size_t i = from + 1; i < a.count(); ++i) rest.push_back(a[i]);
    Arguments inner(a.session, a.callee(), a.whole(), std::move(rest));
    return part(inner, 1);
  }
  if (const Tuple* t = a.as<Tuple>(0)) return Value(get(*t, path));
  a.wrong_kind(0, "a tuple or a layout");
}

// The shape of what the path names: of a tuple itself.
Tuple shape_part(Arguments& a) {
  Value v = part(a, 1);
  if (const Layout* l = v.as<Layout>()) return l->shape;
  if (const Composed* c = v.as<Composed>()) return c->layout().shape;
  if (const Tuple* t = v.as<Tuple>()) return *t;
  a.wrong_kind(0, "a tuple or a layout");
}

Value get_(Arguments& a) {
  return part(a, 1);
}

Value rank_(Arguments& a) {
  if (const Array* array = a.as<Array>(0)) return Value(Int(array->rank()));
  Value v = part(a, 1);
  if (const ListPtr* list = v.as<ListPtr>()) return Value(Int((*list)->elements.size()));
  return Value(Int(shape_part(a).rank()));
}

int depth_of(const Value& v) {
  const ListPtr* list = v.as<ListPtr>();
  if (!list) {
    if (const Layout* l = v.as<Layout>()) return l->depth();
    const Tuple* t = v.as<Tuple>();
    return t ? t->depth() : 0;
  }
  int deepest = 0;
  for (const Value& element : (*list)->elements) deepest = std::max(deepest, depth_of(element));
  return deepest + 1;
}

Value depth_(Arguments& a) {
  Value v = part(a, 1);
  if (v.as<ListPtr>()) return Value(Int(depth_of(v)));
  return Value(Int(shape_part(a).depth()));
}

Value size_(Arguments& a) {
  if (const Array* array = a.as<Array>(0)) return Value(Int(array->size()));
  return Value(size(shape_part(a)));
}

Value shape_(Arguments& a) {
  if (const Array* array = a.as<Array>(0)) {
    std::vector<Tuple> modes;
    for (std::int64_t extent : array->shape) modes.emplace_back(Int(extent));
    return Value(Tuple(std::move(modes)));
  }
  if (!a.is_layout(0)) a.wrong_kind(0, "a layout or an array");
  return Value(shape_part(a));
}

Value stride_(Arguments& a) {
  if (const Layout* l = a.as<Layout>(0)) return Value(get(l->stride, a.path(1)));
  if (a.as<Composed>(0)) {
    throw refusal("no-stride",
                  "a composed layout has no strides: its value is not linear in the coordinate",
                  "layout_part(L) is the layout inside");
  }
  a.wrong_kind(0, "a layout");
}

Value offset_part(Arguments& a) {
  if (const Composed* c = a.as<Composed>(0)) return Value(c->offset);
  a.wrong_kind(0, "a composed layout");
}

Value outer_part(Arguments& a) {
  if (a.as<Layout>(0)) return Value(Swizzle(0, 4, 3));
  const Composed* c = a.as<Composed>(0);
  if (!c) a.wrong_kind(0, "a layout");
  return std::visit([](const auto& outer) { return Value(outer); }, c->outer);
}

Value layout_part(Arguments& a) {
  if (a.as<Layout>(0)) return a[0].value;
  if (const Composed* c = a.as<Composed>(0)) return Value(c->layout());
  a.wrong_kind(0, "a layout");
}

// One row for operations that a Tuple, a Layout and the layout inside a Composed share.
template <typename F>
Value on_structure(Arguments& a, F&& f) {
  if (const Layout* l = a.as<Layout>(0)) return Value(f(*l));
  if (const Composed* c = a.as<Composed>(0)) {
    Composed result = *c;
    result.inner = f(c->layout());
    return Value(std::move(result));
  }
  return Value(f(a.tuple(0)));
}

Value select_(Arguments& a) {
  std::vector<int> modes = a.path(1);
  if (const List* list = list_of(a, 0)) {
    std::vector<Value> picked;
    for (std::size_t i = 1; i < a.count(); ++i)
      picked.push_back(list->elements[list_index(a, *list, i)]);
    return make_tuple(std::move(picked));
  }
  return on_structure(a, [&](const auto& x) { return select(x, modes); });
}

Value take_(Arguments& a) {
  int begin = a.small(1), end = a.small(2);
  if (const List* list = list_of(a, 0)) {
    if (begin < 0 || begin >= end || end > static_cast<int>(list->elements.size())) {
      throw refusal("range",
                    "there are no modes " + std::to_string(begin) + ".." + std::to_string(end));
    }
    return make_tuple({list->elements.begin() + begin, list->elements.begin() + end});
  }
  return on_structure(a, [&](const auto& x) { return take(x, begin, end); });
}

Value group_(Arguments& a) {
  int begin = a.small(1), end = a.small(2);
  return on_structure(a, [&](const auto& x) { return group(x, begin, end); });
}

Value flatten_(Arguments& a) {
  return on_structure(a, [](const auto& x) { return flatten(x); });
}

Value unflatten_(Arguments& a) {
  const Tuple& profile = a.tuple(1);
  return on_structure(a, [&](const auto& x) { return unflatten(x, profile); });
}

// append and prepend: append(L, X), append(L, X, N), append(L, N) with 1:0.
template <typename OnLayout, typename OnTuple>
Value extend(Arguments& a, OnLayout&& on_layout, OnTuple&& on_tuple) {
  std::optional<int> rank;
  if (a.count() == 3) rank = a.small(2);
  if (const ListPtr* list = a.as<ListPtr>(0)) return on_tuple((*list)->elements, rank);
  if (const Composed* c = a.as<Composed>(0)) {
    Composed result = *c;
    result.inner = on_layout(c->layout(), rank);
    return Value(std::move(result));
  }
  if (const Layout* l = a.as<Layout>(0)) return Value(on_layout(*l, rank));
  const Tuple& t = a.tuple(0);
  if (!a.as<Tuple>(1)) {
    std::vector<Value> elements;
    for (int k = 0; k < t.rank(); ++k) elements.emplace_back(t[k]);
    return on_tuple(elements, rank);
  }
  return on_tuple(t, rank);
}

Layout second_layout(Arguments& a, std::optional<int>& rank) {
  if (const Tuple* t = a.as<Tuple>(1); t && t->is_int() && a.count() == 2) {
    rank = a.small(1);
    return Layout(1, 0);
  }
  return a.layout(1);
}

std::size_t extended_rank(const std::vector<Value>& elements, std::optional<int> rank) {
  if (rank && *rank > 10000)
    throw refusal("limit", "a tuple of more than 10000 modes is asked for");
  return rank ? static_cast<std::size_t>(std::max(*rank, 0)) : elements.size() + 1;
}

struct Append {
  Arguments& a;
  Layout operator()(const Layout& l, std::optional<int> rank) {
    Layout x = second_layout(a, rank);
    return rank ? append(l, x, *rank) : append(l, x);
  }
  Value operator()(const Tuple& t, std::optional<int> rank) {
    return Value(rank ? append(t, a.tuple(1), *rank) : append(t, a.tuple(1)));
  }
  Value operator()(std::vector<Value> elements, std::optional<int> rank) {
    const std::size_t target = extended_rank(elements, rank);
    while (elements.size() < target) elements.push_back(a[1].value);
    return make_tuple(std::move(elements));
  }
};

struct Prepend {
  Arguments& a;
  Layout operator()(const Layout& l, std::optional<int> rank) {
    Layout x = second_layout(a, rank);
    return rank ? prepend(l, x, *rank) : prepend(l, x);
  }
  Value operator()(const Tuple& t, std::optional<int> rank) {
    return Value(rank ? prepend(t, a.tuple(1), *rank) : prepend(t, a.tuple(1)));
  }
  Value operator()(std::vector<Value> elements, std::optional<int> rank) {
    const std::size_t target = extended_rank(elements, rank);
    while (elements.size() < target) elements.insert(elements.begin(), a[1].value);
    return make_tuple(std::move(elements));
  }
};

Value append_(Arguments& a) {
  return extend(a, Append{a}, Append{a});
}
Value prepend_(Arguments& a) {
  return extend(a, Prepend{a}, Prepend{a});
}

Layout replaced(Arguments& a, const Layout& l, int mode) {
  return replace(l, mode, a.layout(2));
}
Tuple replaced(Arguments& a, const Tuple& t, int mode) {
  return replace(t, mode, a.tuple(2));
}

Value replace_(Arguments& a) {
  int mode = a.small(1);
  if (const List* list = list_of(a, 0)) {
    std::vector<Value> elements = list->elements;
    elements[list_index(a, *list, 1)] = a[2].value;
    return make_tuple(std::move(elements));
  }
  if (a.is_layout(0)) return on_structure(a, [&](const auto& x) { return replaced(a, x, mode); });
  return Value(replaced(a, a.tuple(0), mode));
}

Value zip_(Arguments& a) {
  if (a.count() == 1) return on_structure(a, [](const auto& x) { return zip(x); });
  if (a.as<Layout>(0)) return Value(zip(a.layout(0), a.layout(1)));
  return Value(zip(a.tuple(0), a.tuple(1)));
}

constexpr Builtin kTuplesRows[] = {
    {"get", "get(L, i, ...)", "the mode that the path names; L[i,...] is the same", 1, kMany, get_},
    {"rank", "rank(L [, path...])", "the number of modes; 1 for an integer", 1, kMany, rank_},
    {"depth", "depth(L [, path...])", "the nesting: 0 for an integer", 1, kMany, depth_},
    {"size", "size(L [, path...])", "the product of the extents: how many coordinates", 1, kMany,
     size_},
    {"shape", "shape(L [, path...])", "the extents", 1, kMany, shape_},
    {"stride", "stride(L [, path...])", "the strides", 1, kMany, stride_},
    {"offset_part", "offset_part(C)", "the offset of a composed layout", 1, 1, offset_part},
    {"outer_part", "outer_part(C)", "what a composed layout applies last: a swizzle or a layout", 1,
     1, outer_part},
    {"layout_part", "layout_part(C)", "the layout inside a composed layout", 1, 1, layout_part},
    {"select", "select(L, i, j, ...)", "the modes named, in that order", 2, kMany, select_},
    {"take", "take(L, begin, end)", "the modes begin .. end-1", 3, 3, take_},
    {"group", "group(L, begin, end)", "the modes begin .. end-1 become one mode", 3, 3, group_},
    {"flatten", "flatten(L)", "depth at most 1, the same leaves", 1, 1, flatten_},
    {"unflatten", "unflatten(L, profile)", "the leaves of L nested as the profile", 2, 2,
     unflatten_},
    {"append", "append(L, X [, N])", "X after the last mode, until the rank is N", 2, 3, append_},
    {"prepend", "prepend(L, X [, N])", "X before the first mode, until the rank is N", 2, 3,
     prepend_},
    {"replace", "replace(L, k, X)", "X in place of mode k", 3, 3, replace_},
    {"zip", "zip(A, B)", "mode i is (A_i, B_i); zip(L) transposes modes of equal rank", 1, 2, zip_},
};

}  // namespace

std::span<const Builtin> tuple_builtins() {
  return kTuplesRows;
}

}  // namespace lay::sema
