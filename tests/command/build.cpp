// `lay build`: what it writes, for what, and what it refuses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/command/folder.h"

using namespace lay::test;

TEST_CASE("build writes the source and the manifest, whole or not at all") {
  Folder folder;
  put(folder / "scale.lay", scale);
  const auto ended = folder.lay({"build", "scale.lay", "-o", "out/deep", "--source-only"});
  INFO(ended.error);
  CHECK(ended.code == 0);
  const std::string text = slurp(folder / "out/deep/manifest.json");
  CHECK(text.find("\"name\": \"scale\"") != std::string::npos);
  CHECK(text.find("\"layout\": \"(M,N):(N,1)\"") != std::string::npos);
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out/deep"))
    CHECK((entry.path().extension() == ".cu" || entry.path().extension() == ".json"));
  CHECK(folder.lay({"build", "scale.lay", "-o", "scale.lay"}).code == 1);
  CHECK(slurp(folder / "scale.lay") == scale);
  CHECK(folder.lay({"build", "scale.lay", "-o", "out", "--arch", "sm_1"})
            .error.find("unknown-target") != std::string::npos);
  CHECK(folder.lay({"build", "scale.lay"}).code == 2);
  CHECK(folder.lay({"build", "scale.lay", "-o", "out", "--bundle", "--source-only"}).code == 2);
  const auto prefixed =
      folder.lay({"build", "scale.lay", "-o", "out", "--bundle", "--prefix", "2nd"});
  CHECK(prefixed.error.find("bundle-prefix") != std::string::npos);
}

TEST_CASE("the manifest has every kernel of a script, each with its variants") {
  Folder folder;
  std::string script;
  for (const char* name : {"one", "two", "three", "four", "five"}) {
    script += std::string("kernel ") + name +
              "<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n" +
              "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";
  }
  put(folder / "five.lay", script);
  const auto ended =
      folder.lay({"build", "five.lay", "-o", "out", "--source-only", "--arch", "sm_90a"});
  INFO(ended.error);
  REQUIRE(ended.code == 0);
  const auto manifest = nlohmann::json::parse(slurp(folder / "out/manifest.json"));
  REQUIRE(manifest["kernels"].size() == 5);
  for (const auto& kernel : manifest["kernels"]) {
    REQUIRE(kernel["variants"].size() == manifest["kernels"][0]["variants"].size());
    for (std::size_t i = 0; i < kernel["variants"].size(); ++i)
      CHECK(kernel["variants"][i]["name"] == manifest["kernels"][0]["variants"][i]["name"]);
  }
}

TEST_CASE("build writes the kernel, the variants or the sizes that it is asked for") {
  Folder folder;
  put(folder / "two.lay",
      "kernel product<M, N, K>(A: f32 (M,K), B: f32 (N,K)) -> C: f32 (M,N)\n"
      "  where N >= 8\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
      "kernel twice<P>(X: f32 P) -> Y: f32 P { Y[p] = 2 * X[p] }\n");
  const auto built = [&](std::vector<std::string> options) {
    std::vector<std::string> command = {"build",  "two.lay", "-o",           "out",
                                        "--arch", "h200",    "--source-only"};
    command.insert(command.end(), options.begin(), options.end());
    const auto ended = folder.lay(command);
    INFO(ended.error);
    REQUIRE(ended.code == 0);
    std::map<std::string, std::vector<std::string>> names;
    const auto manifest = nlohmann::json::parse(slurp(folder / "out/manifest.json"));
    for (const auto& kernel : manifest["kernels"])
      for (const auto& variant : kernel["variants"])
        names[kernel["name"]].push_back(variant["name"]);
    return names;
  };
  const auto usual = built({}), all = built({"--all"});
  CHECK(usual.size() == 2);
  CHECK(usual.at("product").size() == 12);
  CHECK(all.at("product").size() > 20);
  CHECK(all.at("twice") == usual.at("twice"));
  const auto few = built({"--most", "3"}).at("product");
  CHECK(few.size() == 3);
  CHECK(few.back().ends_with("_any"));  // for all sizes
  const auto one = built({"--kernel", "twice"});
  CHECK(one.size() == 1);
  CHECK(one.at("twice") == usual.at("twice"));
  using Names = std::vector<std::string>;
  CHECK(built({"--kernel", "product", "--variant", "simt_64x64", "--variant", "simt_64x64_any"})
            .at("product") == Names{"simt_64x64", "simt_64x64_any"});
  // Of each problem the variant for aligned pointers and the one for any, each once.
  const Names taken = built({"--kernel", "product", "--size", "M=4096,N=4096,K=4096", "--size",
                             "M=4100,N=4096,K=4096"})
                          .at("product");
  CHECK(taken == Names{"simt_128x256_ring", "simt_128x256_any"});
  CHECK(built({"--kernel", "product", "--size", "64"}).at("product").size() == 2);
  // A size that is left out may be any.
  const Names of_rows = built({"--kernel", "product", "--size", "N=4096,K=4096"}).at("product");
  CHECK(of_rows.size() > 4);
  CHECK(of_rows.size() <= 12);
  CHECK(of_rows != usual.at("product"));
  CHECK(of_rows.back().ends_with("_any"));
  // Of a kernel that has none of these sizes, as without them.
  CHECK(built({"--size", "P=8"}).at("product") == usual.at("product"));

  const auto refused = [&](std::vector<std::string> options) {
    std::vector<std::string> command = {"build", "two.lay", "--source-only"};
    if (std::find(options.begin(), options.end(), "-o") == options.end())
      options.insert(options.end(), {"-o", "out"});
    command.insert(command.end(), options.begin(), options.end());
    const auto ended = folder.lay(command);
    CHECK(ended.code == 1);
    return ended.error;
  };
  CHECK(refused({"--kernel", "thrice"}).find("the script has no kernel `thrice`") !=
        std::string::npos);
  CHECK(refused({"--kernel", "product", "--variant", "simt_64x46"})
            .find("the plan of `product` has no variant `simt_64x46`") != std::string::npos);
  // Nothing of what could be built is written.
  CHECK(refused({"--kernel", "product", "-o", "none", "--variant", "simt_64x64", "--variant", "no"})
            .find("has no variant `no`") != std::string::npos);
  CHECK(refused({"-o", "none", "--size", "P=-8"}) != "");
  CHECK(!std::filesystem::exists(folder / "none/manifest.json"));
  CHECK(!std::filesystem::exists(folder / "none/product.simt_64x64.cu"));
  CHECK(refused({"--size", "Q=8"}).find("no kernel here has a size `Q`") != std::string::npos);
  CHECK(refused({"--kernel", "product", "--size", "M=64,N=4,K=8"}).find("product needs 8 <= N") !=
        std::string::npos);
  for (const std::vector<std::string>& wrong :
       {Names{"--size", "8", "--variant", "simt"}, Names{"--most", "3", "--variant", "simt"},
        Names{"--most", "3", "--all"}, Names{"--most", "0"}, Names{"--most", "few"}}) {
    Names command{"build", "two.lay", "-o", "out"};
    command.insert(command.end(), wrong.begin(), wrong.end());
    CHECK(folder.lay(command).code == 2);
  }
}

TEST_CASE("what a GPU cannot do is named with all reasons, and the rest is built") {
  Folder folder;
  std::string script = scale;
  for (const char* name : {"one", "two"})
    script +=
        std::string("kernel ") + name + "<M>(X: e4m3 M:1) -> Y: f32 M:1\n{ Y[i] = 2 * X[i] }\n";
  // Bytes that are moved and not computed with.
  script += "kernel turn<M, N>(X: e4m3 (M,N):(N,1)) -> Y: e4m3 (N,M):(M,1)\n{ Y[i,j] = X[j,i] }\n";
  put(folder / "mixed.lay", script);
  const std::string
      refused =
          "[unsupported]: kernel `one` for sm_80: `f32_from_e4m3` needs compute capability 8.9",
      second = "[unsupported]: kernel `two` for sm_80: ",
      help = "architectures that have it: sm_89";
  const auto kernels = [&](const std::string& out) {
    std::string names;
    const auto manifest = nlohmann::json::parse(slurp(folder / (out + "/manifest.json")));
    for (const auto& kernel : manifest["kernels"]) names += kernel["name"].get<std::string>() + " ";
    return names;
  };

  const auto old =
      folder.lay({"build", "mixed.lay", "-o", "old", "--source-only", "--arch", "sm_80"});
  CHECK(old.code == 1);
  CHECK(old.error.find("error" + refused) != std::string::npos);
  CHECK(old.error.find("error" + second) != std::string::npos);
  CHECK(old.error.find(help) != std::string::npos);
  CHECK(old.error.find("not built: one for sm_80; two for sm_80\n") != std::string::npos);
  CHECK(kernels("old") == "scale turn ");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "old"))
    CHECK(entry.path().filename().string().find("one") == std::string::npos);

  const auto both = folder.lay(
      {"build", "mixed.lay", "-o", "both", "--source-only", "--arch", "sm_80", "--arch", "sm_90a"});
  CHECK(both.code == 0);
  CHECK(both.error.find("warning" + refused) != std::string::npos);
  CHECK(both.error.find("error[") == std::string::npos);
  CHECK(kernels("both") == "scale one two turn ");

  const auto planned = folder.lay({"plan", "mixed.lay", "--all", "--gpu", "a100"});
  CHECK(planned.code == 1);
  CHECK(planned.error.find("error" + refused) != std::string::npos);
  CHECK(planned.error.find("error" + second) != std::string::npos);
  CHECK(planned.out.find("schedule turn for simt") != std::string::npos);
  CHECK(folder.lay({"plan", "mixed.lay", "--gpu", "h200"}).code == 0);
}

TEST_CASE("what ptxas remarks is a warning of build, and with --strict an error") {
  Folder folder;
  // 192 accumulators and more than 255 registers a thread with all else.
  put(folder / "tight.lay",
      "kernel f<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1)\n"
      "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
      "schedule f for simt { tile = (128,192,8)\n groups = (2,2,1,1) }\n");
  put(folder / "scale.lay", scale);
  CHECK(folder.lay({"build", "scale.lay", "-o", "out", "--strict", "--source-only"}).code == 2);
  CHECK(folder.lay({"build", "scale.lay", "-o", "out", "--strict", "--ptx"}).code == 2);
  const auto clean =
      folder.lay({"build", "scale.lay", "-o", "out", "--strict", "--arch", "sm_90a"});
  if (clean.code == 3) {
    CHECK(clean.error.find("--strict: nothing can be compiled here") != std::string::npos);
    WARN("skipped: " << clean.error);
    return;
  }
  CHECK(clean.code == 0);
  const std::vector<std::string> tight = {"build", "tight.lay", "-o", "tight", "--arch", "sm_90a"};
  const auto warned = folder.lay(tight);
  CHECK(warned.code == 0);
  const std::string remark =
      "[ptxas-remark]: kernel `f`, variant `simt_any` for sm_90a: ptxas: spills registers: ";
  CHECK(warned.error.find("warning" + remark) != std::string::npos);
  auto strict = tight;
  strict.push_back("--strict");
  const auto refused = folder.lay(strict);
  CHECK(refused.code == 1);
  CHECK(refused.error.find("error" + remark) != std::string::npos);
}
