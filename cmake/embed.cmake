# append_embedded(ROWS NAME FILE): the text of a file as a row {"NAME", "text"} of a C++ table;
# configured anew when the file changes.
function(append_embedded rows name file)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR}
               APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  set(${rows} "${${rows}}    {\"${name}\", R\"lay(${text})lay\"},\n" PARENT_SCOPE)
endfunction()

# embed_files(FOLDER HEADER ROWS LOOKUPS): a source of the folder's library with the rows as
# `kFiles`, and the functions that look them up; the header declares these.
function(embed_files folder header rows lookups)
  get_filename_component(library ${folder} NAME)
  get_filename_component(name ${header} NAME_WE)
  set(source ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
#include "@folder@/@header@"

#include <utility>

namespace lay::@library@ {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
@rows@};

}  // namespace

@lookups@
}  // namespace lay::@library@
]])
  get_target_property(kind lay_${library} TYPE)
  if(NOT kind STREQUAL INTERFACE_LIBRARY)
    target_sources(lay_${library} PRIVATE ${source})
  endif()
endfunction()
