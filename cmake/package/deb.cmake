# Gives the packages of CPack what Debian's policy asks for: copyright and changelog in each, a man
# page and changelogs compressed without names and times, for a shared library the trigger of the
# loader's cache in place of scripts, and the installed size, in which CPack counts the target of a
# link twice.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

foreach(package IN LISTS CPACK_PACKAGE_FILES)
  get_filename_component(name ${package} NAME)
  string(REGEX REPLACE "_.*" "" name ${name})
  set(root ${package}.root)
  file(REMOVE_RECURSE ${root})
  run(dpkg-deb -R ${package} ${root})

  set(documents ${root}/usr/share/doc/${name})
  file(REMOVE ${documents}/LICENSE)
  file(INSTALL ${CPACK_LAY_PACKAGE}/copyright ${CPACK_LAY_PACKAGE}/changelog
       DESTINATION ${documents})
  file(GLOB compressed ${documents}/changelog ${root}/usr/share/man/*/*)
  foreach(file IN LISTS compressed)
    run(gzip -9nf ${file})
  endforeach()

  file(GLOB scripts ${root}/DEBIAN/postinst ${root}/DEBIAN/postrm)
  if(scripts)
    file(REMOVE ${scripts})
    file(WRITE ${root}/DEBIAN/triggers "activate-noawait ldconfig\n")
  endif()
  execute_process(
    COMMAND sh -c "find * -type f ! -path 'DEBIAN/*' -print0 | sort -z | xargs -0 md5sum"
    WORKING_DIRECTORY ${root} OUTPUT_FILE ${root}/DEBIAN/md5sums COMMAND_ERROR_IS_FATAL ANY)
  # As dpkg-gencontrol counts: a file in whole KiB, and 1 for what is none.
  execute_process(
    COMMAND sh -c "find . -mindepth 1 -path ./DEBIAN -prune -o -printf '%y %s\\n' | awk \
      '{k += $1 == \"f\" ? int(($2 + 1023) / 1024) : 1} END {print k}'"
    WORKING_DIRECTORY ${root} OUTPUT_VARIABLE kibibytes OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${root}/DEBIAN/control control)
  string(REGEX REPLACE "Installed-Size: [0-9]+" "Installed-Size: ${kibibytes}" control "${control}")
  file(WRITE ${root}/DEBIAN/control "${control}")
  run(dpkg-deb --root-owner-group -b ${root} ${package})
  file(REMOVE_RECURSE ${root})
endforeach()
