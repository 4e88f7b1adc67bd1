# The pages of `lay help`, embedded in runtime: the texts of docs/, and the programs of tests/errors
# that fail. runtime/commands/help_files.h: help_file("docs/errors.md").
file(GLOB help_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/docs/errors.md ${PROJECT_SOURCE_DIR}/docs/operations.md
  ${PROJECT_SOURCE_DIR}/docs/keywords.md ${PROJECT_SOURCE_DIR}/docs/schedules.md
  ${PROJECT_SOURCE_DIR}/docs/terms.md
  ${PROJECT_SOURCE_DIR}/tests/errors/*.lay ${PROJECT_SOURCE_DIR}/tests/errors/*.expected
  ${PROJECT_SOURCE_DIR}/tests/errors/syntax/*.lay
  ${PROJECT_SOURCE_DIR}/tests/errors/syntax/*.expected)
# Programs that are no text: their messages show them.
list(FILTER help_files EXCLUDE REGEX "(nul-byte|invalid-utf8|bidi-control).*\\.lay$")
set(help_rows "")
foreach(file IN LISTS help_files)
  append_embedded(help_rows ${file} ${file})
endforeach()
embed_files(runtime commands/help_files.h "${help_rows}" [[
std::string_view help_file(std::string_view path) {
  for (const auto& [file, text] : kFiles) {
    if (file == path) return text;
  }
  return {};
}
]])
