// Programs that nobody would write: the examples with words deleted, doubled, swapped and replaced.
// Each must end in values or errors; what escapes the evaluator, or brings it down, is our mistake.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <random>

#include "tests/golden/golden.h"

using namespace lay::test;

namespace {

// The words of a text: names, numbers, strings, single characters; blanks stay with the word before
// them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_word(text[at]))
      while (end < text.size() && is_word(text[end])) ++end;
    while (end < text.size() && text[end] == ' ') ++end;
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string mutated(const std::string& text, const std::vector<std::string>& pool,
                    std::mt19937& random) {
  auto words = words_of(text);
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (std::size_t edits = 1 + pick(4); edits > 0 && !words.empty(); --edits) {
    const std::size_t at = pick(words.size());
    switch (pick(5)) {
      case 0:
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), words[at]);
        break;
      case 2:
        std::swap(words[at], words[pick(words.size())]);
        break;
      default:
        words[at] = pool[pick(pool.size())];
        break;
    }
  }
  std::string result;
  for (const auto& word : words) result += word;
  return result;
}

}  // namespace

TEST_CASE("mutated programs end in values or errors") {
  std::vector<std::string> texts, pool = {"0 ",
                                          "-1",
                                          "9223372036854775807 ",
                                          "4611686018427387904",
                                          "_ ",
                                          "_4",
                                          "1@0",
                                          "(",
                                          ")",
                                          ":",
                                          " o ",
                                          ",",
                                          "Sw<3,4,3>",
                                          "\"",
                                          "()"};
  for (const char* folder : {"examples", "tests/errors", "tests/language"})
    for (const auto& file : files_in(folder, ".lay")) texts.push_back(slurp(file));
  for (const auto& text : texts)
    for (const auto& word : words_of(text)) pool.push_back(word);
  const char* asked = std::getenv("LAY_FUZZ");
  const int rounds = asked ? std::atoi(asked) : 300;
  std::mt19937 random(asked ? std::random_device{}() : 1);
  int with_errors = 0;
  for (int i = 0; i < rounds; ++i) {
    std::string text = texts[static_cast<std::size_t>(i) % texts.size()];
    // A kernel call on large arrays would take its time: keep them small.
    for (const char* large : {"100", "90", "37"})
      for (auto at = text.find(large); at != std::string::npos; at = text.find(large, at))
        text.replace(at, std::string(large).size(), "5");
    text = mutated(text, pool, random);
    INFO(text);
    REQUIRE_NOTHROW(with_errors +=
                    run_program("mutated.lay", text, source_root() / "examples").codes.empty() ? 0
                                                                                               : 1);
  }
  CHECK(with_errors > rounds / 10);
  CHECK(with_errors < rounds);
}
