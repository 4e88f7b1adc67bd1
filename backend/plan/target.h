// What a plan has to know of the machine it plans for.
#pragma once

namespace lay::plan {

struct Target {
  int multiprocessors = 132;
  int registers = 65536;  // of a multiprocessor
  int thread_registers = 255;
  int shared_bytes = 232448;  // of a block
  int block_threads = 1024;
};

}  // namespace lay::plan
