// How tensors travel by TMA: which ones can, in what boxes, and how a tile lies in shared memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backend/plan/copies.h"
#include "backend/plan/sm90/sm90_gemm.h"
#include "frontend/sema/kernel/copy_instruction.h"

namespace lay::plan {

// A tensor's modes in the order that TMA takes them, fastest first, or nothing: it takes tensors of
// 1 to 5 plain modes, one of which has stride 1. `conditions` gains what has to hold for the rest:
// strides of whole 16 bytes and a base address aligned to them (CUDA driver API,
// cuTensorMapEncodeTiled).
std::optional<std::vector<int>> tma_order(const sema::Kernel& kernel, sema::TensorId tensor,
                                          Facts& facts, Conditions& conditions);

// A box of a tensor on its way between global and shared memory.
struct BoxCopy {
  sema::CopySpace to = sema::CopySpace::shared;
  int modes = 0;        // of the tensor
  int bytes = 0;        // a multiple of 16
  int span = 16;        // bytes: the swizzle width of its rows; 16: as they are
  int blocks = 1;       // of a cluster that get it
  bool pixels = false;  // in im2col mode
};

bool copies_box(const sema::CopyInstruction& copy, const BoxCopy& box);

// The instruction that copies a box: the first of `chosen` that does, else of the library's.
sema::CopyInstruction box_instruction(const BoxCopy& box,
                                      std::span<const sema::CopyInstruction> chosen);

// Bytes of the swizzled rows that boxes may have in shared memory, widest first: what the records
// of loads and stores say.
const std::vector<int>& box_widths();

// The swizzle of rows of `span` bytes over addresses: Sw<3,4,3> for 128.
Swizzle address_swizzle(int span);

// One stage of an operand as wgmma reads it, and of an output as TMA stores it: blocks of 8 rows of
// `span` bytes (sema::shared_block) next to each other across the rows first. (outer, k) -> offset
// in elements. The tile has whole blocks.
//   K-major   (128, 64):(64, 1)                  with rows of 64 elements along k
//   MN-major  ((64,2), 64):((1,4096), 64)        with rows of 64 elements along the outer index
AnyLayout operand_layout(int outer, int k, bool along_k, int span, ElementType element);

// The layout with further modes that step over whole copies of it.
AnyLayout repeated(const AnyLayout& one, const std::vector<int>& counts);

}  // namespace lay::plan
