# The `lay` command, and what `cmake --install` puts where. Self-contained: only libc is dynamic.
#
# Sections that nothing reaches are left out: the static libstdc++ of g++ 12 brings code that asks
# for arc4random of glibc 2.36, and without it the command runs on glibc 2.35.
target_compile_definitions(lay_runtime PUBLIC LAY_VERSION="${PROJECT_VERSION}")
add_executable(lay runtime/main.cpp)
target_link_libraries(lay PRIVATE lay_bench)
if(NOT LAY_SANITIZE)
  target_link_options(lay PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
endif()

# The man page and the completions are written by the command itself, from the table of its
# commands.
set(generated ${PROJECT_BINARY_DIR}/generated/share)
file(MAKE_DIRECTORY ${generated})
add_custom_command(TARGET lay POST_BUILD
  COMMAND $<TARGET_FILE:lay> man > ${generated}/lay.1
  COMMAND $<TARGET_FILE:lay> completions bash > ${generated}/lay
  COMMAND $<TARGET_FILE:lay> completions zsh > ${generated}/_lay
  COMMAND $<TARGET_FILE:lay> completions fish > ${generated}/lay.fish
  BYPRODUCTS ${generated}/lay.1 ${generated}/lay ${generated}/_lay ${generated}/lay.fish
  VERBATIM)

include(GNUInstallDirs)
# What each part of the installation goes into: cmake/packages.cmake.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME lay)
install(TARGETS lay EXPORT Lay)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Lay)
install(EXPORT Lay NAMESPACE Lay:: FILE LayTargets.cmake DESTINATION ${package}
  COMPONENT liblay-static)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/LayConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_package_config_file(cmake/package/LayConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/LayConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/generated/LayConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/LayConfigVersion.cmake DESTINATION ${package}
  COMPONENT liblay-static)
install(FILES ${generated}/lay.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/lay DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${generated}/_lay DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${generated}/lay.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES runtime/build/lay-manifest-5.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/lay)
install(FILES README.md LICENSE NOTICES.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
