#include "liblay/context.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "frontend/algebra/support/interruption.h"
#include "frontend/algebra/support/refusal.h"
#include "runtime/commands/check_json.h"
#include "runtime/io/json.h"

namespace lay::api {
namespace {

using Clock = std::chrono::steady_clock;

// Thrown through searches, which catch refusals.
struct Stopped {};

constexpr double most_seconds = 1e9;  // beyond it a limit is none

}  // namespace

// A call in progress: it has the context alone, until it ends.
class Call {
 public:
  explicit Call(Context& context) : context_(context) {
    context_.stopped_ = LAY_RESULT_OK;
    context_.cancelled_ = false;
    context_.found_.clear();
    context_.found_text_.clear();
    context_.found_json_ = "[]";
    const double seconds = context_.settings_.seconds;
    context_.deadline_ = seconds > 0 && seconds < most_seconds
                             ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                  std::chrono::duration<double>(seconds))
                             : Clock::time_point::max();
  }

  // Does the work; the result is that of the context's diagnostics, or why the work ended early.
  lay_result run(const Sources* sources, const std::function<void()>& work) {
    lay_result result = LAY_RESULT_OK;
    try {
      const sema::ArrayLimit::InForce limit(context_.arrays_);
      const Asking asking([this] {
        if (context_.is_stopped()) throw Stopped();
      });
      work();
    } catch (const Stopped&) {
      context_.error("interrupted", "the call was interrupted");
    } catch (const Misuse& misuse) {
      context_.error("misuse", misuse.message);
      result = LAY_RESULT_MISUSE;
    } catch (const DiagnosticError& error) {
      context_.add(sources, error.diagnostic);
    } catch (const Refusal& refusal) {
      Diagnostic d{refusal.code, refusal.message};
      for (const auto& [kind, text] : refusal.notes()) d.notes.push_back({kind, text});
      context_.add(sources, d);
    } catch (const runtime::MachineLacks& lacks) {
      context_.error("unavailable", lacks.what());
      result = LAY_RESULT_UNAVAILABLE;
    } catch (const std::logic_error& error) {
      context_.error("internal", error.what());
      result = LAY_RESULT_INTERNAL;
    }
    if (const lay_result why = context_.stopped_; why != LAY_RESULT_OK) result = why;
    for (const Found& found : context_.found_)
      if (found.diagnostic.severity == Severity::error && result == LAY_RESULT_OK)
        result = LAY_RESULT_ERROR;
    context_.render();
    return result;
  }

 private:
  Context& context_;
};

Context::Context(Settings settings)
    : settings_(std::move(settings)),
      arrays_(settings_.array_bytes > 0 ? settings_.array_bytes : INT64_MAX) {}

void Context::add(const Sources* sources, const Diagnostic& diagnostic) {
  static const Sources nothing;
  Found found;
  found.diagnostic = diagnostic;
  if (!sources) found.diagnostic.primary = {};
  const Sources& texts = sources ? *sources : nothing;
  const Span& where = found.diagnostic.primary;
  if (where.known()) {
    found.file = texts[where.file].name;
    found.begin = texts.position(where);
    found.end = texts.position(where.file, where.end);
  }
  found.text = lay::render(texts, found.diagnostic);
  found.json = runtime::diagnostic_json(texts, found.diagnostic);
  found_.push_back(std::move(found));
}

void Context::add(const Sources* sources, const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.list()) add(sources, d);
}

void Context::error(const std::string& code, const std::string& message) {
  add(nullptr, Diagnostic{code, message});
}

void Context::render() {
  std::vector<std::string> all;
  for (const Found& found : found_) {
    found_text_ += (found_text_.empty() ? "" : "\n") + found.text;
    all.push_back(found.json);
  }
  found_json_ = runtime::json_array(all);
}

bool Context::is_stopped() {
  if (stopped_ != LAY_RESULT_OK) return true;
  if (cancelled_)
    stopped_ = LAY_RESULT_CANCELLED;
  else if (deadline_ != Clock::time_point::max() && Clock::now() > deadline_)
    stopped_ = LAY_RESULT_TIME_LIMIT;
  return stopped_ != LAY_RESULT_OK;
}

void Context::cancel() {
  if (busy_) cancelled_ = true;
}

void require(const void* pointer, const char* name) {
  if (!pointer) throw Misuse{std::string("`") + name + "` is null"};
}

lay_result guarded_work(const ContextPtr& context, const Sources* sources,
                        const std::function<void()>& work) noexcept {
  if (!context->begin()) return LAY_RESULT_MISUSE;
  lay_result result = LAY_RESULT_INTERNAL;
  try {
    result = Call(*context).run(sources, work);
  } catch (const std::bad_alloc&) {
    result = LAY_RESULT_OUT_OF_MEMORY;
  } catch (...) {
    // No diagnostic can be made either.
  }
  context->end();
  return result;
}

const char* kept_text(std::optional<std::string>& kept,
                      const std::function<std::string()>& text) noexcept {
  try {
    if (!kept) kept = text();
    return kept->c_str();
  } catch (...) {
    return nullptr;
  }
}

namespace {

// The settings that the options ask for; nothing for a size of no version, or a machine that there
// is not.
std::optional<Settings> settings_of(const lay_options* options) {
  Settings settings;
  if (!options) return settings;
  if (options->size != sizeof(lay_options)) return std::nullopt;
  switch (options->machine) {
    case LAY_MACHINE_ANY:
      settings.machine = runtime::MachineChoice::any;
      break;
    case LAY_MACHINE_HOST:
      settings.machine = runtime::MachineChoice::host;
      break;
    case LAY_MACHINE_GPU:
      settings.machine = runtime::MachineChoice::gpu;
      break;
    default:
      return std::nullopt;
  }
  settings.seconds = options->seconds;
  settings.array_bytes = options->array_bytes;
  if (options->folder) settings.folder = options->folder;
  void* const user = options->user;
  if (options->print)
    settings.print = [print = options->print, user](const std::string& text) {
      print(user, text.c_str());
    };
  if (options->log)
    settings.log = [log = options->log, user](const std::string& line) { log(user, line.c_str()); };
  if (options->read)
    settings.read = [read = options->read,
                     user](const std::string& name) -> std::optional<std::string> {
      lay_sink sink;
      if (read(user, name.c_str(), &sink) != 0) return std::nullopt;
      if (sink.out_of_memory) throw std::bad_alloc();
      return std::move(sink.text);
    };
  return settings;
}

lay_severity severity_of(Severity severity) {
  return severity == Severity::error     ? LAY_SEVERITY_ERROR
         : severity == Severity::warning ? LAY_SEVERITY_WARNING
                                         : LAY_SEVERITY_NOTE;
}

}  // namespace
}  // namespace lay::api

using namespace lay::api;

uint32_t lay_api_version(void) {
  return LAY_API_VERSION;
}

const char* lay_version(void) {
  return LAY_VERSION;
}

void lay_sink_write(lay_sink* sink, const char* text, size_t length) {
  if (!sink || !text) return;
  try {
    sink->text.append(text, length);
  } catch (...) {
    sink->out_of_memory = true;
  }
}

lay_context* lay_context_new(const lay_options* options) {
  try {
    auto settings = settings_of(options);
    if (!settings) return nullptr;
    return new lay_context{std::make_shared<Context>(std::move(*settings))};
  } catch (...) {
    return nullptr;
  }
}

void lay_context_free(lay_context* context) {
  delete context;
}

void lay_cancel(lay_context* context) {
  if (context) context->context->cancel();
}

size_t lay_diagnostic_count(const lay_context* context) {
  return context ? context->context->found().size() : 0;
}

lay_result lay_diagnostic_get(const lay_context* context, size_t index,
                              lay_diagnostic* diagnostic) {
  if (!context || !diagnostic || diagnostic->size != sizeof(lay_diagnostic) ||
      index >= context->context->found().size())
    return LAY_RESULT_MISUSE;
  const Found& found = context->context->found()[index];
  diagnostic->severity = severity_of(found.diagnostic.severity);
  diagnostic->code = found.diagnostic.code.c_str();
  diagnostic->message = found.diagnostic.message.c_str();
  diagnostic->file = found.file.c_str();
  diagnostic->line = found.begin.line;
  diagnostic->column = found.begin.column;
  diagnostic->end_line = found.end.line;
  diagnostic->end_column = found.end.column;
  diagnostic->text = found.text.c_str();
  diagnostic->json = found.json.c_str();
  return LAY_RESULT_OK;
}

const char* lay_diagnostics_text(const lay_context* context) {
  return context ? context->context->found_text().c_str() : nullptr;
}

const char* lay_diagnostics_json(const lay_context* context) {
  return context ? context->context->found_json().c_str() : nullptr;
}
