// Operands that lie in memory by views (backend/tile/products/operand_view.h): the boxes or columns
// of pixels by which TMA takes them, and where each begins.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backend/ir/lower/lower_parts.h"
#include "backend/ir/lower/lower_ring.h"
#include "backend/tile/products/operand_view.h"

namespace lay::ir {

// The digits of an index that stands for several, each computed once, where it is first asked for.
class Digits {
 public:
  Digits(Declared& declared, const char* name, Term index)
      : declared_(declared), name_(name), index_(index) {}

  Term of(const tile::Digit& digit);
  // Computes here all that the modes of a view need, along the outer index or along k.
  void compute(const std::vector<tile::ViewedMode>& modes,
               std::optional<tile::Digit> tile::ViewedMode::*of_mode);

 private:
  Declared& declared_;
  const char* name_;
  Term index_;
  std::vector<std::pair<tile::Digit, Term>> known_;
};

// As map_of_boxes(), of a tensor by a view.
int map_of_view(Declared& declared, const std::string& name, const LoadedBoxes& boxes,
                const tile::OperandView& view);

// Where TMA begins in the tensor, and with windows the offsets from base pixels: of the element at
// the digits of the outer index and of k, `further` along the fastest digit of k, and at the
// batches by `batch_at`.
struct ViewedPlace {
  std::vector<ExprId> coordinate, offsets;
};
ViewedPlace place_in_view(Declared& declared, const tile::OperandView& view, Digits& outer,
                          Digits& k, Term further,
                          const std::function<Term(sema::IndexId)>& batch_at);

}  // namespace lay::ir
