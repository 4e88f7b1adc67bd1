#pragma once

// The values of a layout on a grid: rows are mode 0, columns mode 1, slices count the modes beyond.
// A mode is evaluated once for each of its positions; a box then costs an addition and what stands
// outside the layout (a swizzle).
//
//     Field f((4,2):(1,4), limits);      f.rows() == 4   f.value(0, 1, 1) == 5

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/algebra/layouts/layout.h"
#include "frontend/picture/axis.h"

namespace lay::picture {

// The most that is drawn. Beyond it a picture shows a corner and says so.
struct Limits {
  int cells = 16384;  // boxes of one picture
  // Rows or columns of a panel, where the other side is as long.
  int side = 128;
  // Rows or columns where the other side is short.
  int longest = 1024;
  int slices = 16;  // panels
  int line = 512;   // offsets of an address line
  // True if `all = true` draws the rest, which the note of a corner says then.
  bool can_be_lifted = true;

  // Boxes of several pictures together: two grids and their address lines.
  std::size_t together() const { return 2 * static_cast<std::size_t>(cells + longest); }
  // TeX's memory of 5 million words holds some 2,500 boxes of a picture, and no length of more than
  // 16,383 points.
  static Limits for_tex() {
    return {
        .cells = 1024, .side = 32, .longest = 64, .slices = 16, .line = 64, .can_be_lifted = false};
  }
  // Returns the limits of a picture that is asked for whole: what a browser still draws.
  static Limits all() {
    return {.cells = 1 << 20,
            .side = 1 << 10,
            .longest = 1 << 16,
            .slices = 1 << 12,
            .line = 1 << 14,
            .can_be_lifted = false};
  }
};

class Field {
 public:
  // Refusals: "symbolic" where a size is not known, "no-shape" for a composed layout without one.
  Field(const AnyLayout& layout, const Limits& limits);

  int rows() const { return row_.count(); }
  int columns() const { return column_.count(); }
  int slices() const { return static_cast<int>(slices_.size()); }
  std::int64_t all_rows() const { return all_rows_; }
  std::int64_t all_columns() const { return all_columns_; }
  std::int64_t all_slices() const { return all_slices_; }
  bool whole() const {
    return rows() == all_rows_ && columns() == all_columns_ && slices() == all_slices_;
  }
  int rank() const { return rank_; }

  const Side& row() const { return row_; }
  const Side& column() const { return column_; }

  Tuple value(int slice, int row, int column) const;
  std::string coordinate(int slice, int row, int column) const;
  std::int64_t index(int slice, int row, int column) const;
  // "(_,_,3)"; empty for a layout of rank 2 or less.
  std::string slice_text(int slice) const;
  // Returns what was left out, in words; empty if nothing was.
  std::string left_out() const;

 private:
  struct SliceOf {
    std::vector<std::string> coordinates;  // of the modes from 2 on
    Tuple value;
  };

  void choose_slices(const Layout& domain, const Limits& limits);

  AnyLayout layout_;
  Side row_, column_;
  std::vector<SliceOf> slices_;
  std::int64_t all_rows_, all_columns_, all_slices_ = 1;
  int rank_;
  bool can_be_lifted_;  // the limits
};

// The layout that says what coordinates are; Refusal "no-shape".
const Layout& domain_of(const AnyLayout& layout);

}  // namespace lay::picture
