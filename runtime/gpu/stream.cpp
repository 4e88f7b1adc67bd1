#include "runtime/gpu/stream.h"

#include <array>
#include <cstddef>
#include <utility>

#include "runtime/gpu/driver_api.h"

namespace lay::runtime {

namespace {

// The graph of what `record` gives to the stream; the caller destroys it.
void* recording(const DriverApi& api, const Stream& stream, const std::function<void()>& record) {
  constexpr int of_this_thread = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  void* recorded = nullptr;
  check_call(api.capture_begin(stream.handle(), of_this_thread), "cuStreamBeginCapture");
  try {
    record();
  } catch (...) {
    api.capture_end(stream.handle(), &recorded);
    if (recorded) api.graph_destroy(recorded);
    throw;
  }
  check_call(api.capture_end(stream.handle(), &recorded), "cuStreamEndCapture");
  return recorded;
}

// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNode {
  void* function;
  std::array<unsigned, 3> grid, block;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;
  void* context;
};

std::string dim3_text(const char* what, const unsigned* at) {
  return std::string(" ") + what + " (" + std::to_string(at[0]) + "," + std::to_string(at[1]) +
         "," + std::to_string(at[2]) + ")";
}

std::vector<std::string> kernels_of(const DriverApi& api, void* graph) {
  constexpr int kernel_node = 0,
                cluster_dimension = 4;  // CU_GRAPH_NODE_TYPE_KERNEL, CU_LAUNCH_ATTRIBUTE_...
  std::size_t count = 0;
  std::vector<std::string> kernels;
  const bool tells = api.graph_nodes && api.node_type && api.kernel_of_node &&
                     api.attribute_of_node && api.function_name && api.kernel_name;
  if (!tells || api.graph_nodes(graph, nullptr, &count) != 0) return kernels;
  std::vector<void*> nodes(count);
  if (api.graph_nodes(graph, nodes.data(), &count) != 0) return kernels;
  for (void* node : nodes) {
    int type = -1;
    KernelNode what{};
    if (api.node_type(node, &type) != 0 || type != kernel_node ||
        api.kernel_of_node(node, &what) != 0)
      continue;
    const char* name = nullptr;
    const bool named = (what.kernel && api.kernel_name(&name, what.kernel) == 0) ||
                       (what.function && api.function_name(&name, what.function) == 0);
    std::string text = named && name ? name : "a kernel";
    text += dim3_text("grid", what.grid.data()) + dim3_text("block", what.block.data());
    alignas(8) std::array<unsigned, 16> value{};  // CUlaunchAttributeValue
    if (api.attribute_of_node(node, cluster_dimension, value.data()) == 0 && value[0] != 0)
      text += dim3_text("cluster", value.data());
    kernels.push_back(std::move(text));
  }
  return kernels;
}

}  // namespace

Stream::Stream() {
  constexpr unsigned follows_default_stream = 0;
  check_call(driver().stream_create(&handle_, follows_default_stream), "cuStreamCreate");
}

Stream::~Stream() {
  if (handle_) found_driver().stream_destroy(handle_);
}

void Stream::wait() const {
  check_call(driver().stream_synchronize(handle_), "cuStreamSynchronize");
}

Graph Graph::of(const Stream& stream, const std::function<void()>& record) {
  const DriverApi& api = driver();
  void* recorded = recording(api, stream, record);
  Graph graph;
  const int status = api.graph_instantiate(&graph.executable_, recorded, 0);
  api.graph_destroy(recorded);
  check_call(status, "cuGraphInstantiate");
  return graph;
}

std::vector<std::string> recorded_kernels(const Stream& stream,
                                          const std::function<void()>& record) {
  const DriverApi& api = driver();
  void* recorded = recording(api, stream, record);
  auto kernels = kernels_of(api, recorded);
  api.graph_destroy(recorded);
  return kernels;
}

Graph::~Graph() {
  if (executable_) found_driver().graph_exec_destroy(executable_);
}

Graph::Graph(Graph&& other) noexcept : executable_(std::exchange(other.executable_, nullptr)) {}

Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(executable_, other.executable_);
  return *this;
}

void Graph::launch(const Stream& stream) const {
  check_call(driver().graph_launch(executable_, stream.handle()), "cuGraphLaunch");
}

}  // namespace lay::runtime
