# stdlib/**/*.lay, embedded in frontend/sema as text and as trees: sema::stdlib_text("atoms.sm90")
# and sema::stdlib_archive("atoms.sm90") in frontend/sema/stdlib.h.
file(GLOB_RECURSE stdlib_files CONFIGURE_DEPENDS
     RELATIVE ${PROJECT_SOURCE_DIR}/stdlib ${PROJECT_SOURCE_DIR}/stdlib/*.lay)
set(stdlib_rows "")
set(stdlib_paths "")
foreach(file IN LISTS stdlib_files)
  string(REGEX REPLACE "\\.lay$" "" name ${file})
  string(REPLACE "/" "." name ${name})
  append_embedded(stdlib_rows ${name} stdlib/${file})
  list(APPEND stdlib_paths ${name}=stdlib/${file})
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

add_executable(lay_archive frontend/syntax/archive/main.cpp)
target_link_libraries(lay_archive PRIVATE lay_syntax)
set(archives ${PROJECT_BINARY_DIR}/generated/stdlib_archives.cpp)
list(TRANSFORM stdlib_files PREPEND ${PROJECT_SOURCE_DIR}/stdlib/ OUTPUT_VARIABLE stdlib_sources)
add_custom_command(OUTPUT ${archives}
  COMMAND lay_archive ${archives} ${stdlib_paths}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  DEPENDS lay_archive ${stdlib_sources}
  COMMENT "Parsing the standard library" VERBATIM)
target_sources(lay_sema PRIVATE ${archives})
