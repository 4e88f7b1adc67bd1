// The laws of operations at a few coordinates, with numbers.

#include <algorithm>
#include <set>
#include <stdexcept>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/sema/explain/derivation.h"

namespace lay::sema {
namespace {

using namespace trace;

using Symbols = std::map<DimId, Int>;

void collect(const Int& n, Symbols& symbols) {
  if (n.is_literal()) return;
  for (const lay::Term& term : n.polynomial().terms) {
    for (const Factor& factor : term.factors) {
      if (factor.atom->kind == AtomKind::dim) {
        symbols.emplace(factor.atom->id, as_int(*factor.atom));
      } else {
        collect(factor.atom->a, symbols);
        collect(factor.atom->b, symbols);
      }
    }
  }
}

void collect(const Layout& layout, Symbols& symbols) {
  for (const Tuple& leaf : leaves(layout.shape)) collect(leaf.value(), symbols);
  for (const Tuple& leaf : leaves(layout.stride)) collect(leaf.value(), symbols);
}

// The smallest sizes that facts and guards allow, of at least 2 where they may be.
std::optional<Symbols> sizes_for(const Symbols& symbols, const std::vector<Guard>& guards,
                                 Facts& facts) {
  Predicate all, large;
  for (const Guard& guard : guards) all = both(all, guard.predicate);
  Int product = 1;
  std::map<std::string, DimId> names;
  for (const auto& [id, symbol] : symbols) {
    product *= symbol;
    large = both(large, less_equal(2, symbol));
    names[symbol.to_string()] = id;
  }
  if (names.size() != symbols.size()) return std::nullopt;  // two symbols of one name
  for (const Predicate& wanted : {both(all, large), all}) {
    const Under under(facts, wanted);
    if (!under.possible()) continue;
    Symbols numbers;
    for (const auto& [name, value] : facts.decide(less(product, 1)).sizes) {
      if (const auto found = names.find(name); found != names.end()) numbers[found->second] = value;
    }
    if (numbers.size() == symbols.size()) return numbers;
  }
  return std::nullopt;
}

// The layouts of one operation, with numbers for the symbols.
struct Instance {
  std::vector<Layout> operands;
  Layout result;
  std::string at;  // " at M = 4, N = 2"
};

std::optional<Instance> instance_of(const Begin& begin, const Layout& result,
                                    const std::vector<Guard>& guards, Facts& facts) {
  Instance instance{{}, result, ""};
  Symbols symbols;
  collect(result, symbols);
  for (const trace::Item& operand : begin.operands) {
    const Layout* layout = operand.layout ? std::get_if<Layout>(&*operand.layout) : nullptr;
    if (!layout) continue;
    instance.operands.push_back(*layout);
    collect(*layout, symbols);
  }
  if (symbols.empty()) return instance;
  const auto sizes = sizes_for(symbols, guards, facts);
  if (!sizes) return std::nullopt;
  for (const auto& [id, value] : *sizes) {
    instance.at += (instance.at.empty() ? " at " : ", ") + symbols.at(id).to_string() + " = " +
                   value.to_string();
  }
  for (Layout& operand : instance.operands) operand = substitute(operand, *sizes);
  instance.result = substitute(instance.result, *sizes);
  return instance;
}

// Up to three indices of the result, away from 0: the second, one in the middle, the last.
std::vector<std::int64_t> samples(const Layout& result) {
  const Int n = size(result);
  if (!n.is_literal()) return {};
  std::set<std::int64_t> chosen;
  for (const std::int64_t i : {std::int64_t{1}, n.value() / 2, n.value() - 1}) {
    if (i > 0 && i < n.value()) chosen.insert(i);
  }
  return {chosen.begin(), chosen.end()};
}

// f(i) with its text.
struct Applied {
  Tuple value;
  std::string text;
};
Applied apply_at(Facts& facts, const std::string& name, const Layout& layout, const Tuple& at) {
  const Tuple value = evaluate(facts, layout, at);
  return {value, name + "(" + at.to_string() + ")"};
}

// The two sides of the law, and whether they agree.
struct Law {
  std::string text;
  bool holds = true;
};

// Equal as coordinates: what one leaves out at the end of a mode, or as a mode, is 0 in the other.
bool same_place(const Tuple& a, const Tuple& b) {
  if (a.is_int() && b.is_int()) return a == b;
  const int rank = std::max(a.is_int() ? 0 : a.rank(), b.is_int() ? 0 : b.rank());
  if ((a.is_int() && !a.is_literal(0)) || (b.is_int() && !b.is_literal(0))) return false;
  const auto mode = [](const Tuple& t, int k) {
    return t.is_int() || k >= t.rank() ? Tuple(0) : t[k];
  };
  for (int k = 0; k < rank; ++k) {
    if (!same_place(mode(a, k), mode(b, k))) return false;
  }
  return true;
}

Law one_law(const std::string& operation, const Instance& instance, std::int64_t i) {
  Facts facts;
  const Layout& first = instance.operands.front();
  const Applied r = apply_at(facts, "R", instance.result, i);
  if (operation == "coalesce") {
    const Applied l = apply_at(facts, "L", first, i);
    return {r.text + " = " + l.text + " = " + l.value.to_string(), same_place(r.value, l.value)};
  }
  if (operation == "composition" && instance.operands.size() == 2) {
    const Applied b = apply_at(facts, "B", instance.operands[1], i);
    const Applied a = apply_at(facts, "A", first, b.value);
    return {r.text + " = A(" + b.text + ") = " + a.text + " = " + a.value.to_string(),
            same_place(r.value, a.value)};
  }
  if (operation == "right_inverse") {
    const Applied l = apply_at(facts, "L", first, r.value);
    if (!l.value.is_int()) return {};
    return {"L(" + r.text + ") = " + l.text + " = " + l.value.to_string(), l.value == Tuple(i)};
  }
  if (operation == "left_inverse") {
    const Applied l = apply_at(facts, "L", first, i);
    const Applied back = apply_at(facts, "R", instance.result, l.value);
    const bool holds = same_place(evaluate(facts, first, back.value), l.value);
    std::string said = "R(" + l.text + ") = " + back.text + " = " + back.value.to_string();
    if (holds && back.value.is_int() && !back.value.is_literal(i)) {
      said += " with L(" + back.value.to_string() + ") = " + l.value.to_string() + " as well";
    }
    return {said, holds};
  }
  return {};
}

// The first values: what the layout takes, and where the complement moves it.
std::string first_values(const Layout& layout) {
  Facts facts;
  std::string list;
  const Int n = size(layout);
  if (!n.is_literal()) return list;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(n.value(), 8); ++i) {
    list += (i ? " " : "") + evaluate(facts, layout, i).to_string();
  }
  return list + (n.value() > 8 ? " ..." : "");
}

// Up to three indices at which a swizzle changes what the layout gives, each at least twice the one
// before.
std::string changed_values(const Swizzle& swizzle, const Int& offset, const Layout& inner) {
  constexpr std::int64_t kMostLookedAt = 4096, kShown = 3;
  const Int n = size(inner);
  if (!n.is_literal() || !offset.is_literal()) return "";
  Facts facts;
  std::string text;
  std::int64_t next = 1, shown = 0;
  for (std::int64_t i = 0; i < std::min(n.value(), kMostLookedAt) && shown < kShown; ++i) {
    const Int from = evaluate(facts, inner, i).value() + offset;
    if (from.value() < 0) return "";
    if (i < next || swizzle(from.value()) == from.value()) continue;
    const std::string index = "(" + std::to_string(i) + ")",
                      sum = offset.is(0) ? "" : offset.to_string() + " + ";
    text += (shown++ ? ", R" : ": R") + index + " = " + swizzle.to_string() + "(" + sum + "B" +
            index + ") = " + swizzle.to_string() + "(" + from.to_string() +
            ") = " + std::to_string(swizzle(from.value()));
    next = 2 * i;
  }
  return text.empty() ? ": it changes none of the values" : text;
}

std::string swizzle_check(const Begin& begin, const Composed& result,
                          const std::vector<Guard>& guards, Facts& facts) {
  const auto* swizzle = std::get_if<Swizzle>(&result.outer);
  const auto* inner = std::get_if<Layout>(&result.inner);
  if (!swizzle || !inner || inner->has_basis() || !result.offset.is_int()) return "";
  const auto instance = instance_of(begin, *inner, guards, facts);
  const std::string changed =
      instance ? changed_values(*swizzle, result.offset.value(), instance->result) : "";
  return changed.empty() ? "" : instance->at + changed;
}

}  // namespace

std::string law_check(const Begin& begin, const trace::Item& result,
                      const std::vector<Guard>& guards, Facts& facts) {
  const Composed* composed = result.layout ? std::get_if<Composed>(&*result.layout) : nullptr;
  if (composed && begin.operation == "composition" && !begin.operands.empty() &&
      !begin.operands[0].layout) {
    try {
      return swizzle_check(begin, *composed, guards, facts);
    } catch (const Refusal&) {
      return "";
    }
  }
  const Layout* layout = result.layout ? std::get_if<Layout>(&*result.layout) : nullptr;
  static const std::set<std::string> kShown = {"coalesce", "composition", "right_inverse",
                                               "left_inverse", "complement"};
  if (!layout || kShown.count(begin.operation) == 0) return "";
  try {
    const auto instance = instance_of(begin, *layout, guards, facts);
    if (!instance || instance->operands.empty()) return "";
    if (begin.operation == "complement") {
      return instance->at + ": L takes " + first_values(instance->operands[0]) +
             ", and R moves it by " + first_values(instance->result);
    }
    std::string text;
    const Layout& domain =
        begin.operation == "left_inverse" ? instance->operands[0] : instance->result;
    for (const std::int64_t i : samples(domain)) {
      const Law law = one_law(begin.operation, *instance, i);
      if (!law.holds && instance->at.empty())
        throw std::logic_error(begin.operation + " breaks its law: " + law.text);
      if (!law.holds || law.text.empty())
        return "";  // sizes outside the branch that the operation stands in
      text += (text.empty() ? ": " : ", ") + law.text;
    }
    return text.empty() ? "" : instance->at + text;
  } catch (const Refusal&) {  // numbers beyond 64 bits: there is nothing to show
    return "";
  }
}

}  // namespace lay::sema
