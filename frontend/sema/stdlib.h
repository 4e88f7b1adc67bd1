// The standard library's text, embedded in the binary: `use atoms.sm90` reads
// stdlib/atoms/sm90.lay.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lay::sema {

// "prelude", "atoms.sm90"
std::optional<std::string_view> stdlib_text(const std::string& name);
std::vector<std::string> stdlib_names();

}  // namespace lay::sema
