# LAY_UNITY: many sources of a library are compiled as one (cmake/unity.py makes the groups), since
# a source alone takes 2 to 4 CPU seconds for its headers and their templates, whatever its length.
# For those who change a file it is slower, and it hides a forgotten #include: hence an option.
option(LAY_UNITY "compile many sources as one: the fastest build from nothing" OFF)

# Longer groups save little more, need more memory, and leave cores idle at the end.
set(unity_lines 4500)

# Sources that are compiled alone: a name of theirs hides one of a header that a neighbour includes.
set(unity_apart
  backend/interpret/interpret.cpp
  backend/ir/lower/source_operand.cpp
  frontend/sema/explain/derivation_steps.cpp
  runtime/compile/cache.cpp
)

if(LAY_UNITY)
  # A neighbour's names are no fault of a file: the builds without LAY_UNITY show the warnings.
  target_compile_options(lay_options INTERFACE -w)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # g++ looks for garbage from 128 MiB on, which takes 7 % of its time here; from 512 MiB on a
    # group needs a fifth more memory, 0.9 GiB.
    target_compile_options(lay_options INTERFACE "SHELL:--param ggc-min-heapsize=524288")
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# lay_compile_together(TARGET SOURCE...): puts the sources into groups.
function(lay_compile_together target)
  if(NOT LAY_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(together ${ARGN})
  set(ordered)
  foreach(path IN LISTS unity_apart)
    set(source ${PROJECT_SOURCE_DIR}/${path})
    if(source IN_LIST together)
      list(REMOVE_ITEM together ${source})
      list(APPEND ordered ${source})
    endif()
  endforeach()
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity.py ${unity_lines} ${together}
    OUTPUT_VARIABLE placed COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" placed "${placed}")
  foreach(line IN LISTS placed)
    string(REGEX MATCH "^([0-9]+) (.*)$" line "${line}")
    list(APPEND ordered ${CMAKE_MATCH_2})
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${CMAKE_MATCH_1})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${ordered})
endfunction()
