// The standard library, embedded in the binary: `use atoms.sm90` reads stdlib/atoms/sm90.lay. Its
// tree was made when Lay was built; its text is there for messages and for what quotes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lay::sema {

// "prelude", "atoms.sm90"
std::optional<std::string_view> stdlib_text(const std::string& name);
// The file's tree (frontend/syntax/archive/archive.h).
std::optional<std::string_view> stdlib_archive(const std::string& name);
std::vector<std::string> stdlib_names();

}  // namespace lay::sema
