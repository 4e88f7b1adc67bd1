#include "runtime/stream.h"

#include <utility>

#include "runtime/driver_api.h"

namespace lay::runtime {

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
  constexpr int of_this_thread = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
  const DriverApi& api = driver();
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
  Graph graph;
  const int status = api.graph_instantiate(&graph.executable_, recorded, 0);
  api.graph_destroy(recorded);
  check_call(status, "cuGraphInstantiate");
  return graph;
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
