#pragma once

// Copies between memory and the registers of a group of threads, of which some name a row of
// memory each: where the values lie that the threads hold.
//
//     memory     ((8,4),128):((128,1024),1)           thread 8 q + r names row r of matrix q
//     registers  (32,(32,4)):(32,(1,1024))            thread 4 r + j: 32 bits of row r from 32 j on
//
// Both sides map (thread, bit) to a bit of what is copied. With elements of 16 bits value 2 q + e
// of thread 4 r + j lies in the row of thread 8 q + r, at element 2 j + e.

#include <optional>
#include <vector>

#include "frontend/algebra/layouts/layout.h"

namespace lay {

struct RowPlace {
  int row = 0;      // the thread that names it
  int element = 0;  // in the row

  friend bool operator==(const RowPlace&, const RowPlace&) = default;
};

struct CopyRows {
  int threads = 0;               // that hold values
  int values = 0;                // elements of a thread
  int rows = 0;                  // threads 0 .. rows - 1 name one each; what others name is ignored
  int length = 0;                // elements of a row
  std::vector<RowPlace> places;  // of value v of thread t at t + threads * v

  const RowPlace& place(int thread, int value) const {
    return places[static_cast<std::size_t>(thread + threads * value)];
  }
};

// Returns the rows in elements of that many bits. Nothing where an element's bits are not
// neighbours on both sides, or where the rows are not named by the first threads. Law: memory and
// registers are of known numbers and hold the same bits, each on either side at least once.
std::optional<CopyRows> copy_rows(const Layout& memory, const Layout& registers, int element_bits);

}  // namespace lay
