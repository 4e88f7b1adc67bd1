// The output that tools read: the manifest, and `lay eval`: a line in, a line of JSON out.
// Transcripts in tests/language/*.eval:
// `> ` before a line, below it the answer. LAY_BLESS=1 rewrites the answers.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "generated/tests/paths.h"
#include "tests/command/process.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> eval(const std::string& lines) {
  const auto ended = run_lay({"eval"}, {lines, ".", {}, 60, 0});
  CHECK(ended.code == 0);
  CHECK(ended.error == "");
  return lines_of(ended.out);
}

}  // namespace

TEST_CASE("check --json says errors, verdicts and guards, an object a line") {
  TemporaryFolder folder;
  put(folder / "a.lay",
      "dim M\nassume M % 4 == 0\nprove M % 2 == 0\nprove M % 8 == 0\nlet D = divide_exactly(M:1, "
      "8)\n"
      "kernel f<N, L>(X: f32 N:1) -> Y: f32 L:1 { Y[i] = X[i] }\n"
      "schedule f for simt { threads = 100 }\nlet e = 7 / 2\n");
  const auto ended = run_lay({"check", "--json", "a.lay"}, {"", folder.path().string(), {}, 60, 0});
  CHECK(ended.code == 1);
  CHECK(ended.error == "");
  std::map<std::string, nlohmann::json> first;  // of each kind and word
  for (const auto& line : lines_of(ended.out)) {
    INFO(line);
    const auto object = nlohmann::json::parse(line);
    const std::string kind = object["kind"];
    const std::string word = kind == "verdict" ? object["verdict"]
                             : kind == "error" ? object["code"]
                                               : "";
    first.emplace(kind + (word.empty() ? "" : " ") + word, object);
  }
  CHECK(first.at("verdict proved")["claim"] == "M % 2 == 0");
  CHECK(first.at("verdict proved")["line"] == 3);
  CHECK(first.at("verdict refuted")["witness"]["M"] == 4);
  CHECK(first.at("verdict guarded")["origin"] == "divide_exactly");
  CHECK(first.at("guard")["kernel"] == "f");
  CHECK(first.at("guard")["claim"] == "L == N");
  CHECK(first.at("error schedule-entry")["line"] == 7);
  const auto& error = first.at("error not-exact");
  CHECK(error["file"] == "a.lay");
  CHECK(std::array{error["line"], error["column"], error["end_line"], error["end_column"]} ==
        std::array<nlohmann::json, 4>{8, 9, 8, 14});
  CHECK(error["notes"][0]["kind"] == "help");
  put(folder / "a.lay", "dim M\nprove M >= 1\n");
  CHECK(run_lay({"check", "--json", "a.lay"}, {"", folder.path().string(), {}, 60, 0}).code == 0);
}

TEST_CASE("every line is answered as its transcript says") {
  int transcripts = 0;
  for (const auto& entry : fs::directory_iterator(LAY_SOURCE_DIR "/tests/language")) {
    if (entry.path().extension() != ".eval") continue;
    ++transcripts;
    const std::string transcript = slurp(entry.path().string());
    std::string asked, answered;
    std::vector<std::string> questions;
    for (const auto& line : lines_of(transcript))
      if (line.rfind("> ", 0) == 0) {
        questions.push_back(line);
        asked += line.substr(2) + "\n";
      }
    const auto answers = eval(asked);
    REQUIRE(answers.size() == questions.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      INFO(questions[i] << ": " << answers[i]);
      CHECK_NOTHROW(nlohmann::json::parse(answers[i]));
      answered += questions[i] + "\n" + answers[i] + "\n";
    }
    if (std::getenv("LAY_BLESS")) put(entry.path().string(), answered);
    INFO(entry.path().string());
    CHECK(answered == slurp(entry.path().string()));
  }
  CHECK(transcripts > 0);
}

TEST_CASE("a line without a statement is answered too, and one without an end") {
  CHECK(eval("\n// words\n\n1").size() == 4);
  CHECK(eval("").empty());
}

TEST_CASE("an answer is valid JSON whatever the line holds") {
  std::string all;
  for (int c = 0; c < 256; ++c)
    if (c != '\n')
      all += std::string("\"") + static_cast<char>(c) + "\"\n" + static_cast<char>(c) + "\n";
  const auto answers = eval(all);
  CHECK(answers.size() == 510);
  for (const auto& answer : answers) {
    INFO(answer);
    const auto json = nlohmann::json::parse(answer, nullptr, false);
    CHECK(!json.is_discarded());
    CHECK(json.contains("ok"));
  }
}

TEST_CASE("each line is answered before the next is read") {
  const auto ended =
      run_lay({"eval"}, {"1\n" + std::string(2000000, '(') + "\n2\n", ".", {}, 60, 0});
  CHECK(ended.code == 0);
  CHECK(lines_of(ended.out).size() == 3);
  CHECK(ended.out.ends_with("{\"ok\":true,\"kind\":\"int\",\"text\":\"2\",\"value\":2}\n"));
}

TEST_CASE("the manifest says all that a launcher needs") {
  TemporaryFolder folder;
  const std::string script = LAY_SOURCE_DIR "/examples/digits/digits.lay";
  REQUIRE(run_lay({"build", script, "-o", folder.path().string(), "--source-only"}).code == 0);
  const auto manifest = nlohmann::json::parse(slurp(folder / "manifest.json"));
  CHECK(manifest.at("script") == "digits.lay");
  const auto& kernel = manifest.at("kernels").at(0);
  CHECK(kernel.at("name") == "linear");
  CHECK(kernel.at("sizes") == nlohmann::json{"M", "N", "K"});
  CHECK(kernel.at("tensors").size() == 4);
  CHECK(kernel.at("tensors").at(3).at("access") == "output");
  const auto& variants = kernel.at("variants");
  CHECK(variants.size() > 1);
  for (const auto& variant : variants) {
    CHECK(variant.at("workspace_bytes") == "0");
    REQUIRE(variant.at("launches").size() == 1);
    const auto& launch = variant.at("launches").at(0);
    const std::string source =
        slurp(folder / launch.at("files").at(0).at("name").get<std::string>());
    CHECK(source.find(launch.at("function").get<std::string>() + "(") != std::string::npos);
    CHECK(launch.at("arguments").size() == 7);  // four pointers, three sizes
    CHECK(launch.at("launch").at("threads") > 0);
  }
  CHECK(variants.back().at("when").empty());  // every launch finds a variant
  CHECK(variants.back().at("aligned").empty());
  CHECK(slurp(folder / "manifest.json").find(LAY_SOURCE_DIR) ==
        std::string::npos);  // no path of this machine
}

TEST_CASE(
    "every target has a plan of its own, and the manifest says which variants are whose, in its "
    "order") {
  TemporaryFolder folder;
  std::ofstream(folder / "gemm.lay")
      << "kernel gemm<M, N, K>(A: bf16 (M,K):(K,1), B: s8 (N,K):(K,1)) -> C: bf16 "
         "(M,N):(N,1)\n{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
  const std::vector<std::string> targets = {"a100", "sm_86", "sm_90a"};
  std::vector<std::string> words = {"build",        folder / "gemm.lay", "-o",
                                    folder / "out", "--source-only",     "--all"};
  for (const auto& target : targets) words.insert(words.end(), {"--arch", target});
  REQUIRE(run_lay(words).code == 0);
  const auto manifest = nlohmann::json::parse(slurp(folder / "out/manifest.json"));
  std::map<std::string, std::vector<std::string>> of;  // target -> names of its variants
  std::map<std::string, std::string> sources;          // file -> text
  bool shared = false;
  for (const auto& variant : manifest.at("kernels").at(0).at("variants")) {
    shared = shared || variant.at("targets").size() == targets.size();
    for (const auto& target : variant.at("targets")) of[target].push_back(variant.at("name"));
    for (const auto& launch : variant.at("launches")) {
      std::set<std::string> seen;
      for (const auto& file : launch.at("files")) {
        seen.insert(file.at("target"));
        CHECK(slurp(folder / ("out/" + file.at("name").get<std::string>()))
                  .find(launch.at("function")) != std::string::npos);
      }
      CHECK(seen == variant.at("targets").get<std::set<std::string>>());
    }
  }
  CHECK(shared);  // sm80_small asks nothing of the SMs
  // Lanes that copy for themselves take no more shared memory than compute capability 8.6 has.
  CHECK(of.at("a100").front() == "sm80_few_rows_8");
  CHECK(of.at("sm_86").front() == "sm80_few_rows_8");
  CHECK(of.at("sm_90a").back() == "sm80_small_any");
  for (const auto& target : targets) {
    std::vector<std::string> planned;  // as `lay plan` has them
    std::istringstream lines(run_lay({"plan", folder / "gemm.lay", "--all", "--gpu", target}).out);
    const std::string head = "// variant ";
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(head) && !line.starts_with(head + "repack"))
        planned.push_back(line.substr(head.size()));
    CHECK(planned == of.at(target));
  }
}

TEST_CASE("the manifest says what is launched before, and how much workspace that takes") {
  TemporaryFolder folder;
  std::ofstream(folder / "odd.lay")
      << "kernel odd<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 "
         "(M,N):(N,1)\n{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
  const auto made = run_lay(
      {"build", folder / "odd.lay", "-o", folder / "out", "--source-only", "--arch", "sm_90a"});
  REQUIRE(made.code == 0);
  const auto manifest = nlohmann::json::parse(slurp(folder / "out/manifest.json"));
  int copying = 0;
  for (const auto& variant : manifest.at("kernels").at(0).at("variants")) {
    if (variant.at("launches").size() == 1) continue;
    ++copying;
    CHECK(variant.at("workspace_bytes") == "128*M*ceil_div(K,64) + 128*N*ceil_div(K,64)");
    const auto& copies = variant.at("launches").at(0).at("arguments");
    const auto& product = variant.at("launches").at(1).at("arguments");
    // Both name the same places: the first writes there, the second reads.
    const nlohmann::json rows_of_b{
        {"kind", "workspace"}, {"name", "B_rows"}, {"offset_bytes", "128*M*ceil_div(K,64)"}};
    CHECK(copies.at(0) == nlohmann::json{{"kind", "pointer"}, {"name", "A"}});
    CHECK(copies.at(3) == rows_of_b);
    CHECK(product.at(1) == rows_of_b);
    const auto& map = product.at(7);
    CHECK(map.at("kind") == "tensor_map");
    CHECK(map.at("tensor") == "B_rows");
    CHECK(map.at("layout") == "(N,K):(64*ceil_div(K,64),1)");
    CHECK(map.at("order") == nlohmann::json{1, 0});
    CHECK(map.at("swizzle_bytes") == 128);
  }
  CHECK(copying > 0);
}

TEST_CASE("the manifest says which kernels are launched before, and what they leave in workspace") {
  TemporaryFolder folder;
  std::ofstream(folder / "gated.lay")
      << "kernel gated<M, N, K>(X: bf16 (M,K), G: bf16 (N,K), Z: bf16 (M,K), U: bf16 (N,K))\n"
         "    -> Y: bf16 (M,N)\n"
         "{ Y[m,n] = relu(sum[k](X[m,k] * G[n,k])) * sum[k](Z[m,k] * U[n,k]) }\n";
  const auto made = run_lay(
      {"build", folder / "gated.lay", "-o", folder / "out", "--source-only", "--arch", "sm_90a"});
  REQUIRE(made.code == 0);
  const auto manifest = nlohmann::json::parse(slurp(folder / "out/manifest.json"));
  const auto& kernel = manifest.at("kernels").at(0);
  REQUIRE(kernel.at("stages").size() == 1);
  const auto& stage = kernel.at("stages").at(0);
  CHECK(stage.at("name") == "gated_product");
  const auto takes_all = [](const nlohmann::json& variant) {
    return variant.at("when").empty() && variant.at("aligned").empty();
  };
  CHECK(std::any_of(stage.at("variants").begin(), stage.at("variants").end(), takes_all));

  const nlohmann::json product{{"kind", "workspace"}, {"name", "product"}, {"offset_bytes", "0"}};
  const auto is_among = [](const nlohmann::json& list, const nlohmann::json& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  // Every variant of the stage writes the product where every variant of the kernel reads it, and
  // all code is there.
  const auto check_launches = [&](const nlohmann::json& variant) {
    CHECK(is_among(variant.at("launches").back().at("arguments"), product));
    for (const auto& launch : variant.at("launches"))
      for (const auto& file : launch.at("files"))
        CHECK(std::filesystem::exists(folder / ("out/" + file.at("name").get<std::string>())));
  };
  for (const auto& variant : stage.at("variants")) {
    check_launches(variant);
    for (const auto& aligned : variant.at("aligned"))
      CHECK((aligned.at("tensor") == "X" || aligned.at("tensor") == "G"));
  }
  int behind = 0;
  for (const auto& variant : kernel.at("variants")) {
    if (variant.at("name") == "scalar") continue;
    ++behind;
    CHECK(variant.at("stages") == nlohmann::json{0});
    check_launches(variant);
  }
  CHECK(behind + 1 == static_cast<int>(kernel.at("variants").size()));
}
