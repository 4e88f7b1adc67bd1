# The `lay` command. Self-contained: only libc is dynamic.
if(EXISTS ${PROJECT_SOURCE_DIR}/runtime/main.cpp)
  target_compile_definitions(lay_runtime PUBLIC LAY_VERSION="${PROJECT_VERSION}")
  add_executable(lay runtime/main.cpp)
  target_link_libraries(lay PRIVATE lay_bench)
  if(NOT LAY_SANITIZE)
    target_link_options(lay PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endif()
