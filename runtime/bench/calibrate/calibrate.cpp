#include "runtime/bench/calibrate/calibrate.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "frontend/source/diagnostic.h"
#include "frontend/source/formatted.h"
#include "frontend/syntax/format.h"
#include "runtime/bench/calibrate/machine_numbers.h"
#include "runtime/bench/host_work.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/policies.h"
#include "runtime/commands/report.h"
#include "runtime/gpu/device.h"
#include "runtime/io/date.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/io/user_dirs.h"

namespace lay::bench {
namespace {

void say(const std::string& line) {
  std::cerr << "lay calibrate: " << line << "\n" << std::flush;
}

// The coefficients with the clusters that the driver says run at once; the tuple `missing` has how
// many fewer these are than the SMs would make.
sema::Coefficients with_clusters(sema::Coefficients coefficients, const MachineNumbers& machine) {
  for (sema::Coefficient& each : coefficients) {
    if (each.name != "missing") continue;
    for (std::size_t i = 0; i < each.numbers.size() && i < machine.clusters.size(); ++i)
      if (machine.clusters[i] > 0)
        each.numbers[i] = std::max(0, machine.sms / static_cast<int>(i + 1) - machine.clusters[i]);
  }
  return coefficients;
}

std::string quality_line(const char* what, const CostQuality& quality) {
  return formatted("%-28s %8.3f %8.3f %8.3f %8.3f %8.3f\n", what, quality.log_rms,
                   quality.mean_loss, quality.median_loss, quality.tenth_loss, quality.tau);
}

std::string table_of(const Calibration& made) {
  std::string text = formatted("\n%-20s %12s %12s\n", "coefficient", "library", "measured"), others;
  for (std::size_t i = 0; i < made.library.size(); ++i) {
    const sema::Coefficient &was = made.library[i], &is = made.fit.coefficients[i];
    if (was.is_tuple)
      text += was.name + ": " + numbers_text(was) + " -> " + numbers_text(is) + "\n";
    else if (made.fit.fitted[i])
      text += formatted("%-20s %12s %12s\n", was.name.c_str(), numbers_text(was).c_str(),
                        numbers_text(is).c_str());
    else
      others += (others.empty() ? "" : ", ") + was.name;
  }
  if (!others.empty()) text += "no time depends on: " + others + "\n";
  if (made.before.problems == 0)
    return text + "\nno schedule was timed: the costs are the library's\n";
  text += formatted(
      "\n%zu problems, %zu times; rms of log(time / cost), what the first choice takes "
      "of the fastest's time\n",
      made.before.problems, made.before.schedules);
  text += formatted("%-28s %8s %8s %8s %8s %8s\n", "", "rms", "mean", "median", "90th", "tau");
  text += quality_line("library", made.before);
  text += quality_line("measured", made.after);
  text += quality_line("fitted to the other half", made.held_out);
  if (made.after.tensor_hertz > 0)
    text +=
        formatted("tensor cores: costs are times at %.3f GHz\n", 1e-9 * made.after.tensor_hertz);
  if (made.after.thread_hertz > 0)
    text += formatted("CUDA cores: costs are times at %.3f GHz\n", 1e-9 * made.after.thread_hertz);
  if (!made.is_kept)
    text +=
        "On problems that a fit had not seen its choices lost more than the library's: the costs "
        "are the library's.\n";
  return text;
}

std::string machine_table(const MachineNumbers& machine) {
  std::string clusters;
  for (const int count : machine.clusters)
    clusters += (clusters.empty() ? "" : " ") + (count > 0 ? std::to_string(count) : "?");
  const auto known = [](double value, const std::string& text) {
    return value > 0 ? text : std::string("not known");
  };
  return formatted("%d SMs, %.1f MB of L2, ", machine.sms,
                   1e-6 * static_cast<double>(machine.l2_bytes)) +
         "clock " + known(machine.hertz, formatted("%.3f GHz", 1e-9 * machine.hertz)) + "\n" +
         "clusters of 1 to 8 blocks at once: " + clusters + "\n" +
         "launch: " + known(machine.launch, formatted("%.2f us", 1e6 * machine.launch)) +
         ", copy in memory: " +
         known(machine.memory_rate, formatted("%.0f GB/s", 1e-9 * machine.memory_rate)) +
         ", copy in L2: " +
         known(machine.cache_rate, formatted("%.0f GB/s", 1e-9 * machine.cache_rate)) + "\n";
}

std::string json_of(const CostQuality& quality) {
  const auto real = [](double value) { return runtime::json_number(value); };
  return runtime::JsonObject()
      .integer("problems", static_cast<std::int64_t>(quality.problems))
      .integer("times", static_cast<std::int64_t>(quality.schedules))
      .raw("log_rms", real(quality.log_rms))
      .raw("mean_loss", real(quality.mean_loss))
      .raw("median_loss", real(quality.median_loss))
      .raw("90th_loss", real(quality.tenth_loss))
      .raw("tau", real(quality.tau))
      .raw("tensor_hertz", real(quality.tensor_hertz))
      .raw("thread_hertz", real(quality.thread_hertz))
      .text();
}

std::string numbers_json(const sema::Coefficient& coefficient) {
  std::vector<std::string> numbers;
  for (const std::int64_t each : coefficient.numbers) numbers.push_back(std::to_string(each));
  return coefficient.is_tuple ? runtime::json_array(numbers) : numbers.front();
}

std::string json_of(const Calibration& made) {
  runtime::JsonObject coefficients;
  for (std::size_t i = 0; i < made.library.size(); ++i)
    coefficients.raw(made.library[i].name,
                     runtime::JsonObject()
                         .raw("library", numbers_json(made.library[i]))
                         .raw("measured", numbers_json(made.fit.coefficients[i]))
                         .boolean("fitted", made.fit.fitted[i])
                         .text());
  return runtime::JsonObject()
      .raw("coefficients", coefficients.text())
      .boolean("kept", made.is_kept)
      .raw("before", json_of(made.before))
      .raw("after", json_of(made.after))
      .raw("held_out", json_of(made.held_out))
      .text();
}

std::string json_of(const MachineNumbers& machine) {
  std::vector<std::string> clusters;
  for (const int count : machine.clusters) clusters.push_back(std::to_string(count));
  return runtime::JsonObject()
      .integer("sms", machine.sms)
      .raw("hertz", runtime::json_number(machine.hertz))
      .integer("l2_bytes", machine.l2_bytes)
      .raw("clusters", runtime::json_array(clusters))
      .raw("launch_seconds", runtime::json_number(machine.launch))
      .raw("memory_rate", runtime::json_number(machine.memory_rate))
      .raw("l2_rate", runtime::json_number(machine.cache_rate))
      .text();
}

// What a user's file says: measured, or the library's where a number is not known.
MeasuredGpu measured_gpu_of(const runtime::DeviceInfo& device, const MachineNumbers& machine,
                            const Target& library, const sema::Coefficients& costs) {
  MeasuredGpu gpu;
  gpu.device = device.name;
  gpu.capability = 10 * device.major + device.minor;
  gpu.sms = device.sms;
  const auto known = [](double measured, double otherwise) {
    return measured > 0 ? measured : otherwise;
  };
  gpu.hertz = known(machine.hertz, library.hertz);
  // Kernels read memory and L2 faster than a copy does, which writes as well: a copy reaches
  // 2.7 TB/s of the 4.8 of an H200.
  gpu.memory_rate = std::max(library.memory_rate, machine.memory_rate);
  gpu.cache_rate = std::max(library.cache_rate, machine.cache_rate / gpu.hertz);
  gpu.launch = known(machine.launch, library.launch);
  gpu.costs = costs;
  return gpu;
}

void put(const CalibrateOptions& options, const std::string& text) {
  (options.json ? std::cerr : std::cout) << text << std::flush;
}

int fit_to_file(const CalibrateOptions& options) {
  const Target target = runtime::target_named(options.gpu);
  const ProductKernels kernels;
  std::vector<TimedProblem> problems;
  try {
    problems = read_times(runtime::read_file(options.from), kernels);
  } catch (const DiagnosticError& error) {
    Diagnostic d = error.diagnostic;
    if (d.message.find(options.from) == std::string::npos)
      d.message = options.from + ": " + d.message;
    throw DiagnosticError(std::move(d));
  }
  if (problems.empty())
    throw DiagnosticError("file", options.from +
                                      " holds no times: expected lines KERNEL M N K BATCHES TIME: "
                                      "SCHEDULE MICROSECONDS, ...");
  const Calibration made = calibrated(problems, kernels, target.sms, target.costs, target.costs);
  put(options, "times of " + options.from + ", for " + options.gpu + "\n" + table_of(made));
  if (options.json) std::cout << json_of(made) << "\n";
  return runtime::exit_ok;
}

std::string output_path(const CalibrateOptions& options, const std::string& device) {
  if (!options.output.empty()) return options.output;
  const std::string folder = runtime::target_folder();
  if (!folder.empty()) return runtime::measured_gpu_path(folder, device);
  Diagnostic d;
  d.code = "file";
  d.message =
      "expected an absolute path in LAY_TARGETS, XDG_DATA_HOME or HOME for the numbers of GPUs";
  d.notes.push_back({"help", "--output names a file, --dry-run writes none"});
  throw DiagnosticError(std::move(d));
}

void keep(const CalibrateOptions& options, const std::string& path, const std::string& text) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (options.output.empty()) runtime::make_dirs(folder.string());
  runtime::write_file(path, {text});
  put(options, "written to " + path + "\n");
}

int calibrate_gpu(const CalibrateOptions& options, runtime::Gpu& gpu) {
  const runtime::DeviceInfo& device = gpu.device();
  const std::string path = options.dry_run ? "" : output_path(options, device.name);
  put(options, device.name + "\n");
  say("the driver, launches, copies");
  const MachineNumbers machine = measure_machine(gpu);
  put(options, machine_table(machine));
  // Not as an earlier calibration left it.
  const Target& library = *find_target(gpu.target().name);
  const ProductKernels kernels;
  const auto problems = time_schedules(gpu, kernels, options.effort, say);
  say("fitting " + std::to_string(library.costs.size()) + " coefficients");
  const Calibration made = calibrated(problems, kernels, device.sms, library.costs,
                                      with_clusters(library.costs, machine));
  put(options, table_of(made));
  if (!options.times.empty())
    runtime::write_file(options.times,
                        {"Times of schedules on " + device.name + ", " + runtime::today() +
                             ", by lay calibrate (--from reads them).\n\n",
                         times_text(problems)});
  if (!options.dry_run)
    keep(options, path,
         measured_gpu_text(measured_gpu_of(device, machine, library, made.fit.coefficients),
                           "Measured by `lay calibrate` on " + device.name + ", " +
                               runtime::today() + ": " + std::to_string(made.after.schedules) +
                               " times of schedules on " + std::to_string(made.after.problems) +
                               " problems."));
  if (options.json)
    std::cout << runtime::JsonObject()
                     .string("device", device.name)
                     .string("written", path)
                     .raw("machine", json_of(machine))
                     .raw("costs", json_of(made))
                     .text()
              << "\n";
  return runtime::exit_ok;
}

// Every other problem of each kernel, as they come: one half and the other.
std::vector<CostedProblem> half_of(const std::vector<CostedProblem>& problems, std::size_t which) {
  std::vector<CostedProblem> half;
  for (std::size_t i = which; i < problems.size(); i += 2) half.push_back(problems[i]);
  return half;
}

// Losses of two halves together.
CostQuality both(const CostQuality& a, const CostQuality& b) {
  CostQuality all = a.problems >= b.problems ? a : b;
  const auto mean = [&](double CostQuality::*field) {
    const auto count = [](const CostQuality& of) { return static_cast<double>(of.problems); };
    return (a.*field * count(a) + b.*field * count(b)) / std::max(1.0, count(a) + count(b));
  };
  for (double CostQuality::*field :
       {&CostQuality::log_rms, &CostQuality::mean_loss, &CostQuality::median_loss,
        &CostQuality::tenth_loss, &CostQuality::tau})
    all.*field = mean(field);
  all.problems = a.problems + b.problems;
  all.schedules = a.schedules + b.schedules;
  return all;
}

}  // namespace

Calibration calibrated(const std::vector<TimedProblem>& problems, const ProductKernels& kernels,
                       int sms, const sema::Coefficients& library, const sema::Coefficients& from) {
  // A fit is kept where it loses no more than this beside the library's choices: times scatter.
  constexpr double most_loss = 1.002;
  const auto costed = costed_problems(problems, kernels, sms, from);
  Calibration made;
  made.library = library;
  made.before = judged(costed_problems(problems, kernels, sms, library), library);
  made.fit = fit_costs(costed, from);
  const auto one = half_of(costed, 0), other = half_of(costed, 1);
  made.held_out = both(judged(other, fit_costs(one, from).coefficients),
                       judged(one, fit_costs(other, from).coefficients));
  made.is_kept =
      made.before.problems > 0 && made.held_out.mean_loss <= made.before.mean_loss * most_loss;
  if (!made.is_kept) made.fit.coefficients = from;
  made.after = judged(costed, made.fit.coefficients);
  return made;
}

std::string measured_gpu_text(const MeasuredGpu& gpu, const std::string& comment) {
  std::string text = "// " + comment +
                     "\n// What the numbers mean says stdlib/targets/gpu.lay. They may be changed; "
                     "without this\n// file the library's stand.\nuse targets.gpu\n\n";
  text += "let costs = cost_coefficients(\n";
  for (const sema::Coefficient& each : gpu.costs)
    text += "  " + each.name + " = " + numbers_text(each) + ",\n";
  text += ")\n\nlet measured = (measured_gpu(\n  device = \"" + gpu.device + "\",\n" +
          "  capability = " + std::to_string(gpu.capability) +
          ", sms = " + std::to_string(gpu.sms) +
          formatted(", hertz = %.4ge9,\n", 1e-9 * gpu.hertz) +
          formatted("  memory_rate = %.4ge12, cache_rate = %.0f, launch = %.3ge-6,\n",
                    1e-12 * gpu.memory_rate, gpu.cache_rate, 1e6 * gpu.launch) +
          "  costs = costs),)\n";
  Sources sources;
  const auto made = syntax::format(sources, sources.add("measured.lay", text));
  if (!made.ok()) throw std::logic_error("internal: a file of a GPU does not parse:\n" + text);
  return made.text;
}

int calibrate(const CalibrateOptions& options) {
  if (!options.from.empty()) return fit_to_file(options);
  std::string why;
  const auto gpu = runtime::Gpu::open(&why);
  if (!gpu) {
    std::cerr << "lay calibrate: no GPU to measure on: " << why << "\n";
    return runtime::exit_machine;
  }
  keep_freed_memory();
  try {
    return calibrate_gpu(options, *gpu);
  } catch (const runtime::DriverError& error) {
    std::cerr << "lay calibrate: the GPU failed, nothing is kept: " << error.text << "\n";
    return runtime::exit_machine;
  }
}

}  // namespace lay::bench
