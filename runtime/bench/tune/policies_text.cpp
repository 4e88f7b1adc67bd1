#include <algorithm>
#include <set>

#include "backend/plan/schedule/candidates.h"
#include "frontend/syntax/format.h"
#include "frontend/syntax/parse.h"
#include "runtime/bench/tune/finding.h"

namespace lay::bench {
namespace {

constexpr const char* beginning =
    R"(// Schedules that `lay tune` found, each for the GPU, the types, the orders and the class of
// sizes that it names: there it stands before the policies. `along` has the indices along which A,
// B and C lie in memory.

dim M, N, K, L

let rows = ()
)";

constexpr const char* extent_names[] = {"M", "N", "K", "L"};

std::string condition(const Finding& finding) {
  std::string text;
  for (std::size_t i = 0; i < finding.extents.size(); ++i) {
    const SizeRange range = range_of(finding.extents[i], finding.reach);
    text += (i == 0 ? "" : " and ") + std::string(extent_names[i]) +
            " >= " + std::to_string(range.from) + " and " + extent_names[i] + " < " +
            std::to_string(range.below);
  }
  return text;
}

std::string record(const Finding& finding) {
  const sema::TunedClass& of = finding.of;
  const auto type = [](const char* name, ElementType element) {
    return ", " + std::string(name) + " = " + std::string(element_name(element));
  };
  const auto truth = [](const char* name, bool value) {
    return ", " + std::string(name) + (value ? " = true" : " = false");
  };
  std::string text = "record " + row_name(finding) + " {\n  gpu = \"" + of.gpu + "\"" +
                     type("a", of.a) + type("b", of.b) + type("acc", of.acc) + type("c", of.c) +
                     ", along = \"" + of.along + "\"" + truth("masked", of.masked) +
                     truth("any_pitch", finding.any_pitch) +
                     "\n  condition = " + condition(finding) + "\n";
  for (const std::string& line : plan::entry_lines(finding.schedule)) text += "  " + line + "\n";
  return text + "}";
}

// A statement of the file with what stands before it.
struct Piece {
  std::string before, text;
  std::string row;  // the name of the record without parameters that it is
};

class Rewriter {
 public:
  Rewriter(const std::string& path, const std::string& text) {
    const int file = sources_.add(path, text.empty() ? beginning : text);
    const auto parsed = syntax::parse(sources_, file);
    for (const Diagnostic& d : parsed.diagnostics.list())
      if (d.severity == Severity::error) refuse(path, d.message);
    const std::string& all = sources_[file].text;
    std::size_t end = 0;
    for (const syntax::Statement& statement : parsed.tree->statements) {
      Piece piece{all.substr(end, statement.span.begin - end),
                  std::string(sources_.text(statement.span)), ""};
      end = statement.span.end;
      if (const auto* made = std::get_if<syntax::Record>(&statement.node);
          made && made->parameters.empty())
        piece.row = made->name.text;
      const auto* let = std::get_if<syntax::Let>(&statement.node);
      if (let && let->name.text == "rows")
        behind_rows_ = piece.before;
      else
        pieces_.push_back(std::move(piece));
    }
    behind_ = all.substr(end);
  }

  void use(const std::string& statement) {
    const auto same = [&](const Piece& piece) { return piece.text == statement; };
    if (std::any_of(pieces_.begin(), pieces_.end(), same)) return;
    if (pieces_.empty()) return pieces_.insert(pieces_.begin(), {"", statement + "\n", ""}), void();
    // The beginning of the file stays its beginning.
    Piece first{pieces_.front().before, statement, ""};
    pieces_.front().before = "\n\n";
    pieces_.insert(pieces_.begin(), std::move(first));
  }

  void put(const Finding& finding) {
    const std::string name = row_name(finding);
    Piece made{"\n\n// " + finding.comment + "\n", record(finding), name};
    const auto at = std::find_if(pieces_.begin(), pieces_.end(),
                                 [&](const Piece& piece) { return piece.row == name; });
    if (at != pieces_.end()) {
      *at = std::move(made);
    } else if (finding.reach == Reach::of_class) {
      pieces_.push_back(std::move(made));
    } else {
      // The first row that takes the sizes counts: before those of classes.
      const auto first = std::find_if(pieces_.begin(), pieces_.end(),
                                      [](const Piece& piece) { return !piece.row.empty(); });
      pieces_.insert(first, std::move(made));
    }
  }

  std::string text() const {
    std::string all, rows;
    for (const Piece& piece : pieces_) {
      all += piece.before + piece.text;
      if (!piece.row.empty()) rows += "  " + piece.row + ",\n";
    }
    return all + (behind_rows_.empty() ? "\n\n" : behind_rows_) + "let rows = (" +
           (rows.empty() ? "" : "\n" + rows) + ")" + behind_;
  }

 private:
  [[noreturn]] static void refuse(const std::string& path, const std::string& why) {
    Diagnostic d;
    d.code = "file";
    d.message = path + " is no file of policies, and stays as it is: " + why;
    throw DiagnosticError(std::move(d));
  }

  Sources sources_;
  std::vector<Piece> pieces_;
  std::string behind_rows_, behind_;
};

}  // namespace

std::string row_name(const Finding& finding) {
  const sema::TunedClass& of = finding.of;
  std::string name = of.gpu;
  for (const ElementType type : {of.a, of.b, of.acc, of.c})
    name += "_" + std::string(element_name(type));
  name += "_" + of.along;
  const bool is_class = finding.reach == Reach::of_class;
  for (const std::int64_t extent : finding.extents)
    name += "_" + std::to_string(is_class ? power_of(extent) : extent);
  if (!is_class) name += "_alone";
  return name + (of.masked ? "_masked" : "");
}

std::string policies_text(const std::vector<Finding>& findings, const std::string& path,
                          const std::string& before) {
  Rewriter rewriter(path, before);
  for (const Finding& finding : findings) {
    for (const std::string& use : plan::libraries_of(finding.schedule)) rewriter.use(use);
    rewriter.put(finding);
  }
  Sources sources;
  const auto formatted = syntax::format(sources, sources.add(path, rewriter.text()));
  if (!formatted.ok())
    throw std::logic_error("internal: policies that do not parse:\n" + rewriter.text());
  return formatted.text;
}

}  // namespace lay::bench
