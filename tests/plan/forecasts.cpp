// What launches are expected to take, against the times of the committed tables: of every class of
// rows the share that lies within 1.5. tests/bench/forecasts.py asks the same of all rows, by the
// command; here are some, of those whose schedule a plan for any sizes has.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "backend/plan/model/forecast.h"
#include "backend/plan/schedule/fitting.h"
#include "generated/tests/paths.h"
#include "runtime/build/narrow.h"
#include "runtime/commands/script.h"
#include "runtime/execute/stages.h"
#include "runtime/io/file.h"

namespace lay::test {
namespace {

// A row of a table: a launch of one variant.
struct MeasuredRow {
  std::string kind, script, kernel, variant;
  plan::GivenSizes sizes;
  double seconds = 0;
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// "M=4096" among the words from `at` on, which then is behind them. alpha and beta are scalars.
plan::GivenSizes sizes_at(const std::vector<std::string>& words, std::size_t& at) {
  plan::GivenSizes sizes;
  for (; at < words.size(); ++at) {
    const auto equals = words[at].find('=');
    if (equals == std::string::npos) break;
    const std::string name = words[at].substr(0, equals);
    if (name != "alpha" && name != "beta") sizes[name] = std::stoll(words[at].substr(equals + 1));
  }
  return sizes;
}

std::optional<double> number(const std::vector<std::string>& words, std::size_t at) {
  if (at >= words.size()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(words[at].c_str(), &end);
  return *end == 0 && end != words[at].c_str() ? std::optional(value) : std::nullopt;
}

const std::set<std::string> kClasses = {"prefill", "decode",  "multiples", "whole",
                                        "odd",     "orders",  "wide",      "types",
                                        "fused",   "batched", "f32",       "table"};

class Tables {
 public:
  Tables() {
    read("hopper");
    read("sgemm");
    read("permute");
    read("rows");
    read("products");
    read("shapes");
  }
  // The newest of each row.
  std::vector<MeasuredRow> rows() const {
    std::vector<MeasuredRow> all;
    for (const auto& [key, row] : rows_) all.push_back(row);
    return all;
  }

 private:
  void read(const std::string& table) {
    std::istringstream text(
        runtime::read_file(std::string(LAY_SOURCE_DIR) + "/tests/bench/results/" + table + ".txt"));
    bool on_h200 = true;
    std::vector<std::string> head;
    for (std::string line; std::getline(text, line);) {
      const auto words = words_of(line);
      if (words.empty()) continue;
      if (line.find("H100") != std::string::npos)
        on_h200 = false;
      else if (line.find("H200") != std::string::npos || words[0] == "Run")
        on_h200 = true;
      if (!on_h200) continue;
      if (table == "hopper" || table == "sgemm") of_bench(table, words, head);
      if (table == "permute") of_permute(words);
      if (table == "rows") of_rows(words);
      if (table == "products") of_products(words);
      if (table == "shapes") of_shapes(words);
    }
  }

  void add(MeasuredRow row) {
    std::string key = row.script + " " + row.kernel + " " + row.variant;
    for (const auto& [name, size] : row.sizes) key += " " + name + "=" + std::to_string(size);
    rows_[key] = std::move(row);
  }

  // "tt M=4096 ..." and below it "lay sm90_256x128_1x2 209.55 us ..."
  void of_bench(const std::string& script, const std::vector<std::string>& words,
                std::vector<std::string>& head) {
    std::size_t at = 1;
    if (words.size() > 3 && words[0] == "lay" && head.size() > 1) {
      const auto time = number(words, 2);
      if (time)
        add({script, script, head[0], words[1], sizes_at(head, at),
             *time * (words[3] == "ms" ? 1e-3 : 1e-6)});
    } else if (words.size() > 1 && words[1].find('=') != std::string::npos) {
      head = words;
    }
  }

  // "transpose_f32_bytes16 16384 521.8 us": kernel and variant in one.
  void of_permute(const std::vector<std::string>& words) {
    const auto size = number(words, 1), time = number(words, 2);
    const auto between = words[0].rfind('_');
    if (!size || !time || words.size() < 4 || words[3] != "us" || between == std::string::npos)
      return;
    add({"permute",
         "permute",
         words[0].substr(0, between),
         words[0].substr(between + 1),
         {{"", static_cast<std::int64_t>(*size)}},
         *time * 1e-6});
  }

  // "1 row_sum_bf16 262144 256 warps 32.24 ..."
  void of_rows(const std::vector<std::string>& words) {
    const auto m = number(words, 2), n = number(words, 3), time = number(words, 5);
    if (!m || !n || !time) return;
    add({"rows",
         "rows",
         words[1],
         words[4],
         {{"M", static_cast<std::int64_t>(*m)}, {"N", static_cast<std::int64_t>(*n)}},
         *time * 1e-6});
  }

  // "swiglu M=4096 ... sm90_pingpong 1494.43 ..."
  void of_products(const std::vector<std::string>& words) {
    std::size_t at = 1;
    const auto sizes = sizes_at(words, at);
    const auto time = number(words, at + 1);
    if (sizes.empty() || !time) return;
    std::string kind = "products";
    for (const std::string prefix : {"attention", "w8a16", "w4a16", "conv"})
      if (words[0].starts_with(prefix)) kind = prefix[0] == 'w' ? "weights" : prefix;
    add({kind, "products", words[0], words[at], sizes, *time * 1e-6});
  }

  // "decode half M=32 ... sm90_32x64 16.60 16.14 0.972", and with two variants, without families.
  void of_shapes(const std::vector<std::string>& words) {
    if (words.size() < 3 || !kClasses.contains(words[0])) return;
    std::size_t at = 2;
    const auto sizes = sizes_at(words, at);
    if (sizes.empty()) return;
    const std::string script = words[1].starts_with("sgemm") ? "sgemm" : "hopper";
    const bool is_pair = std::find(words.begin(), words.end(), "->") != words.end();
    for (int each = 0; each < (is_pair ? 2 : 1); ++each, at += 2) {
      const auto time = number(words, at + 1);
      if (!time) return;
      const std::string family = script == "sgemm" ? "simt_" : "sm90_";
      add({words[0], script, words[1], (is_pair ? family : "") + words[at], sizes, *time * 1e-6});
    }
  }

  std::map<std::string, MeasuredRow> rows_;
};

// A plan takes up to two seconds. Left out are kernels that differ from others in an order of a
// factor, a type or an epilogue, and those of whose rows no variant is left.
const std::set<std::string> kLeftOut = {"half",           "nt",       "nn",           "of_s8",
                                        "of_tf32",        "residual", "scaled",       "scaled_f32",
                                        "activated_tanh", "conv",     "conv_strided", "swiglu",
                                        "scaled_rows",    "over_two", "interleaved",  "heads",
                                        "joined"};

// What was found of one class.
struct Share {
  std::vector<double> ratios;  // times by what was expected

  double near() const {
    const auto count = std::count_if(ratios.begin(), ratios.end(),
                                     [](double ratio) { return 1 / 1.5 < ratio && ratio < 1.5; });
    return static_cast<double>(count) / static_cast<double>(ratios.size());
  }
  double median() {
    std::sort(ratios.begin(), ratios.end());
    return ratios.at(ratios.size() / 2);
  }
};

// Plans for any sizes of the kernels of tests/bench, made once each.
class Plans {
 public:
  const plan::Plan& of(const std::string& script, const std::string& kernel) {
    const auto [at, is_new] = plans_.try_emplace(script + " " + kernel);
    if (!is_new) return at->second;
    auto& read = scripts_[script];
    if (!read)
      read = runtime::evaluate_script(
          std::string(LAY_SOURCE_DIR) + "/tests/bench/" + script + ".lay", {});
    const auto kernels = runtime::kernels_named(*read, kernel);
    at->second = runtime::planned(kernels.at(0), default_target(), plan::Searched::nothing);
    return at->second;
  }

 private:
  std::map<std::string, std::unique_ptr<runtime::Script>> scripts_;
  std::map<std::string, plan::Plan> plans_;
};

}  // namespace

TEST_CASE("forecasts: measured launches took within 1.5 of what was expected, 19 of 20") {
  // All rows of tables, and one in two of the drawn problems.
  constexpr int drawn = 2;
  Plans plans;
  std::map<std::string, Share> by_class;
  Share all;
  int count = 0;
  for (const MeasuredRow& row : Tables().rows()) {
    if (kLeftOut.contains(row.kernel)) continue;
    if (kClasses.contains(row.kind) && ++count % drawn != 0) continue;
    const plan::Plan& plan = plans.of(row.script, row.kernel);
    const Binding sizes = runtime::solved_sizes(*plan.kernel, row.sizes);
    const auto variant =
        std::find_if(plan.variants.begin(), plan.variants.end(), [&](const plan::Variant& each) {
          return each.name == row.variant && plan::fits(each, sizes);
        });
    // A schedule that only plans for its sizes have, or none any more.
    if (variant == plan.variants.end()) continue;
    const double ratio =
        row.seconds / plan::expected_seconds(plan, *variant, sizes, default_target());
    by_class[row.kind].ratios.push_back(ratio);
    all.ratios.push_back(ratio);
  }
  std::ostringstream table;
  for (auto& [name, share] : by_class)
    table << name << ": " << share.ratios.size() << " rows, " << 100 * share.near()
          << " % within 1.5, median " << share.median() << "\n";
  INFO(table.str());
  REQUIRE(all.ratios.size() > 300);
  CHECK(all.near() > 0.95);
  for (const auto& [name, share] : by_class) {
    INFO(name);
    CHECK(share.near() > 0.8);
  }
}

}  // namespace lay::test
