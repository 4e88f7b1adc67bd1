#include "runtime/bench/problem/operand.h"

#include <algorithm>

#include "frontend/sema/values/array.h"
#include "runtime/bench/host_work.h"

namespace lay::bench {

double rounded_through(const std::vector<ElementType>& casts, double x) {
  for (const ElementType type : casts) x = is_float(type) ? sema::round_to(type, x) : x;
  return x;
}

std::int64_t Operand::base(sema::IndexId k, const std::vector<std::int64_t>& at) const {
  std::int64_t offset = 0;
  for (std::size_t mode = 0; mode < indices.size(); ++mode)
    if (indices[mode] != k)
      offset += tensor->modes[mode].offset(at[static_cast<std::size_t>(indices[mode])]);
  return offset;
}

const float* Operand::line(sema::IndexId k, const std::vector<std::int64_t>& at) const {
  if (lines_.empty()) return nullptr;
  std::int64_t number = 0;
  for (std::size_t mode = 0; mode < indices.size(); ++mode)
    if (indices[mode] != k) number += strides_[mode] * at[static_cast<std::size_t>(indices[mode])];
  return lines_.data() + number * std::ssize(along_k);
}

void Operand::pack_lines(const Problem& problem, sema::IndexId k, const Reader& from,
                         std::int64_t sums) {
  constexpr std::int64_t most = std::int64_t{1} << 28;  // elements
  constexpr int width_of_f32 = 32, exact_in_f32 = 16;   // bits
  const ElementType element = tensor->element;
  const bool fits_f32 =
      is_float(element) ? bits(element) <= width_of_f32 : bits(element) <= exact_in_f32;
  const std::int64_t length = std::ssize(along_k);
  std::int64_t count = 1;
  strides_.assign(indices.size(), 0);
  for (std::size_t mode = 0; mode < indices.size(); ++mode) {
    if (indices[mode] == k) continue;
    strides_[mode] = count;
    if (__builtin_mul_overflow(count, problem.extent(indices[mode]), &count)) return;
  }
  if (!fits_f32 || !lines_.empty() || length == 0 || count == 0 || count > sums ||
      count > most / length)
    return;
  lines_.resize(static_cast<std::size_t>(count * length));
  // Lines that are packed together: with K along the slow mode their elements are neighbours in
  // memory, and a cache line is read once for all of them.
  constexpr std::int64_t together = 32;
  in_parts((count + together - 1) / together, 1, [&](int, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> bases;
    std::vector<std::int64_t> at(problem.kernel->indices.size(), 0);
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * together, last = std::min(first + together, count);
      bases.clear();
      for (std::int64_t line = first; line < last; ++line) {
        std::int64_t remainder = line;
        for (std::size_t mode = 0; mode < indices.size(); ++mode) {
          if (indices[mode] == k) continue;
          const std::int64_t extent = problem.extent(indices[mode]);
          at[static_cast<std::size_t>(indices[mode])] = remainder % extent;
          remainder /= extent;
        }
        bases.push_back(base(k, at));
      }
      for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t line = first; line < last; ++line)
          lines_[static_cast<std::size_t>(line * length + i)] = static_cast<float>(
              rounded_through(casts, from[bases[static_cast<std::size_t>(line - first)] +
                                          along_k[static_cast<std::size_t>(i)]]));
    }
  });
}

}  // namespace lay::bench
