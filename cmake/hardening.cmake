# What an optimised build does against its own mistakes (docs/decisions/0027). A debug build and the sanitizers
# find the same mistakes by other means, and fortified functions need optimisation.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

option(SOTTO_HARDEN "Stack protector, fortified functions, read-only relocations, control-flow integrity" ON)
if(SOTTO_HARDEN AND NOT SOTTO_SANITIZE AND NOT SOTTO_COVERAGE)
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-fstack-protector-strong>)
  # A distribution's compiler may define it already, and differently. A compiler or C library that has no level 3 takes it as 2.
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
  # A large frame touches each of its pages, so that it can't reach past the guard page.
  check_c_compiler_flag(-fstack-clash-protection SOTTO_HAS_STACK_CLASH)
  # Indirect jumps land at marked places only, and returns where they were called from: x86's CET, ARM's BTI and PAC.
  check_c_compiler_flag(-fcf-protection=full SOTTO_HAS_CF_PROTECTION)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    check_c_compiler_flag(-mbranch-protection=standard SOTTO_HAS_BRANCH_PROTECTION)
  endif()
  foreach(flag STACK_CLASH:-fstack-clash-protection CF_PROTECTION:-fcf-protection=full
               BRANCH_PROTECTION:-mbranch-protection=standard)
    string(REPLACE ":" ";" pair ${flag})
    list(GET pair 0 name)
    list(GET pair 1 option)
    if(SOTTO_HAS_${name})
      add_compile_options($<$<NOT:$<CONFIG:Debug>>:${option}>)
    endif()
  endforeach()
  add_link_options(-Wl,-z,relro,-z,now)
  # A file is marked for CET if all its objects are. Debian's start files (crti.o) are not, although they return as others do: for the
  # shadow stack we say so ourselves. They lack the landing places of indirect jumps (IBT): that mark is left to the linker.
  if(SOTTO_HAS_CF_PROTECTION)
    check_linker_flag(C -Wl,-z,shstk SOTTO_HAS_SHSTK)
    if(SOTTO_HAS_SHSTK)
      add_link_options($<$<NOT:$<CONFIG:Debug>>:-Wl,-z,shstk>)
    endif()
  endif()
endif()
