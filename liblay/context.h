// What stands behind the handles of lay/lay.h, and the frame in which each call works: one call at
// a time in a context, within its limits, and every exception a result and diagnostics.
//
//   return guarded(context, nullptr, [&] { value = ...; });
#pragma once

#include <lay/lay.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/sema/values/array.h"
#include "frontend/source/diagnostic.h"
#include "frontend/source/source.h"
#include "runtime/execute/machine.h"

namespace lay::api {

// The options of a context, with copies of their texts.
struct Settings {
  runtime::MachineChoice machine = runtime::MachineChoice::any;
  double seconds = 0;  // 0: no limit
  std::int64_t array_bytes = 0;
  std::optional<std::string> folder;
  // Empty where the caller gave none.
  std::function<std::optional<std::string>(const std::string& name)> read;
  std::function<void(const std::string&)> print, log;
};

// A diagnostic with everything that its sources say, which it outlives.
struct Found {
  Diagnostic diagnostic;
  std::string file;
  Position begin, end;
  std::string text, json;
};

class Context {
 public:
  explicit Context(Settings settings);

  const Settings& settings() const { return settings_; }
  const std::vector<Found>& found() const { return found_; }
  // All diagnostics, rendered: made when the call ends, so that they can be read without a failure.
  const std::string& found_text() const { return found_text_; }
  const std::string& found_json() const { return found_json_; }

  // Keeps a diagnostic; `sources` are those of its spans, null where it has none.
  void add(const Sources* sources, const Diagnostic& diagnostic);
  void add(const Sources* sources, const Diagnostics& diagnostics);
  // Keeps an error about no place.
  void error(const std::string& code, const std::string& message);

  // Returns true once the call is to end: it was cancelled, or its time is over.
  bool is_stopped();
  void cancel();

  // The context is the calling thread's from begin() to end(); begin() returns false where it is in
  // use.
  bool begin() { return !busy_.exchange(true); }
  void end() { busy_ = false; }

 private:
  friend class Call;

  void render();

  Settings settings_;
  sema::ArrayLimit arrays_;
  std::vector<Found> found_;
  std::string found_text_, found_json_ = "[]";
  // A call is in progress.
  std::atomic<bool> busy_{false};
  std::atomic<bool> cancelled_{false};
  // Why the call is to end, LAY_RESULT_OK while it is not.
  std::atomic<lay_result> stopped_{LAY_RESULT_OK};
  std::chrono::steady_clock::time_point deadline_;
};

using ContextPtr = std::shared_ptr<Context>;

// A mistake in how a function was called: the call does nothing and says what is wrong.
struct Misuse {
  std::string message;
};
// Misuse "`array` is null" where it is.
void require(const void* pointer, const char* name);

// Does the work of one call and turns what it throws into the result. `sources` are those of the
// spans that it may throw, null where there are none.
lay_result guarded_work(const ContextPtr& context, const Sources* sources,
                        const std::function<void()>& work) noexcept;

template <class Work>
lay_result guarded(const ContextPtr& context, const Sources* sources, Work work) noexcept {
  // Of a reference, so that nothing is allocated before exceptions are caught.
  return guarded_work(context, sources, std::ref(work));
}

// The work of a function that returns a text that is kept in `kept`; null where it fails.
const char* kept_text(std::optional<std::string>& kept,
                      const std::function<std::string()>& text) noexcept;

}  // namespace lay::api

struct lay_context {
  lay::api::ContextPtr context;
};

struct lay_sink {
  std::string text;
  bool out_of_memory = false;
};
