#include "runtime/bench/triton/triton_reply.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace lay::bench {
namespace {

using Json = nlohmann::json;

[[noreturn]] void bad(const std::string& what) {
  throw BadReply("the answer of Python " + what);
}

const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) bad("lacks `" + std::string(name) + "`");
  return *found;
}

// Returns a member's text, empty if optional and missing. A compiler's may take many long lines.
std::string text(const Json& object, const char* name, bool may_lack = false) {
  if (may_lack && !object.contains(name)) return "";
  const Json& value = member(object, name);
  if (!value.is_string()) bad("has a `" + std::string(name) + "` that is no text");
  constexpr std::size_t longest = 300;
  std::string read = value.get<std::string>().substr(0, longest);
  for (char& c : read)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return read;
}

std::int64_t number(const Json& value, const char* what, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) bad("has a `" + std::string(what) + "` that is no whole number");
  const bool large = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1}
                                                                                    << 62;
  const std::int64_t read =
      large ? std::numeric_limits<std::int64_t>::max() : value.get<std::int64_t>();
  if (read < least || read > most)
    bad("has a `" + std::string(what) + "` of " + value.dump() + ", not " + std::to_string(least) +
        " to " + std::to_string(most));
  return read;
}

constexpr std::int64_t most32 = std::numeric_limits<std::int32_t>::max(),
                       most_bytes = std::int64_t{1} << 32;

TritonArgument argument(const Json& json) {
  if (!json.is_object() || json.size() != 1)
    bad("has an argument that is not one of tensor, i32, i64, scratch");
  using Kind = TritonArgument::Kind;
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "tensor") return {Kind::tensor, text(json, "tensor"), 0};
  if (kind == "i32") return {Kind::i32, "", number(value, "i32", -most32 - 1, most32)};
  if (kind == "i64")
    return {Kind::i64, "",
            number(value, "i64", std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 62)};
  if (kind == "scratch") return {Kind::scratch, "", number(value, "scratch", 0, most_bytes)};
  bad("has an argument `" + kind.substr(0, 40) + "`");
}

TritonCode code(const Json& json) {
  if (!json.is_object()) bad("has a kernel that is no object");
  TritonCode made;
  made.name = text(json, "name");
  made.failure = text(json, "failure", true);
  if (!made.failure.empty()) return made;
  made.function = text(json, "function");
  made.file = text(json, "file");
  if (made.file.empty() || made.file.find('/') != std::string::npos || made.file.front() == '.')
    bad("has the file name `" + made.file + "`");
  const Json& grid = member(json, "grid");
  if (!grid.is_array() || grid.size() != 3) bad("has a `grid` that is not three numbers");
  for (std::size_t i = 0; i < 3; ++i)
    made.grid[i] = static_cast<unsigned>(number(grid[i], "grid", 1, most32));
  made.threads = static_cast<unsigned>(number(member(json, "threads"), "threads", 1, most32));
  made.shared = number(member(json, "shared"), "shared", 0, most32);
  const Json& arguments = member(json, "arguments");
  if (!arguments.is_array()) bad("has `arguments` that are no list");
  for (const Json& each : arguments) made.arguments.push_back(argument(each));
  if (number(member(json, "blocks_of_cluster"), "blocks_of_cluster", 1, most32) != 1)
    made.failure = "it runs in clusters, which are not launched here";
  return made;
}

}  // namespace

TritonReply read_reply(const std::string& json) {
  const Json read = Json::parse(json, nullptr, false);
  if (read.is_discarded()) bad("is no JSON");
  if (!read.is_object()) bad("is no JSON object");
  TritonReply reply;
  reply.missing = text(read, "missing", true);
  if (!reply.missing.empty()) return reply;
  reply.triton = text(read, "triton");
  reply.python = text(read, "python");
  if (!read.contains("kernels")) return reply;
  const Json& kernels = member(read, "kernels");
  if (!kernels.is_array()) bad("has `kernels` that are no list");
  for (const Json& each : kernels) reply.kernels.push_back(code(each));
  return reply;
}

}  // namespace lay::bench
