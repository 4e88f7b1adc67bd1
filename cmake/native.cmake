# lay._native, what the package for Python has in C: a module of CPython's stable ABI, which every
# Python from 3.9 on loads. The package works without it, and calls of kernels on a GPU take longer.

find_package(Python3 COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)
if(Python3_Development.Module_FOUND AND TARGET lay_shared AND NOT LAY_SANITIZE)
  enable_language(C)
  add_library(lay_native MODULE python/native/caller.c python/native/description.c)
  target_include_directories(lay_native PRIVATE
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/liblay/include ${Python3_INCLUDE_DIRS})
  # CPython's tables hold functions as pointers to objects, which -Wpedantic refuses.
  target_compile_options(lay_native PRIVATE
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror)
  set_target_properties(lay_native PROPERTIES
    C_STANDARD 99 C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden
    PREFIX "" OUTPUT_NAME _native SUFFIX .abi3.so
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python)
elseif(TARGET lay_shared)
  message(STATUS "no headers of Python: the wheel is made without lay._native")
endif()
