// The statements `kernel` and `schedule`, of schedules and of sizes.

#include <algorithm>
#include <map>
#include <optional>

#include "frontend/sema/kernel/kernel_builder.h"
#include "frontend/sema/kernel/schedule_entry.h"
#include "frontend/sema/statement.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

bool is_main(const Session& session, const std::shared_ptr<Module>& module) {
  return module == session.main;
}

void report(Session& session, const Kernel& kernel) {
  for (const Guard& guard : kernel.guards) {
    session.outcome->findings.push_back(
        {Verdict::undecided, guard.to_string(), guard.origin, guard.breaks, kernel.where, true});
  }
}

// The number of tiles along the first two indices of the output, for `order`.
void add_tiles(Session& session, Frame& frame, const Kernel& kernel, const Tuple& tile) {
  if (kernel.assignments.empty() || tile.rank() < 2 || !tile.is_tuple()) return;
  const char* names[] = {"tiles_m", "tiles_n"};
  const std::vector<IndexId>& indices = kernel.assignments.front().indices;
  for (std::size_t k = 0; k < 2 && k < indices.size(); ++k) {
    const Tuple& extent = tile[static_cast<int>(k)];
    if (!extent.is_int() || extent.is_literal(0))
      continue;  // of which the planner says what is wrong
    Int length = kernel.indices[static_cast<std::size_t>(indices[k])].extent;
    frame.locals.emplace_back(names[k], Value(session.facts.ceil_div(length, extent.value())));
  }
}

// Returns the tensor that a schedule's entry names; null for A and B where no tensor is called so:
// the planner takes them for the operands of the product.
const Tensor* tensor_of(const Kernel& kernel, const syntax::Identifier& name) {
  const auto found = std::find_if(kernel.tensors.begin(), kernel.tensors.end(),
                                  [&](const Tensor& t) { return t.name == name.text; });
  if (found != kernel.tensors.end()) return &*found;
  if (name.text == "A" || name.text == "B") return nullptr;
  std::vector<std::string> known;
  for (const Tensor& tensor : kernel.tensors) known.push_back(tensor.name);
  std::vector<Note> notes;
  if (auto near = nearest(name.text, known)) {
    notes.push_back({"help", "did you mean " + *near + "?"});
  }
  fail("unknown-name", "the kernel has no tensor " + name.text, name.span, {}, std::move(notes));
}

// A tile lies in shared memory in the elements that it has outside.
void check_shared(const Tensor& tensor, const Value& value, Span place) {
  const auto* layout = value.as<Layout>();
  const auto* composed = value.as<Composed>();
  if (composed) layout = std::get_if<Layout>(&composed->inner);
  if (!layout) return;
  require_in_elements("shared memory holds elements of " +
                          std::string(element_name(tensor.element)) + " for " + tensor.name +
                          ", and the layout",
                      layout->units, tensor.element, place);
}

}  // namespace

Schedule check_schedule(Session& session, const Closure& closure, const syntax::Schedule& source,
                        const Kernel& kernel) {
  GuardScope scope(session.facts);
  Schedule schedule;
  schedule.target = source.target.text;
  schedule.where = join(source.kernel.span, source.target.span);
  Frame frame{closure, {}};
  for (const Dim& dim : kernel.dims) frame.locals.emplace_back(dim.name, Value(dim.symbol));
  if (source.when) {
    Span place = frame.tree()[*source.when].span;
    schedule.when = conjuncts(as_condition(evaluate(session, frame, *source.when), place));
  }
  for (const syntax::Entry& entry : source.entries) {
    for (const ScheduleEntry& before : schedule.entries) {
      if (before.key != entry.name.text ||
          before.argument != (entry.operand ? entry.operand->text : ""))
        continue;
      fail("duplicate-name", entry.name.text + " is given twice", entry.name.span,
           {{before.where, "the first time"}});
    }
    const Tensor* tensor = entry.operand ? tensor_of(kernel, *entry.operand) : nullptr;
    Value value = evaluate(session, frame, entry.value);
    if (tensor && entry.name.text == "smem")
      check_shared(*tensor, value, frame.tree()[entry.value].span);
    if (entry.name.text == "tile" && value.as<Tuple>())
      add_tiles(session, frame, kernel, *value.as<Tuple>());
    schedule.entries.push_back(
        schedule_entry(entry.name.text, entry.operand ? entry.operand->text : "", value,
                       join(entry.name.span, frame.tree()[entry.value].span)));
  }
  return schedule;
}

void define_kernel(Session& session, const std::shared_ptr<Module>& module, const Closure& closure,
                   const syntax::Kernel& kernel, Span) {
  KernelFamily family{closure, &kernel, {}, {}, nullptr};
  family.checked = check_kernel(session, family, {});
  report(session, *family.checked);
  auto shared = std::make_shared<const KernelFamily>(std::move(family));
  module->define(kernel.name.text, Value(KernelFamilyPtr(shared)), kernel.name.span);
  if (is_main(session, module)) session.kernel_order.push_back(kernel.name.text);
}

StatedSizes check_sizes(Session& session, const Closure& closure, const syntax::Sizes& source,
                        const Kernel& kernel) {
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;  // that a launch takes
  Frame frame{closure, {}};
  const Span last = frame.tree()[source.sizes.back().value].span;
  StatedSizes stated{{}, join(source.kernel.span, last)};
  for (const syntax::Field& size : source.sizes) {
    const std::string& name = size.name.text;
    std::vector<std::string> known;
    for (const Dim& dim : kernel.dims) known.push_back(dim.name);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::vector<Note> notes;
      if (auto near = nearest(name, known))
        notes.push_back({"help", "did you mean " + *near + "?"});
      fail("no-parameter", "the kernel " + kernel.name + " has no size " + name, size.name.span,
           {{kernel.where, "its sizes stand here"}}, std::move(notes));
    }
    const Value value = evaluate(session, frame, size.value);
    const auto* number = value.as<Tuple>();
    if (!number || !number->is_int() || !number->is_known() || number->value().value() < 1 ||
        number->value().value() > most)
      fail("operand-kind", "a size is a known integer from 1 to 2^31 - 1",
           frame.tree()[size.value].span, {},
           {{"works", "schedule " + kernel.name + " for " + name + " = 4096"}});
    if (!stated.sizes.emplace(name, number->value().value()).second)
      fail("duplicate-name", name + " is given twice", size.name.span);
  }
  return stated;
}

std::optional<Guard> broken_guard(const Kernel& kernel, const StatedSizes& stated) {
  std::map<DimId, Int> numbers;
  for (const Dim& dim : kernel.dims)
    if (const auto given = stated.sizes.find(dim.name); given != stated.sizes.end())
      numbers.emplace(*dim.symbol.dim_id(), given->second);
  Facts facts;
  for (const Guard& guard : kernel.guards)
    if (!facts.suppose(either(negate(guard.path), guard.predicate).substitute(numbers)))
      return guard;
  return std::nullopt;
}

namespace {

// Returns the kernel of that name; fails with "unknown-kernel" where there is none.
const KernelFamilyPtr& family_of(const Module& module, const syntax::Identifier& kernel) {
  const Module::Entry* entry = module.find(kernel.text, module.generation());
  if (entry && !entry->value) throw Poisoned{};
  if (const auto* family = entry ? entry->value->as<KernelFamilyPtr>() : nullptr) return *family;
  std::vector<std::string> known;
  for (const auto& [other, entries] : module.entries()) {
    if (entries.back().value && entries.back().value->as<KernelFamilyPtr>()) known.push_back(other);
  }
  std::vector<Note> notes;
  if (auto near = nearest(kernel.text, known))
    notes.push_back({"help", "did you mean " + *near + "?"});
  fail("unknown-kernel", "no kernel is called " + kernel.text, kernel.span, {}, std::move(notes));
}

void redefine(Module& module, const syntax::Identifier& kernel, KernelFamily&& family) {
  module.define(kernel.text, Value(std::make_shared<const KernelFamily>(std::move(family))),
                kernel.span);
}

}  // namespace

void add_schedule(Session& session, const std::shared_ptr<Module>& module, const Closure& closure,
                  const syntax::Schedule& schedule, Span) {
  KernelFamily with = *family_of(*module, schedule.kernel);
  with.schedules.emplace_back(closure, &schedule);
  Kernel checked = *with.checked;
  checked.schedules.push_back(check_schedule(session, closure, schedule, checked));
  with.checked = std::make_shared<const Kernel>(std::move(checked));
  redefine(*module, schedule.kernel, std::move(with));
}

void add_sizes(Session& session, const std::shared_ptr<Module>& module, const Closure& closure,
               const syntax::Sizes& sizes, Span) {
  KernelFamily with = *family_of(*module, sizes.kernel);
  with.stated_sizes.emplace_back(closure, &sizes);
  Kernel checked = *with.checked;
  StatedSizes stated = check_sizes(session, closure, sizes, checked);
  // Guards of a kernel with type parameters depend on the types: those of an instance leave out the
  // sizes that they refuse.
  if (const auto broken = broken_guard(checked, stated); !broken)
    checked.stated_sizes.push_back(std::move(stated));
  else if (!with.generic())
    fail("guard",
         "no launch has these sizes: they break " + broken->to_string() + ", which a launch of " +
             checked.name + " checks",
         stated.where);
  with.checked = std::make_shared<const Kernel>(std::move(checked));
  redefine(*module, sizes.kernel, std::move(with));
}

}  // namespace lay::sema
