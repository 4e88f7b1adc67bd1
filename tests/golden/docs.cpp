// Every snippet of the documentation is run. A ```lay block whose first line begins with `lay> ` is
// a transcript: the answers must be what the REPL answers. Any other ```lay block is a script: it
// must run without an error. The blocks under one heading (`#` or `##`) are one session. With
// LAY_BLESS=1 transcripts are rewritten.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "frontend/sema/builtins/builtins.h"
#include "frontend/sema/evaluator.h"
#include "runtime/commands/help.h"
#include "tests/golden/golden.h"
#include "tests/golden/transcript.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

namespace {

namespace fs = std::filesystem;

class Document {
 public:
  // In the list of operations the line below a heading is the signature with the law, and examples
  // are short.
  explicit Document(const fs::path& file)
      : file_(file), operations_(file.filename() == "operations.md") {
    options_.tables = !operations_ && file.filename() != "words.md";
    restart();
  }

  // The text with the answers of now.
  std::string run() {
    std::string result;
    const auto lines = lines_of(slurp(file_));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      result += lines[i] + "\n";
      if (lines[i].rfind("# ", 0) == 0 || lines[i].rfind("## ", 0) == 0) restart();
      if (operations_ && lines[i].rfind("## ", 0) == 0) {
        result += law_of(lines[i].substr(3)) + "\n";
        if (i + 1 < lines.size() && lines[i + 1].rfind('`' + lines[i].substr(3), 0) == 0) ++i;
      }
      if (lines[i].rfind("```", 0) != 0) continue;
      const bool is_lay = lines[i] == "```lay";
      std::string block;
      const std::size_t first = i + 2;
      for (++i; i < lines.size() && lines[i] != "```"; ++i) block += lines[i] + "\n";
      result += (is_lay ? run_block(block, first) : block) + "```\n";
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

  std::string run_block(const std::string& block, std::size_t line) {
    ++blocks_;
    if (is_transcript(block)) return replay(*repl_, block);
    const std::string said = answer(*repl_, block);
    INFO(file_.string() << ":" << line << " says\n" << said);
    CHECK(said.find("error[") == std::string::npos);
    return block;
  }

  fs::path file_;
  bool operations_;
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
    names.insert(section.name);
  return names;
}

}  // namespace

TEST_CASE("the snippets of the documentation run and say what they say they say") {
  const TemporaryFolder folder;
  const WorkingFolder here(folder.path());  // snippets may write files
  auto files = files_in("docs", ".md");
  files.push_back(source_root() / "README.md");
  for (const auto& file : files) DYNAMIC_SECTION(file.filename().string()) {
      Document document(file);
      const std::string text = document.run();
      const std::set<std::string> teaching = {"tour.md", "language.md", "operations.md", "words.md",
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
  for (const auto& file : files_in("stdlib", ".lay"))  // all of them are in sight everywhere
    for (const std::string& line : lines_of(slurp(file)))
      if (line.rfind("def ", 0) == 0) known.insert(line.substr(4, line.find('(') - 4));
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
  CHECK(lay::runtime::help_page("//", evaluator).find("lay> (7 // 2, 7 % 2)") != std::string::npos);
  CHECK(lay::runtime::help_page("coalesce", evaluator).find("`let") == std::string::npos);
  const std::string index = lay::runtime::help_index();
  for (const std::string& name : names_of("docs/words.md"))
    CHECK(index.find(name) != std::string::npos);
  for (const std::string& name : names_of("docs/errors.md"))
    CHECK(index.find(name) != std::string::npos);
}
