# stdlib/*.lay, embedded in the binary: lay::stdlib_text(name) in frontend/sema/stdlib.h.
file(GLOB_RECURSE stdlib_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/stdlib ${PROJECT_SOURCE_DIR}/stdlib/*.lay)
