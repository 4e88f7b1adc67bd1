// The README's tables of times say what the recorded runs say (tests/bench/results/).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/house/tree.h"

using namespace lay::test;

namespace {

// A product of hopper.txt beside cuBLASLt. Ratios are its time to ours.
struct Measured {
  std::string section, kernel, variant;
  std::map<std::string, long> sizes;
  double teraflops = 0;
  std::vector<double> ratios;  // the heuristic's choice first

  double to_fastest() const { return *std::min_element(ratios.begin(), ratios.end()); }
};

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> found;
  for (std::string word; in >> word;) found.push_back(word);
  return found;
}

// Returns the number before (-1) or behind (1) a word of a row:
//   cuBLASLt first   203.83 us   674.28 TF/s  +- 3.1%  single   218.21 us  ratio 0.982
double number_beside(const std::vector<std::string>& line, const std::string& word, int step) {
  const auto at = std::find(line.begin(), line.end(), word);
  REQUIRE(at != line.end());
  return std::stod(*(at + step));
}

// A problem begins a line with its kernel, its sides are indented, and `-- section` heads several.
std::vector<Measured> measured() {
  std::vector<Measured> all;
  std::string section;
  for (const std::string& line : read_file("tests/bench/results/hopper.txt").lines) {
    const std::vector<std::string> said = words(line);
    if (line.starts_with("-- ")) section = said[1].substr(0, said[1].find(','));
    if (section.empty() || said.empty()) continue;
    if (!line.starts_with(" ") && line.find(" M=") != std::string::npos) {
      Measured next{section, said[0], "", {}, 0, {}};
      for (const std::string& word : said)
        if (word.size() > 2 && word[1] == '=' && std::string("LMNK").find(word[0]) < 4)
          next.sizes[word.substr(0, 1)] = std::stol(word.substr(2));
      all.push_back(next);
    } else if (line.starts_with("  lay ")) {
      all.back().variant = said[1];
      all.back().teraflops = number_beside(said, "TF/s", -1);
    } else if (line.starts_with("  cuBLASLt") &&
               line.find("gives something else") == std::string::npos) {  // wrong results are out
      all.back().ratios.push_back(number_beside(said, "ratio", 1));
    }
  }
  return all;
}

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// The cells of the README's rows that begin with `first`, without blanks around them.
std::vector<std::vector<std::string>> rows_with(const std::string& first) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : read_file("README.md").lines) {
    if (!line.starts_with("| " + first)) continue;
    std::istringstream in(line.substr(1));
    std::vector<std::string> cells;
    for (std::string cell; std::getline(in, cell, '|');) {
      cell.erase(0, cell.find_first_not_of(" `"));
      cell.erase(cell.find_last_not_of(" `") + 1);
      cells.push_back(cell);
    }
    rows.push_back(cells);
  }
  return rows;
}

}  // namespace

TEST_CASE("the README's large products are those that were measured") {
  int seen = 0;
  for (const Measured& each : measured()) {
    if (each.section != "large" || each.kernel != "tt") continue;
    const auto size = [&](const char* name) { return std::to_string(each.sizes.at(name)); };
    const auto rows = rows_with(size("M") + " x " + size("N") + " x " + size("K") + " ");
    INFO(size("M") << " x " << size("N") << " x " << size("K"));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].at(1) == each.variant);
    CHECK(rows[0].at(2) == rounded(each.teraflops, 0));
    CHECK(rows[0].at(3) == rounded(each.ratios[0], 3));
    CHECK(rows[0].at(4) == rounded(each.to_fastest(), 3));
    ++seen;
  }
  CHECK(seen == 7);
}

TEST_CASE("the README's means of classes are those of the measured ratios") {
  struct Class {
    const char *row, *section;
    const char* kernel = "";  // of the section, all without
  };
  const Class classes[] = {{"large, bf16 (", "large", "tt"},
                           {"large, f16 (", "large", "half"},
                           {"other operand orders (", "orders"},
                           {"batched (", "batched"},
                           {"fused bias and gelu (", "fused"},
                           {"with an input of the output's shape (", "inputs"},
                           {"tf32, s8, e4m3, and e4m3 with promotion (", "types"},
                           {"small outputs (", "small"},
                           {"middle sizes (", "middle"},
                           {"M of 1 to 128 (", "skinny"},
                           {"odd sizes (", "ragged"},
                           {"under a causal mask (", "masked"}};
  const std::vector<Measured> all = measured();
  for (const Class& of : classes) {
    INFO(of.row);
    double logarithms = 0;
    int count = 0;
    for (const Measured& each : all) {
      if (each.section != of.section || (*of.kernel && each.kernel != of.kernel)) continue;
      logarithms += std::log(each.to_fastest());
      ++count;
    }
    const auto rows = rows_with(of.row + std::to_string(count));
    REQUIRE(rows.size() == 1);
    // The ratios have three digits, and a mean of them may differ in the last.
    CHECK(std::abs(std::stod(rows[0].at(1)) - std::exp(logarithms / count)) < 0.00101);
  }
}

TEST_CASE("the README's kernels that read rows are those that were measured") {
  const std::map<std::string, std::string> kernels = {
      {"softmax", "softmax"}, {"RMS norm", "rms_norm"}, {"layer norm", "layer_norm"}};
  int seen = 0;
  for (const auto& [said, kernel] : kernels)
    for (const auto& row : rows_with(said + " ")) {
      // "softmax bf16, rows of 262,144"
      INFO(row.at(0));
      std::string columns = row[0].substr(row[0].find("rows of ") + 8);
      std::erase(columns, ',');
      const std::string name = kernel + "_" + words(row[0].substr(said.size()))[0];
      for (const std::string& line : read_file("tests/bench/results/rows.txt").lines) {
        const std::vector<std::string> cells = words(line);
        if (cells.size() != 10 || cells[1] != name.substr(0, name.find(',')) || cells[3] != columns)
          continue;
        CHECK(std::vector<std::string>(row.begin() + 1, row.end()) ==
              std::vector<std::string>(cells.begin() + 7, cells.end()));
        ++seen;
      }
    }
  CHECK(seen >= 6);
}
