// The field's terms stand in code, pages and messages, and what stood for them before does not.
// A reader is a CUDA engineer who has never seen this project: "SM", not "multiprocessor".
//
// Only words that can mean nothing else are listed. Those with an ordinary meaning in English as
// well (pass, order, together, part, way, direct, span) are for a reviewer's eye.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/house/source_text.h"
#include "tests/house/tree.h"

using namespace lay::test;

namespace {

struct OldWord {
  const char* old;  // as words; an underscore counts as a blank, so that identifiers are met too
  const char* say;
};
const OldWord old_words[] = {
    {"multiprocessor", "SM"},
    {"multiprocessors", "SMs"},
    {"second level cache", "L2"},
    {"turned round", "transposed"},
    {"in turns", "ping-pong"},
    {"team", "consumer group"},
    {"teams", "consumer groups"},
    {"of team", "consumer group"},
    {"copying thread", "producer thread"},
    {"copying threads", "producer threads"},
    {"copying warpgroup", "producer warpgroup"},
    {"brought", "loaded"},
    {"sharers", "multicast size"},
    {"serpentine", "alternate_k"},
    {"prepass", "operand repack"},
    {"OldValue", "source operand C"},
    {"Circumstances", "ProblemSize"},
    {"WayFinder", "affine access"},
    {"starts full", "initial_phase"},
    {"earlier grids", "grid_dependency_wait"},
    {"Judgement", "Conclusion"},
    {"KnownVerdict", "Conclusion"},
    {"contestant", "candidate"},
    {"contestants", "candidates"},
    {"Contestant", "Candidate"},
    {"opponent", "baseline"},
    {"opponents", "baselines"},
    {"Counterpart", "Baseline"},
    {"Asker", "ExpressionQuery"},
    {"relayout", "permute"},
    {"layout change", "permute"},
    {"layout changes", "permutes"},
    {"what binds", "the bottleneck"},
    {"is due", "expected"},
    {"would come", "got"},
    {"lir", "ir"},
};

// Beginnings of function names in the backend that said too little: what is put where, what is
// taken from whom.
const OldWord old_beginnings[] = {
    {"put_", "store_"},
    {"take_", "choose_, plan_, load_ or store_"},
    {"give_", "release_ or a cluster reduction's send_"},
    {"follow_", "choose_ or add_variants_from_"},
    {"bring_", "load_ or prefetch_"},
};

// Files that must say an old word: synonyms that are answered with "did you mean", and their tests.
const std::map<std::string, std::set<std::string>> exempt = {
    {"backend/plan/schedule/entries.cpp", {"serpentine", "relayout"}},
    {"tests/plan/entries.cpp", {"serpentine", "relayout"}},
    {"tests/plan/tensor_schedules.cpp", {"serpentine"}},
    {"tests/golden/docs.cpp", {"serpentine", "relayout"}},
};

// The words of a line between blanks, identifiers split at underscores: " lower sm90 store ".
std::string spaced(const std::string& line) {
  std::string text = " ";
  for (const std::string& word : words_of(line)) {
    for (const char c : word) text += c == '_' ? ' ' : c;
    text += ' ';
  }
  return text;
}

std::vector<TextFile> texts() {
  std::vector<TextFile> files = files_in({""}, {".h", ".cpp", ".md", ".lay", ".cmake", ".sh", ".py",
                                                ".g4", ".ir", ".cu", ".eval", ".expected"});
  for (TextFile& file : files_in({"tests/repl"}, {".txt"})) files.push_back(std::move(file));
  std::erase_if(files,
                [](const TextFile& file) { return file.path == "tests/house/plain_words.cpp"; });
  return files;
}

bool is_exempt(const std::string& path, const std::string& word) {
  const auto found = exempt.find(path);
  return found != exempt.end() && found->second.count(word) == 1;
}

std::vector<const OldWord*> found_in(const std::string& line) {
  const std::string text = spaced(line);
  std::vector<const OldWord*> found;
  for (const OldWord& each : old_words)
    if (text.find(" " + std::string(each.old) + " ") != std::string::npos) found.push_back(&each);
  return found;
}

// Enumerations whose text holds all of the words, as "file: enum class Verdict ...".
std::vector<std::string> enumerations_of(const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const TextFile& file :
       files_in({"frontend", "backend", "runtime", "liblay"}, {".h", ".cpp"})) {
    std::string code;
    for (const SourceLine& line : source_lines(file)) code += line.code + "\n";
    for (std::size_t at = code.find("enum class"); at != std::string::npos;
         at = code.find("enum class", at + 1)) {
      const std::string text = code.substr(at, code.find('}', at) - at);
      const std::vector<std::string> held = words_of(text);
      const auto holds = [&](const std::string& word) {
        return std::find(held.begin(), held.end(), word) != held.end();
      };
      if (std::all_of(words.begin(), words.end(), holds)) found.push_back(file.path + ": " + text);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("no text says an old word for a term of the field") {
  int lines = 0;
  for (const TextFile& file : texts())
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      ++lines;
      for (const OldWord* each : found_in(file.lines[i]))
        if (!is_exempt(file.path, each->old))
          FAIL_CHECK(file.path << ":" << i + 1 << " says \"" << each->old << "\"; say \""
                               << each->say << "\"");
    }
  CHECK(lines > 50'000);
}

TEST_CASE("no function of the backend begins with a word that says too little") {
  for (const TextFile& file : files_in({"backend"}, {".h", ".cpp"}))
    for (const SourceLine& line : source_lines(file))
      for (const std::string& word : words_of(line.code))
        for (const OldWord& each : old_beginnings)
          if (word.starts_with(each.old) && word.size() > std::string(each.old).size())
            FAIL_CHECK(file.path << ":" << line.number << " has " << word << "; begin with "
                                 << each.say);
}

TEST_CASE("there is one type for verdicts, and one for yes, no and unknown") {
  const std::vector<std::string> verdicts = enumerations_of({"proved", "refuted"}),
                                 answers = enumerations_of({"yes", "no", "unknown"});
  INFO(Catch::Detail::stringify(verdicts) << Catch::Detail::stringify(answers));
  CHECK(verdicts.size() == 1);
  CHECK(answers.size() == 1);
}

TEST_CASE("an old word is found in prose, in identifiers and in messages") {
  const auto first = [](const std::string& line) {
    const auto found = found_in(line);
    return found.empty() ? std::string() : std::string(found[0]->old);
  };
  CHECK(first("// a multiprocessor has room for 2 blocks") == "multiprocessor");
  CHECK(first("bool starts_full = false;") == "starts full");
  CHECK(first("\"at 5: 4 is due, and 6 would come\"") == "is due");
  CHECK(first("// at 5: expected 4, got 6, as the schedule said") == "");
  CHECK(first("steamed brothers") == "");
}
