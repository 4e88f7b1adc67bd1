# The pages of `lay help`, embedded in runtime: the texts of docs/, and the programs of tests/errors that fail.
# runtime/help_files.h: help_file("docs/errors.md").
file(GLOB help_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/docs/errors.md ${PROJECT_SOURCE_DIR}/docs/operations.md
  ${PROJECT_SOURCE_DIR}/tests/errors/*.lay ${PROJECT_SOURCE_DIR}/tests/errors/*.expected
  ${PROJECT_SOURCE_DIR}/tests/errors/syntax/*.lay ${PROJECT_SOURCE_DIR}/tests/errors/syntax/*.expected)
# Programs that are no text: their messages show them.
list(FILTER help_files EXCLUDE REGEX "(nul-byte|invalid-utf8|bidi-control).*\\.lay$")
set(help_rows "")
foreach(file IN LISTS help_files)
  append_embedded(help_rows ${file} ${file})
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/help_files.cpp @ONLY CONTENT [[
#include "runtime/help_files.h"

#include <utility>

namespace lay::runtime {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
@help_rows@};

}  // namespace

std::string_view help_file(std::string_view path) {
  for (const auto& [file, text] : kFiles) {
    if (file == path) return text;
  }
  return {};
}

}  // namespace lay::runtime
]])
get_target_property(runtime_kind lay_runtime TYPE)
if(NOT runtime_kind STREQUAL INTERFACE_LIBRARY)
  target_sources(lay_runtime PRIVATE ${PROJECT_BINARY_DIR}/generated/help_files.cpp)
endif()
