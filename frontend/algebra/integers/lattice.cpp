#include "frontend/algebra/integers/lattice.h"

#include <utility>

#include "frontend/algebra/integers/floor.h"
#include "frontend/algebra/integers/int.h"

namespace lay {
namespace {

// row -= times*other, from column `begin` on.
void subtract(std::vector<int64_t>& row, const std::vector<int64_t>& other, int64_t times,
              size_t begin) {
  if (times == 0) return;
  for (size_t k = begin; k < row.size(); ++k)
    row[k] = checked_sub(row[k], checked_mul(times, other[k]));
}

}  // namespace

// Each number below `row`'s begin that a row begins in comes to lie from 0 on and below what that
// row begins with.
void Lattice::reduce(std::vector<int64_t>& row, size_t begin) const {
  for (size_t k = begin; k < row.size(); ++k) {
    if (!rows_[k].empty()) subtract(row, rows_[k], floor_of(row[k], rows_[k][k]), k);
  }
}

void Lattice::add(std::vector<int64_t> row) {
  for (size_t k = 0; k < row.size(); ++k) {
    if (row[k] == 0) continue;
    auto& own = rows_[k];
    if (own.empty()) own.assign(row.size(), 0);
    while (row[k] != 0) {  // Euclid's steps, on whole rows
      if (own[k] != 0) subtract(row, own, row[k] / own[k], k);
      if (row[k] != 0) std::swap(own, row);
    }
    if (own[k] < 0) {
      for (int64_t& number : own) number = checked_sub(0, number);
    }
    reduce(row, k + 1);
    reduce(own, k + 1);
  }
  for (size_t k = rows_.size(); k-- > 0;) {
    if (!rows_[k].empty()) reduce(rows_[k], k + 1);
  }
}

bool Lattice::has(std::vector<int64_t> row) const {
  for (size_t k = 0; k < row.size(); ++k) {
    if (row[k] == 0) continue;
    if (rows_[k].empty() || row[k] % rows_[k][k] != 0) return false;
    subtract(row, rows_[k], row[k] / rows_[k][k], k);
  }
  return true;
}

void Lattice::mix(Digest& digest) const {
  for (const auto& row : rows_) {
    digest.mix(row.empty() ? 0 : 1);
    for (const int64_t number : row) digest.mix(number);
  }
}

}  // namespace lay
