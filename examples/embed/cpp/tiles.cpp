// The compiler in a program of C++: it chooses a layout of shared memory and proves what that needs
// to hold, runs a kernel, and asks how the kernel is planned for GPUs that need not be there.
//
//   c++ -std=c++17 tiles.cpp -o tiles $(pkg-config --cflags --libs lay)
//   ./tiles
//
// Without a GPU the kernel runs in the interpreter, which checks every access; the rest needs none.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <lay/lay.hpp>
#include <string>
#include <vector>

namespace {

constexpr const char* kLayer = R"(
kernel layer<M, N, K>(X: f32 (M,K), W: f32 (N,K), b: f32 N) -> Y: f32 (M,N)
  where K % 4 == 0
{ Y[m,n] = relu(sum[k](X[m,k] * W[n,k]) + b[n]) }
)";

// The part of a JSON text between `begin` and the next `end`.
std::string part(const std::string& json, const std::string& begin, char end) {
  const auto at = json.find(begin) + begin.size();
  return json.substr(at, json.find(end, at) - at);
}

// Prints a claim with its verdict, and with the smallest case that refutes it.
void print_verdict(const lay::Program& program, const std::string& claim) {
  const std::string json = program.prove(claim);
  std::cout << claim << ": " << part(json, "\"verdict\":\"", '"') << "\n";
  const std::string witness = part(json, "\"witness\":{", '}');
  if (!witness.empty()) std::cout << "  " << witness << "\n";
}

// Transposing a tile of 32 x 32 floats writes its rows and reads its columns. Prints the conflicts
// of rows that are padded by 0, 1, ... floats until there are none, and the swizzle that needs no
// padding.
void choose_tile(const lay::Program& program) {
  program.run("tile.lay", "let rows = (32,32):(1@1,1@0)\nlet columns = (32,32):(1@0,1@1)\n");
  for (int padding = 0;; ++padding) {
    const std::string tile = "(32,32):(" + std::to_string(32 + padding) + ",1)";
    const auto conflicts =
        program.evaluate("banks(" + tile + ", columns, f32).conflicts").integer();
    std::cout << tile << ": " << conflicts << " bank conflicts in its columns\n";
    if (conflicts == 0) break;
  }
  const lay::Value tile =
      program.evaluate("find swizzle(write = rows, read = columns, bits = 32).layout");
  std::cout << tile.text() << ": "
            << program.evaluate("banks(tile, columns, f32).conflicts", {{"tile", &tile}}).integer()
            << " bank conflicts, and no padding\n";
  // Every element has an address of its own, below 1024.
  program.define("tile", tile);
  print_verdict(program, "bijective(tile)");
}

// Asks for all sizes at once, which are symbols: are rows that begin `ld` elements apart read
// without one element twice? Refuted with the smallest case, and proved where rows do not overlap.
void ask_about_all_sizes(const lay::Context& context) {
  const lay::Program program(context);
  program.run("sizes.lay", "dim M, N, ld\n");
  print_verdict(program, "injective((M,N):(ld,1))");
  program.run("sizes.lay", "assume ld >= N\n");
  print_verdict(program, "injective((M,N):(ld,1))");
  try {
    program.evaluate("(6,2):(1,7) o (3,2):(2,3)");
  } catch (const lay::Error& error) {
    std::cout << error.diagnostics()[0].code << ": " << error.diagnostics()[0].message << "\n";
  }
}

// Runs the layer on whole numbers and compares it with a loop. Returns whether they are the same.
bool run_layer(const lay::Context& context, const lay::Kernel& layer) {
  constexpr std::size_t M = 32, N = 24, K = 16;
  std::vector<float> x(M * K), w(N * K), b(N);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7 % 5) - 2;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i * 3 % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 4);
  const auto array = [&](const std::vector<std::int64_t>& shape, const std::vector<float>& data) {
    return lay::Value::of(context, "f32", shape, data.data(), data.size() * sizeof(float));
  };
  const lay::Value vx = array({M, K}, x), vw = array({N, K}, w), vb = array({N}, b);
  const std::vector<lay::Value> outputs = layer.run({&vx, &vw, &vb});
  const auto* result = static_cast<const float*>(outputs[0].array().data);
  for (std::size_t m = 0; m < M; ++m)
    for (std::size_t n = 0; n < N; ++n) {
      float sum = b[n];
      for (std::size_t k = 0; k < K; ++k) sum += x[m * K + k] * w[n * K + k];
      if (result[m * N + n] != std::max(sum, 0.0f)) return false;
    }
  return true;
}

// What the layer takes at least on two GPUs, and the variant that a launch of a size chooses.
void forecast(const lay::Kernel& layer) {
  for (const char* gpu : {"a100", "h200"}) {
    const lay::Plan plan = layer.plan(gpu);
    for (const std::int64_t m : {1, 64, 4096}) {
      const lay::Sizes sizes = {{"M", m}, {"N", 4096}, {"K", 4096}};
      const std::size_t variant = plan.choose(sizes);
      std::printf("%s, M = %4d: %-22s at least %7.1f us\n", gpu, static_cast<int>(m),
                  plan.variants()[variant].c_str(), 1e6 * plan.forecast(variant, sizes));
    }
  }
}

// Receives a line about where a kernel ran, and keeps whether that was a GPU.
void keep_machine(void* on_gpu, const char* line) {
  *static_cast<bool*>(on_gpu) = std::string(line).find("interpreter") == std::string::npos;
}

}  // namespace

int main() {
  try {
    bool on_gpu = false;
    lay_options options{};
    options.size = sizeof options;
    options.user = &on_gpu;
    options.log = keep_machine;
    const lay::Context context(options);
    const lay::Program program(context);
    choose_tile(program);
    ask_about_all_sizes(context);

    program.run("layer.lay", kLayer);
    const lay::Kernel layer = program.kernel("layer");
    const bool is_right = run_layer(context, layer);
    std::cout << (on_gpu ? "on the GPU" : "no GPU: in the interpreter") << ", the layer is "
              << (is_right ? "right" : "wrong") << "\n";
    std::cout.flush();
    forecast(layer);
    return is_right ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
