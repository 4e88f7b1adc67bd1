// Streams, and work that is recorded once and given to the device again and again: a graph, whose
// launches follow each other without the host.
//
//   Stream stream;
//   const Graph twenty = Graph::of(stream, [&] { for (int i = 0; i < 20; ++i)
//   launch(stream.handle()); }); twenty.launch(stream); stream.wait();
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/gpu/driver.h"

namespace lay::runtime {

// Work in it begins after what was given to the default stream before, and the other way round.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  StreamHandle handle() const { return handle_; }
  // Until all its work is done; a fault of a kernel comes out here.
  void wait() const;

 private:
  StreamHandle handle_ = nullptr;
};

// Recorded work that is launched as a whole.
class Graph {
 public:
  // Records what `record` gives to the stream, and does not run it. An exception of `record` ends
  // the recording and goes on up.
  static Graph of(const Stream& stream, const std::function<void()>& record);
  ~Graph();
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;

  void launch(const Stream& stream) const;

 private:
  Graph() = default;
  void* executable_ = nullptr;
};

// "name grid (132,1,1) block (384,1,1) cluster (2,1,1)" of every kernel that `record` gives to the
// stream, recorded and not run, in the order in which the driver names them; empty with drivers
// that do not tell (before CUDA 12.3).
std::vector<std::string> recorded_kernels(const Stream& stream,
                                          const std::function<void()>& record);

}  // namespace lay::runtime
