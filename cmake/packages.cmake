# Packages, which `cpack` writes in the build folder for the system that they are built on:
#
#   cpack           three packages for Debian, of a build that is configured with
#                   -DCMAKE_INSTALL_PREFIX=/usr: lay, liblay1 and liblay-dev
#   cpack -G TGZ    one archive, which runs from wherever it is unpacked, of a build that is
#                   configured for /usr/local: lay-0.1.0-linux-x86_64.tar.gz
#
# The installation has five components:
#
#   lay             the command                                           lay          archive
#   liblay1         the C library, shared                                 liblay1
#   liblay-static   its headers, the static library, the CMake package    liblay-dev   archive
#   liblay-shared   what programs are linked to the shared library with   liblay-dev
#   archive         what pkg-config needs for the static library alone                 archive
#
# The archive has no shared library: the static runtime of ANTLR is compiled for programs, and the
# shared one, as the C++ library, is the system's and differs from one to the next.
#
# cmake/package/deb.cmake gives the packages what Debian's policy asks for, and
# cmake/package/generator.cmake holds what differs between the two kinds.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lay)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The developers of Lay <lay@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "language for layouts and the GPU kernels that they make")
set(CPACK_STRIP_FILES ON)
set(CPACK_LAY_PACKAGE ${PROJECT_SOURCE_DIR}/cmake/package)
set(CPACK_LAY_LIBDIR ${CMAKE_INSTALL_LIBDIR})
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_LAY_SYSTEM)
set(CPACK_PROJECT_CONFIG_FILE ${CPACK_LAY_PACKAGE}/generator.cmake)

set(CPACK_COMPONENTS_ALL lay liblay1 liblay-static liblay-shared archive)
set(CPACK_COMPONENT_LIBLAY-STATIC_GROUP liblay-dev)
set(CPACK_COMPONENT_LIBLAY-SHARED_GROUP liblay-dev)

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

include(CPack)
