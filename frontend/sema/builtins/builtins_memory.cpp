// The builtins for accesses to memory: banks, sectors, the widest vectors of a copy.

#include <algorithm>

#include "frontend/algebra/layouts/unit_check.h"
#include "frontend/sema/apply.h"
#include "frontend/sema/builtins/memory.h"
#include "frontend/sema/prelude.h"

namespace lay::sema {
namespace {

using Fields = std::vector<std::pair<std::string, Value>>;

int number_of(Session& session, const std::string& record, const std::string& field) {
  const Module::Entry* entry = session.prelude().find(record);
  const auto* values = entry && entry->value ? entry->value->as<RecordPtr>() : nullptr;
  const Value* value = values ? (*values)->find(field) : nullptr;
  if (!value || !value->is_int())
    throw std::logic_error("the prelude has no " + record + "." + field);
  return static_cast<int>(value->as<Tuple>()->value().value());
}

std::string call_text(const Arguments& a) {
  std::string s(a.callee());
  for (std::size_t i = 0; i < a.count(); ++i) s += (i ? ", " : "(") + text(a[i].value);
  return s + ")";
}

struct Asked {
  Placement where;
  AccessPattern pattern;
  std::optional<std::int64_t> vector;
};

// The corner of a tensor that an access by coordinates reaches, where a mode is one extent: sizes
// beyond it, known or not, make no difference. That the corner lies inside is an obligation.
Layout corner_of(Facts& facts, const Layout& tensor, const Layout& access) {
  const Tuple reach = access.has_basis() ? coshape(facts, access) : Tuple(0);
  if (!reach.is_tuple() || reach.rank() != tensor.rank()) return tensor;
  for (int k = 0; k < tensor.rank(); ++k) {
    const bool leaves = size(reach[k]).is_literal() && size(tensor.shape[k]).is_literal() &&
                        size(reach[k]).value() > size(tensor.shape[k]).value();
    if (leaves) return tensor;  // which is said of the whole
  }
  Layout corner = tensor;
  for (int k = 0; k < tensor.rank(); ++k) {
    const Tuple extent = tensor.shape[k], needed = reach[k];
    if (!extent.is_int() || !needed.is_int() || !needed.is_known()) continue;
    if (facts.try_require(less_equal(needed.value(), extent.value()), "an access")) {
      corner.shape =
          tensor.rank() == 1 && tensor.shape.is_leaf() ? needed : replace(corner.shape, k, needed);
    }
  }
  return corner;
}

AnyLayout corner_of(Facts& facts, AnyLayout tensor, const AnyLayout& access) {
  const auto* by = std::get_if<Layout>(&access);
  if (!by) return tensor;
  if (auto* l = std::get_if<Layout>(&tensor)) return corner_of(facts, *l, *by);
  auto& c = std::get<Composed>(tensor);
  if (auto* inner = std::get_if<Layout>(&c.inner)) *inner = corner_of(facts, *inner, *by);
  return tensor;
}

// (L, access [, bits or type [, vector]])
Asked asked(Arguments& a, CopySide side) {
  const auto* record = a[1].value.as<RecordPtr>();
  const bool is_multiply_add = record && (*record)->find("atom") && (*record)->find("lanes");
  const std::optional<Layout> copied = access_of_copy(
      a.session, a[1].value, side,
      is_multiply_add ? std::optional(tile_of(a.any_layout(0))) : std::nullopt, a[1].span);
  const AnyLayout access = copied ? AnyLayout(*copied) : a.any_layout(1),
                  layout = corner_of(a.facts(), a.any_layout(0), access);
  const int bits = element_bits(a, 2, a[0].value);
  std::optional<std::int64_t> vector;
  if (a.count() > 3) vector = a.literal(3);
  Asked q{{}, access_pattern(access, tile_of(layout)), vector};
  const Int n = size(tile_of(layout));
  constexpr std::int64_t few = 1 << 16;
  q.where = n.is_literal() && n.value() <= few ? placement_of(layout, bits)
                                               : placement_of(layout, bits, q.pattern);
  return q;
}

Value banks_(Arguments& a) {
  const Asked q = asked(a, CopySide::of_shared);
  const Service s = shared_service(q.pattern, q.where, q.vector, shared_memory(a.session));
  return result_record("banks", call_text(a), shared_fields(s));
}

Value sectors_(Arguments& a) {
  const Asked q = asked(a, CopySide::source);
  const GlobalMemory memory = global_memory(a.session);
  const Service s = global_service(q.pattern, q.where, q.vector, memory);
  const double moved = static_cast<double>(s.taken) * memory.sector_bytes;
  Fields fields = {{"accesses", Value(Int(s.accesses))},
                   {"vector", Value(Int(s.vector))},
                   {"sectors", Value(Int(s.taken))},
                   {"least", Value(Int(s.least))},
                   {"worst", Value(Int(s.worst))},
                   {"worst_at", Value(tuple(s.worst_warp, s.worst_value))},
                   {"bytes", Value(Int(s.bytes))},
                   {"efficiency", Value(static_cast<double>(s.bytes) / moved)}};
  return result_record("sectors", call_text(a), std::move(fields));
}

std::int64_t power_of_two_in(std::int64_t n) {
  return n == 0 ? std::int64_t{1} << 40 : n & -n;
}

Value vector_width_(Arguments& a) {
  Facts& facts = a.facts();
  const int bits = element_bits(a, 2, a[0].value);
  element_bits(a, 2, a[1].value);
  const AnyLayout x = a.any_layout(0), y = a.any_layout(1);
  const Int common = max_common_vector(facts, x, y);
  const auto alignment = [&](const Value& v) -> std::int64_t {
    if (const Layout* l = v.as<Layout>())
      return power_of_two_in(facts.divisor(max_alignment(facts, *l)));
    const Composed& c = *v.as<Composed>();
    std::int64_t n = power_of_two_in(facts.divisor(max_alignment(facts, c.layout())));
    const auto* swizzle = std::get_if<Swizzle>(&c.outer);
    if (!swizzle || !c.offset.is_int()) return 1;
    n = std::min(n, power_of_two_in(facts.divisor(max_alignment(*swizzle))));
    return std::min(n, power_of_two_in(facts.divisor(c.offset.value())));
  };
  const std::pair<std::string, std::int64_t> limits[] = {
      {"the elements that both hold in one order", power_of_two_in(facts.divisor(common))},
      {"the alignment of the first", alignment(a[0].value)},
      {"the alignment of the second", alignment(a[1].value)},
      {"the width of one access", std::max<std::int64_t>(1, 8 * kWidestAccess / bits)},
  };
  const auto& least = *std::min_element(std::begin(limits), std::end(limits),
                                        [](auto& p, auto& q) { return p.second < q.second; });
  Fields fields = {{"elements", Value(Int(least.second))},
                   {"bits", Value(Int(least.second * bits))},
                   {"common", Value(common)},
                   {"limit", Value(least.first)}};
  return result_record("vector_width", call_text(a), std::move(fields));
}

constexpr Builtin kMemoryRows[] = {
    {"banks", "banks(L, access [, type [, vector]])",
     "wavefronts of shared memory under L for the (thread, value) accesses of its elements", 2, 4,
     banks_},
    {"sectors", "sectors(L, access [, type [, vector]])",
     "sectors of global memory under L for the (thread, value) accesses of its elements", 2, 4,
     sectors_},
    {"vector_width", "vector_width(A, B [, type])",
     "the most elements that a copy from A to B moves as one, and what limits them", 2, 3,
     vector_width_},
};

}  // namespace

SharedMemory shared_memory(Session& session) {
  const std::string record = "shared_memory";
  return {number_of(session, record, "banks"), number_of(session, record, "bank_bytes"),
          number_of(session, record, "lanes")};
}

GlobalMemory global_memory(Session& session) {
  const std::string record = "global_memory";
  return {number_of(session, record, "sector_bytes"), number_of(session, record, "lanes")};
}

Value result_record(std::string name, std::string head, Fields fields) {
  return Value(
      std::make_shared<const Record>(Record{std::move(name), std::move(head), std::move(fields)}));
}

Fields shared_fields(const Service& s) {
  const std::vector<Tuple> phases(s.worst_phases.begin(), s.worst_phases.end());
  return {{"accesses", Value(Int(s.accesses))},
          {"vector", Value(Int(s.vector))},
          {"phases", Value(Int(s.phases))},
          {"wavefronts", Value(Int(s.taken))},
          {"least", Value(Int(s.least))},
          {"conflicts", Value(Int(s.conflicts()))},
          {"worst", Value(Int(s.worst))},
          {"worst_at", Value(tuple(s.worst_warp, s.worst_value))},
          {"worst_phases", Value(Tuple(phases))}};
}

int element_bits(Arguments& a, std::size_t i, const Value& layout) {
  if (i < a.count()) {
    if (const ElementType* type = a.as<ElementType>(i)) return element_bits(*type, layout);
    if (a.as<std::string>(i)) a.wrong_kind(i, "an element type or a number of bits");
    const std::int64_t n = a.literal(i);
    if (n >= 1 && n <= 128 && (n & (n - 1)) == 0) return static_cast<int>(n);
    const bool whole_words = n > 0 && n % 32 == 0 && n <= 1024;
    std::vector<Note> notes;
    if (whole_words)
      notes.push_back(
          {"help", "count an element as " + std::to_string(n / 32) + " values of 32 bits"});
    fail("argument-kind",
         "a thread accesses elements of 1, 2, 4, ... 128 bits, not of " + std::to_string(n),
         a[i].span, {}, std::move(notes));
  }
  const int known = bits(counted_unit(layout));
  return known ? known : 32;
}

Unit counted_unit(const Value& layout) {
  if (const auto* l = layout.as<Layout>()) return codomain_of(*l);
  const auto* c = layout.as<Composed>();
  return c ? codomain_of(*c) : Unit{};
}

int element_bits(ElementType type, const Value& layout) {
  const Unit unit = counted_unit(layout), asked = elements_of(type);
  if (may_meet(unit, asked)) return bits(type);
  throw refusal("units", "the layout gives " + unit.to_string() + ", not " + asked.to_string(),
                bits(unit) ? "recast converts between element types and bytes" : "");
}

namespace {

// The access of the operand of a tiled multiply-add whose tile has the extents of `tile`: A's are
// (M,K), B's (N,K), C's (M,N). Fails where several have them, or none, and names those that do.
Layout access_of_operand(Session& session, const Value& value, const std::optional<Tuple>& tile,
                         Span where) {
  struct Operand {
    const char* function;
    int row, column;  // modes of the multiply-add's tile
  };
  static constexpr Operand operands[] = {
      {"layout_A", 0, 2}, {"layout_B", 1, 2}, {"layout_C", 0, 1}};
  const Value* shape = (*value.as<RecordPtr>())->find("shape");
  const auto* extents = shape ? shape->as<Tuple>() : nullptr;
  const bool is_matrix = tile && tile->is_tuple() && tile->rank() == 2;
  std::vector<const Operand*> fitting;
  if (extents && extents->is_tuple() && extents->rank() == 3 && is_matrix) {
    for (const Operand& operand : operands)
      if (size((*tile)[0]) == size((*extents)[operand.row]) &&
          size((*tile)[1]) == size((*extents)[operand.column]))
        fitting.push_back(&operand);
  }
  if (fitting.size() == 1) {
    const Module::Entry* function = session.prelude().find(fitting[0]->function);
    return *apply(session, {*function->value, where}, {{"", value, where}}, where).as<Layout>();
  }
  std::string names;
  for (const Operand* operand : fitting)
    names += (names.empty() ? "" : " or ") + std::string(operand->function) + "(M)";
  fail("argument-kind",
       fitting.empty() ? "no operand of this multiply-add has a tile of these extents"
                       : "several operands of this multiply-add have a tile of these extents",
       where, {},
       {{"help", "give " + (names.empty() ? "layout_A(M), layout_B(M) or layout_C(M)" : names)}});
}

}  // namespace

std::optional<Layout> access_of_copy(Session& session, const Value& value, CopySide side,
                                     const std::optional<Tuple>& tile, Span where) {
  const auto* record = value.as<RecordPtr>();
  if (!record) return std::nullopt;
  const Value *atom = (*record)->find("atom"), *lanes = (*record)->find("lanes");
  if (atom && lanes) return access_of_operand(session, value, tile, where);
  const Value *own = (*record)->find("tile"), *tv = (*record)->find("tv");
  const auto* instruction = atom ? atom->as<RecordPtr>() : nullptr;
  if (!instruction || !own || !tv) return std::nullopt;
  const Value *source = (*instruction)->find("source"),
              *destination = (*instruction)->find("destination"),
              *registers = (*instruction)->find("registers");
  if (!source || !destination || !registers) return std::nullopt;
  if (!tile && !own->as<Tuple>()) {
    fail("argument-kind", "the tile of this copy is no shape: " + text(*own), where, {},
         {{"help", "give partition_S(copy, T) or partition_D(copy, T)"}});
  }
  if (side == CopySide::of_shared) {
    const bool reads = destination->as<Layout>() && registers->as<Layout>() &&
                       *destination->as<Layout>() == *registers->as<Layout>();
    side = reads ? CopySide::source : CopySide::destination;
  }
  const Value identity(make_identity_layout(tile ? *tile : *own->as<Tuple>()));
  const Module::Entry* partition = session.prelude().find("partition_side");
  const Value result = apply(session, {*partition->value, where},
                             {{"", value, where},
                              {"", identity, where},
                              {"", side == CopySide::source ? *source : *destination, where}},
                             where);
  return *result.as<Layout>();
}

Tuple tile_of(const AnyLayout& layout) {
  if (const auto* l = std::get_if<Layout>(&layout)) return l->shape;
  return std::get<Composed>(layout).layout().shape;
}

std::span<const Builtin> memory_builtins() {
  return kMemoryRows;
}

}  // namespace lay::sema
