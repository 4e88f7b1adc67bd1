// Every snippet of the documentation is run. A ```lay block whose first line begins with `lay> ` is
// a transcript: the answers must be what the REPL answers. Any other ```lay block is a script: it
// must run without an error. The blocks under one heading (`#` or `##`) are one session; all blocks
// of the tour are one, as a reader types along. A ```sh block whose first line begins with `$ ` is
// run by a shell. With LAY_BLESS=1 the answers of both are rewritten.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>

#include "backend/plan/schedule/entries.h"
#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/evaluator.h"
#include "frontend/sema/kernel/reduce_function.h"
#include "generated/tests/paths.h"
#include "runtime/commands/help/help.h"
#include "tests/golden/golden.h"
#include "tests/golden/transcript.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

namespace {

namespace fs = std::filesystem;

// Returns a shell's answer to a command, errors too, with `lay` the binary that was built. Times of
// runs differ, and are left out.
std::string shell_answer(const std::string& command) {
  put(fs::path("command.sh"), "export PATH=" + fs::path(LAY_BINARY).parent_path().string() +
                                  ":$PATH CUDA_VISIBLE_DEVICES= \n" + command);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen("sh command.sh 2>&1", "r"), pclose);
  REQUIRE(pipe);
  std::string text;
  char part[4096];
  while (const std::size_t n = std::fread(part, 1, sizeof part, pipe.get())) text.append(part, n);
  fs::remove("command.sh");
  static const std::regex time(R"([0-9.]+ m?s in the host interpreter \([0-9]+ threads)");
  return std::regex_replace(text, time, "... ms in the host interpreter (... threads");
}

class Document {
 public:
  // In the list of operations the paragraph below a heading is the signature with the law, in that
  // of schedule entries the planner's table. Both are written here.
  explicit Document(const fs::path& file)
      : file_(file),
        operations_(file.filename() == "operations.md"),
        schedules_(file.filename() == "schedules.md"),
        one_session_(file.filename() == "tour.md") {
    static const std::set<std::string> with_tables = {"tour.md", "language.md", "README.md"};
    options_.tables = with_tables.count(file.filename().string()) == 1;
    restart();
  }

  // The text with the answers of now.
  std::string run() {
    std::string result;
    const auto lines = lines_of(slurp(file_));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      result += lines[i] + "\n";
      const bool heading = lines[i].rfind("# ", 0) == 0 || lines[i].rfind("## ", 0) == 0;
      if (heading && !one_session_) restart();
      if (operations_ && lines[i].rfind("## ", 0) == 0) {
        result += lay::runtime::filled(law_of(lines[i].substr(3)), 100, "");
        const bool has_law =
            i + 1 < lines.size() && lines[i + 1].rfind('`' + lines[i].substr(3), 0) == 0;
        const auto is_end = [](const std::string& line) {
          return line.empty() || line == "```lay";
        };
        while (has_law && i + 1 < lines.size() && !is_end(lines[i + 1])) ++i;
      }
      if (schedules_ && lines[i].rfind("## ", 0) == 0) {
        result += entry_list(lines[i].substr(3));
        const auto is_list = [](const std::string& line) {
          return line.rfind("* ", 0) == 0 || line.rfind("  ", 0) == 0;
        };
        while (i + 1 < lines.size() && is_list(lines[i + 1])) ++i;
        if (i + 1 < lines.size() && lines[i + 1].empty()) ++i;
      }
      if (lines[i].rfind("```", 0) != 0) continue;
      const bool is_lay = lines[i] == "```lay", is_shell = lines[i] == "```sh";
      std::string block;
      const std::size_t first = i + 2;
      for (++i; i < lines.size() && lines[i] != "```"; ++i) block += lines[i] + "\n";
      result += (is_lay ? run_block(block, first) : is_shell ? run_shell(block) : block) + "```\n";
    }
    return result;
  }

  int blocks() const { return blocks_; }

 private:
  void restart() { repl_ = std::make_unique<lay::runtime::Repl>(options_); }

  static std::string law_of(const std::string& name) {
    lay::Sources sources;
    const auto help = lay::sema::Evaluator(sources, {}).help(name);
    if (!help) return "nothing is known of " + name;
    const bool is_def = help->law.rfind("= ", 0) == 0;
    return "`" + help->signature + (is_def ? "`" : "`: " + help->law + ".");
  }

  // The list below the heading of a schedule's entry: an item for each row of the planner's table.
  static std::string entry_list(const std::string& name) {
    std::string list;
    for (const lay::plan::EntryRow& row : lay::plan::entry_rows()) {
      if (row.name != name) continue;
      std::string families = "`" + std::string(row.families) + "`";
      for (std::size_t at = 0; (at = families.find(' ', at)) != std::string::npos; at += 4)
        families.replace(at, 1, "`, `");
      const std::string item = "* " + families + ": " + std::string(row.meaning) + ". Takes " +
                               std::string(row.range) + ", as in `" + std::string(row.example) +
                               "`.";
      const std::string text = lay::runtime::filled(item, 100, "  ");
      list += text.substr(2);
    }
    return (list.empty() ? "nothing is known of " + name + "\n" : list) + "\n";
  }

  // A block whose first line begins with `$ ` is a session of a shell, its answers those of now. `>
  // ` begins a further line of a command.
  std::string run_shell(const std::string& block) {
    if (block.rfind("$ ", 0) != 0) return block;
    ++blocks_;
    std::string result;
    const auto lines = lines_of(block);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].rfind("$ ", 0) != 0) continue;
      std::string command = lines[i].substr(2);
      result += lines[i] + "\n";
      for (; i + 1 < lines.size() && lines[i + 1].rfind("> ", 0) == 0; ++i) {
        command += "\n" + lines[i + 1].substr(2);
        result += lines[i + 1] + "\n";
      }
      result += shell_answer(command);
    }
    return result;
  }

  std::string run_block(const std::string& block, std::size_t line) {
    ++blocks_;
    if (is_transcript(block)) return replay(*repl_, block);
    const std::string said = answer(*repl_, block);
    INFO(file_.string() << ":" << line << " says\n" << said);
    CHECK(said.find("error[") == std::string::npos);
    return block;
  }

  fs::path file_;
  bool operations_, schedules_, one_session_;
  lay::runtime::ReplOptions options_;
  std::unique_ptr<lay::runtime::Repl> repl_;
  int blocks_ = 0;
};

// Says where the answers of now begin to differ.
void check_same(const fs::path& file, const std::string& text) {
  const auto now = lines_of(text), then = lines_of(slurp(file));
  const auto [a, b] = std::mismatch(now.begin(), now.end(), then.begin(), then.end());
  INFO(file.string() << ":" << b - then.begin() + 1 << " says\n  " << (b == then.end() ? "" : *b)
                     << "\nbut the answer is\n  " << (a == now.end() ? "" : *a)
                     << "\n(LAY_BLESS=1 rewrites the answers)");
  CHECK((a == now.end() && b == then.end()));
}

std::set<std::string> names_of(const std::string& file) {
  std::set<std::string> names;
  for (const auto& section : lay::runtime::help_sections(slurp(source_root() / file)))
    for (const std::string& name : lay::runtime::names_of(section)) names.insert(name);
  return names;
}

}  // namespace

// The codes of the errors that a transcript shows, in order.
std::vector<std::string> errors_in(const std::string& transcript) {
  std::vector<std::string> codes;
  for (const std::string& line : lines_of(transcript))
    if (line.rfind("error[", 0) == 0) codes.push_back(line.substr(0, line.find(']') + 1));
  return codes;
}

TEST_CASE("no page of help says a piece of its definition twice") {
  constexpr std::size_t piece = 30;
  lay::Sources sources;
  const lay::sema::Evaluator evaluator(sources, {});
  int definitions = 0;
  for (const std::string& name : evaluator.names()) {
    const auto help = evaluator.help(name);
    const auto page = lay::runtime::operation_page(name, evaluator);
    if (!help || !page || help->law.rfind("= ", 0) != 0) continue;
    ++definitions;
    const std::string below = page->substr(page->find(help->law) + help->law.size());
    const std::string rest = lay::runtime::filled(below, 1'000'000, "");
    for (std::size_t at = 0; at + piece <= help->law.size(); ++at) {
      INFO(*page);
      REQUIRE(rest.find(help->law.substr(at, piece)) == std::string::npos);
    }
  }
  CHECK(definitions > 20);
}

TEST_CASE("the snippets of the documentation run and say what they say they say") {
  const TemporaryFolder folder;
  const WorkingFolder here(folder.path());  // snippets may write files
  auto files = files_in("docs", ".md");
  files.push_back(source_root() / "README.md");
  files.push_back(source_root() / "examples/README.md");
  fs::create_directory_symlink(source_root() / "examples", "examples");
  for (const auto& file : files) DYNAMIC_SECTION(fs::relative(file, source_root()).string()) {
      Document document(file);
      const std::string text = document.run();
      const std::set<std::string> teaching = {"tour.md",     "language.md",  "operations.md",
                                              "keywords.md", "schedules.md", "terms.md",
                                              "README.md"};
      CHECK((document.blocks() > 0 || teaching.count(file.filename().string()) == 0));
      if (blessing() && text != slurp(file)) put(file, text);
      if (blessing()) continue;
      check_same(file, text);
    }
}

TEST_CASE(
    "every builtin and every def of the standard library has a law and an example that runs") {
  const auto sections = lay::runtime::help_sections(slurp(source_root() / "docs/operations.md"));
  lay::Sources sources;
  const lay::sema::Evaluator evaluator(sources, {});
  std::set<std::string> known{"find"};  // a form of the language, not a function
  for (const lay::sema::Builtin* builtin : lay::sema::all_builtins())
    known.insert(std::string(builtin->name));
  for (const lay::sema::ReduceRow& row : lay::sema::reduce_rows())
    known.insert(std::string(row.name));
  for (const auto& file : files_in("stdlib", ".lay"))  // all of them are in sight everywhere
    for (const std::string& line : lines_of(slurp(file)))
      if (line.rfind("def ", 0) == 0) known.insert(line.substr(4, line.find_first_of("([") - 4));
  for (const std::string& name : known) {
    INFO("`" << name << "` needs a section `## " << name
             << "` with an example in docs/operations.md");
    const auto section = std::find_if(sections.begin(), sections.end(),
                                      [&](const auto& s) { return s.name == name; });
    CHECK(section != sections.end());
    if (section == sections.end()) continue;
    CHECK(section->text.find("```lay\n") != std::string::npos);
    const auto help = evaluator.help(name);
    REQUIRE(help);
    CHECK(help->signature.rfind(name, 0) == 0);
    CHECK(!help->law.empty());
  }
  for (const auto& section : sections) {
    INFO("docs/operations.md tells of " << section.name
                                        << ", which is no builtin and no def of the prelude");
    CHECK(known.count(section.name) == 1);
  }
}

TEST_CASE("pages of operations and error codes") {
  lay::Sources sources;
  const lay::sema::Evaluator evaluator(sources, {});
  const std::string page = lay::runtime::help_page("composition-carry", evaluator);
  for (const char* part :
       {"This fails:\n\n    let r = (6,2):(1,7) o (3,2):(2,3)",
        "with:\n\n    error[composition-carry]", "This works:\n\n    let r = 12:1"})
    CHECK(page.find(part) != std::string::npos);
  CHECK(lay::runtime::help_page("coalesce", evaluator).find("lay> coalesce(") != std::string::npos);
  CHECK(lay::runtime::filled("a b c\nd\n\ne", 7, "  ") == "  a b c\n  d\n  e\n");
  CHECK(lay::runtime::filled("a `b c`, d\n* e ` f", 5, "") == "a\n`b c`,\nd\n* e `\nf\n");
  CHECK(lay::runtime::help_page("//", evaluator).find("lay> (7 // 2, 7 % 2)") != std::string::npos);
  CHECK(lay::runtime::help_page("coalesce", evaluator).find("`let") == std::string::npos);
  const std::string index = lay::runtime::help_index();
  for (const char* file :
       {"docs/keywords.md", "docs/schedules.md", "docs/terms.md", "docs/errors.md"})
    for (const std::string& name : names_of(file)) CHECK(index.find(name) != std::string::npos);
}

TEST_CASE("every entry that the planner takes has a page, and no page is without an entry") {
  const auto entries = lay::plan::entry_names();
  CHECK(names_of("docs/schedules.md") == std::set<std::string>(entries.begin(), entries.end()));
}

TEST_CASE("help knows what people type") {
  lay::Sources sources;
  const lay::sema::Evaluator evaluator(sources, {});
  const auto page = [&](const std::string& topic) {
    INFO(topic);
    std::string text;
    CHECK_NOTHROW(text = lay::runtime::help_page(topic, evaluator));
    return text;
  };
  for (const char* topic :
       {"mma",           "wgmma",          "ldmatrix",   "cp_async",      "cp.async",  "tma",
        "TMA",           "smem",           "stages",     "tile",          "swizzle",   "bank",
        "bank conflict", "Bank Conflicts", "occupancy",  "warp",          "warps",     "warpgroup",
        "cluster",       "multicast",      "fragment",   "accumulator",   "epilogue",  "pipeline",
        "split-K",       "split_k",        "persistent", "rasterization", "coalesced", "predicate",
        "mask",          "swapped",        "serpentine", "accumulate",    "order",     "num_stages",
        "shared memory"})
    CHECK(!page(topic).empty());
  // So do the words of the language, each of which the grammar names in quotes.
  const std::string grammar = slurp(source_root() / "grammar/LayLexer.g4");
  const std::regex word(": '([a-z]+)' ;");
  int words = 0;
  for (std::sregex_iterator i(grammar.begin(), grammar.end(), word), end; i != end; ++i, ++words)
    CHECK(!page((*i)[1]).empty());
  CHECK(words > 20);
  // A table keeps its rows.
  CHECK(page("show").find("\n  `bits`  the bits of an element, for banks\n") != std::string::npos);
  // A name with several pages prints them all.
  CHECK(page("smem").find("The schedule entry smem") != std::string::npos);
  CHECK(page("smem").find("32 banks") != std::string::npos);
  CHECK(page("swapped").find("`swapped` is called `swap_ab`") != std::string::npos);
  CHECK(page("swapped").find("swap_ab = 1") != std::string::npos);
  CHECK(page("order").find("group_m = 8") != std::string::npos);
  CHECK_THROWS(lay::runtime::help_page("no-such-thing", evaluator));
}
