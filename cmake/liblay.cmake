# The C library, shared (liblay.so) and static (liblay.a): both show the names of
# liblay/include/lay/lay.h alone, so that a program may hold another ANTLR, or another Lay.
#
# The static one is a single object, linked from all that the functions need, in which every other
# name has become local. A program links the C++ library beside it, in whatever version it has.

set(liblay_names ${PROJECT_SOURCE_DIR}/liblay/lay.map)

if(ANTLR4_SHARED_RUNTIME)
  add_library(lay_shared SHARED $<TARGET_OBJECTS:lay_liblay>)
  target_link_libraries(lay_shared PRIVATE lay_bench)
  target_link_options(lay_shared PRIVATE -Wl,--version-script=${liblay_names})
  if(NOT LAY_SANITIZE)
    target_link_options(lay_shared PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(lay_shared PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME lay VERSION ${PROJECT_VERSION} SOVERSION 1
    EXPORT_NAME liblay LINK_DEPENDS ${liblay_names}
    LAY_SHARED_ANTLR ON)
  target_include_directories(lay_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS lay_shared EXPORT LayShared
    LIBRARY COMPONENT liblay1 NAMELINK_COMPONENT liblay-shared)
  install(EXPORT LayShared NAMESPACE Lay:: DESTINATION ${package} COMPONENT liblay-shared)
else()
  message(STATUS "no shared ANTLR runtime: liblay is built as a static library alone")
endif()

if(NOT LAY_SANITIZE)
  add_executable(lay_object $<TARGET_OBJECTS:lay_liblay>)
  target_link_libraries(lay_object PRIVATE lay_bench)
  target_link_options(lay_object PRIVATE -r -nostdlib -Wl,--force-group-allocation)
  set_target_properties(lay_object PROPERTIES LINKER_LANGUAGE CXX SUFFIX .o
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/package/local_names.cmake)
  set(static ${PROJECT_BINARY_DIR}/liblay.a)
  add_custom_command(TARGET lay_object POST_BUILD
    COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D OBJCOPY=${CMAKE_OBJCOPY}
            -D OBJECT=$<TARGET_FILE:lay_object>
            -P ${PROJECT_SOURCE_DIR}/cmake/package/local_names.cmake
    COMMAND ${CMAKE_COMMAND} -E rm -f ${static}
    COMMAND ${CMAKE_AR} crD ${static} $<TARGET_FILE:lay_object>
    COMMAND ${CMAKE_RANLIB} -D ${static}
    BYPRODUCTS ${static} VERBATIM)
  install(FILES ${static} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT liblay-static)
endif()

install(DIRECTORY liblay/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT liblay-static)
file(RELATIVE_PATH from_pc_to_include
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
# What pkg-config says, and in an archive, which has no shared library, for the static one alone.
set(libraries_of_static "-lstdc++ -lm -ldl -pthread")
set(libraries "-llay\nLibs.private: ${libraries_of_static}")
configure_file(cmake/package/lay.pc.in ${PROJECT_BINARY_DIR}/generated/lay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/lay.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT liblay-shared)
set(libraries "-llay ${libraries_of_static}")
configure_file(cmake/package/lay.pc.in ${PROJECT_BINARY_DIR}/generated/archive/lay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/archive/lay.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT archive EXCLUDE_FROM_ALL)
