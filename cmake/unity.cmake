# LAY_UNITY: several sources of one sub-folder are compiled as one, which takes a third less
# CPU time of a build from nothing, since most of it goes into the same headers again and again.
# CPU seconds on Debian 12, g++ 12 -O2: 340 a file at a time, 220 together; with precompiled headers
# as well 207, which is not worth a second mechanism. For those who change a file it is slower, and
# it hides a forgotten #include: hence an option.
option(LAY_UNITY "compile sources of a sub-folder together: the fastest build from nothing" OFF)

if(LAY_UNITY)
  # A neighbour's names are no fault of a file: the builds without LAY_UNITY show the warnings.
  target_compile_options(lay_options INTERFACE -w)
endif()

set(unity_size 8)  # larger groups save little more, and need more memory and leave cores idle

# Sources that are compiled alone, because names in their anonymous namespaces (or names that they
# hide) clash with a neighbour's.
set(unity_apart
  backend/interpret/placement.cpp
  backend/ir/lower/lower_sm90_products.cpp
  backend/ir/lower/lower_sm90_split.cpp
  backend/ir/lower/lower_sm90_store.cpp
  backend/ir/lower/source_operand.cpp
  backend/plan/model/scalar.cpp
  backend/plan/permute/permute_smem.cpp
  backend/plan/recognise.cpp
  backend/plan/sm90/sm90_candidates.cpp
  backend/plan/sm90/sm90_store.cpp
  frontend/algebra/claims/injective.cpp
  frontend/algebra/claims/same_function.cpp
  frontend/algebra/integers/linear_forms.cpp
  frontend/algebra/integers/prove.cpp
  frontend/algebra/inverse_search/extend_chain.cpp
  frontend/algebra/inverse_search/obstruction.cpp
  frontend/algebra/layouts/complement.cpp
  frontend/algebra/layouts/layout_structure.cpp
  frontend/algebra/memory/fit.cpp
  frontend/picture/svg.cpp
  frontend/picture/tex.cpp
  frontend/sema/builtins/builtins_memory.cpp
  frontend/sema/builtins/builtins_propositions.cpp
  frontend/sema/explain/derivation_steps.cpp
  frontend/sema/session.cpp
  frontend/syntax/newlines.cpp
  runtime/commands/command_run.cpp
  runtime/io/file.cpp
  runtime/io/npy.cpp
  runtime/repl/input.cpp
  runtime/repl/result_text.cpp
  runtime/repl/terminal.cpp
)

# lay_compile_together(TARGET SOURCE...): puts the sources of each sub-folder into groups.
function(lay_compile_together target)
  if(NOT LAY_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(sources ${ARGN})
  list(SORT sources)
  set(counts)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    if(path IN_LIST unity_apart)
      continue()
    endif()
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / ${unity_size}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
endfunction()
