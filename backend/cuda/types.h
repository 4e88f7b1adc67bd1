// Element types and element functions in CUDA C++ without headers: the names, the literals, the
// conversions.
//
// Types that the language does not have (f16, bf16, e4m3, ...) are held as unsigned integers of
// their width and converted through f32 by small functions that the emitted text defines when it
// needs them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "backend/cuda/code.h"
#include "backend/cuda/helpers.h"
#include "frontend/algebra/layouts/swizzle.h"
#include "frontend/algebra/memory/element.h"

namespace lay::cuda {

bool is_integer(ElementType type);

// How a value is held: "float", "long long", "unsigned short"; an integer of 4 bits as one of 8.
// Nothing for other types of less than 8 bits.
std::optional<std::string_view> c_type(ElementType type);

// What an array of such elements is made of: the same, and bytes where two elements share one.
std::optional<std::string_view> memory_type(ElementType type);

// The built-in type that moves `bytes` bytes of such elements at once: "float4", "double2",
// "uint2"; and its zero.
struct VectorType {
  std::string_view name, zero;
  ElementType member;  // the type of its members
};
std::optional<VectorType> vector_type(ElementType type, int bytes);

// A constant of that type; a float is given by the shortest decimal that reads back as the same
// number.
std::optional<std::string> literal(double value, ElementType type);

// The helper functions that a text uses: those of a fixed table by name, and one for each swizzle.
struct Helpers {
  std::set<std::string_view> names;
  // "swizzle_3_3_3"
  std::map<std::string, Swizzle> swizzles;
  std::map<std::string, Swizzle> wide_swizzles;  // of long long: "wide_swizzle_3_3_3"
  // The definition of "cp_async_16", by its bytes and its number among those of as many
  std::map<std::pair<int, int>, std::string> copies;
  // The definition of "multiply_1"
  std::map<std::string, std::string> atoms;
};
// The definition of all of them, in order, or nothing for none.
std::string helper_definitions(const Helpers& helpers);
// The one that needs the latest GPU; null for none.
const Helper* most_demanding(const Helpers& helpers);

// The value converted: to nearest even, saturating to types of up to 8 bits. Nothing if it cannot
// be said yet.
std::optional<Code> converted(const Code& value, ElementType from, ElementType to,
                              Helpers& helpers);

// function(operands), all of one type (truth values apart). Nothing if the type has no arithmetic
// of its own.
std::optional<Code> applied(ElementFunction function, const Code* operands, ElementType type,
                            Helpers& helpers);

}  // namespace lay::cuda
