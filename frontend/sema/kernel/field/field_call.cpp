#include "frontend/sema/kernel/field/field_call.h"

namespace lay::sema {
namespace {

// f(tensor, its output of each result) for every output.
template <class F>
void for_each_output(const Kernel& kernel, F&& f) {
  std::size_t next = 0;
  for (const Tensor& tensor : kernel.tensors)
    if (tensor.access != Access::input) f(tensor, next++);
}

field::Number number_at(const Array& array, std::int64_t i) {
  return {static_cast<std::uint64_t>(array.integer(i))};
}

Array array_in_field(const Array& array) {
  Array made = Array::make(ElementType::s64, array.shape);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    made.set_integer(i, is_float(array.element)
                            ? static_cast<std::int64_t>(field::embed(array.real(i)).bits)
                            : array.integer(i));
  }
  return made;
}

std::vector<std::int64_t> coordinate_of(const Array& array, std::int64_t i) {
  std::vector<std::int64_t> coordinate(array.shape.size());
  for (std::size_t k = coordinate.size(); k-- > 0; i /= array.shape[k])
    coordinate[k] = i % array.shape[k];
  return coordinate;
}

bool same(const Tensor& tensor, const Array& a, const Array& b, std::int64_t i) {
  if (!is_float(tensor.element)) return a.integer(i) == b.integer(i);
  return field::agree(number_at(a, i), number_at(b, i));
}

std::string text(const Tensor& tensor, const Array& array, std::int64_t i) {
  return is_float(tensor.element) ? field::to_string(number_at(array, i))
                                  : std::to_string(array.integer(i));
}

}  // namespace

KernelCall in_field(const KernelCall& call) {
  KernelCall made = call;
  made.arithmetic = Arithmetic::field;
  for (Array& array : made.tensors) array = array_in_field(array);
  return made;
}

std::optional<FieldDifference> difference(const Kernel& kernel, const KernelResult& expected,
                                          const KernelResult& got) {
  std::optional<FieldDifference> found;
  for_each_output(kernel, [&](const Tensor& tensor, std::size_t output) {
    if (found) return;
    const Array &a = expected.outputs.at(output), &b = got.outputs.at(output);
    for (std::int64_t i = 0; i < a.size(); ++i) {
      if (same(tensor, a, b, i)) continue;
      if (!found)
        found = {tensor.name, coordinate_of(a, i), text(tensor, a, i), text(tensor, b, i), 0,
                 a.size()};
      ++found->differing;
    }
  });
  return found;
}

FieldCounts counts(const Kernel& kernel, const KernelResult& result) {
  FieldCounts counts;
  for_each_output(kernel, [&](const Tensor& tensor, std::size_t output) {
    const Array& array = result.outputs.at(output);
    counts.elements += array.size();
    for (std::int64_t i = 0; is_float(tensor.element) && i < array.size(); ++i)
      counts.nan += field::is_nan(number_at(array, i)) ? 1 : 0;
  });
  return counts;
}

}  // namespace lay::sema
