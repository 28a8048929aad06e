# Sanitizers and coverage apply to everything below, tests included.
if(SOTTO_SANITIZE)
  add_compile_options(-fsanitize=${SOTTO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SOTTO_SANITIZE})
endif()
if(SOTTO_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# Rules are switched off in plain builds alone: a sanitizer that stops a program without its rule would pass for the test
# that guards the rule.
set(SOTTO_HAS_RULES OFF)
find_program(SOTTO_PYTHON python3) # edits sources for these tests (tests/wrong.py)
if(BUILD_TESTING AND SOTTO_PYTHON AND NOT SOTTO_SANITIZE AND NOT SOTTO_COVERAGE)
  set(SOTTO_HAS_RULES ON)
endif()

# The constant-time tests need valgrind, which cannot run what a sanitizer has instrumented.
find_program(SOTTO_VALGRIND valgrind)
find_path(SOTTO_VALGRIND_INCLUDE valgrind/memcheck.h)
set(SOTTO_HAS_CTIME OFF)
# A finding names its line, in a form that valgrind reads from every compiler: up to 3.19 it stumbles over newer ones.
add_compile_options($<$<CONFIG:Debug,RelWithDebInfo>:-gdwarf-4>)
if(SOTTO_VALGRIND AND SOTTO_VALGRIND_INCLUDE AND NOT SOTTO_SANITIZE AND NOT SOTTO_COVERAGE)
  set(SOTTO_HAS_CTIME ON)
elseif(SOTTO_CTIME)
  message(FATAL_ERROR "SOTTO_CTIME needs valgrind with its headers, and no sanitizer or coverage")
endif()
