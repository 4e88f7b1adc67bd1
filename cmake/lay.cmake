# What every target of the project shares, and lay_library(), which makes one library of one folder.

find_package(Threads REQUIRED)

# The same objects make the command and `liblay`, which may be shared and shows the names of its C
# interface alone (cmake/liblay.cmake).
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(lay_options INTERFACE)
target_include_directories(lay_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(lay_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 warns of overlapping copies inside std::string's operator+ (GCC bug 105651).
  target_compile_options(lay_options INTERFACE -Wno-restrict)
endif()
if(LAY_SANITIZE)
  target_compile_options(lay_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lay_options INTERFACE -fsanitize=address,undefined)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Between the checks g++ 12 no longer sees that moved-from members of std::variant and
    # std::function are initialised.
    target_compile_options(lay_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

include(cmake/unity.cmake)

# lay_library(FOLDER [USES NAME...] [WITHOUT FOLDER...]): the library `lay_<last part of FOLDER>` of
# the sources in the folder and its sub-folders, but for the sub-folders of WITHOUT, which are
# libraries of their own. USES names the folders it may include; the same table stands in
# tests/house.
function(lay_library folder)
  cmake_parse_arguments(ARG "" "" "USES;WITHOUT" ${ARGN})
  get_filename_component(name ${folder} NAME)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  foreach(without IN LISTS ARG_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "/${without}/")
  endforeach()
  list(TRANSFORM ARG_USES PREPEND lay_)
  if(sources)
    add_library(lay_${name} STATIC ${sources})
    target_link_libraries(lay_${name} PUBLIC lay_options ${ARG_USES})
    lay_compile_together(lay_${name} ${sources})
  else()
    add_library(lay_${name} INTERFACE)
    target_link_libraries(lay_${name} INTERFACE lay_options ${ARG_USES})
  endif()
endfunction()
