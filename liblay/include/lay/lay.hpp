// Lay as a library for C++17 and later: a view of lay/lay.h in which objects free themselves,
// texts are strings, and what goes wrong is thrown as lay::Error.
//
//   lay::Context context;
//   lay::Program program(context);
//   program.run("tiles.lay", "let a = (4,2):(1,4)");
//   std::cout << program.evaluate("a o 2:4").text();
//
// Everything is inline over the C functions: the library may be of another C++ compiler. What
// lay/lay.h says of threads, lifetimes and limits holds here.
#ifndef LAY_LAY_HPP
#define LAY_LAY_HPP

#include <lay/lay.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lay {
// The names of the compiler itself, which the static library has in it, are others.
inline namespace view1 {

struct Diagnostic {
  lay_severity severity = LAY_SEVERITY_ERROR;
  std::string code, message, file;
  // From 1; 0: nowhere.
  int line = 0, column = 0, end_line = 0, end_column = 0;
  std::string text, json;
};

// A call that did not succeed, with what the library says about it. what() is the whole text.
class Error : public std::exception {
 public:
  Error(lay_result result, std::vector<Diagnostic> diagnostics, std::string text)
      : result_(result), diagnostics_(std::move(diagnostics)), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  lay_result result() const { return result_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  lay_result result_;
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

namespace detail {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <typename T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;

inline std::string text_or_throw(const char* text) {
  if (!text) throw Error(LAY_RESULT_OUT_OF_MEMORY, {}, "out of memory");
  return text;
}

}  // namespace detail

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

// A context. Copies are the same one.
class Context {
 public:
  Context() : Context(nullptr) {}
  explicit Context(const lay_options& options) : Context(&options) {}

  lay_context* get() const { return context_.get(); }
  // For any thread.
  void cancel() const { lay_cancel(get()); }

  // Of the last call.
  std::vector<Diagnostic> diagnostics() const {
    std::vector<Diagnostic> all;
    for (std::size_t i = 0; i < lay_diagnostic_count(get()); ++i) {
      lay_diagnostic d{};
      d.size = sizeof d;
      if (lay_diagnostic_get(get(), i, &d) != LAY_RESULT_OK) break;
      all.push_back({d.severity, d.code, d.message, d.file, d.line, d.column, d.end_line,
                     d.end_column, d.text, d.json});
    }
    return all;
  }
  // What `lay tune` and `lay calibrate` keep for the user, for all plans of the process from here
  // on; what is wrong with it is among the diagnostics.
  void read_measured() const { check(lay_read_measured(get(), nullptr, nullptr)); }
  // Throws Error where the result is another than LAY_RESULT_OK.
  void check(lay_result result) const {
    if (result == LAY_RESULT_OK) return;
    std::string text = lay_diagnostics_text(get());
    if (text.empty()) text = "the call failed, result " + std::to_string(static_cast<int>(result));
    throw Error(result, diagnostics(), std::move(text));
  }

 private:
  explicit Context(const lay_options* options)
      : context_(lay_context_new(options), &lay_context_free) {
    if (!context_)
      throw Error(LAY_RESULT_MISUSE, {}, "no context: memory lacks, or the options are wrong");
  }
  std::shared_ptr<lay_context> context_;
};

class Value {
 public:
  Value(Context context, lay_value* value) : context_(std::move(context)), value_(value) {}

  static Value of(const Context& context, std::int64_t number) {
    return made(context,
                [&](lay_value** v) { return lay_value_of_integer(context.get(), number, v); });
  }
  static Value of(const Context& context, double number) {
    return made(context,
                [&](lay_value** v) { return lay_value_of_real(context.get(), number, v); });
  }
  static Value of(const Context& context, const std::string& string) {
    return made(context, [&](lay_value** v) {
      return lay_value_of_string(context.get(), string.c_str(), v);
    });
  }
  // Copies the elements, `bytes` of them in row-major order.
  static Value of(const Context& context, const std::string& element,
                  const std::vector<std::int64_t>& shape, const void* data, std::size_t bytes) {
    lay_array array{};
    array.size = sizeof array;
    array.rank = static_cast<std::int32_t>(shape.size());
    array.element = element.c_str();
    array.shape = shape.data();
    array.data = data;
    array.bytes = static_cast<std::int64_t>(bytes);
    return made(context,
                [&](lay_value** v) { return lay_value_of_array(context.get(), &array, v); });
  }

  lay_value* get() const { return value_.get(); }
  std::string kind() const { return detail::text_or_throw(lay_value_kind(get())); }
  std::string text() const { return detail::text_or_throw(lay_value_text(get())); }
  std::string json() const { return detail::text_or_throw(lay_value_json(get())); }
  // Throws Error where the value is no known integer, no number, no array.
  std::int64_t integer() const {
    std::int64_t number = 0;
    require(lay_value_to_integer(get(), &number), "a known integer");
    return number;
  }
  double real() const {
    double number = 0;
    require(lay_value_to_real(get(), &number), "a known number");
    return number;
  }
  // Its elements live as long as the value.
  lay_array array() const {
    lay_array array{};
    array.size = sizeof array;
    require(lay_value_to_array(get(), &array), "an array");
    return array;
  }

 private:
  template <typename Make>
  static Value made(const Context& context, Make make) {
    lay_value* value = nullptr;
    context.check(make(&value));
    return Value(context, value);
  }
  void require(lay_result result, const char* what) const {
    if (result != LAY_RESULT_OK)
      throw Error(result, {}, "expected " + std::string(what) + ", got " + text());
  }

  Context context_;
  detail::Owned<lay_value, lay_value_free> value_;
};

namespace detail {

inline std::vector<lay_size> views(const Sizes& sizes) {
  std::vector<lay_size> all;
  for (const auto& size : sizes) all.push_back({size.first.c_str(), size.second});
  return all;
}

}  // namespace detail

class Plan {
 public:
  Plan(Context context, lay_plan* plan) : context_(std::move(context)), plan_(plan) {}

  lay_plan* get() const { return plan_.get(); }
  std::string text() const { return detail::text_or_throw(lay_plan_text(get())); }
  std::vector<std::string> variants() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < lay_plan_variant_count(get()); ++i)
      names.emplace_back(lay_plan_variant_name(get(), i));
    return names;
  }
  // The number of the variant that a launch of these sizes takes.
  std::size_t choose(const Sizes& sizes) const {
    std::size_t variant = 0;
    const auto given = detail::views(sizes);
    context_.check(lay_plan_choose(get(), given.data(), given.size(), &variant));
    return variant;
  }
  // Seconds at least.
  double forecast(std::size_t variant, const Sizes& sizes) const {
    double seconds = 0;
    const auto given = detail::views(sizes);
    context_.check(
        lay_plan_forecast(get(), variant, given.data(), given.size(), &seconds, nullptr));
    return seconds;
  }
  std::size_t launches(std::size_t variant) const {
    std::size_t count = 0;
    context_.check(lay_plan_launch_count(get(), variant, &count));
    return count;
  }
  std::string source(std::size_t variant, std::size_t launch = 0) const {
    const char* text = nullptr;
    context_.check(lay_plan_source(get(), variant, launch, &text));
    return text;
  }
  std::string image(std::size_t variant, std::size_t launch = 0) const {
    const void* image = nullptr;
    std::size_t bytes = 0;
    context_.check(lay_plan_image(get(), variant, launch, &image, &bytes));
    return std::string(static_cast<const char*>(image), bytes);
  }

 private:
  Context context_;
  detail::Owned<lay_plan, lay_plan_free> plan_;
};

// A kernel on memory of a device: what lay/lay.h says of launchers holds.
class Launcher {
 public:
  Launcher(Context context, lay_launcher* launcher)
      : context_(std::move(context)), launcher_(launcher) {}

  lay_launcher* get() const { return launcher_.get(); }

  // Makes a launch on these tensors ready, one for each of the kernel in its order, and fills in
  // the outputs without a shape. Returns the bytes of workspace that a launch needs.
  std::int64_t prepare(std::vector<lay_tensor>& tensors, const Sizes& sizes = {}) const {
    std::int64_t bytes = 0;
    const auto given = detail::views(sizes);
    context_.check(lay_launcher_prepare(get(), tensors.data(), tensors.size(), given.data(),
                                        given.size(), &bytes));
    return bytes;
  }
  // Launches on a stream, a CUstream or cudaStream_t, and returns before the launch is done.
  void launch(const std::vector<lay_tensor>& tensors, void* stream, void* workspace = nullptr,
              std::int64_t workspace_bytes = 0, const std::vector<const Value*>& scalars = {},
              const Sizes& sizes = {}) const {
    const auto given = detail::views(sizes);
    std::vector<const lay_value*> numbers;
    for (const Value* scalar : scalars) numbers.push_back(scalar->get());
    context_.check(lay_launcher_launch(get(), tensors.data(), tensors.size(), given.data(),
                                       given.size(), numbers.data(), numbers.size(), workspace,
                                       workspace_bytes, stream));
  }
  // The name of the variant that the last call took; "" before the first.
  std::string variant() const { return detail::text_or_throw(lay_launcher_variant(get())); }

 private:
  Context context_;
  detail::Owned<lay_launcher, lay_launcher_free> launcher_;
};

class Kernel {
 public:
  Kernel(Context context, lay_kernel* kernel) : context_(std::move(context)), kernel_(kernel) {}

  lay_kernel* get() const { return kernel_.get(); }
  std::string json() const { return detail::text_or_throw(lay_kernel_json(get())); }

  // The outputs of a call, of which the kernel has `count`.
  std::vector<Value> run(const std::vector<const Value*>& arguments, std::size_t count = 1,
                         const Sizes& sizes = {}) const {
    std::vector<const lay_value*> given;
    for (const Value* argument : arguments) given.push_back(argument->get());
    const auto numbers = detail::views(sizes);
    std::vector<lay_value*> outputs(count, nullptr);
    context_.check(lay_kernel_run(get(), given.data(), given.size(), numbers.data(), numbers.size(),
                                  outputs.data(), outputs.size()));
    std::vector<Value> values;
    for (lay_value* output : outputs) values.emplace_back(context_, output);
    return values;
  }
  // For a GPU or architecture; "": the default.
  Plan plan(const std::string& target = "") const {
    lay_plan* plan = nullptr;
    context_.check(lay_plan_new(get(), target.empty() ? nullptr : target.c_str(), &plan));
    return Plan(context_, plan);
  }
  // Times schedules on a GPU and takes the fastest from here on; what lay_kernel_tune says.
  std::string tune(const Sizes& sizes, const lay_tune_options* options = nullptr) const {
    const auto given = detail::views(sizes);
    const char* json = nullptr;
    context_.check(lay_kernel_tune(get(), options, given.data(), given.size(), &json));
    return json;
  }
  // On the device of that number. Throws Error where there is no such GPU or no CUDA compiler.
  Launcher launcher(int device = 0) const {
    lay_launcher* launcher = nullptr;
    context_.check(lay_launcher_new(get(), device, &launcher));
    return Launcher(context_, launcher);
  }

 private:
  Context context_;
  detail::Owned<lay_kernel, lay_kernel_free> kernel_;
};

struct File {
  std::string name, contents;
};

class Program {
 public:
  explicit Program(Context context, const Sizes& sizes = {}, bool check = false)
      : context_(std::move(context)) {
    const auto given = detail::views(sizes);
    lay_program_options options{};
    options.size = sizeof options;
    options.check = check ? 1 : 0;
    options.sizes = given.data();
    options.size_count = given.size();
    lay_program* program = nullptr;
    context_.check(lay_program_new(context_.get(), &options, &program));
    program_.reset(program);
  }

  lay_program* get() const { return program_.get(); }

  // Throws Error where a statement failed; the others are in force all the same.
  void run(const std::string& name, std::string_view text) const {
    context_.check(lay_program_run(get(), name.c_str(), text.data(), text.size()));
  }
  std::string statements_json() const {
    return detail::text_or_throw(lay_program_statements_json(get()));
  }
  Value evaluate(const std::string& expression,
                 std::initializer_list<std::pair<const char*, const Value*>> names = {}) const {
    const auto bindings = views(names);
    lay_value* value = nullptr;
    context_.check(
        lay_program_evaluate(get(), expression.c_str(), bindings.data(), bindings.size(), &value));
    return Value(context_, value);
  }
  // The verdict on a claim, as JSON.
  std::string prove(const std::string& claim,
                    std::initializer_list<std::pair<const char*, const Value*>> names = {}) const {
    const auto bindings = views(names);
    const char* json = nullptr;
    context_.check(
        lay_program_prove(get(), claim.c_str(), bindings.data(), bindings.size(), &json));
    return json;
  }
  // In the form "text", "svg", "png", "html" or "tex".
  std::string show(const std::string& expression, const std::string& form = "text",
                   std::initializer_list<std::pair<const char*, const Value*>> names = {}) const {
    const auto bindings = views(names);
    const char* picture = nullptr;
    std::size_t bytes = 0;
    context_.check(lay_program_show(get(), expression.c_str(), bindings.data(), bindings.size(),
                                    form.c_str(), &picture, &bytes));
    return std::string(picture, bytes);
  }
  void define(const std::string& name, const Value& value) const {
    context_.check(lay_program_define(get(), name.c_str(), value.get()));
  }
  std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < lay_kernel_count(get()); ++i)
      names.push_back(detail::text_or_throw(lay_kernel_name(get(), i)));
    return names;
  }
  // "": the only one.
  Kernel kernel(const std::string& name = "") const {
    lay_kernel* kernel = nullptr;
    context_.check(lay_kernel_new(get(), name.empty() ? nullptr : name.c_str(), &kernel));
    return Kernel(context_, kernel);
  }
  std::vector<File> build(const lay_build_options& options) const {
    lay_build* made = nullptr;
    context_.check(lay_build_new(get(), &options, &made));
    const detail::Owned<lay_build, lay_build_free> owned(made);
    std::vector<File> files;
    for (std::size_t i = 0; i < lay_build_file_count(made); ++i) {
      std::size_t bytes = 0;
      const void* data = lay_build_file_data(made, i, &bytes);
      files.push_back({lay_build_file_name(made, i), {static_cast<const char*>(data), bytes}});
    }
    return files;
  }

 private:
  static std::vector<lay_binding> views(
      std::initializer_list<std::pair<const char*, const Value*>> names) {
    std::vector<lay_binding> bindings;
    for (const auto& name : names) bindings.push_back({name.first, name.second->get()});
    return bindings;
  }

  Context context_;
  detail::Owned<lay_program, lay_program_free> program_;
};

}  // namespace view1
}  // namespace lay

#endif  // LAY_LAY_HPP
