// A copy instruction as data, read off the fields of a record (stdlib/atoms) as multiply-adds are
// (atom.h).
//
//   library_copy("atoms.sm80", "ldmatrix", {{"n", 4}})
//
// is a CopyInstruction of kind "warp" with
//   source       ((8,4),128):... , a row of 16 bytes from each lane's address
//   instruction  "ldmatrix.sync.aligned.m8n8.x4.shared.b16 $to, [$from]"
#pragma once

#include <string>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay::sema {

struct Record;

// Where a side of a copy lies; any: wherever a thread can load or store.
enum class CopySpace { any, global, shared, registers };

// The template names registers or addresses: $to, $from; the bytes that are read, $bytes; and of a
// copy of a box the tensor's descriptor $map, the box's first element $coordinates, the mbarrier
// that is told of the bytes $barrier, a cluster's blocks $mask and, in im2col mode, $offsets.
struct CopyInstruction {
  // As Lay reads it back: sm75.ldmatrix(n = 4)
  std::string name;
  std::string kind;  // what executes it: "thread", "warp"; "cluster": one thread for all blocks
  CopySpace from = CopySpace::any, to = CopySpace::any;
  // Thread of the copy -> thread of its group; of a cluster its blocks.
  Layout threads;
  // (thread, value) -> bit of what is copied.
  Layout source, destination;
  std::string instruction;  // PTX
  // The least compute capability that has it, times ten; 0: every one.
  int since = 0;
  int alignment = 0;  // bytes: of an address
  int modes = 0;      // of a tensor, boxes of which are copied; 0: neighbouring bytes
  // Bytes of which the strides of a tensor in global memory are multiples; 0: any.
  int pitch = 0;
  // The swizzle widths, in bytes, in which it can write or read shared memory.
  std::vector<int> swizzle_widths;
  double cost = 0;  // clocks of one SM an instruction

  friend bool operator==(const CopyInstruction&, const CopyInstruction&) = default;

  int count() const;          // threads
  std::int64_t bits() const;  // that are copied
  bool is_box() const { return modes > 0; }
  // One thread copies from global to shared memory, and waits for a group of copies later.
  bool is_async() const {
    return kind == "thread" && from == CopySpace::global && to == CopySpace::shared && !is_box();
  }
  bool of_pixels() const;  // of a box in im2col mode
};

// The record's fields, proved: both sides hold every bit exactly once, again only along modes of
// threads with stride 0. Refusal "not-an-atom" names the field that is missing or of another kind;
// "atom-cover" the thread and value that are wrong.
CopyInstruction copy_of(const Record& record);

}  // namespace lay::sema
