#include "frontend/sema/builtins/find.h"

#include <algorithm>

#include "frontend/algebra/memory/find_layout.h"
#include "frontend/sema/builtins/memory.h"
#include "frontend/sema/explain/derivation.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

using Fields = std::vector<std::pair<std::string, Value>>;

const std::vector<std::string> kNames = {"write", "read",         "bits",       "tile",
                                         "base",  "write_vector", "read_vector"};

// The arguments by name.
class Wanted {
 public:
  Wanted(Session& session, std::string what, std::vector<CallArgument> list, Span whole)
      : what_(std::move(what)), arguments_(session, what_, whole, std::move(list)) {
    std::vector<std::string> seen;
    for (const CallArgument& a : arguments_.list()) {
      if (a.name.empty())
        fail("argument-name", what_ + " takes its arguments by name", a.span, {}, {help()});
      if (std::find(kNames.begin(), kNames.end(), a.name) == kNames.end()) {
        std::vector<Note> notes;
        if (auto near = nearest(a.name, kNames))
          notes.push_back({"help", "did you mean " + *near + "?"});
        if (notes.empty()) notes.push_back(help());
        fail("argument-name", what_ + " has no parameter " + a.name, a.span, {}, std::move(notes));
      }
      if (std::find(seen.begin(), seen.end(), a.name) != seen.end()) {
        fail("argument-name", "the parameter " + a.name + " is given twice", a.span);
      }
      seen.push_back(a.name);
    }
    if (!at("write") && !at("read")) {
      fail("argument-count", what_ + " needs an access to serve: write, read or both", whole, {},
           {help()});
    }
  }

  Arguments& arguments() { return arguments_; }
  std::optional<std::size_t> at(const std::string& name) const {
    for (std::size_t i = 0; i < arguments_.count(); ++i) {
      if (arguments_[i].name == name) return i;
    }
    return std::nullopt;
  }
  trace::Begin begin() const {
    trace::Begin begin{what_, {}, {}, {}};
    for (const CallArgument& a : arguments_.list()) {
      begin.operands.push_back(item_of(a.value));
      begin.parameters.push_back(a.name);
    }
    return begin;
  }
  std::string text() const {
    std::string s = what_;
    for (std::size_t i = 0; i < arguments_.count(); ++i) {
      s += (i ? ", " : "(") + arguments_[i].name + " = " + sema::text(arguments_[i].value);
    }
    return s + ")";
  }

 private:
  static Note help() {
    return {"help", std::string(kFindSignature) + ", also tile, base, write_vector, read_vector"};
  }
  std::string what_;  // before the arguments, which point to it
  Arguments arguments_;
};

// One layout or tiled copy, or a tuple of them; copies go over the whole tile.
std::vector<AnyLayout> layouts_of(Arguments& a, std::size_t i, CopySide side,
                                  const std::optional<Tuple>& tile) {
  const auto copied = [&](const Value& v) {
    return access_of_copy(a.session, v, side, tile, a[i].span);
  };
  const auto* list = a.as<ListPtr>(i);
  if (!list) {
    if (const auto access = copied(a[i].value)) return {*access};
    return {a.any_layout(i)};
  }
  std::vector<AnyLayout> result;
  for (const Value& v : (*list)->elements) {
    if (const auto access = copied(v)) {
      result.emplace_back(*access);
      continue;
    }
    if (const Layout* l = v.as<Layout>()) {
      result.emplace_back(*l);
    } else if (const Composed* c = v.as<Composed>()) {
      result.emplace_back(*c);
    } else {
      a.wrong_kind(i, "a layout or a tuple of layouts");
    }
  }
  return result;
}

using NamedAccesses = std::vector<std::pair<std::string, AnyLayout>>;

// The least shape that holds every access: the corner of their coordinates, the end of their
// indices.
Tuple tile_around(Facts& facts, const NamedAccesses& accesses) {
  std::optional<Tuple> corner;
  for (const auto& [name, access] : accesses) {
    const auto* l = std::get_if<Layout>(&access);
    if (!l || !l->is_known()) {
      throw refusal("symbolic", "the tile of " + to_string(access) + " is not known",
                    "say it: tile = (64,64)");
    }
    const Tuple own = coshape(facts, *l);
    if (!corner) corner = own;
    if (!congruent(*corner, own)) {
      throw refusal("coordinate-rank",
                    "the accesses take coordinates of different shapes, " + corner->to_string() +
                        " and " + own.to_string(),
                    "say the tile that indices count through: tile = (64,64)");
    }
    corner = transform(*corner, own, [&](const Tuple& x, const Tuple& y) {
      return Tuple(facts.max(x.value(), y.value()));
    });
  }
  return *corner;
}

// The accesses by name: write, read, or read0, read1 where there are several.
NamedAccesses accesses_of(Wanted& wanted, const std::optional<Tuple>& tile) {
  NamedAccesses accesses;
  for (const std::string name : {"write", "read"}) {
    const auto i = wanted.at(name);
    if (!i) continue;
    const CopySide side = name == "write" ? CopySide::destination : CopySide::source;
    const auto list = layouts_of(wanted.arguments(), *i, side, tile);
    for (std::size_t k = 0; k < list.size(); ++k)
      accesses.emplace_back(list.size() == 1 ? name : name + std::to_string(k), list[k]);
  }
  return accesses;
}

// An access by 1-D indices counts through the tile, and so has to reach all of it: one that was
// made for a smaller tile would mean other elements here. One by coordinates may take a part.
void require_cover(const std::string& name, const AnyLayout& access, const AccessPattern& pattern,
                   const Tuple& tile) {
  const auto* plain = std::get_if<Layout>(&access);
  if (plain && plain->has_basis()) return;
  std::vector<std::int64_t> reached = pattern.elements;
  std::sort(reached.begin(), reached.end());
  reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
  const std::int64_t all = size(tile).value(), count = static_cast<std::int64_t>(reached.size());
  if (count == all) return;
  std::int64_t missed = 0;
  while (missed < count && reached[static_cast<std::size_t>(missed)] == missed) ++missed;
  throw refusal("size-mismatch",
                "expected an access to all " + std::to_string(all) + " elements of the tile " +
                    tile.to_string() + ", got " + name + ", which reaches " +
                    std::to_string(count) + " and misses index " + std::to_string(missed),
                "give the tiled copy itself, which goes over the whole tile, or an access by "
                "coordinates");
}

struct Asked {
  LayoutSearch search;
  std::vector<std::string> accesses;  // as text
};

Asked search_of(Wanted& wanted, bool layouts) {
  Arguments& a = wanted.arguments();
  Asked asked;
  LayoutSearch& search = asked.search;
  search.paddings = layouts;
  search.memory = shared_memory(a.session);
  if (const auto i = wanted.at("bits")) search.bits = element_bits(a, *i, Value());
  if (const auto i = wanted.at("base")) search.base = a.layout(*i);
  const auto tile = wanted.at("tile");
  search.tile = tile          ? a.tuple(*tile)
                : search.base ? search.base->shape
                              : tile_around(a.facts(), accesses_of(wanted, std::nullopt));
  if (!search.tile.is_known()) {
    throw refusal("symbolic", "the tile " + search.tile.to_string() +
                                  " is not known, and the search counts its elements");
  }
  if (search.base && !(size(search.base->shape) == size(search.tile))) {
    throw refusal("argument-kind", "base has " + size(search.base->shape).to_string() +
                                       " elements and the tile " + size(search.tile).to_string());
  }
  for (const auto& [name, access] : accesses_of(wanted, search.tile)) {
    std::optional<std::int64_t> vector;
    if (const auto i = wanted.at(name.substr(0, name.find_first_of("0123456789")) + "_vector"))
      vector = a.literal(*i);
    search.accesses.push_back({name, access_pattern(access, search.tile), vector});
    require_cover(name, access, search.accesses.back().pattern, search.tile);
    asked.accesses.push_back(to_string(access));
  }
  return asked;
}

std::string proof_of(const FoundLayout& found) {
  if (found.wavefronts > found.fewest) {
    return "the best of all " + std::to_string(found.candidates) +
           " layouts of the family; whether one outside it comes closer to the bound is open";
  }
  return "no layout takes fewer wavefronts: every phase takes one, and accesses are as wide as "
         "they can be together";
}

// The call of `banks` that counts an access again.
std::string banks_text(const Asked& asked, const FoundLayout& found, std::size_t i) {
  const auto& vector = asked.search.accesses[i].vector;
  return "banks(" + to_string(found.layout) + ", " + asked.accesses[i] + ", " +
         std::to_string(asked.search.bits) + (vector ? ", " + std::to_string(*vector) : "") + ")";
}

Value record_of(const Asked& asked, const FoundLayout& found, const std::string& name,
                const std::string& head) {
  const LayoutSearch& search = asked.search;
  const auto* plain = std::get_if<Layout>(&found.layout);
  Fields fields = {{"layout", plain ? Value(*plain) : Value(std::get<Composed>(found.layout))},
                   {"swizzle", Value(found.swizzle ? *found.swizzle : Swizzle(0, 0, 0))},
                   {"padding", Value(Int(found.padding))},
                   {"bytes", Value(Int((found.size * search.bits + 7) / 8))}};
  for (std::size_t i = 0; i < search.accesses.size(); ++i) {
    const Value counts =
        result_record("banks", banks_text(asked, found, i), shared_fields(found.services[i]));
    fields.emplace_back(search.accesses[i].name, counts);
  }
  std::int64_t least = 0;
  for (const Service& s : found.services) least += s.least;
  fields.emplace_back("wavefronts", Value(Int(found.wavefronts)));
  fields.emplace_back("conflicts", Value(Int(found.wavefronts - least)));
  fields.emplace_back("bound", Value(Int(found.fewest)));
  fields.emplace_back("optimal", Value(Predicate(found.wavefronts == found.fewest)));
  fields.emplace_back("candidates", Value(Int(found.candidates)));
  fields.emplace_back("family", Value(found.family));
  fields.emplace_back("proof", Value(proof_of(found)));
  return result_record(name, head, std::move(fields));
}

}  // namespace

Value find_value(Session& session, const std::string& what, Span what_span,
                 std::vector<CallArgument> arguments, Span whole) {
  if (what != "swizzle" && what != "layout") {
    fail("unknown-name", "there is no search for " + what, what_span, {},
         {{"help", "find swizzle(...) or find layout(...)"}});
  }
  for (const CallArgument& a : arguments) {
    if (a.value.is_unknown()) return a.value;
  }
  Wanted wanted(session, "find " + what, std::move(arguments), whole);
  try {
    const Asked asked = search_of(wanted, what == "layout");
    trace::Operation derived(wanted.begin());
    const FoundLayout found = find_layout(asked.search);
    derived.gives(found.layout);
    return record_of(asked, found, "find " + what, wanted.text());
  } catch (const Refusal& refusal) {
    throw DiagnosticError(to_diagnostic(refusal, whole, {}));
  }
}

}  // namespace lay::sema
