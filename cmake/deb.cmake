# Debian packages: `cpack` in the build folder writes three, for the release that they are built on,
# where that is configured with -DCMAKE_INSTALL_PREFIX=/usr:
#
#   lay          the command
#   liblay1      the C library, shared
#   liblay-dev   its headers, the static library, what CMake and pkg-config need
#
# cmake/package/deb.cmake gives each what Debian's policy asks for.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lay)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The developers of Lay <lay@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "language for layouts and the GPU kernels that they make")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL lay liblay1 liblay-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(about
"Lay is a small language for the layouts of CuTe and for the CUDA kernels that
they make. Every operation on layouts is proved, refuted with a witness, or
guarded by a check. Kernels run on a GPU, or in an interpreter that finds
races, deadlocks and accesses out of bounds.")
set(CPACK_COMPONENT_LAY_DESCRIPTION "${about}\n\nThis package has the command.")
set(CPACK_COMPONENT_LIBLAY1_DESCRIPTION
  "${about}\n\nThis package has the compiler as a shared library.")
set(CPACK_COMPONENT_LIBLAY-DEV_DESCRIPTION
  "${about}\n\nThis package has what programs need to be built with the compiler as a library.")
set(CPACK_DEBIAN_LAY_PACKAGE_NAME lay)
set(CPACK_DEBIAN_LAY_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_LIBLAY1_PACKAGE_NAME liblay1)
set(CPACK_DEBIAN_LIBLAY1_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBLAY-DEV_PACKAGE_NAME liblay-dev)
set(CPACK_DEBIAN_LIBLAY-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBLAY-DEV_PACKAGE_DEPENDS
  "lay (= ${PROJECT_VERSION}), liblay1 (= ${PROJECT_VERSION})")

set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package/deb.cmake)
set(CPACK_LAY_PACKAGE ${PROJECT_SOURCE_DIR}/cmake/package)
include(CPack)
