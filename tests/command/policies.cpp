// Policies of the user's: read from a folder, chosen for their class alone, and every way in which
// one is wrong.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/command/process.h"
#include "tests/runtime/temporary.h"

using namespace lay::test;

namespace {

constexpr const char* script =
    "kernel tt<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
    "\n"
    "kernel causal<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(K,1)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = if n <= m then sum[k](A[m,k] * B[n,k]) else 0 }\n"
    "\n"
    "kernel tn<M, N, K>(A: bf16 (M,K):(K,1), B: bf16 (N,K):(1,N)) -> C: bf16 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n"
    "\n"
    "kernel exact<M, N, K>(A: f32 (M,K):(K,1), B: f32 (N,K):(K,1)) -> C: f32 (M,N):(N,1)\n"
    "{ C[m,n] = sum[k](A[m,k] * B[n,k]) }\n";

std::string policies(const std::string& row) {
  return "use atoms.sm90\n\ndim M, N, K, L\n\nrecord mine {\n  " + row +
         "\n}\n\nlet rows = (mine,)\n";
}

const std::string head = R"(gpu = "h200", a = bf16, b = bf16, acc = f32, c = bf16, along = "kkn")";
const std::string square =
    "M >= 3072 and M < 6144 and N >= 3072 and N < 6144 and K >= 3072 and K < 6144 and L < 2";
const std::string schedule =
    "tile = (128,192,64), mma = sm90.wgmma(n = 192, ab = bf16, acc = f32), groups = (2,1,1,1), "
    "cluster = (1,1), stages "
    "= 3";

class Home {
 public:
  Home() { put(folder_ / "gemm.lay", script); }
  void write(const std::string& text, const char* family = "sm90") {
    put(folder_ / ("tuned_" + std::string(family) + ".lay"), text);
  }
  Finished lay(const std::vector<std::string>& arguments) const {
    return run_lay(
        arguments,
        {"", folder_.path().string(), {"LAY_POLICIES=" + folder_.path().string()}, 60, 0});
  }
  // The variants that `lay plan` names for a kernel at these sizes.
  std::string planned(const std::string& kernel, const std::string& size,
                      const std::string& gpu = "h200") const {
    const Finished ended = lay({"plan", "gemm.lay", "--size", size, "--gpu", gpu});
    INFO(ended.error);
    CHECK(ended.code == 0);
    const auto at = ended.out.find("schedule " + kernel + " ");
    if (at == std::string::npos) return "";
    const auto variant = ended.out.rfind("// variant ", at) + 11;
    return ended.out.substr(variant, ended.out.find('\n', variant) - variant);
  }
  std::string path(const char* name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a user's policy is chosen for its class, and for that alone") {
  Home home;
  const std::string usual = home.planned("tt", "4096"), small = home.planned("tt", "1024");
  home.write(policies(head + "\n  condition = " + square + "\n  " + schedule));
  CHECK(home.planned("tt", "4096") == "sm90_tuned");
  CHECK(home.planned("tt", "M=5000,N=4096,K=3072") == "sm90_tuned");
  CHECK(usual != "sm90_tuned");
  CHECK(home.planned("tt", "1024") == small);  // another size
  CHECK(home.planned("tt", "M=4096,N=4096,K=6144") == home.planned("tt", "M=4096,N=4096,K=8192"));
  CHECK(home.planned("tn", "4096") != "sm90_tuned");          // other orders
  CHECK(home.planned("causal", "4096") != "sm90_tuned");      // a mask
  CHECK(home.planned("tt", "4096", "h100") != "sm90_tuned");  // another GPU
  const Finished whole = home.lay({"plan", "gemm.lay", "--all"});
  CHECK(whole.out.find("// variant sm90_tuned\n// where these are aligned: ") != std::string::npos);
  CHECK(whole.out.find("tile          = (128,192,64)") != std::string::npos);
  // A product without vectors of operands keeps its variants, unless the row was measured so.
  CHECK(home.planned("tt", "4095").find("tuned") == std::string::npos);
  home.write(policies(head + ", any_pitch = true\n  condition = " + square + "\n  " + schedule));
  CHECK(home.planned("tt", "4095").find("sm90_tuned") == 0);
}

TEST_CASE("a policy for the CUDA cores") {
  Home home;
  home.write(
      "dim M, N, K, L\n\nrecord mine {\n  gpu = \"h200\", a = f32, b = f32, acc = f32, c = f32, "
      "along = \"kkn\"\n  "
      "condition = M >= 96 and M < 192\n  tile = (32,64,8), groups = (1,2,1,1), lane_tile = "
      "(4,4,1)\n}\n\nlet rows = "
      "(mine,)\n",
      "simt");
  CHECK(home.planned("exact", "128") == "tuned");
  CHECK(home.planned("exact", "64") != "tuned");
}

TEST_CASE("what is wrong with a user's policy is said with its file") {
  Home home;
  const auto error = [&] {
    const Finished ended = home.lay({"plan", "gemm.lay"});
    CHECK(ended.code == 1);
    return ended.error;
  };
  const auto says = [&](const std::string& text, const std::string& words) {
    home.write(text);
    const std::string said = error();
    INFO(said);
    CHECK(said.find(words) != std::string::npos);
    CHECK(said.find("internal") == std::string::npos);
  };
  const std::string path = home.path("tuned_sm90.lay"), row = "the row mine of " + path + ": ";
  says("let rows = (1, 2\n", path + ":1: ");
  says("dim M\nlet x = nothing\n", path + ":2: ");
  says("dim M\n", path + ": ");
  says("let rows = 8\n", path + ": rows is an integer, not a list of records");
  says("record r { a = 1 }\nlet rows = (r, 8:1)\n",
       path + ": rows holds a layout, which is no record");
  says(policies("a = bf16"), row + "it has no field gpu");
  says(policies(head + "\n  condition = 4"), row + "its condition is a condition, not an integer");
  says("dim P\n" + policies(head + "\n  condition = P > 3"),
       row + "its condition speaks of P, and not of M, N, K and L alone");
  says(policies(head + "\n  condition = M > 3, mma = 8"), row);
  says(policies(head + "\n  condition = M > 3, tile = (128,192,64), colour = 3"),
       "the tuned row mine: ");
  // A row that misfits is passed over, as a policy of the library.
  home.write(policies(
      head + "\n  condition = " + square +
      "\n  tile = (128,256,64), mma = sm90.wgmma(n = 256, ab = bf16, acc = f32), stages = 20"));
  CHECK(home.planned("tt", "4096").find("tuned") == std::string::npos);
  // A path that is no file leaves the plans as they are without it.
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  const Finished ended = home.lay({"plan", "gemm.lay"});
  CHECK(ended.code == 0);
  CHECK(ended.error.find(path) != std::string::npos);
}

// The rows of a summary by their variants: "// sm90_64x32   20 %  cost   the launch   M <= 16".
std::map<std::string, std::vector<std::string>> summary_rows(const std::string& text) {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() > 4 && words[3] == "%") rows[words[1]] = words;
  }
  return rows;
}

TEST_CASE("lay plan sums up a long plan, and prints it with --all") {
  Home home;
  const Finished few = home.lay({"plan", "gemm.lay", "--kernel", "tt"});
  REQUIRE(few.code == 0);
  INFO(few.out);
  CHECK(std::count(few.out.begin(), few.out.end(), '\n') <= 60);
  std::istringstream lines(few.out);
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.starts_with("//"));  // it pastes
    CHECK(line.size() <= 100);
  }
  CHECK(home.lay({"plan", "gemm.lay", "--kernel", "tt"}).out == few.out);
  const auto rows = summary_rows(few.out);
  CHECK(rows.size() > 10);
  int shares = 0;
  for (const auto& [name, words] : rows)
    if (words[2] != "<1") shares += std::stoi(words[2]);
  CHECK(shares > 80);
  CHECK(shares <= 100 + static_cast<int>(rows.size()) / 2);  // they are rounded
  for (const auto& [name, words] : rows) CHECK(words.at(4) == "cost");

  // Every variant is named once, as a row or at the end.
  const Finished whole = home.lay({"plan", "gemm.lay", "--kernel", "tt", "--all"});
  std::istringstream all(whole.out);
  std::size_t variants = 0;
  for (std::string line; std::getline(all, line);) {
    if (!line.starts_with("// variant sm")) continue;
    ++variants;
    const std::string name = line.substr(11);
    INFO(name);
    CHECK((rows.contains(name) || few.out.find(" " + name + ",") != std::string::npos ||
           few.out.find(" " + name + "\n") != std::string::npos));
  }
  CHECK(few.out.find(": 12 of " + std::to_string(variants) + " variants are built\n") !=
        std::string::npos);
  CHECK(few.out.find("slower than with all in the mean, at most ") != std::string::npos);
  CHECK(home.lay({"plan", "gemm.lay", "--all", "--size", "64"}).code == 2);
}

TEST_CASE("lay plan takes sizes, and says what is wrong with them") {
  Home home;
  const Finished one = home.lay({"plan", "gemm.lay", "--size", "M=16,N=4096,K=4096"});
  CHECK(one.code == 0);
  CHECK(one.out.find("// variant sm90_16x64_split_2") != std::string::npos);
  CHECK(one.out.find("// variant sm90_wide") == std::string::npos);
  const Finished few = home.lay({"plan", "gemm.lay", "--size", "M=16"});
  CHECK(few.code == 0);
  CHECK(few.out.find(" variants are built for M=16\n") != std::string::npos);
  CHECK(few.out.find("// sm90_16x64") != std::string::npos);
  CHECK(few.out.find("// sm90_128x128_2x1 ") == std::string::npos);  // of more rows
  CHECK(home.lay({"plan", "gemm.lay", "--size", "M=x"}).code == 2);
  CHECK(home.lay({"plan", "gemm.lay", "--size", "-3"}).code == 1);
}

TEST_CASE("a user's file of a GPU changes plans for that GPU, and one that is wrong is ignored") {
  Home home;
  const std::string name = "NVIDIA H100 80GB HBM3";
  const auto lay = [&](const std::vector<std::string>& arguments) {
    return run_lay(arguments, {"", home.path(""), {"LAY_TARGETS=" + home.path("gpus")}, 60, 0});
  };
  const auto plan = [&](const std::string& gpu) {
    return lay({"plan", "gemm.lay", "--kernel", "tt", "--size", "512", "--gpu", gpu});
  };
  const Finished usual = plan("h100");
  CHECK(usual.code == 0);
  CHECK(usual.error == "");
  CHECK(plan(name).code == 1);
  CHECK(plan(name).error.find("there is no target `" + name + "`") != std::string::npos);

  std::filesystem::create_directory(home.path("gpus"));
  const std::string file = home.path("gpus/NVIDIA_H100_80GB_HBM3.lay");
  const auto text = [&](const std::string& costs) {
    return "use targets.gpu\nlet measured = (measured_gpu(device = \"" + name +
           "\", capability = 90, sms = 132, hertz = 1.98e9, memory_rate = 3.35e12, cache_rate = "
           "8000, launch = 2.5e-6, costs = " +
           costs + "),)\n";
  };
  put(file, text("fitted_on_h200"));
  CHECK(plan(name).out == usual.out);
  put(file,
      text("cost_coefficients(row = 150, in_line = 112, in_sector = 100, received = "
           "200, shorter = 300, ragged = 1400, three_share = 1100, tile = 2000, ping_pong = 150, "
           "parts = 620, cluster = 620, launch = 2280, epilogue = 114, operation = 20, "
           "part_sum = 77, bytes = 300, bytes_tile = 350, bytes_launch = 3000, bytes_part_sum = "
           "220, thread_sum = 73, transposed = 73, sm_row = 9, sm_transposed = 4, sent_sum = 20, "
           "sm_products = 110, copied = 848, ring_transposed = 555, sm_turn = 5000, thread_launch "
           "= 800, "
           "no_overlap = 1500, warp_bits = 20320, warp_f64 = 128, cached = 4167, memory = 2424, "
           "warp_latency = 600, warp_step = 60, missing = (0,0,5,3,4,5,3,2))"));
  CHECK(plan(name).code == 0);
  CHECK(plan(name).out != usual.out);
  CHECK(plan("h100").out == usual.out);

  for (const char* wrong : {"let measured = (\n", "let measured = 8\n", "dim M\n",
                            "use targets.gpu\nlet measured = (rate(\"warp\", f16, 8),)\n",
                            "use nothing.at_all\n", "\x01\x02"}) {
    put(file, wrong);
    const Finished ended = plan("h100");
    INFO(ended.error);
    CHECK(ended.code == 0);
    CHECK(ended.out == usual.out);
    CHECK(ended.error.starts_with("warning[file]: " + file + ":"));
    CHECK(ended.error.find("the file is ignored") != std::string::npos);
  }
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK(plan("h100").code == 0);
  CHECK(plan("h100").error.find(file) != std::string::npos);
}

TEST_CASE("lay calibrate without a GPU says why, and fits to times of a file") {
  Home home;
  const auto lay = [&](const std::vector<std::string>& arguments) {
    return run_lay(arguments, {"", home.path(""), {"LAY_TARGETS=" + home.path("gpus")}, 60, 0});
  };
  put(home.path("times.txt"),
      "tt 1000 1000 1000 1 9.0: 64x64.1x1 20.1, 128x128.2x1p 15.2, 64x128.2x1 16.8\n"
      "tt 4000 1000 1000 1 9.0: 64x64.1x1 40.1, 128x128.2x1p 32.2, 64x128.2x1 38.8\n");
  const Finished fitted = lay({"calibrate", "--from", "times.txt", "--gpu", "h100"});
  INFO(fitted.out << fitted.error);
  CHECK(fitted.code == 0);
  CHECK(fitted.out.starts_with("times of times.txt, for h100\n"));
  CHECK(fitted.out.find("\n2 problems, 6 times; ") != std::string::npos);
  const Finished json = lay({"calibrate", "--from", "times.txt", "--json"});
  CHECK(json.out.starts_with("{\"coefficients\":{\"row\":{\"library\":59,"));
  CHECK(lay({"calibrate", "--from", "none.txt"}).code == 1);
  CHECK(lay({"calibrate", "--from", "times.txt", "-o", "x"}).code == 2);
  CHECK(lay({"calibrate", "--gpu", "h100"}).code == 2);
  const Finished ended = lay({"calibrate", "--dry-run", "--seconds", "1"});
  if (ended.code == 0) return;  // there is a GPU
  CHECK(ended.code == 3);
  CHECK(ended.error.starts_with("lay calibrate: no GPU to measure on: "));
  CHECK(!std::filesystem::exists(home.path("gpus")));
}

TEST_CASE("lay tune without a GPU ranks, says why nothing is timed, and writes nothing") {
  Home home;
  const Finished ended = home.lay({"tune", "gemm.lay", "--kernel", "tt", "--size", "1024"});
  if (ended.out.find("Ranked by the model; nothing was timed: ") == std::string::npos)
    return;  // there is a GPU
  CHECK(ended.code == 0);
  CHECK(ended.out.find("us  predicted for the default, ") != std::string::npos);
  CHECK(!std::filesystem::exists(home.path("tuned_sm90.lay")));
  CHECK(home.lay({"tune", "gemm.lay", "--beside", "-o", "x"}).code == 2);
}
