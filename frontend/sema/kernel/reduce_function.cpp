#include "frontend/sema/kernel/reduce_function.h"

#include <array>
#include <limits>

#include "frontend/algebra/memory/convert.h"

namespace lay::sema {
namespace {

using enum ReduceFunction;

constexpr std::array rows = {
    ReduceRow{sum, "sum", ReduceResult::number, "in a kernel: the sum of x over the index k"},
    ReduceRow{prod, "prod", ReduceResult::number, "in a kernel: the product of x over the index k"},
    ReduceRow{max, "max", ReduceResult::number, "in a kernel: the greatest x over the index k"},
    ReduceRow{min, "min", ReduceResult::number, "in a kernel: the least x over the index k"},
    ReduceRow{any, "any", ReduceResult::condition, "in a kernel: whether x holds at some k"},
    ReduceRow{all, "all", ReduceResult::condition, "in a kernel: whether x holds at every k"},
    ReduceRow{argmax, "argmax", ReduceResult::position,
              "in a kernel: the first k at which x is greatest"},
    ReduceRow{argmin, "argmin", ReduceResult::position,
              "in a kernel: the first k at which x is least"},
};

}  // namespace

std::span<const ReduceRow> reduce_rows() {
  return rows;
}

const ReduceRow& reduce_row(ReduceFunction function) {
  return rows[static_cast<std::size_t>(function)];
}

const ReduceRow* find_reduce(std::string_view name) {
  for (const ReduceRow& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

ElementFunction joining(ReduceFunction function) {
  switch (function) {
    case sum:
      return ElementFunction::add;
    case prod:
      return ElementFunction::mul;
    case max:
    case argmax:
      return ElementFunction::max_nan;
    case min:
    case argmin:
      return ElementFunction::min_nan;
    case any:
      return ElementFunction::or_;
    case all:
      return ElementFunction::and_;
  }
  throw std::logic_error("internal: reduction");
}

std::variant<std::int64_t, double> identity(ReduceFunction function, ElementType type) {
  using Integers = std::numeric_limits<std::int64_t>;
  const bool real = is_float(type);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (function) {
    case sum:
      if (real) return 0.0;
      return std::int64_t{0};
    case prod:
      if (real) return 1.0;
      return std::int64_t{1};
    case max:
    case argmax:
      if (real) return -infinity;
      return saturate(type, Integers::min());
    case min:
    case argmin:
      if (real) return infinity;
      return saturate(type, Integers::max());
    case any:
      return std::int64_t{0};
    case all:
      return std::int64_t{1};
  }
  throw std::logic_error("internal: reduction");
}

}  // namespace lay::sema
