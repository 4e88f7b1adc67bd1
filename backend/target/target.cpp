#include "backend/target/target.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/library.h"
#include "frontend/sema/stdlib.h"
#include "frontend/sema/values/record_fields.h"

namespace lay {
namespace {

constexpr std::string_view folder = "targets.";
constexpr std::int64_t most = std::int64_t{1} << 40;

sema::RecordFields fields_of(const sema::Record& record) {
  return sema::RecordFields(record, [&record](const std::string& what) {
    throw std::logic_error("internal: the target " + record.head + ": " + what);
  });
}

std::vector<Rate> rates_of(const sema::RecordFields& architecture) {
  std::vector<Rate> rates;
  for (const sema::RecordPtr& row : architecture.records("rates")) {
    const auto fields = fields_of(*row);
    rates.push_back({fields.text("kind"), fields.type("type"), fields.real("multiply_adds")});
  }
  return rates;
}

sema::Coefficients costs_of(const sema::RecordFields& gpu) try {
  return sema::coefficients_of(gpu.inner("costs"));
} catch (const std::invalid_argument& wrong) {
  gpu.complain(std::string("of its costs: ") + wrong.what());
}

Target target_from(const sema::Record& record) {
  const auto gpu = fields_of(record), architecture = fields_of(gpu.inner("architecture"));
  const auto count = [](const sema::RecordFields& of, const char* field) {
    return static_cast<int>(of.integer(field, 1, std::int64_t{1} << 30));
  };
  Target target;
  target.name = gpu.text("name");
  target.device = gpu.text("device");
  target.sms = count(gpu, "sms");
  target.hertz = gpu.real("hertz");
  target.memory_rate = gpu.real("memory_rate");
  target.cache = static_cast<double>(gpu.integer("cache", 0, most));
  target.cache_rate = gpu.real("cache_rate");
  target.launch = gpu.real("launch");
  target.memory_share = gpu.real("memory_share");
  target.sustained = gpu.real("sustained");
  target.latency = gpu.real("latency");
  target.element_access = gpu.real("element_access");
  target.widened = gpu.real("widened");
  target.architecture = architecture.text("name");
  target.capability = count(architecture, "capability");
  target.exact = architecture.truth("exact", false);
  target.block_shared = count(architecture, "block_shared");
  target.sm_shared = count(architecture, "sm_shared");
  target.reserved_shared = count(architecture, "reserved_shared");
  target.block_threads = count(architecture, "block_threads");
  target.sm_threads = count(architecture, "sm_threads");
  target.sm_blocks = count(architecture, "sm_blocks");
  target.thread_registers = count(architecture, "thread_registers");
  target.sm_registers = count(architecture, "sm_registers");
  target.cluster = count(architecture, "cluster");
  target.shared_rate = architecture.real("shared_rate");
  target.exponentials = architecture.real("exponentials");
  target.rates = rates_of(architecture);
  target.costs = costs_of(gpu);
  return target;
}

void read_targets(const std::string& library, std::vector<Target>& all) {
  for (const sema::RecordPtr& record : sema::library_records(library, "gpus"))
    all.push_back(target_from(*record));
}

std::vector<Target> read_targets() {
  std::vector<Target> all;
  for (const std::string& library : sema::stdlib_names()) {
    if (library.starts_with(folder) && library != "targets.gpu") read_targets(library, all);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Target& a, const Target& b) { return a.capability < b.capability; });
  return all;
}

const Target* first_with(bool (*holds)(const Target&, std::string_view), std::string_view word) {
  for (const Target& target : targets())
    if (holds(target, word)) return &target;
  return nullptr;
}

std::mutex mutex_of_measured;
std::vector<MeasuredGpu> measured;

std::optional<MeasuredGpu> measured_gpu(std::string_view device) {
  const std::lock_guard lock(mutex_of_measured);
  for (const MeasuredGpu& gpu : measured)
    if (gpu.device == device) return gpu;
  return std::nullopt;
}

}  // namespace

std::optional<double> Target::multiply_adds(std::string_view kind, ElementType type) const {
  for (const Rate& rate : rates)
    if (rate.kind == kind && rate.type == type) return rate.multiply_adds;
  return std::nullopt;
}

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = read_targets();
  return all;
}

const Target* find_target(std::string_view name) {
  const Target* named =
      first_with([](const Target& t, std::string_view word) { return t.name == word; }, name);
  return named ? named
               : first_with(
                     [](const Target& t, std::string_view word) { return t.architecture == word; },
                     name);
}

// Read without the other libraries: checking a short script takes less time than they do.
const Target& default_target() {
  static const Target made = [] {
    std::vector<Target> all;
    read_targets("targets.sm90", all);
    const auto named = [](const Target& target) { return target.name == "h200"; };
    const auto found = std::find_if(all.begin(), all.end(), named);
    if (found == all.end()) throw std::logic_error("internal: the library describes no h200");
    return *found;
  }();
  return made;
}

// A cubin of X.y runs on every X.z with z >= y; of another major number nothing runs.
std::optional<Target> target_of(const std::string& device, int capability, int sms) {
  const Target* best = nullptr;
  const auto rank = [&](const Target& target) {
    const bool named = device.find(target.device) != std::string::npos;
    return std::tuple(target.capability, named ? target.device.size() : 0);
  };
  for (const Target& target : targets()) {
    const bool runs =
        target.exact ? target.capability == capability
                     : target.capability / 10 == capability / 10 && target.capability <= capability;
    if (runs && (!best || rank(target) > rank(*best))) best = &target;
  }
  if (!best) return std::nullopt;
  Target found = *best;
  found.sms = sms;
  if (const auto gpu = measured_gpu(device)) {
    found.hertz = gpu->hertz;
    found.memory_rate = gpu->memory_rate;
    found.cache_rate = gpu->cache_rate;
    found.launch = gpu->launch;
    found.costs = gpu->costs;
  }
  return found;
}

std::vector<MeasuredGpu> measured_gpus_of(const std::string& library) {
  std::vector<MeasuredGpu> all;
  for (const sema::RecordPtr& record : sema::library_records(library, "measured")) {
    const sema::RecordFields fields(*record, [&](const std::string& what) {
      throw refusal("file",
                    sema::library_path(library) + ": the record " + record->name + ": " + what);
    });
    constexpr std::int64_t most_sms = 1 << 16;
    MeasuredGpu gpu;
    gpu.device = fields.text("device");
    gpu.capability = static_cast<int>(fields.integer("capability", 10, 1000));
    gpu.sms = static_cast<int>(fields.integer("sms", 1, most_sms));
    // Rates divide bytes and clocks.
    const auto rate = [&](const char* field) {
      const double found = fields.real(field);
      if (found > 0) return found;
      fields.complain(std::string("its ") + field + " is 0");
    };
    gpu.hertz = rate("hertz");
    gpu.memory_rate = rate("memory_rate");
    gpu.cache_rate = rate("cache_rate");
    gpu.launch = rate("launch");
    gpu.costs = costs_of(fields);
    // The maker of the record holds the names; a tuple has an entry for each count that is asked.
    const sema::Coefficients& known = default_target().costs;
    if (gpu.costs.size() != known.size()) fields.complain("its costs are no cost_coefficients");
    for (std::size_t i = 0; i < known.size(); ++i) {
      const sema::Coefficient &mine = gpu.costs[i], &usual = known[i];
      if (mine.name != usual.name || mine.is_tuple != usual.is_tuple ||
          mine.numbers.size() != usual.numbers.size())
        fields.complain(
            "its costs' " + mine.name + " is " + numbers_text(mine) + ", expected " +
            (usual.is_tuple ? std::to_string(usual.numbers.size()) + " integers" : "an integer"));
    }
    all.push_back(std::move(gpu));
  }
  return all;
}

void set_measured_gpus(std::vector<MeasuredGpu> gpus) {
  const std::lock_guard lock(mutex_of_measured);
  measured = std::move(gpus);
}

std::optional<Target> measured_target(std::string_view device) {
  const auto found = measured_gpu(device);
  return found ? target_of(found->device, found->capability, found->sms) : std::nullopt;
}

}  // namespace lay
