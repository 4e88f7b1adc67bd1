#include "runtime/bench/calibrate/timed_schedules.h"

#include <regex>
#include <sstream>

#include "backend/plan/make.h"
#include "backend/plan/recognise.h"
#include "backend/plan/schedule/library_rows.h"
#include "backend/plan/simt/bind_simt.h"
#include "backend/plan/sm90/bind_sm90.h"
#include "frontend/source/diagnostic.h"

namespace lay::bench {
namespace {

// In a name, t is a factor that runs along K, A first; of sgemm_nt as BLAS names the orders of
// row-major matrices.
constexpr const char* script = R"(
kernel tt<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel tn<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(1,N)) -> C: bf16 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel nt<M, N, K>(A: bf16 (M,K):(1,M), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel nn<M, N, K>(A: bf16 (M,K):(1,M), B: bf16 (N,K):(1,N)) -> C: bf16 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel to_f32<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: f32 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel activated<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1), bias: bf16 N:1)
    -> C: bf16 (M,N):(N,1)
{ C[m,n] = gelu(sum[k](A[m,k] * B[n,k]) + bias[n]) }

kernel batched<L, M, N, K>(A: bf16 (L,M,K):(M*K,K,1), B: bf16 (L,N,K):(N*K,K,1))
    -> C: bf16 (L,M,N):(M*N,N,1)
{ C[l,m,n] = sum[k](A[l,m,k] * B[l,n,k]) }

kernel sgemm_nn<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(1,N)) -> C: f32 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel sgemm_nt<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel sgemm_tn<M, N, K>(A: f32 (M,K):(1,M), B: f32 (N,K):(1,N)) -> C: f32 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }

kernel sgemm_tt<M, N, K>(A: f32 (M,K):(1,M), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1)
{ C[m,n] = sum[k](A[m,k] * B[n,k]) }
)";

// How consumers share a tile, as stdlib/policies/sm90_space.lay numbers it; on CUDA cores whether
// memory is accessed in vectors (simt_space.lay).
constexpr std::int64_t cooperating = 0, alternating = 1, swapping = 2;
constexpr std::int64_t by_elements = 0, by_vectors = 1;

std::int64_t number(const Tuple& leaf) {
  return leaf.value().value();
}

Tuple numbers(const std::vector<std::int64_t>& values) {
  return Tuple(std::vector<Tuple>(values.begin(), values.end()));
}

std::string stem(const std::string& kernel) {
  return kernel.substr(0, kernel.find('/'));
}

sema::SpaceRow on_tensor_cores(std::int64_t m, std::int64_t n, std::int64_t widths,
                               std::array<std::int64_t, 3> cluster, std::int64_t how) {
  return {0, numbers({m, n, widths, cluster[0], cluster[1], cluster[2]}), how};
}

// Tile, warps along M and N, slices, stages, parts of K.
using ThreadTile = std::array<std::int64_t, 8>;

// The library says how many blocks an SM has room for, and which tiles have a cost.
std::optional<sema::SpaceRow> on_cuda_cores(const ThreadTile& tile, std::int64_t how,
                                            const ProductKernels& kernels) {
  // The tiles do not depend on the kernel, nor on the sizes, if each part of K has work.
  static const auto space =
      sema::library_space("simt", kernels.kind_of("sgemm_nt"), {4096, 4096, 4096, 1, 132});
  for (const sema::SpaceRow& row : space) {
    const Tuple& of = row.tile[0];
    ThreadTile has{};
    for (std::size_t i = 0; i < 7; ++i) has[i] = number(of[static_cast<int>(i)]);
    has[7] = number(row.tile[1]);
    if (has == tile && row.how == how) return sema::SpaceRow{0, row.tile, row.how};
  }
  return std::nullopt;
}

std::optional<sema::SpaceRow> read_schedule(const std::string& word, const std::string& kernel,
                                            const ProductKernels& kernels) {
  static const std::regex tensor_form(R"((\d+)x(\d+)(?:w(\d))?\.(\d+)x(\d+)(?:x(\d+))?([ps]?))");
  static const std::regex thread_form(R"((\d+)x(\d+)x(\d+)\.(\d+)x(\d+)x(\d+)\.(\d+)\.(\d+))");
  constexpr std::size_t longest = 60;
  if (word.size() > longest) return std::nullopt;
  std::smatch found;
  const auto count = [&](std::size_t group) {
    return found[group].matched ? std::stoll(found[group].str().substr(0, 9)) : 1;
  };
  if (ProductKernels::family_of(kernel) == "sm90") {
    if (!std::regex_match(word, found, tensor_form)) return std::nullopt;
    const std::int64_t how = found[7] == "p"   ? alternating
                             : found[7] == "s" ? swapping
                                               : cooperating;
    for (std::size_t group = 1; group <= 6; ++group)
      if (count(group) < 1 || count(group) > 512) return std::nullopt;
    if (count(4) * count(5) * count(6) > 8) return std::nullopt;
    const std::int64_t widths =
        found[3].matched ? count(3) : sema::space_widths(count(1), count(2), how);
    return on_tensor_cores(count(1), count(2), widths, {count(4), count(5), count(6)}, how);
  }
  if (!std::regex_match(word, found, thread_form)) return std::nullopt;
  ThreadTile tile{};
  for (std::size_t i = 0; i < tile.size(); ++i) tile[i] = count(i + 1);
  return on_cuda_cores(tile, kernel.ends_with("/elements") ? by_elements : by_vectors, kernels);
}

DiagnosticError wrong_line(int line, const std::string& what) {
  return DiagnosticError("file", "line " + std::to_string(line) + ": " + what);
}

// A number of up to nine digits.
std::optional<std::int64_t> whole_number(const std::string& word) {
  const bool is_one = !word.empty() && word.size() < 10 &&
                      word.find_first_not_of("0123456789") == std::string::npos;
  return is_one ? std::optional(std::stoll(word)) : std::nullopt;
}

// Reads "KERNEL M N K [BATCHES] TIME:"; nothing where the line does not begin so.
std::optional<TimedProblem> read_head(std::istringstream& words) {
  TimedProblem problem;
  std::vector<std::int64_t> numbers;
  std::string word;
  words >> problem.kernel;
  while (words >> word && !word.ends_with(":")) {
    const auto number = whole_number(word);
    if (!number || *number < 1) return std::nullopt;
    numbers.push_back(*number);
  }
  if (!word.ends_with(":") || numbers.size() < 3 || numbers.size() > 4) return std::nullopt;
  problem.m = numbers[0];
  problem.n = numbers[1];
  problem.k = numbers[2];
  if (numbers.size() == 4) problem.batches = numbers[3];
  return problem;
}

}  // namespace

ProductKernels::ProductKernels() : evaluator_(sources_, sema::Host{}, {sema::Mode::check, {}}) {
  for (const sema::Outcome& outcome : evaluator_.run("calibrate.lay", script))
    if (!outcome.ok()) throw std::logic_error("internal: a kernel of lay calibrate is wrong");
}

sema::KernelPtr ProductKernels::find(const std::string& name) const {
  for (const sema::KernelPtr& kernel : evaluator_.kernels())
    if (kernel->name == stem(name)) return kernel;
  return nullptr;
}

std::string ProductKernels::family_of(const std::string& name) {
  return name.starts_with("sgemm") ? "simt" : "sm90";
}

sema::ProductKind ProductKernels::kind_of(const std::string& name) const {
  const sema::KernelPtr kernel = find(name);
  if (!kernel) throw std::logic_error("internal: lay calibrate has no kernel " + name);
  Facts facts = plan::facts_of(*kernel);
  const auto found = plan::recognise_scaled(kernel, facts);
  const auto* gemm = std::get_if<plan::Gemm>(&found);
  if (!gemm) throw std::logic_error("internal: " + name + " is no product");
  sema::ProductKind kind =
      plan::product_kind(*gemm->kernel, gemm->form, facts, false, default_target());
  kind.costs.clear();
  return kind;
}

std::optional<sema::SpaceRow> schedule_of(const plan::Variant& variant,
                                          const ProductKernels& kernels) {
  if (!variant.cost || !variant.of_library || !variant.before.empty()) return std::nullopt;
  if (const auto gemm = plan::sm90_of(variant)) {
    if (gemm->promotion_interval != 0 || gemm->a.fragment || gemm->segments) return std::nullopt;
    const std::int64_t m = gemm->tile[0], n = gemm->tile[1];
    const std::int64_t widths = std::int64_t{gemm->tile[2]} * bits(gemm->mma.a_type) / 1024;
    const auto [along_m, along_n, parts] = gemm->cluster;
    // Tiles of a space are named by the output's axes.
    if (gemm->swap_ab) return on_tensor_cores(n, m, widths, {along_n, along_m, parts}, swapping);
    return on_tensor_cores(m, n, widths, {along_m, along_n, parts},
                           gemm->consumer_groups() == 2 ? alternating : cooperating);
  }
  if (const auto gemm = plan::simt_of(variant))
    return on_cuda_cores({gemm->tile[0], gemm->tile[1], gemm->tile[2], gemm->groups[0],
                          gemm->groups[1], gemm->groups[2], gemm->stages, gemm->parts},
                         variant.accesses == plan::Width::vectors ? by_vectors : by_elements,
                         kernels);
  return std::nullopt;
}

std::string schedule_word(const sema::SpaceRow& schedule, const std::string& family) {
  std::ostringstream word;
  if (family == "sm90") {
    const Tuple& tile = schedule.tile;
    word << number(tile[0]) << "x" << number(tile[1]);
    if (number(tile[2]) != sema::space_widths(number(tile[0]), number(tile[1]), schedule.how))
      word << "w" << number(tile[2]);
    word << "." << number(tile[3]) << "x" << number(tile[4]);
    if (number(tile[5]) > 1) word << "x" << number(tile[5]);
    word << (schedule.how == alternating ? "p" : schedule.how == swapping ? "s" : "");
  } else {
    const Tuple& tile = schedule.tile[0];
    word << number(tile[0]) << "x" << number(tile[1]) << "x" << number(tile[2]) << "."
         << number(tile[3]) << "x" << number(tile[4]) << "x" << number(tile[5]) << "."
         << number(tile[6]) << "." << number(schedule.tile[1]);
  }
  return word.str();
}

std::vector<TimedProblem> read_times(const std::string& text, const ProductKernels& kernels) {
  std::vector<TimedProblem> problems;
  std::istringstream in(text);
  int at = 0;
  for (std::string line; std::getline(in, line);) {
    ++at;
    std::istringstream words(line);
    auto problem = read_head(words);
    if (!problem) continue;
    if (!kernels.find(problem->kernel))
      throw wrong_line(at, "there is no kernel " + problem->kernel);
    std::string word, time;
    while (words >> word >> time) {
      double microseconds = 0;
      try {
        microseconds = std::stod(time);
      } catch (const std::exception&) {
      }
      if (!(microseconds > 0)) throw wrong_line(at, "expected a time behind " + word);
      const auto schedule = read_schedule(word, problem->kernel, kernels);
      if (schedule)
        problem->schedules.push_back({*schedule, 1e-6 * microseconds});
      else if (ProductKernels::family_of(problem->kernel) == "sm90")
        throw wrong_line(at, word + " is no schedule");
      // On CUDA cores some were timed that the library does not have.
    }
    problems.push_back(std::move(*problem));
  }
  return problems;
}

std::string times_text(const std::vector<TimedProblem>& problems) {
  std::ostringstream text;
  for (const TimedProblem& problem : problems) {
    text << problem.kernel << " " << problem.m << " " << problem.n << " " << problem.k << " "
         << problem.batches << " -:";
    text.precision(3);
    text << std::fixed;
    const char* between = " ";
    for (const TimedSchedule& each : problem.schedules) {
      text << between << schedule_word(each.schedule, ProductKernels::family_of(problem.kernel))
           << " " << 1e6 * each.seconds;
      between = ", ";
    }
    text << "\n";
  }
  return text.str();
}

std::vector<CostedProblem> costed_problems(const std::vector<TimedProblem>& problems,
                                           const ProductKernels& kernels, int sms,
                                           const sema::Coefficients& coefficients) {
  std::map<std::string, sema::CostTerms> terms;
  std::map<std::string, sema::ProductKind> kinds;
  std::vector<CostedProblem> all;
  for (const TimedProblem& problem : problems) {
    const std::string family = ProductKernels::family_of(problem.kernel);
    auto& costs = terms.try_emplace(family, family, coefficients).first->second;
    auto kind = kinds.find(stem(problem.kernel));
    if (kind == kinds.end())
      kind = kinds.emplace(stem(problem.kernel), kernels.kind_of(problem.kernel)).first;
    CostedProblem made;
    made.on_cuda_cores = family == "simt";
    for (const TimedSchedule& each : problem.schedules) {
      CostedSchedule costed;
      costed.cost = costs.of(kind->second, each.schedule,
                             {problem.m, problem.n, problem.k, problem.batches, sms});
      costed.dims = sema::CostTerms::coefficients_in(costed.cost, coefficients);
      costed.seconds = each.seconds;
      made.schedules.push_back(std::move(costed));
    }
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace lay::bench
