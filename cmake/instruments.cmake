# Sanitizers and coverage apply to everything below, tests included.
if(SOTTO_SANITIZE)
  add_compile_options(-fsanitize=${SOTTO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SOTTO_SANITIZE})
  # Half the time to compile (docs/decisions/0103). Fuzzers run longer than they are built.
  if(NOT SOTTO_FUZZ)
    string(REPLACE "-O2 -g" "-O1" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
    # With -O1 gcc does not know how large a number can be. The plain build has this warning, and knows.
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
      add_compile_options(-Wno-format-truncation)
    endif()
  endif()
endif()
if(SOTTO_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# Rules are switched off in plain builds alone: a sanitizer that stops a program without its rule would pass for the test
# that guards the rule.
set(SOTTO_HAS_RULES OFF)
find_program(SOTTO_PYTHON python3) # edits sources for these tests (tests/wrong.py)
# A version manager puts a script in front of the interpreter, which takes longer to start than an edit takes.
if(SOTTO_PYTHON)
  execute_process(COMMAND ${SOTTO_PYTHON} -c "import sys; print(sys.executable)"
                  OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(NOT failed AND EXISTS "${python}")
    set(SOTTO_PYTHON ${python})
  endif()
endif()
if(BUILD_TESTING AND SOTTO_PYTHON AND NOT SOTTO_SANITIZE AND NOT SOTTO_COVERAGE)
  set(SOTTO_HAS_RULES ON)
endif()

# The constant-time tests need valgrind, which cannot run what a sanitizer has instrumented.
find_program(SOTTO_VALGRIND valgrind)
find_path(SOTTO_VALGRIND_INCLUDE valgrind/memcheck.h)
set(SOTTO_HAS_CTIME OFF)
# A finding names its line, in a form that valgrind reads from every compiler: up to 3.19 it stumbles over newer ones.
add_compile_options($<$<CONFIG:Debug,RelWithDebInfo>:-gdwarf-4>)
# A sanitizer's report needs files, lines and functions, and no variables.
if(SOTTO_SANITIZE AND NOT SOTTO_FUZZ)
  add_compile_options($<$<CONFIG:Debug,RelWithDebInfo>:-g1>)
endif()
if(SOTTO_VALGRIND AND SOTTO_VALGRIND_INCLUDE AND NOT SOTTO_SANITIZE AND NOT SOTTO_COVERAGE)
  set(SOTTO_HAS_CTIME ON)
elseif(SOTTO_CTIME)
  message(FATAL_ERROR "SOTTO_CTIME needs valgrind with its headers, and no sanitizer or coverage")
endif()

# What only tests run is compiled with -O1 in a release build, in two thirds of the time (docs/decisions/0207): they do not measure speed. With less
# optimisation gcc does not know how large a number can be, as above.
set(SOTTO_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  list(APPEND SOTTO_TEST_OPTIONS $<$<CONFIG:Release>:-Wno-format-truncation>)
endif()

# sotto_link_quickly(): programs of this directory and those below it, which nobody installs, are linked by gold where there is
# one: in a third of the time. It does not know the mark for shadow stacks (hardening.cmake).
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=gold SOTTO_HAS_GOLD)
function(sotto_link_quickly)
  if(SOTTO_HAS_GOLD AND NOT SOTTO_FUZZ)
    get_property(options DIRECTORY PROPERTY LINK_OPTIONS)
    list(FILTER options EXCLUDE REGEX "shstk")
    set_property(DIRECTORY PROPERTY LINK_OPTIONS ${options} -fuse-ld=gold)
  endif()
endfunction()
