# append_embedded(ROWS NAME FILE): the text of a file as a row {"NAME", "text"} of a C++ table; configured anew when the
# file changes.
function(append_embedded rows name file)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  set(${rows} "${${rows}}    {\"${name}\", R\"lay(${text})lay\"},\n" PARENT_SCOPE)
endfunction()
