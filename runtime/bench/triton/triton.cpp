#include "runtime/bench/triton/triton.h"

#include <algorithm>

#include "frontend/source/diagnostic.h"
#include "runtime/bench/python.h"
#include "runtime/bench/python_files.h"
#include "runtime/compile/child.h"
#include "runtime/io/file.h"

namespace lay::bench {
namespace {

constexpr const char* program = "candidate.py";

}  // namespace

TritonKernel::TritonKernel(const TritonCode& code, const std::string& image,
                           const std::map<std::string, sema::TensorId>& tensors)
    : code_(code), loaded_(image, code.function, code.shared) {
  for (const TritonArgument& argument : code.arguments) {
    const auto found = tensors.find(argument.tensor);
    const bool is_tensor = argument.kind == TritonArgument::Kind::tensor;
    if (is_tensor && found == tensors.end())
      throw BadReply("the answer of Python names a tensor `" + argument.tensor + "`");
    tensors_.push_back(is_tensor ? found->second : -1);
    if (argument.kind != TritonArgument::Kind::scratch) continue;
    scratch_.emplace_back(static_cast<std::size_t>(argument.value * code.blocks()));
  }
}

void TritonKernel::launch(const OperandSets& sets, int set, runtime::StreamHandle stream) const {
  union Value {
    runtime::Address address;
    std::int32_t i32;
    std::int64_t i64;
  };
  std::vector<Value> values(code_.arguments.size());
  std::vector<void*> pointers;
  auto scratch = scratch_.begin();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const TritonArgument& argument = code_.arguments[i];
    switch (argument.kind) {
      case TritonArgument::Kind::tensor:
        values[i].address = sets.region(set, tensors_[i]).address;
        break;
      case TritonArgument::Kind::scratch:
        values[i].address = (scratch++)->address();
        break;
      case TritonArgument::Kind::i32:
        values[i].i32 = static_cast<std::int32_t>(argument.value);
        break;
      case TritonArgument::Kind::i64:
        values[i].i64 = argument.value;
        break;
    }
    pointers.push_back(&values[i]);
  }
  loaded_.launch(code_.grid, code_.threads, pointers, stream);
}

std::optional<Triton> Triton::open(std::chrono::milliseconds limit, std::string* why_not) {
  Triton made;
  made.python_ = runtime::find_program("python3");
  constexpr std::chrono::milliseconds for_a_version = std::chrono::seconds(20);
  made.limit_ = std::min(limit, for_a_version);
  if (made.python_.empty()) {
    *why_not = "no Triton: there is no python3 in PATH";
    return std::nullopt;
  }
  try {
    const runtime::PrivateFolder folder;
    const TritonReply reply = made.ask(folder.path(), "");
    if (reply.missing.empty()) {
      made.version_ = reply.triton + ", Python " + reply.python;
      made.limit_ = limit;
      return made;
    }
    *why_not = "no Triton: " + reply.missing;
  } catch (const NotMeasured& error) {
    *why_not = std::string("no Triton: ") + error.what();
  }
  return std::nullopt;
}

TritonReply Triton::ask(const std::string& folder, const std::string& request) {
  if (!gave_up_.empty()) throw NotMeasured("not asked again: " + gave_up_);
  if (folder.empty()) throw NotMeasured("no private folder could be made for Python");
  const std::string log = folder + "/log", reply = folder + "/reply.json";
  runtime::ChildEnd end;
  try {
    runtime::write_file(folder + "/" + program, {python_file("triton/candidate.py")});
    if (!request.empty()) runtime::write_file(folder + "/request.json", {request});
    end = runtime::run_child({python_, folder + "/" + program, folder}, folder, log, limit_);
  } catch (const DiagnosticError& error) {
    throw NotMeasured(error.diagnostic.message);
  }
  constexpr std::uint64_t most_reply = std::uint64_t{4} << 20;
  const std::string text = contents_of(reply, most_reply);
  if (!end.well() || text.empty()) {
    const std::string why = why_no_answer(python_, end, limit_, log);
    if (end.how == runtime::ChildEnd::How::too_long) gave_up_ = why;
    throw NotMeasured(why);
  }
  try {
    return read_reply(text);
  } catch (const BadReply& bad) {
    throw NotMeasured(bad.what());
  }
}

Triton::Compiled Triton::compiled(const TritonRequest& request, std::int64_t shared_per_block) {
  const runtime::PrivateFolder folder;
  const TritonReply reply = ask(folder.path(), request.json);
  if (!reply.missing.empty()) throw NotMeasured(reply.missing);
  Compiled compiled;
  const auto fails = [&](const TritonCode& code, const std::string& why) {
    compiled.failures.push_back(code.name + ": " + why);
  };
  constexpr std::uint64_t most_code = std::uint64_t{64} << 20;
  for (const TritonCode& code : reply.kernels) {
    if (!code.failure.empty()) {
      fails(code, code.failure);
      continue;
    }
    if (code.shared > shared_per_block) {
      fails(code, "it needs " + std::to_string(code.shared) + " bytes of shared memory");
      continue;
    }
    const std::string image = contents_of(folder.path() + "/" + code.file, most_code);
    if (!image.starts_with("\x7f"
                           "ELF")) {
      fails(code, "its file is no cubin");
      continue;
    }
    try {
      compiled.kernels.push_back(std::make_shared<TritonKernel>(code, image, request.tensors));
    } catch (const runtime::DriverError& error) {
      fails(code, error.text);
    } catch (const BadReply& bad) {
      throw NotMeasured(bad.what());
    }
  }
  return compiled;
}

}  // namespace lay::bench
