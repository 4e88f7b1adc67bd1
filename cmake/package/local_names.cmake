# Makes the names that an object defines local, but for lay_*:
#
#   cmake -D NM=nm -D OBJCOPY=objcopy -D OBJECT=lay.o -P local_names.cmake
#
# objcopy makes local what is global or weak, so that names that are unique in a process become weak
# before. No other name may: a name of the C++ library that is weak and undefined asks no linker to
# find it, and is 0 in the program.
execute_process(COMMAND ${NM} --defined-only ${OBJECT} OUTPUT_VARIABLE names
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " u [^\n]+" unique "${names}")
list(TRANSFORM unique REPLACE "^ u " "")
string(JOIN "\n" unique ${unique})
file(WRITE ${OBJECT}.unique "${unique}\n")
execute_process(
  COMMAND ${OBJCOPY} --weaken-symbols=${OBJECT}.unique ${OBJECT} COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${OBJCOPY} --wildcard --keep-global-symbol=lay_* ${OBJECT} COMMAND_ERROR_IS_FATAL ANY)
