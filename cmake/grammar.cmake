# The parser, generated from grammar/*.g4 by the ANTLR tool into the build folder and linked into
# frontend/syntax alone.
#
# The text that the tool writes belongs to one generation of the C++ runtime. What goes together
# (and was seen to work where it says so): a tool of 4.7 to 4.9 with a runtime of 4.7 to 4.9 (Debian
# 12: tool 4.7.2, runtime 4.9); from 4.10 on, tool and runtime of the same minor version.

string(CONCAT antlr_hint
  "install both from one release: on Debian 12 `apt-get install antlr4 libantlr4-runtime-dev` "
  "(tool 4.7.2, runtime 4.9)")

find_program(ANTLR4_TOOL NAMES antlr4 DOC "the ANTLR tool, which turns grammar/*.g4 into C++")
find_package(antlr4-runtime CONFIG QUIET)
if(NOT ANTLR4_TOOL)
  message(FATAL_ERROR "the ANTLR tool `antlr4` was not found; ${antlr_hint}")
endif()
if(NOT antlr4-runtime_FOUND)
  message(FATAL_ERROR "the ANTLR C++ runtime was not found; ${antlr_hint}")
endif()

if(NOT ANTLR4_TOOL_VERSION OR NOT ANTLR4_TOOL_CHECKED STREQUAL ANTLR4_TOOL)
  execute_process(COMMAND ${ANTLR4_TOOL} OUTPUT_VARIABLE antlr_banner ERROR_VARIABLE antlr_banner)
  if(NOT antlr_banner MATCHES "Version ([0-9]+\\.[0-9]+(\\.[0-9]+)?)")
    message(FATAL_ERROR
      "${ANTLR4_TOOL} does not say its version; it may lack a Java runtime. ${antlr_hint}")
  endif()
  set(ANTLR4_TOOL_VERSION ${CMAKE_MATCH_1} CACHE INTERNAL "")
  set(ANTLR4_TOOL_CHECKED ${ANTLR4_TOOL} CACHE INTERNAL "")
  message(STATUS "ANTLR: tool ${ANTLR4_TOOL_VERSION}, runtime ${antlr4-runtime_VERSION}")
endif()

# generation(VERSION OUT): versions of one generation go together.
function(antlr_generation version out)
  if(version VERSION_LESS 4.7)
    set(${out} "before 4.7" PARENT_SCOPE)
  elseif(version VERSION_LESS 4.10)
    set(${out} "4.7 to 4.9" PARENT_SCOPE)
  else()
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" minor ${version})
    set(${out} ${minor} PARENT_SCOPE)
  endif()
endfunction()
antlr_generation(${ANTLR4_TOOL_VERSION} antlr_tool_generation)
antlr_generation(${antlr4-runtime_VERSION} antlr_runtime_generation)
if(NOT antlr_tool_generation STREQUAL antlr_runtime_generation)
  message(FATAL_ERROR
    "the ANTLR tool is ${ANTLR4_TOOL_VERSION} (${ANTLR4_TOOL}) and its C++ runtime "
    "${antlr4-runtime_VERSION}: they do not go together. Set ANTLR4_TOOL to a tool of the "
    "runtime's generation (${antlr_runtime_generation}); ${antlr_hint}")
endif()

set(antlr_output ${PROJECT_BINARY_DIR}/generated/grammar)
set(antlr_sources LayLexer.cpp LayLexer.h LayParser.cpp LayParser.h LayLexer.tokens)
list(TRANSFORM antlr_sources PREPEND ${antlr_output}/)
add_custom_command(OUTPUT ${antlr_sources}
  COMMAND ${ANTLR4_TOOL} -Dlanguage=Cpp -no-listener -Werror -package lay::syntax::generated
          -o ${antlr_output} LayLexer.g4 LayParser.g4
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/grammar
  DEPENDS ${PROJECT_SOURCE_DIR}/grammar/LayLexer.g4 ${PROJECT_SOURCE_DIR}/grammar/LayParser.g4
  COMMENT "Generating the parser from grammar/" VERBATIM)

# The runtime's static library by its path: its exported target also asks for libuuid, which it does
# not use.
find_library(ANTLR4_STATIC_RUNTIME NAMES libantlr4-runtime.a HINTS ${ANTLR4_LIB_DIR}
             DOC "the static ANTLR C++ runtime")
if(NOT ANTLR4_STATIC_RUNTIME)
  message(FATAL_ERROR "libantlr4-runtime.a was not found; ${antlr_hint}")
endif()

# A shared library cannot take the static one in, whose code is not position-independent: a target
# with the property LAY_SHARED_ANTLR is linked to the shared runtime.
find_library(ANTLR4_SHARED_RUNTIME NAMES antlr4-runtime HINTS ${ANTLR4_LIB_DIR}
             DOC "the shared ANTLR C++ runtime")

# The runtime's main header without the one for interpreted grammars, which clang refuses (it
# default-constructs a class with const members) and which nothing here uses. It stands before the
# original in the include path.
file(READ ${ANTLR4_INCLUDE_DIR}/antlr4-runtime.h antlr_header)
string(REPLACE "#include \"misc/InterpreterDataReader.h\"" "" antlr_header "${antlr_header}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/antlr4-runtime.h
     CONTENT "${antlr_header}" @ONLY)

# The generated text is not ours: no warnings, no sanitizers; and tools before 4.10 write u8"..."
# where they mean "...".
add_library(lay_grammar OBJECT ${antlr_sources})
target_include_directories(lay_grammar SYSTEM
  PUBLIC ${PROJECT_BINARY_DIR}/generated ${ANTLR4_INCLUDE_DIR})
target_include_directories(lay_grammar PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(lay_grammar PRIVATE -w -fno-char8_t -O1)
set(is_shared $<BOOL:$<TARGET_PROPERTY:LAY_SHARED_ANTLR>>)
target_link_libraries(lay_grammar PUBLIC
  $<IF:${is_shared},${ANTLR4_SHARED_RUNTIME},${ANTLR4_STATIC_RUNTIME}> Threads::Threads)

target_link_libraries(lay_syntax PRIVATE lay_grammar)
