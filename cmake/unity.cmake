# LAY_UNITY: many sources of a library are compiled as one (cmake/unity.py makes the groups), since
# a source alone takes 2 to 4 CPU seconds for its headers and their templates, whatever its length.
# For those who change a file it is slower, and it hides a forgotten #include: hence an option.
option(LAY_UNITY "compile many sources as one: the fastest build from nothing" OFF)

# Longer groups save little more, need more memory, and leave cores idle at the end.
set(unity_lines 4500)

# Sources in groups of their own: a name of theirs hides one of a header that a neighbour needs.
set(unity_apart
  runtime/bench/torch/torch_coordinates.cpp
  runtime/compile/cache.cpp
  runtime/bench/problem/segments.cpp
  runtime/commands/completions.cpp
  runtime/repl/highlight.cpp
  backend/ir/lower/source_operand.cpp
  backend/plan/tiles/chained_variants.cpp
  backend/plan/simt/simt.cpp
  frontend/sema/session.cpp
  frontend/sema/explain/derivation_steps.cpp
  frontend/syntax/messages.cpp
  frontend/algebra/claims/disjoint.cpp
  frontend/algebra/integers/search.cpp
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
  set(together)
  set(apart)
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    if(path IN_LIST unity_apart)
      list(APPEND apart ${source})
    else()
      list(APPEND together ${source})
    endif()
  endforeach()
  foreach(kind together apart)
    execute_process(
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity.py ${unity_lines} ${${kind}}
      OUTPUT_VARIABLE placed COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]+" placed "${placed}")
    foreach(line IN LISTS placed)
      string(REGEX MATCH "^([0-9]+) (.*)$" line "${line}")
      set_source_files_properties(
        ${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${kind}_${CMAKE_MATCH_1})
    endforeach()
  endforeach()
endfunction()
