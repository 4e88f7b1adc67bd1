#include "runtime/bench/torch/torch.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/source/diagnostic.h"
#include "runtime/bench/problem/operand_sets.h"
#include "runtime/bench/python.h"
#include "runtime/bench/python_files.h"
#include "runtime/bench/torch/torch_words.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"

namespace lay::bench {

using runtime::JsonObject;
using Json = nlohmann::json;

namespace {

// An import of PyTorch from a cold disk takes long.
constexpr std::chrono::milliseconds for_a_version = std::chrono::seconds(60);

std::string numbers(const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  for (const std::int64_t value : values) texts.push_back(std::to_string(value));
  return runtime::json_array(texts);
}

// Describes a tensor as memory in a file, with an axis for each mode.
std::string tensor_json(const Tensor& tensor, const std::string& file) {
  std::vector<std::int64_t> shape, strides;
  for (const Mode& mode : tensor.modes) {
    const auto stride = mode.stride();
    if (!stride) throw NotMeasured(tensor.name + " is stored in tiles, which no strides describe");
    shape.push_back(mode.size);
    strides.push_back(*stride);
  }
  return JsonObject()
      .string("type", element_name(torch::stored(tensor.element)))
      .integer("bytes", static_cast<std::int64_t>(tensor.bytes()))
      .raw("shape", numbers(shape))
      .raw("strides", numbers(strides))
      .string("file", file)
      .text();
}

// Writes memory to a file, which need not be on the disk.
void write_memory(const std::string& path, const std::vector<std::byte>& memory) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(memory.data()), std::ssize(memory));
  if (!out.flush()) throw NotMeasured("its inputs do not fit into " + path);
}

std::vector<std::byte> read_memory(const std::string& path, std::size_t bytes) {
  std::vector<std::byte> memory(bytes);
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(memory.data()), static_cast<std::streamsize>(bytes));
  if (in.gcount() != static_cast<std::streamsize>(bytes))
    throw NotMeasured("Python did not write all of an output");
  return memory;
}

[[noreturn]] void bad(const std::string& what) {
  throw NotMeasured("the answer of Python " + what);
}

std::string text_of(const Json& answer, const char* name) {
  const auto found = answer.find(name);
  if (found == answer.end() || !found->is_string()) bad("has no text `" + std::string(name) + "`");
  return found->get<std::string>();
}

// Returns the answer as an object. Throws NotMeasured with what Python says failed.
Json object_of(const std::string& answer) {
  Json read = Json::parse(answer, nullptr, false);
  if (!read.is_object()) bad("is no JSON object");
  if (read.contains("failure")) throw NotMeasured(text_of(read, "failure"));
  return read;
}

double milliseconds_of(const Json& value) {
  if (!value.is_number()) bad("has a time that is no number");
  const double read = value.get<double>();
  if (!(read >= 0)) bad("has a time below 0");
  return read;
}

}  // namespace

// The function in one mode. After a failure all times are 0.
class TorchLauncher : public RemoteLauncher {
 public:
  TorchLauncher(Torch& torch, const TorchWay& way)
      : torch_(torch), mode_(way.mode), function_(way.function) {}

  double time_graphs(int untimed, int replays) override {
    double time = 0;
    ask("graphs", "untimed", untimed, "replays", replays,
        [&](const Json& ms) { time = milliseconds_of(ms); });
    return time;
  }

  std::vector<double> time_singles(int first_set, int count) override {
    std::vector<double> times;
    ask("singles", "first", first_set, "count", count, [&](const Json& ms) {
      if (!ms.is_array() || std::ssize(ms) != count) bad("has not a time for each launch");
      for (const Json& each : ms) times.push_back(milliseconds_of(each));
    });
    return times;
  }

  const std::string& failure() const override { return failure_; }

 private:
  template <class Read>
  void ask(const char* what, const char* first, int one, const char* second, int two,
           const Read& read) {
    if (!failure_.empty()) return;
    try {
      const std::string request = JsonObject()
                                      .string("do", what)
                                      .string("mode", mode_)
                                      .integer(first, one)
                                      .integer(second, two)
                                      .string("function", function_)
                                      .text();
      const Json answer = object_of(torch_.ask(request, torch_.limit_));
      if (!answer.contains("ms")) bad("lacks `ms`");
      read(answer["ms"]);
    } catch (const NotMeasured& error) {
      failure_ = error.what();
    }
  }

  Torch& torch_;
  const std::string mode_, function_;
  std::string failure_;
};

Torch::Torch(std::string python, std::chrono::milliseconds limit)
    : python_(std::move(python)), limit_(limit) {}

std::unique_ptr<Torch> Torch::open(std::chrono::milliseconds limit, std::string* why_not) {
  const std::string python = runtime::find_program("python3");
  if (python.empty()) {
    *why_not = "no PyTorch: there is no python3 in PATH";
    return nullptr;
  }
  std::unique_ptr<Torch> made(new Torch(python, limit));
  try {
    const std::string& folder = made->folder_.path();
    if (folder.empty()) throw NotMeasured("no private folder could be made for Python");
    const std::string program = folder + "/candidate.py";
    runtime::write_file(program, {python_file("torch/candidate.py")});
    made->dialogue_ = std::make_unique<runtime::ChildDialogue>(
        std::vector<std::string>{python, program, folder}, folder, folder + "/log");
    const Json found = object_of(made->ask("", for_a_version));
    if (!found.contains("missing")) {
      made->version_ = text_of(found, "torch") + ", Python " + text_of(found, "python");
      return made;
    }
    *why_not = "no PyTorch: " + text_of(found, "missing");
  } catch (const NotMeasured& error) {
    *why_not = std::string("no PyTorch: ") + error.what();
  } catch (const DiagnosticError& error) {
    *why_not = "no PyTorch: " + error.diagnostic.message;
  }
  return nullptr;
}

std::string Torch::ask(const std::string& request, std::chrono::milliseconds limit) {
  if (!gave_up_.empty()) throw NotMeasured("not asked again: " + gave_up_);
  if (!request.empty()) dialogue_->send(request);
  std::string answer;
  const runtime::ChildEnd end = dialogue_->receive(answer, limit);
  if (end.how == runtime::ChildEnd::How::answered) return answer;
  gave_up_ = why_no_answer(python_, end, limit, folder_.path() + "/log");
  throw NotMeasured(gave_up_);
}

void Torch::start(const Problem& problem, const TorchFunction& function, const HostData& before,
                  int sets, int launches) {
  std::vector<std::string> inputs, outputs, files;
  outputs_.clear();
  tensors_ = problem.tensors.size();
  const auto tensor = [&](sema::TensorId id) -> const Tensor& {
    return problem.tensors[static_cast<std::size_t>(id)];
  };
  for (const sema::TensorId id : function.inputs) {
    files.push_back(folder_.path() + "/" + std::to_string(id) + ".input");
    inputs.push_back(tensor_json(tensor(id), files.back()));
    write_memory(files.back(), before[static_cast<std::size_t>(id)]);
  }
  for (const sema::TensorId id : function.outputs) {
    outputs_.push_back(
        {id, folder_.path() + "/" + std::to_string(id) + ".output", tensor(id).bytes()});
    outputs.push_back(tensor_json(tensor(id), outputs_.back().file));
  }
  const std::string request = JsonObject()
                                  .string("do", "problem")
                                  .string("text", function.text)
                                  .boolean("tf32", function.tf32)
                                  .integer("sets", sets)
                                  .integer("launches", launches)
                                  .raw("inputs", runtime::json_array(inputs))
                                  .raw("outputs", runtime::json_array(outputs))
                                  .text();
  object_of(ask(request, limit_));
  for (const std::string& file : files) std::remove(file.c_str());
}

Torch::Made Torch::computed(const TorchWay& way) {
  const std::string request = JsonObject()
                                  .string("do", "compute")
                                  .string("mode", way.mode)
                                  .string("function", way.function)
                                  .text();
  const Json answer = object_of(ask(request, limit_));
  Made made{std::make_shared<TorchLauncher>(*this, way), HostData(tensors_),
            text_of(answer, "detail")};
  for (const Output& output : outputs_) {
    made.outputs[static_cast<std::size_t>(output.tensor)] = read_memory(output.file, output.bytes);
    std::remove(output.file.c_str());
  }
  return made;
}

}  // namespace lay::bench
