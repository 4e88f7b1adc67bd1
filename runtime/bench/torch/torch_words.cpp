#include "runtime/bench/torch/torch_words.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "runtime/bench/torch/torch_text.h"

namespace lay::bench::torch {

std::string type_text(ElementType type) {
  switch (stored(type)) {
    case ElementType::pred:
      return "torch.bool";
    case ElementType::f16:
      return "torch.float16";
    case ElementType::bf16:
      return "torch.bfloat16";
    case ElementType::f32:
    case ElementType::tf32:
      return "torch.float32";
    case ElementType::f64:
      return "torch.float64";
    case ElementType::e4m3:
      return "torch.float8_e4m3fn";
    case ElementType::e5m2:
      return "torch.float8_e5m2";
    case ElementType::s8:
      return "torch.int8";
    case ElementType::u8:
      return "torch.uint8";
    case ElementType::s16:
      return "torch.int16";
    case ElementType::s32:
      return "torch.int32";
    case ElementType::s64:
      return "torch.int64";
    default:
      throw NotInTorch{"PyTorch has no type " + std::string(element_name(type))};
  }
}
std::string real_text(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%.*g", digits, value);
    if (std::strtod(shorter, nullptr) != value) continue;
    std::snprintf(text, sizeof text, "%s", shorter);
    break;
  }
  const std::string written = text;
  return written.find_first_of(".en") == std::string::npos ? written + ".0" : written;
}

bool is_half(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16;
}

ElementType stored(ElementType type) {
  switch (type) {
    case ElementType::tf32:
      return ElementType::f32;
    case ElementType::s4:
      return ElementType::s8;
    case ElementType::u4:
      return ElementType::u8;
    default:
      return type;
  }
}

bool holds_all_of(ElementType wide, ElementType narrow) {
  if (narrow == ElementType::pred || bits(wide) <= bits(narrow)) return false;
  if (is_float(narrow)) return is_float(wide);
  if (is_float(wide)) return bits(narrow) <= 8;
  return is_signed(wide) || !is_signed(narrow);
}

bool is_computed(const std::string& name) {
  return name.size() > 1 && name[0] == 'v' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

bool is_taken(const std::string& name) {
  static const std::set<std::string> words = {
      "and",      "as",     "assert",   "async", "await",  "break",  "class", "computed",
      "continue", "def",    "del",      "elif",  "else",   "except", "False", "float",
      "for",      "from",   "F",        "if",    "import", "in",     "is",    "global",
      "None",     "lambda", "nonlocal", "not",   "one",    "or",     "pass",  "raise",
      "return",   "torch",  "True",     "try",   "while",  "with",   "yield", "finally"};
  return is_computed(name) || words.contains(name);
}

}  // namespace lay::bench::torch
