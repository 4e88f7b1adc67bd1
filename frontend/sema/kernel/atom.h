// A multiply-add instruction as data: what the planner, the interpreter and the emitter know of
// one. It is read off the fields of a record, from the library or from a script; nothing in C++
// knows an instruction by name.
//
//   sm90.wgmma(n = 256, ab = bf16, acc = f32)
//
// is an Atom of kind "warpgroup" and shape (64,256,16), whose operands lie in shared memory, with
//   c            ((4,8,4),(2,2,32)):((128,1,16),(64,8,512))
//   instruction  "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 $d, $a, $b, $scale, 1, 1,
//   $trans_a, $trans_b"
#pragma once

#include <array>
#include <string>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/memory/element.h"

namespace lay::sema {

struct Record;

// d = a * b + c of one instruction, d in the registers of c.
//
// The template names registers: $d and $c the accumulators, $a and $b the operands (registers, or
// the descriptor of an operand in shared memory), $scale the predicate that is false where d = a *
// b, and $trans_a and $trans_b numbers that are 1 where the operand in shared memory is m- or
// n-major. A template without them takes k-major operands there only; to registers operands come
// from either order.
struct Atom {
  // As Lay reads it back: sm90.wgmma(n = 256, ab = bf16, acc = f32)
  std::string name;
  std::string kind;            // what executes it: "thread", "quad pair", "warp", "warpgroup"
  std::array<int, 3> shape{};  // m, n, k
  // Thread of the atom -> thread of its group.
  Layout threads;
  // (thread, value) -> column-major index in the tile m x k of a, n x k of b, m x n of c. Where the
  // operand lies in shared memory all threads see the whole tile.
  Layout a, b, c;
  bool a_shared = false, b_shared = false;
  ElementType a_type = ElementType::f32, b_type = ElementType::f32, accumulator = ElementType::f32;
  // PTX; empty: there is none, and it cannot be emitted.
  std::string instruction;
  // The least compute capability that has it, times ten; 0: every one.
  int since = 0;
  // Bytes: of where an operand in shared memory begins, and of its rows.
  int alignment = 0;
  // The swizzle widths, in bytes, that an operand in shared memory may have; widest first.
  std::vector<int> swizzle_widths;
  // Clocks of one SM an instruction.
  double cost = 0;
  // At most this times (|c| + sum |a*b|) away from the exact result.
  double error = 0;

  friend bool operator==(const Atom&, const Atom&) = default;

  int count() const;  // threads that execute one
  // Returns true if operands may run along m and n in memory.
  bool takes_transposed_a() const {
    return !a_shared || instruction.find("$trans_a") != std::string::npos;
  }
  bool takes_transposed_b() const {
    return !b_shared || instruction.find("$trans_b") != std::string::npos;
  }
};

// The record's fields as an atom, proved: accumulators hold every element of their tile exactly
// once, operands every element of theirs, again only along threads of stride 0. Refusal
// "not-an-atom" names the field that is missing, of another kind, or does not hold numbers;
// "atom-cover" the thread and value that are wrong.
Atom atom_of(const Record& record);

}  // namespace lay::sema
