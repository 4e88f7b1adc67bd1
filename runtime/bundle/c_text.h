// Lay's integers, conditions and layouts as C of a bundle's launcher (launcher/numbers.c):
// `lay_number` and `lay_truth`, which have no value where Lay's have none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/algebra/integers/predicate.h"
#include "frontend/algebra/layouts/layout.h"
#include "frontend/algebra/memory/element.h"
#include "frontend/sema/kernel/kernel.h"

namespace lay::runtime {

// Members of a kernel's struct of arguments: every size, scalar and tensor of the kernel has one,
// named like it, or with underscores behind where C or C++ has a word of that name.
class ArgumentNames {
 public:
  explicit ArgumentNames(const sema::Kernel& kernel);

  // Of a size; of a scalar or tensor by its name in Lay.
  const std::string& of(DimId dim) const { return dims_.at(dim); }
  const std::string& of(const std::string& name) const { return named_.at(name); }

 private:
  std::string unused(const std::string& name);

  std::set<std::string> used_;
  std::map<DimId, std::string> dims_;
  std::map<std::string, std::string> named_;
};

// "lay_add(lay_of(a->M), lay_of(127))": equal to Int::evaluate at the arguments `a`.
std::string c_number(const Int& value, const ArgumentNames& names);
// The same of Predicate::evaluate.
std::string c_truth(const Predicate& condition, const ArgumentNames& names);

// What a layout spans, as two numbers (span_of in runtime/gpu/launch_check.h); for layouts whose
// strides are integers, with or without a swizzle.
struct CSpan {
  std::string elements, bytes;
};
CSpan c_span(const AnyLayout& layout, ElementType element, const ArgumentNames& names);

// The text as a string of C, in quotes.
std::string c_string(std::string_view text);
// The same, for a format of printf.
std::string c_format(std::string_view text);

// The values of sizes for a message: "N = %lld, M = %lld", and what printf takes for them:
// ", (long long)a->N, (long long)a->M".
struct CValues {
  std::string format, arguments;
};
CValues c_values(const std::map<DimId, std::string>& dims, const ArgumentNames& names);

// The type of a scalar in the struct of arguments: "float" for f32, f16 and bf16, "uint8_t" for
// pred, of which every number but 0 is true.
std::string c_scalar_type(ElementType type);

}  // namespace lay::runtime
