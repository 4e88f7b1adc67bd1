// Names and other text of the script reach the emitted CUDA as identifiers and comments only:
// whatever bytes they hold, the text has the same tokens.
#include <catch2/catch.hpp>
#include <cctype>
#include <fstream>
#include <random>

#include "backend/cuda/emit.h"
#include "backend/cuda/names.h"
#include "backend/ir/text/parse.h"
#include "generated/tests/paths.h"
#include "runtime/compile/compile.h"

namespace {

using lay::ir::Kernel;

Kernel read_kernel(const std::string& name) {
  std::ifstream in(std::string(LAY_SOURCE_DIR) + "/tests/emitted/" + name, std::ios::binary);
  return lay::ir::parse(std::string{std::istreambuf_iterator<char>(in), {}});
}

lay::cuda::Emitted emit(const Kernel& kernel) {
  const auto result = lay::cuda::emit(kernel, *lay::find_target("sm_90a"));
  REQUIRE(std::holds_alternative<lay::cuda::Emitted>(result));
  return std::get<lay::cuda::Emitted>(result);
}

// The tokens of C++ as far as they matter here: identifiers as "i", everything else as it stands,
// comments dropped.
std::vector<std::string> tokens(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto is_word = [&](std::size_t i) {
      return i < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
    };
    std::size_t end = at + 1;
    if (text.compare(at, 2, "//") == 0) {
      // A backslash before the newline, with or without blanks, or ??/ would continue the comment.
      end = std::min(text.find('\n', at), text.size());
      REQUIRE(text.substr(at, end - at).find_first_of("\\?") == std::string::npos);
    } else if (c == '"') {
      end = text.find('"', at + 1) + 1;
      found.push_back(text.substr(at, end - at));
    } else if (is_word(at)) {
      while (is_word(end)) ++end;
      found.push_back(std::isdigit(static_cast<unsigned char>(c)) ? text.substr(at, end - at)
                                                                  : "i");
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      found.emplace_back(1, c);
    }
    at = end;
  }
  return found;
}

void rename(Kernel& kernel, const std::function<std::string()>& next) {
  kernel.name = next();
  kernel.script = next();
  for (auto& line : kernel.header) line = next();
  for (auto& param : kernel.params) param.name = next();
  for (auto& buffer : kernel.buffers) {
    buffer.name = next();
    buffer.origin.note = next();
  }
  for (auto& barrier : kernel.barriers) barrier.name = next();
  for (auto& var : kernel.vars) var.name = next();
  for (auto& statement : kernel.roles[0].body) statement.origin.note = next();
}

const std::vector<std::string> nasty = {"",
                                        "a",
                                        "unsigned",
                                        "threadIdx",
                                        "linux",
                                        "NULL",
                                        "__CUDA_ARCH__",
                                        "fmaf",
                                        "min",
                                        "main",
                                        "printf",
                                        "i",
                                        "thread",
                                        "shared",
                                        "x_",
                                        "_",
                                        "__",
                                        "1",
                                        "k(int*x){} extern \"C\" __global__ void pwn",
                                        "a\nb",
                                        "a\\",
                                        "a\\ ",
                                        "?\?/",
                                        "*/",
                                        "/*",
                                        "\"",
                                        "'",
                                        "#include \"/etc/passwd\"",
                                        "\r#define A_ 1",
                                        std::string("a\0b", 3),
                                        "\xff\xfe",
                                        "\u202e",
                                        "a;}",
                                        std::string(5000, 'n')};

}  // namespace

TEST_CASE("no name changes the tokens of the emitted text") {
  for (const char* file : {"sgemm.ir", "pipeline.ir"}) {
    Kernel plain = read_kernel(file);
    int count = 0;
    plain.header = {"tile = (128,128,8)"};
    rename(plain, [&] { return "name" + std::to_string(++count); });
    const auto expected = tokens(emit(plain).text);
    REQUIRE(expected.size() > 200);

    for (const std::string& name : nasty) {
      INFO(name);
      Kernel same = plain;
      rename(same, [&] { return name; });
      CHECK(tokens(emit(same).text) == expected);
    }
    std::mt19937 random(20261120);
    for (int round = 0; round < 200; ++round) {
      Kernel random_names = plain;
      rename(random_names, [&] {
        std::string name(random() % 12, ' ');
        for (char& c : name) c = static_cast<char>(random() % 256);
        return random() % 4 == 0 ? nasty[random() % nasty.size()] + name : name;
      });
      CHECK(tokens(emit(random_names).text) == expected);
    }
  }
}

TEST_CASE("no name is a keyword, a builtin or a macro, and none is given twice") {
  lay::cuda::Names names;
  std::set<std::string> given;
  for (int round = 0; round < 3; ++round)
    for (const std::string& name : nasty) {
      const std::string made = names.add(name);
      INFO(made);
      CHECK(given.insert(made).second);
      CHECK(std::isalpha(static_cast<unsigned char>(made.front())));
      CHECK(made.back() == '_');
      CHECK(made.find("__") == std::string::npos);
      CHECK(made.size() < 64);
    }
  std::set<std::string> functions;
  for (const char* name : {"a", "a_", "a__b", "a_b", "", "x", "_x", "\n"}) {
    CHECK(functions.insert(lay::cuda::function_name(name)).second);
  }
}

TEST_CASE("kernels with nasty names compile") {
  if (std::string why; !lay::runtime::can_compile(&why)) {
    WARN("skipped: " << why);
    return;
  }
  Kernel kernel = read_kernel("sgemm.ir");
  std::size_t next = 0;
  rename(kernel, [&] { return nasty[next++ % nasty.size()]; });
  const auto made = lay::runtime::compile(emit(kernel), *lay::find_target("sm_90a"));
  INFO(made.log);
  CHECK(made.ok());
}
