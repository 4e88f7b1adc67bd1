# stdlib/**/*.lay, embedded in frontend/sema: sema::stdlib_text("atoms.sm90") in
# frontend/sema/stdlib.h.
file(GLOB_RECURSE stdlib_files CONFIGURE_DEPENDS
     RELATIVE ${PROJECT_SOURCE_DIR}/stdlib ${PROJECT_SOURCE_DIR}/stdlib/*.lay)
set(stdlib_rows "")
foreach(file IN LISTS stdlib_files)
  string(REGEX REPLACE "\\.lay$" "" name ${file})
  string(REPLACE "/" "." name ${name})
  append_embedded(stdlib_rows ${name} stdlib/${file})
endforeach()
embed_files(frontend/sema stdlib.h "${stdlib_rows}" [[
std::optional<std::string_view> stdlib_text(const std::string& name) {
  for (const auto& [file, text] : kFiles) {
    if (file == name) return text;
  }
  return std::nullopt;
}

std::vector<std::string> stdlib_names() {
  std::vector<std::string> names;
  for (const auto& [file, text] : kFiles) names.emplace_back(file);
  return names;
}
]])
