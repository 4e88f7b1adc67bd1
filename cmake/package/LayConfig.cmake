# find_package(Lay) makes the target Lay::lay, the command, and
#
#   lay_add_library(NAME SOURCES FILE... [ARCHS ARCH...] [SIZES M=4096,N=64...] [MOST COUNT]
#                   [PREFIX PREFIX])
#
# the library NAME of the kernels of some scripts: each script FILE becomes a bundle (`lay build
# --bundle`), whose header, as linear.h of linear.lay, is on the include path of what links NAME.
#
#   ARCHS   what to compile for, as 80 or sm_90a (default: what `lay build` takes)
#   SIZES   the sizes whose variants are compiled (default: variants for all)
#   MOST    how many of the library's variants a kernel has at most
#   PREFIX  what the names of the functions begin with
#
# A script is built anew when it, a file that it uses, or the command changes. The library is static
# unless BUILD_SHARED_LIBS is on. Neither a GPU nor the language CUDA is needed.
if(CMAKE_VERSION VERSION_LESS 3.20)
  set(Lay_FOUND FALSE)
  set(Lay_NOT_FOUND_MESSAGE "Lay needs CMake 3.20 or later, for the dependencies of scripts.")
  return()
endif()
cmake_policy(VERSION 3.20)  # of this file and its functions; a caller's stay as they are

enable_language(C)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
include("${CMAKE_CURRENT_LIST_DIR}/LayTargets.cmake")

function(lay_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "MOST;PREFIX" "SOURCES;ARCHS;SIZES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lay_add_library(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  foreach(keyword IN LISTS ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "lay_add_library(${name}): ${keyword}: expected a value, got none")
  endforeach()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "lay_add_library(${name}): SOURCES is missing: at least one script")
  endif()

  set(options "")
  foreach(arch IN LISTS ARG_ARCHS)
    if(arch MATCHES "^[0-9]")
      string(PREPEND arch sm_)
    endif()
    list(APPEND options --arch ${arch})
  endforeach()
  foreach(size IN LISTS ARG_SIZES)
    list(APPEND options --size ${size})
  endforeach()
  if(DEFINED ARG_MOST)
    list(APPEND options --most ${ARG_MOST})
  endif()
  if(DEFINED ARG_PREFIX)
    list(APPEND options --prefix ${ARG_PREFIX})
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.lay")
  set(sources "")
  foreach(script IN LISTS ARG_SOURCES)
    get_filename_component(script "${script}" ABSOLUTE)
    get_filename_component(stem "${script}" NAME_WLE)
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" stem "${stem}")
    string(REGEX REPLACE "^([0-9])" "_\\1" stem "${stem}")
    if("${folder}/${stem}.c" IN_LIST sources)
      message(FATAL_ERROR "lay_add_library(${name}): two scripts make ${stem}.h; rename one")
    endif()
    add_custom_command(
      OUTPUT "${folder}/${stem}.h" "${folder}/${stem}.c"
      COMMAND "$<TARGET_FILE:Lay::lay>" build "${script}" -o "${folder}" --bundle
              --depfile "${folder}/${stem}.d" ${options}
      DEPENDS "${script}" "$<TARGET_FILE:Lay::lay>"
      DEPFILE "${folder}/${stem}.d"
      COMMENT "Building the kernels of ${stem}"
      VERBATIM)
    list(APPEND sources "${folder}/${stem}.c" "${folder}/${stem}.h")
  endforeach()

  add_library(${name} ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC "${folder}")
  target_link_libraries(${name} PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
endfunction()
