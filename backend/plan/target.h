// What a plan has to know of the machine it plans for.
#pragma once

namespace lay::plan {

struct Target {
  int multiprocessors = 132;
  int registers = 65536;  // of a multiprocessor
  int thread_registers = 255;
  int shared_bytes = 232448;  // of a block
  int block_threads = 1024;
  double bytes_per_second = 4.8e12;  // of global memory, at most
  double hertz = 1.98e9;
};

}  // namespace lay::plan
