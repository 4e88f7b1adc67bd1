#include "backend/plan/schedule/schedule.h"

#include <algorithm>
#include <string_view>

#include "backend/plan/schedule/entries.h"
#include "frontend/sema/library.h"

namespace lay::plan {

namespace {

// Larger numbers are mistakes: no block has room for a tile side of 4096 or 32 stages. The bounds
// keep products of them inside 32 bits and lists of elements short.
constexpr std::int64_t largest = 4096, most_stages = 32;

using Value = decltype(sema::ScheduleEntry::value);

void misfit(const sema::ScheduleEntry& entry, const std::string& wants,
            std::vector<Problem>& problems) {
  problems.push_back(
      {"schedule-entry", "`" + entry.key + "` takes " + wants, entry.where, {}, {}, {}});
}

template <std::size_t n>
// A tuple of n literals from 1 on; nothing for another rank, nested tuples, dims and 0.
std::optional<std::array<int, n>> numbers(const Value& value) {
  const auto* tuple = std::get_if<Tuple>(&value);
  if (!tuple || !tuple->is_tuple() || tuple->rank() != static_cast<int>(n)) return std::nullopt;
  std::array<int, n> result{};
  for (std::size_t i = 0; i < n; ++i) {
    const Tuple& leaf = (*tuple)[static_cast<int>(i)];
    if (!leaf.is_int() || !leaf.value().is_literal()) return std::nullopt;
    const std::int64_t number = leaf.value().value();
    if (number < 1 || number > largest) return std::nullopt;
    result[i] = static_cast<int>(number);
  }
  return result;
}

std::optional<int> number(const Value& value, std::int64_t least, std::int64_t most) {
  const auto* leaf = std::get_if<Tuple>(&value);
  if (!leaf || !leaf->is_int() || !leaf->value().is_literal()) return std::nullopt;
  const std::int64_t said = leaf->value().value();
  return said >= least && said <= most ? std::optional(static_cast<int>(said)) : std::nullopt;
}

constexpr const char* stages_form = "a number of K tiles in shared memory, 2 to 32";

std::optional<int> stages_of(const Value& value) {
  return number(value, 2, most_stages);
}

// Schedules have no truth values: 0 and 1.
std::optional<bool> yes_or_no(const Value& value) {
  const auto* leaf = std::get_if<Tuple>(&value);
  if (!leaf || !(leaf->is_literal(0) || leaf->is_literal(1))) return std::nullopt;
  return leaf->is_literal(1);
}

// `smem` takes (128,64):(64,1) and Sw<3,3,3> o 0 o (128,64):(64,1); a bare tuple is no layout.
// "vectors" or "elements".
std::optional<Width> width_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text && *text == "\"vectors\"") return Width::vectors;
  if (text && *text == "\"elements\"") return Width::elements;
  return std::nullopt;
}

constexpr const char* width_form =
    "\"vectors\", the widest accesses that the tensors allow, or \"elements\"";

std::optional<AnyLayout> any_layout(const Value& value) {
  if (const auto* plain = std::get_if<Layout>(&value)) return *plain;
  if (const auto* composed = std::get_if<Composed>(&value)) return *composed;
  return std::nullopt;
}

std::optional<Layout> plain_layout(const Value& value) {
  const auto* plain = std::get_if<Layout>(&value);
  return plain ? std::optional(*plain) : std::nullopt;
}

// Returns P of (1,1,P), and 1 of (1,1): the blocks of a cluster on CUDA cores share K alone, since
// nothing that they load is multicast.
std::optional<int> parts_of_k(const Value& value) {
  if (const auto plane = numbers<2>(value))
    return *plane == std::array{1, 1} ? std::optional(1) : std::nullopt;
  const auto all = numbers<3>(value);
  if (!all || (*all)[0] != 1 || (*all)[1] != 1) return std::nullopt;
  return (*all)[2];
}

// Reads `rasterization` and `group_m`, two ways to state the order of tiles. Returns false for an
// entry of another key.
// The layout is checked later, against the tile (order.h).
bool read_rasterization(const sema::ScheduleEntry& entry, std::optional<TileOrder>& into,
                        std::vector<Problem>& problems) {
  if (entry.key != "rasterization" && entry.key != "group_m") return false;
  // Both would set the same member: the second one is refused, whichever comes first.
  if (into) {
    problems.push_back({"schedule-entry",
                        "`rasterization` and `group_m` both state the order of tiles",
                        entry.where,
                        {},
                        {{"help",
                          "keep one: `group_m` is short for the usual rasterization in "
                          "groups of that many rows of tiles"}},
                        {}});
  } else if (entry.key == "group_m") {
    if (const auto rows = number(entry.value, 1, largest)) {
      into = RowGroups{*rows};
    } else {
      misfit(entry, "a number of rows of tiles, 1 to " + std::to_string(largest), problems);
    }
  } else if (const auto* plain = std::get_if<Layout>(&entry.value)) {
    into = *plain;
  } else {
    misfit(entry,
           "a layout, block or cluster -> (tile m, tile n); a number of rows of tiles is `group_m`",
           problems);
  }
  return true;
}

// The layout is checked against the tile where that is known (shared_layout.h, choose_shared).
template <class Schedule>
void read_smem(const sema::ScheduleEntry& entry, Schedule& into, std::vector<Problem>& problems) {
  auto layout = any_layout(entry.value);
  if (!layout)
    return misfit(entry, "a layout: (outer, k) of one stage -> offset in elements", problems);
  // with_operand_roles has put the role in place of the tensor's name.
  if (entry.argument == "A") {
    into.shared_a = layout;
  } else if (entry.argument == "B") {
    into.shared_b = layout;
  } else {
    misfit(entry, "the name of a factor of the product, got " + entry.argument, problems);
  }
}

void read_private(const sema::ScheduleEntry& entry, TensorSchedule& into,
                  std::vector<Problem>& problems) {
  const auto said = yes_or_no(entry.value);
  if (!said) return misfit(entry, "0 or 1", problems);
  if (entry.argument != "A" && entry.argument != "B")
    return misfit(entry, "the name of a factor of the product, got " + entry.argument, problems);
  // 0 stands against a row of the library that completes the schedule.
  (entry.argument == "A" ? into.private_a : into.private_b) = *said;
}

void read_repack(const sema::ScheduleEntry& entry, TensorSchedule& into,
                 std::vector<Problem>& problems) {
  const auto width = width_of(entry.value);
  if (!width) return misfit(entry, width_form, problems);
  // Either entry may come first: the second one is compared with the first.
  std::optional<Width>& other = entry.argument == "A" ? into.repack_b : into.repack_a;
  if (entry.argument != "A" && entry.argument != "B")
    return misfit(entry, "the name of a factor of the product, got " + entry.argument, problems);
  if (other && *other != *width)
    return misfit(entry, "the same accesses for both operands: one launch copies them", problems);
  (entry.argument == "A" ? into.repack_a : into.repack_b) = width;
}

// Reports an entry that this target does not take: one of another target, or of none.
void unknown_entry(const sema::ScheduleEntry& entry, const std::string& target,
                   std::vector<Problem>& problems) {
  // Two messages: an entry of another family is known but has no meaning here; an unknown name gets
  // the nearest one and the list.
  const auto names = entry_names();
  if (std::find(names.begin(), names.end(), entry.key) != names.end()) {
    problems.push_back({"unsupported",
                        "`" + entry.key + "` has no meaning for " + target,
                        entry.where,
                        {},
                        {},
                        {}});
    return;
  }
  // `tiles` is near to `tile`; `order` was the name of `rasterization` once.
  std::vector<std::pair<std::string, std::string>> notes;
  if (const auto meant = meant_entry(entry.key, target))
    notes.emplace_back("help", "did you mean " + *meant + "?");
  std::string list;
  for (const EntryRow* row : entries_of(target))
    list += (list.empty() ? "" : ", ") + std::string(row->name);
  notes.emplace_back(
      "help", "entries for " + target + " are " + list + "; `lay help NAME` tells what each takes");
  problems.push_back({"schedule-entry",
                      "a schedule has no entry `" + entry.key + "`",
                      entry.where,
                      {},
                      std::move(notes),
                      {}});
}

// Reads `outputs`; returns false for an entry of another key.
bool read_outputs(const sema::ScheduleEntry& entry, ScheduleHead& into,
                  std::vector<Problem>& problems) {
  if (entry.key != "outputs") return false;
  const auto* text = std::get_if<std::string>(&entry.value);
  into.permuted_outputs = text && *text == "\"permuted\"";
  if (!into.permuted_outputs && !(text && *text == "\"direct\""))
    misfit(
        entry,
        "\"direct\" or \"permuted\": whether a launch behind the product permutes what it writes",
        problems);
  return true;
}

void read_entry(const sema::ScheduleEntry& entry, SimtSchedule& into,
                std::vector<Problem>& problems) {
  // The entry is stored first and judged by whether it was of its form: one line an entry.
  const auto wants = [&](bool fits, const char* what) {
    if (!fits) misfit(entry, what, problems);
  };
  if (read_common_entry(entry, into, problems) || read_rasterization(entry, into.order, problems) ||
      read_outputs(entry, into, problems))
    return;
  if (entry.key == "tile") {
    wants((into.tile = numbers<3>(entry.value)).has_value(),
          "three positive numbers: tile M, N, K");
  } else if (entry.key == "groups") {
    wants((into.groups = numbers<4>(entry.value)).has_value(),
          "four positive numbers: warps over tile M, N, K and over successive tiles");
  } else if (entry.key == "lane_tile") {
    wants((into.lane_tile = numbers<3>(entry.value)).has_value(),
          "three positive numbers: elements M, N, K of a lane");
  } else if (entry.key == "lanes") {
    wants((into.lanes = plain_layout(entry.value)).has_value(), "a layout: lane -> (row, column)");
  } else if (entry.key == "cluster") {
    const auto parts = parts_of_k(entry.value);
    wants(parts.has_value(), "(1,1), or (1,1,P) for P blocks that share K");
    into.parts = parts.value_or(1);
  } else if (entry.key == "stages") {
    const auto found = stages_of(entry.value);
    wants(found.has_value(), stages_form);
    into.stages = found.value_or(into.stages);
  } else if (entry.key == "smem") {
    read_smem(entry, into, problems);
  }
}

void read_entry(const sema::ScheduleEntry& entry, TensorSchedule& into,
                std::vector<Problem>& problems) {
  const auto wants = [&](bool fits, const char* what) {
    if (!fits) misfit(entry, what, problems);
  };
  if (read_common_entry(entry, into, problems) || read_rasterization(entry, into.order, problems) ||
      read_outputs(entry, into, problems))
    return;
  if (entry.key == "tile") {
    wants((into.tile = numbers<3>(entry.value)).has_value(),
          "three positive numbers: tile M, N, K");
  } else if (entry.key == "mma") {
    const auto* atom = std::get_if<sema::Atom>(&entry.value);
    wants(atom != nullptr,
          "an atom of multiply-add, a record such as sm90.wgmma(n = 256, ab = bf16, acc = f32)");
    if (atom != nullptr) into.mma = *atom;
  } else if (entry.key == "copies") {
    const auto* copies = std::get_if<std::vector<sema::CopyInstruction>>(&entry.value);
    wants(copies != nullptr && !copies->empty(),
          "copy instructions, records such as sm75.ldmatrix(n = 2), one or several in parentheses");
    if (copies == nullptr) return;
    for (const sema::CopyInstruction& each : *copies) into.copies.push_back(sema::as_listed(each));
  } else if (entry.key == "groups") {
    wants((into.groups = numbers<4>(entry.value)).has_value(),
          "four positive numbers: the atom's groups of threads over tile M, N, K and over "
          "successive tiles");
  } else if (entry.key == "cluster") {
    // Two numbers leave K whole.
    if (const auto plane = numbers<2>(entry.value)) into.cluster = {{(*plane)[0], (*plane)[1], 1}};
    if (!into.cluster) into.cluster = numbers<3>(entry.value);
    wants(into.cluster.has_value(), "two or three positive numbers: blocks over M, N and K");
  } else if (entry.key == "swap_ab") {
    const auto said = yes_or_no(entry.value);
    into.swap_ab = said.value_or(false);
    wants(said.has_value(), "0 or 1: whether the rows of the atom are the output's columns");
  } else if (entry.key == "alternate_k") {
    into.alternate_k = yes_or_no(entry.value);
    wants(into.alternate_k.has_value(),
          "0 or 1: whether every other tile of a cluster goes through K from its end");
  } else if (entry.key == "tail") {
    constexpr int most_parts = 16;
    into.tail = number(entry.value, 2, most_parts);
    wants(into.tail.has_value(),
          "the parts of K of a tile in a last wave that is not whole, 2 to 16");
  } else if (entry.key == "operands") {
    const auto* text = std::get_if<std::string>(&entry.value);
    const bool stored = text && *text == "\"stored\"";
    wants(stored || (text && *text == "\"in_place\""),
          "\"in_place\" or \"stored\": whether launches before store the operands");
    into.stored_operands = stored;
  } else if (entry.key == "outputs") {
    const auto* text = std::get_if<std::string>(&entry.value);
    into.permuted_outputs = text && *text == "\"permuted\"";
    wants(
        into.permuted_outputs || (text && *text == "\"direct\""),
        "\"direct\" or \"permuted\": whether a launch behind the product permutes what it writes");
  } else if (entry.key == "promotion_interval") {
    into.promotion_interval = number(entry.value, 1, largest);
    wants(into.promotion_interval.has_value(),
          "a number of K elements that the tensor cores add up by themselves, 1 to 4096");
  } else if (entry.key == "stages") {
    into.stages = stages_of(entry.value);
    wants(into.stages.has_value(), stages_form);
  } else if (entry.key == "smem") {
    read_smem(entry, into, problems);
  } else if (entry.key == "private") {
    read_private(entry, into, problems);
  } else if (entry.key == "repack") {
    read_repack(entry, into, problems);
  }
}

template <class Schedule>
Schedule read(const sema::Schedule& schedule, std::vector<Problem>& problems) {
  Schedule result;
  result.when = schedule.when;
  result.where = schedule.where;
  result.of_script = true;
  result.cost = cost_of(schedule, problems);
  for (const sema::ScheduleEntry& entry : schedule.entries) {
    const std::string key = entry.argument.empty() ? entry.key : entry.key + " " + entry.argument;
    // `smem A` and `smem B` are entries of their own, hence the argument in the key.
    if (auto [first, fresh] = result.entries.emplace(key, entry.where); !fresh) {
      problems.push_back({"schedule-entry",
                          "`" + key + "` is given twice",
                          entry.where,
                          {{first->second, "first here"}},
                          {},
                          {}});
      continue;
    }
    // The table of entries decides what a family has; read_entry knows only those.
    if (entry.key == "copies" && !entry.argument.empty()) {
      problems.push_back({"schedule-entry",
                          "`copies` is of all that a schedule copies, not of " + entry.argument,
                          entry.where,
                          {},
                          {{"help", "did you mean repack?"}},
                          {}});
    } else if (find_entry(entry.key, schedule.target)) {
      read_entry(entry, result, problems);
    } else {
      unknown_entry(entry, schedule.target, problems);
    }
  }
  return result;
}

}  // namespace

sema::Schedule with_operand_roles(sema::Schedule schedule, const sema::Kernel& kernel,
                                  const GemmForm& form, std::vector<Problem>& problems) {
  // The roles depend on swap_ab, which may stand behind `smem` in the text: it is looked for first.
  const bool swapped = std::any_of(
      schedule.entries.begin(), schedule.entries.end(), [](const sema::ScheduleEntry& entry) {
        return entry.key == "swap_ab" && yes_or_no(entry.value).value_or(false);
      });
  const std::string &first = kernel.loaded(swapped ? form.b : form.a).name,
                    &second = kernel.loaded(swapped ? form.a : form.b).name;
  // A tensor that only launches before read leaves its name to a role.
  const auto live = reachable(kernel);
  const auto is_tensor = [&](const std::string& name) {
    for (std::size_t id = 0; id < kernel.nodes.size(); ++id)
      if (live[id] && std::holds_alternative<sema::Load>(kernel.nodes[id].what) &&
          kernel.loaded(static_cast<sema::NodeId>(id)).name == name)
        return true;
    return std::any_of(kernel.assignments.begin(), kernel.assignments.end(),
                       [&](const sema::Assignment& assignment) {
                         return kernel.tensor(assignment.target).name == name;
                       });
  };
  std::vector<sema::ScheduleEntry> kept;
  for (sema::ScheduleEntry& entry : schedule.entries) {
    std::string& name = entry.argument;
    // A tensor of the kernel called A is that tensor, even where it is the second factor.
    const bool role = (name == "A" || name == "B") && (first == second || !is_tensor(name));
    const bool factor = first != second && (name == first || name == second);
    const bool of_operand = entry.key == "smem" || entry.key == "private" || entry.key == "repack";
    if (of_operand && !role && !factor) {
      const std::string factors =
          first == second ? "A or B, as " + first + " is both factors" : first + " or " + second;
      problems.push_back({"schedule-entry",
                          "`" + entry.key + "` takes a factor of the product: expected " + factors +
                              ", got " + (name.empty() ? "none" : name),
                          entry.where,
                          {},
                          {},
                          {}});
      continue;
    }
    // Where one factor is called as a role, the other role is the other factor.
    const std::string other = name == "A" ? "B" : "A";
    if (of_operand && factor)
      name = name == first ? "A" : "B";
    else if (of_operand && first != second && other == first)
      name = "B";
    else if (of_operand && first != second && other == second)
      name = "A";
    kept.push_back(std::move(entry));
  }
  schedule.entries = std::move(kept);
  return schedule;
}

std::optional<std::string> name_of(const sema::ScheduleEntry& entry,
                                   std::vector<Problem>& problems) {
  constexpr std::size_t longest = 64;
  const auto* text = std::get_if<std::string>(&entry.value);
  // Texts reach the planner with their quotes; other values, as (1,2) or a layout, are no texts.
  const bool quoted = text && text->size() > 2 && text->front() == '"' && text->back() == '"';
  const std::string name = quoted ? text->substr(1, text->size() - 2) : "";
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool fits = !name.empty() && name.size() <= longest && is_letter(name.front()) &&
                    std::all_of(name.begin(), name.end(),
                                [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (fits) return name;
  misfit(
      entry,
      "a name in quotes: letters, digits and _, a letter first, at most " + std::to_string(longest),
      problems);
  return std::nullopt;
}

bool read_common_entry(const sema::ScheduleEntry& entry, ScheduleHead& into,
                       std::vector<Problem>& problems) {
  if (entry.key == "name") {
    into.name = name_of(entry, problems).value_or("");
  } else if (entry.key == "accesses") {
    into.accesses = width_of(entry.value);
    if (!into.accesses) misfit(entry, width_form, problems);
  } else {
    return is_of_cost(entry);
  }
  return true;
}

SimtSchedule read_schedule(const sema::Schedule& schedule, std::vector<Problem>& problems) {
  return read<SimtSchedule>(schedule, problems);
}

TensorSchedule read_tensor_schedule(const sema::Schedule& schedule,
                                    std::vector<Problem>& problems) {
  return read<TensorSchedule>(schedule, problems);
}

}  // namespace lay::plan
