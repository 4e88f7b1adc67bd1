#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "frontend/algebra/support/refusal.h"
#include "liblay/objects.h"
#include "runtime/commands/check_json.h"
#include "runtime/commands/line_answers.h"
#include "runtime/commands/pictures/pictures.h"
#include "runtime/commands/report.h"
#include "runtime/commands/script.h"
#include "runtime/execute/host.h"
#include "runtime/io/value_json.h"

namespace lay::api {
namespace {

namespace fs = std::filesystem;

// What the program's statements ask of the world, as far as the context's options allow it.
sema::Host host_of(ProgramState& state) {
  const Settings& settings = state.context->settings();
  const auto print = [&state](const std::string& text) {
    if (state.is_answering)
      state.printed += text + "\n";
    else if (const auto& to = state.context->settings().print)
      to(text);
  };
  sema::Host host = runtime::make_host(print, settings.folder.value_or("."));
  host.show = [&state, as_text = std::move(host.show)](const picture::Picture& picture) {
    if (state.pictures)
      state.pictures->push_back(picture);
    else
      as_text(picture);
  };
  host.interrupted = [&state] { return state.context->is_stopped(); };
  if (settings.folder) {
    const auto inside = [folder = fs::path(*settings.folder)](const std::string& path) {
      return (folder / path).string();
    };
    host.load = [load = std::move(host.load), inside](const std::string& path) {
      return load(inside(path));
    };
    host.save = [save = std::move(host.save), inside](const std::string& path,
                                                      const sema::Array& array) {
      save(inside(path), array);
    };
  } else {
    host.load = nullptr;
    host.save = nullptr;
    host.read = nullptr;
  }
  if (settings.read)
    host.read = [read = settings.read, other = std::move(host.read)](const std::string& name) {
      if (std::optional<std::string> text = read(name)) {
        if (text->size() <= runtime::most_script_bytes) return std::move(*text);
        throw refusal("file", "`" + name + "` has more than " +
                                  std::to_string(runtime::most_script_bytes) + " bytes");
      }
      if (other) return other(name);
      throw refusal("file", "there is no file `" + name + "`");
    };
  return host;
}

runtime::ProgramOptions options_of(ProgramState& state, sema::Options evaluation) {
  runtime::ProgramOptions options;
  options.evaluation = std::move(evaluation);
  options.on = state.context->settings().machine;
  options.log = state.context->settings().log;
  options.host.interrupted = [&state] { return state.context->is_stopped(); };
  options.host.progress = false;
  return options;
}

// A statement of the last text, as lay_program_statements_json shows it.
std::string statement_json(const ProgramState& state, const sema::Outcome& outcome) {
  const Sources& sources = state.program.sources;
  runtime::JsonObject object;
  if (outcome.where.known()) {
    const Position at = sources.position(outcome.where);
    object.integer("line", at.line).integer("column", at.column);
  }
  object.boolean("ok", outcome.ok());
  std::vector<std::string> findings;
  for (const sema::Finding& finding : outcome.findings)
    findings.push_back(runtime::finding_json(sources, finding));
  object.raw("names", runtime::json_strings(outcome.names));
  if (outcome.value) {
    runtime::JsonObject value;
    runtime::describe(value, seen(state, *outcome.value));
    object.raw("value", value.text());
  }
  return object.raw("findings", runtime::json_array(findings)).text();
}

// While it lives, what the program prints is kept for an answer.
class Answering {
 public:
  explicit Answering(ProgramState& state) : state_(state) { state_.is_answering = true; }
  ~Answering() { state_.is_answering = false; }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  ProgramState& state_;
};

// While it lives, the pictures of the program are kept.
class Drawing {
 public:
  Drawing(ProgramState& state, bool for_tex) : state_(state) {
    state_.pictures = &pictures_;
    state_.program.evaluator.draw_for_tex(for_tex);
  }
  ~Drawing() {
    state_.program.evaluator.draw_for_tex(false);
    state_.pictures = nullptr;
  }
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;

  const std::vector<picture::Picture>& pictures() const { return pictures_; }

 private:
  ProgramState& state_;
  std::vector<picture::Picture> pictures_;
};

// The verdict on a claim, with what the diagnostic of a refuted one says.
std::string verdict_json(const Sources& sources, const sema::Finding& finding,
                         const Diagnostics& diagnostics) {
  runtime::JsonObject object, witness;
  object.string("verdict", runtime::verdict_word(finding));
  object.string("claim", runtime::finding_claim(sources, finding));
  std::string text;
  for (const Diagnostic& d : diagnostics.list()) {
    for (const auto& [name, json] : d.witness) witness.raw(name, json);
    text += render(sources, d);
  }
  if (diagnostics.list().empty())
    for (const auto& [name, value] : finding.breaks) witness.integer(name, value);
  return object.raw("witness", witness.text())
      .raw("decided_by", runtime::json_strings(finding.decided_by))
      .string("text", text)
      .text();
}

void add_diagnostics(ProgramState& state, const sema::Outcome& outcome) {
  state.context->add(&state.program.sources, outcome.diagnostics);
  if (outcome.poisoned && outcome.diagnostics.ok())
    state.context->add(&state.program.sources, runtime::poisoned(outcome));
}

// What the names of a call stand for.
sema::Bindings bound_names(const ProgramPtr& state, const lay_binding* bindings,
                           std::size_t count) {
  if (count > 0) require(bindings, "bindings");
  sema::Bindings bound;
  for (std::size_t i = 0; i < count; ++i) {
    require(bindings[i].name, "bindings[].name");
    bound.emplace_back(bindings[i].name, value_for(state, bindings[i].value, "bindings[].value"));
  }
  return bound;
}

}  // namespace

ProgramState::ProgramState(ContextPtr of, sema::Options options)
    : context(std::move(of)), program(host_of(*this), options_of(*this, std::move(options))) {}

sema::Value seen(const ProgramState& state, const sema::Value& value) {
  sema::Value shown = state.program.evaluator.settled(value);
  shown.guards = state.program.evaluator.simplified(value.guards);
  return shown;
}

std::map<std::string, std::int64_t> sizes_of(const lay_size* sizes, std::size_t count) {
  std::map<std::string, std::int64_t> numbers;
  if (count > 0) require(sizes, "sizes");
  for (std::size_t i = 0; i < count; ++i) {
    require(sizes[i].name, "sizes[].name");
    numbers[sizes[i].name] = sizes[i].value;
  }
  return numbers;
}

}  // namespace lay::api

using namespace lay::api;
using namespace lay;

lay_result lay_program_new(lay_context* context, const lay_program_options* options,
                           lay_program** program) {
  if (!context) return LAY_RESULT_MISUSE;
  return guarded(context->context, nullptr, [&] {
    require(program, "program");
    *program = nullptr;
    sema::Options evaluation;
    if (options) {
      if (options->size != sizeof(lay_program_options))
        throw Misuse{"`options->size` is not sizeof(lay_program_options)"};
      evaluation.mode = options->check ? sema::Mode::check : sema::Mode::run;
      evaluation.sizes = sizes_of(options->sizes, options->size_count);
    }
    auto state = std::make_shared<ProgramState>(context->context, std::move(evaluation));
    *program = new lay_program{std::move(state), {}, {}, {}, {}};
  });
}

void lay_program_free(lay_program* program) {
  delete program;
}

lay_result lay_program_run(lay_program* program, const char* name, const char* text,
                           size_t length) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(name, "name");
    require(text, "text");
    program->statements.reset();
    state.outcomes.clear();
    if (length > runtime::most_script_bytes)
      throw refusal("file", std::string("`") + name + "` has more than " +
                                std::to_string(runtime::most_script_bytes) + " bytes");
    state.outcomes = state.program.evaluator.run(name, std::string_view(text, length));
    for (const sema::Outcome& outcome : state.outcomes) add_diagnostics(state, outcome);
  });
}

const char* lay_program_statements_json(lay_program* program) {
  if (!program) return nullptr;
  return kept_text(program->statements, [&] {
    std::vector<std::string> all;
    for (const sema::Outcome& outcome : program->state->outcomes)
      if (outcome.where.known()) all.push_back(statement_json(*program->state, outcome));
    return runtime::json_array(all);
  });
}

lay_result lay_program_evaluate(lay_program* program, const char* expression,
                                const lay_binding* bindings, size_t count, lay_value** value) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(value, "value");
    *value = nullptr;
    require(expression, "expression");
    const sema::Bindings bound = bound_names(program->state, bindings, count);
    const sema::Outcome outcome =
        state.program.evaluator.evaluate_expression("<expression>", expression, bound);
    add_diagnostics(state, outcome);
    if (outcome.ok() && outcome.value)
      *value = new_value(state.context, program->state, seen(state, *outcome.value));
  });
}

lay_result lay_program_prove(lay_program* program, const char* claim, const lay_binding* bindings,
                             size_t count, const char** json) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(json, "json");
    *json = nullptr;
    require(claim, "claim");
    const sema::Outcome outcome = state.program.evaluator.prove_expression(
        "<claim>", claim, bound_names(program->state, bindings, count));
    const auto asked =
        std::find_if(outcome.findings.begin(), outcome.findings.end(),
                     [](const sema::Finding& finding) { return finding.origin == "prove"; });
    if (asked == outcome.findings.end()) return add_diagnostics(state, outcome);
    program->verdict = verdict_json(state.program.sources, *asked, outcome.diagnostics);
    *json = program->verdict.c_str();
  });
}

lay_result lay_program_show(lay_program* program, const char* expression,
                            const lay_binding* bindings, size_t count, const char* form,
                            const char** picture, size_t* bytes) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(picture, "picture");
    require(bytes, "bytes");
    *picture = nullptr;
    *bytes = 0;
    require(expression, "expression");
    require(form, "form");
    const auto drawn_as = runtime::picture_form(form);
    if (!drawn_as) throw Misuse{"`form` is none of text, svg, png, html and tex"};
    const sema::Bindings bound = bound_names(program->state, bindings, count);
    Drawing drawing(state, *drawn_as == runtime::PictureForm::tex);
    const sema::Outcome outcome =
        state.program.evaluator.show_expression("<expression>", expression, bound);
    add_diagnostics(state, outcome);
    if (!outcome.ok()) return;
    program->picture = runtime::rendered(drawing.pictures(), *drawn_as);
    *picture = program->picture.c_str();
    *bytes = program->picture.size();
  });
}

lay_result lay_program_define(lay_program* program, const char* name, const lay_value* value) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(name, "name");
    const sema::Value& defined = value_for(program->state, value, "value");
    // A name is one that an expression can say.
    const auto is_part = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const std::string_view word = name;
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) != 0 ||
        !std::all_of(word.begin(), word.end(), is_part))
      throw Misuse{"`name` is no name: expected letters, digits and `_`, with no digit in front"};
    state.program.evaluator.define(name, defined);
  });
}

lay_result lay_program_answer(lay_program* program, const char* line, int32_t number,
                              const char** json) {
  if (!program) return LAY_RESULT_MISUSE;
  ProgramState& state = *program->state;
  return guarded(state.context, &state.program.sources, [&] {
    require(json, "json");
    *json = nullptr;
    require(line, "line");
    const Answering answering(state);
    runtime::LineAnswers answers(state.program, state.printed);
    program->answer = answers.answer(line, number);
    *json = program->answer.c_str();
    for (const sema::Outcome& outcome : answers.outcomes()) add_diagnostics(state, outcome);
  });
}
