#include "runtime/repl/repl.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "frontend/source/text.h"
#include "runtime/commands/commands.h"
#include "runtime/commands/exit_code.h"
#include "runtime/commands/help/help.h"
#include "runtime/commands/pictures/pictures.h"
#include "runtime/commands/report.h"
#include "runtime/execute/host.h"
#include "runtime/io/file.h"
#include "runtime/repl/completion.h"
#include "runtime/repl/highlight.h"
#include "runtime/repl/input.h"
#include "runtime/repl/interrupt.h"
#include "runtime/repl/result_text.h"

namespace lay::runtime {
namespace {

constexpr std::string_view help_text =
    R"(The value of an expression is printed and named r1, r2, ...; a statement stays in force.
  (4,2):(1,4)     a layout, shape : stride      let a = ...         names a value
  a(3,1)   a(7)   its value at a coordinate     def f(x) = ...      defines a function
  a o 2:4         composition                   dim M, N            declares unknown sizes
  show a          draws it                      assume M % 4 == 0   states a fact about sizes
  ?name           the page of an operation, statement, schedule entry, GPU term or error code
  ?               all pages
  :explain EXPR   how the value comes about, step by step; for a name: how it was made
  :show EXPR      its picture; `-o FILE.html`, .svg or .tex behind it writes a file
  :export TARGET EXPR   a layout for cute, cutedsl, triton, numpy or latex
  :type EXPR      the kind of a value           :save FILE   writes the statements as a script
  :load FILE      runs a script here            :reset       forgets everything
  :names          what is defined               :quit        ends, as exit and Ctrl-D do
Tab completes, Ctrl-R searches the history, Ctrl-C drops a line. A session copied with its
`lay> ` prompts can be pasted as it is.
)";

// Words that people type to leave or to get help; each also with `()`, as in Python.
bool is_call_of(std::string_view line, std::initializer_list<std::string_view> words) {
  if (line.ends_with("()")) line.remove_suffix(2);
  return std::find(words.begin(), words.end(), line) != words.end();
}

// Returns what must follow a command; empty for a command without an argument.
std::string argument_of(const std::string& command) {
  if (command == ":load" || command == ":save") return "FILE";
  if (command == ":export") return "TARGET EXPR";
  return command == ":explain" || command == ":show" || command == ":type" ? "EXPR" : "";
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

}  // namespace

Repl::Repl(ReplOptions options) : options_(std::move(options)) {
  reset();
}

void Repl::reset() {
  sema::Host host = make_host(print_line);
  host.show = [this](const picture::Picture& picture) { draw(picture); };
  ProgramOptions options;
  options.log = options_.log;
  program_ = std::make_unique<Program>(std::move(host), std::move(options));
  accepted_.clear();
  defined_.clear();
  results_ = 0;
}

// Asked each time: a window may have another width by now.
int Repl::columns() const {
  return options_.columns ? options_.columns() : 0;
}

void Repl::draw(const picture::Picture& picture) {
  if (collected_) {
    collected_->push_back(picture);
    return;
  }
  const int width = columns();
  picture::TextOptions form{picture::Colours::none, width > 0 ? width : 100, width > 0};
  if (options_.colour == Colour::always) form.colours = text_options(STDOUT_FILENO).colours;
  std::cout << picture::to_text(picture, form) << std::endl;
}

// EXPR, or EXPR -o FILE
void Repl::show_picture_of(const std::string& argument) {
  const auto option = argument.rfind(" -o ");
  const std::string file(
      option == argument.npos ? "" : trimmed(std::string_view(argument).substr(option + 4)));
  const PictureForm form = file.empty() ? PictureForm::text : form_of_file(file);
  std::vector<picture::Picture> pictures;
  collected_ = file.empty() ? nullptr : &pictures;
  program_->evaluator.draw_for_tex(form == PictureForm::tex);
  evaluate("show " + argument.substr(0, option));
  program_->evaluator.draw_for_tex(false);
  collected_ = nullptr;
  if (!pictures.empty()) write_file(file, {rendered(pictures, form)});
}

// TARGET EXPR
void Repl::export_layout(const std::string& argument) {
  const auto space = std::min(argument.find(' '), argument.size());
  evaluate("print export(" + std::string(trimmed(std::string_view(argument).substr(space))) + ", " +
           sema::quoted(argument.substr(0, space)) + ")");
}

bool Repl::take(const std::string& text) {
  bool goes_on = true;
  for (const std::string& part : split_commands(without_prompts(text)))
    goes_on = goes_on && take_part(part);
  std::cout.flush();
  return goes_on;
}

bool Repl::take_part(const std::string& text) {
  const std::string_view line = trimmed(text);
  if (line.empty()) return true;
  try {
    if (line.front() == ':') return command(std::string(line));
    if (line.front() == '?') {
      show_help(std::string(trimmed(line.substr(1))));
    } else if (is_call_of(line, {"exit", "quit"}) && !is_defined(line)) {
      return false;
    } else if (is_call_of(line, {"help"}) && !is_defined(line)) {
      std::cout << help_text;
    } else if (line.starts_with("help ") && !is_defined("help")) {
      show_help(std::string(trimmed(line.substr(5))));
    } else {
      keep(evaluate(text));
    }
  } catch (const std::logic_error& e) {
    complain("internal", std::string(e.what()) + "; this is a mistake in lay, please report it");
  }
  return true;
}

// Names of the user's own come before the words of the REPL.
bool Repl::is_defined(std::string_view call) const {
  return defined_.contains(std::string(call.substr(0, call.find('('))));
}

// A command whose argument fails reports the error; the session goes on.
bool Repl::command(const std::string& text) {
  const auto space = std::min(text.find_first_of(" \t"), text.size());
  const std::string name = text.substr(0, space),
                    argument(trimmed(std::string_view(text).substr(space)));
  if (name == ":quit" || name == ":q" || name == ":exit") return false;
  if (const std::string wanted = argument_of(name); argument.empty() && !wanted.empty()) {
    complain("argument-count",
             "`" + name + "` is given nothing: write `" + name + " " + wanted + "`");
    return true;
  }
  try {
    if (name == ":help" || name == ":h")
      argument.empty() ? void(std::cout << help_text) : show_help(argument);
    else if (name == ":explain")
      evaluate("explain " + argument);
    else if (name == ":show")
      show_picture_of(argument);
    else if (name == ":export")
      export_layout(argument);
    else if (name == ":type")
      show_type(argument);
    else if (name == ":load")
      keep(evaluate(read_file(argument), argument));
    else if (name == ":save")
      save(argument);
    else if (name == ":names")
      show_names();
    else if (name == ":reset")
      reset();
    else
      unknown_command(name);
  } catch (const DiagnosticError& e) {
    report(program_->sources, e.diagnostic);
    failed_ = true;
  }
  return true;
}

void Repl::unknown_command(const std::string& name) {
  const auto known = repl_commands();
  const auto near = nearest(name, {known.begin(), known.end()});
  complain("unknown-command", "there is no command `" + name + "`; " +
                                  (near ? "did you mean " + *near + "?" : "`:help` lists them"));
}

void Repl::complain(const std::string& code, const std::string& message) {
  Diagnostic d;
  d.code = code;
  d.message = message;
  report(program_->sources, d);
  failed_ = true;
}

// Line numbers in messages count the lines of the session, those of a loaded file its own.
std::optional<std::string> Repl::evaluate(const std::string& text, const std::string& name) {
  const InterruptScope interruptible;
  const int first_line = name.empty() ? line_ : 1;
  if (name.empty()) line_ += 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  const auto outcomes = program_->evaluator.run(name.empty() ? "<input>" : name, text, first_line);
  bool all_well = true;
  std::string result;
  for (const auto& outcome : outcomes) {
    result = show(outcome);
    all_well = all_well && outcome.ok();
  }
  std::cout.flush();
  if (!all_well) {
    failed_ = true;
    return std::nullopt;
  }
  return (result.empty() || outcomes.size() > 1 ? "" : "let " + result + " = ") +
         std::string(trimmed(text));
}

void Repl::keep(std::optional<std::string> statement) {
  if (statement) accepted_.push_back(std::move(*statement));
}

std::string Repl::show(const sema::Outcome& outcome) {
  report(program_->sources, outcome.diagnostics);
  if (options_.hints) hint(outcome.diagnostics);
  for (const auto& finding : outcome.findings)
    if (finding.origin == "prove" &&
        finding.verdict != Verdict::refuted)  // that is an error, reported already
      std::cout << verdict_text(program_->sources, finding) << "\n";
  if (outcome.poisoned) std::cerr << "not evaluated: it needs a name whose own statement failed\n";
  defined_.insert(outcome.names.begin(), outcome.names.end());
  if (!outcome.value || !outcome.names.empty() || outcome.value->as<sema::Nothing>()) return "";
  sema::Value value = program_->evaluator.settled(*outcome.value);
  const auto guards = program_->evaluator.simplified(value.guards);
  value.guards.clear();                                       // shown below, one a line
  const bool is_string = value.as<std::string>() != nullptr;  // a result reads back: "words"
  const std::string text = printable(
      is_string || !options_.tables ? sema::text(value) : program_->evaluator.printed(value));
  const std::string shown = clipped(text, columns());
  std::string name;
  if (options_.numbered) {
    name = next_name();
    program_->evaluator.define(name, *outcome.value, outcome.made_by);
    defined_.insert(name);
    std::cout << name << " = ";
  }
  std::cout << (options_.colour == Colour::always ? coloured(shown) : shown) << "\n";
  for (const Guard& guard : guards) std::cout << "  guarded by " << guard_text(guard) << "\n";
  return name;
}

void Repl::hint(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error && error_page(d.code) && hinted_.insert(d.code).second)
      std::cerr << "?" << d.code << " tells more\n";
}

// Skips names that the user has taken: after `let r1 = 5` the next result is r2.
std::string Repl::next_name() {
  const auto names = program_->evaluator.names();
  std::string name;
  do name = "r" + std::to_string(++results_);
  while (std::find(names.begin(), names.end(), name) != names.end());
  return name;
}

void Repl::show_help(const std::string& name) {
  try {
    std::cout << (name.empty() ? help_index() : help_page(name, program_->evaluator));
  } catch (const DiagnosticError& e) {
    report(program_->sources, e.diagnostic);
    failed_ = true;
  }
}

void Repl::show_type(const std::string& expression) {
  const auto outcomes = program_->evaluator.run("<input>", expression, line_++);
  for (const auto& outcome : outcomes) {
    report(program_->sources, outcome.diagnostics);
    if (!outcome.ok()) failed_ = true;
    if (outcome.value) std::cout << type_text(*outcome.value) << "\n";
  }
}

void Repl::show_names() {
  for (const auto& name : defined_)
    if (const auto help = program_->evaluator.help(name))
      std::cout << help->signature << "\n  " << help->law << "\n";
  for (const Predicate& fact : program_->evaluator.facts().assumptions())
    std::cout << "assume " << fact.to_string() << "\n";
}

void Repl::save(const std::string& file) {
  std::string text;
  for (const auto& statement : accepted_) text += statement + "\n";
  write_file(file, {text});
}

Completions Repl::complete(std::string_view text, std::size_t cursor) const {
  return complete_line(program_->evaluator, text, cursor);
}

namespace {

// Reads from a pipe, a file or a terminal without editing. Only the last has prompts.
int read_plainly(Repl& repl, bool prompt) {
  LineCollector input(!prompt);
  const auto ask = [&] {
    if (prompt)
      std::cout << (input.is_open() ? continuation_prompt : statement_prompt) << std::flush;
  };
  bool goes_on = true;
  ask();
  for (std::string line; goes_on && std::getline(std::cin, line);) {
    if (input.add(line)) {
      goes_on = repl.take(input.text());
      input.clear();
    }
    if (goes_on) ask();
  }
  if (goes_on && input.is_open()) repl.take(input.text());
  if (goes_on && prompt) std::cout << "\n";
  return repl.failed() && !prompt ? exit_program : exit_ok;
}

int read_with_editor(Repl& repl, bool colour) {
  History history(history_path());
  EditorLanguage language;
  language.needs_more = needs_more_input;
  language.pasted = without_prompts;
  language.complete = [&](std::string_view text, std::size_t cursor) {
    return repl.complete(text, cursor);
  };
  if (colour) language.highlight = highlight;
  const InterruptScope interruptible;  // between statements too: a late Ctrl-C ends nothing
  LineEditor editor(STDIN_FILENO, STDOUT_FILENO, history, language);
  std::cout << "Lay " LAY_VERSION ". `help` explains, `?name` tells of any name, Ctrl-D ends."
            << std::endl;
  while (const auto text =
             editor.read(std::string(statement_prompt), std::string(continuation_prompt))) {
    if (editor.gave_up_nothing()) std::cout << "Ctrl-D or `exit` ends the session." << std::endl;
    if (!repl.take(*text)) break;
  }
  return exit_ok;
}

}  // namespace

int repl() {
  const bool terminal = ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO);
  const bool colour = colour_wanted(STDOUT_FILENO);
  const auto columns = [terminal] { return terminal ? terminal_columns(STDOUT_FILENO) : 0; };
  Repl session(
      {terminal, colour ? Colour::always : Colour::never, log_to_stderr, columns, true, terminal});
  return can_edit(STDIN_FILENO, STDOUT_FILENO) ? read_with_editor(session, colour)
                                               : read_plainly(session, terminal);
}

}  // namespace lay::runtime
