# Read by ctest before it runs anything. Temporary files of tests lie in memory where a machine has the room: a sync to a disk takes
# milliseconds there, and tests wait for tens of thousands. The calls are the same; what a power failure leaves behind is shown
# by support/powerloss_vfs.c, which needs no disk (docs/decisions/0121). Whoever sets TMPDIR keeps it.
set(needed 4) # GiB: ten servers of PostgreSQL, and trees that tests build
set(memory /dev/shm)
if(NOT DEFINED ENV{TMPDIR} AND EXISTS ${memory} AND EXISTS /proc/mounts)
  execute_process(COMMAND stat -f -c "%T %a %S" ${memory} OUTPUT_VARIABLE found ERROR_QUIET)
  file(STRINGS /proc/mounts mounts REGEX "^[^ ]+ ${memory} tmpfs [^ ]*noexec")
  if(found MATCHES "^tmpfs ([0-9]+) ([0-9]+)" AND NOT mounts)
    math(EXPR room "${CMAKE_MATCH_1} * ${CMAKE_MATCH_2} / 1073741824")
    if(NOT room LESS needed)
      set(ENV{TMPDIR} ${memory})
    endif()
  endif()
endif()
