# Tests of rules that can be switched off (base/rule.h, tests/rules.txt, tests/wrong).

# The programs that guard a rule: only these are linked a second time.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/rules.txt)
file(STRINGS rules.txt rows REGEX "^[a-z_]+ *[|]")
list(TRANSFORM rows REPLACE "^[^|]*[|] *([a-z0-9_]+) *[|].*$" "\\1" OUTPUT_VARIABLE SOTTO_RULES_PROGRAMS)
list(REMOVE_DUPLICATES SOTTO_RULES_PROGRAMS)
if(NOT SOTTO_HAS_RULES)
  set(SOTTO_RULES_PROGRAMS)
endif()

# sotto_ruled_program(NAME SOURCE... LIBRARIES PLAIN RULES OTHER... [DEFINITIONS ...]): test_NAME over the library PLAIN. Where
# rules.txt names it, also rules_NAME over RULES, from the same objects, and the test rules_NAME: each of its rules,
# switched off alone, must fail the test that guards it.
function(sotto_ruled_program name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;DEFINITIONS" ${ARGN})
  list(POP_FRONT ARG_LIBRARIES plain rules)
  add_library(objects_${name} OBJECT ${ARG_UNPARSED_ARGUMENTS})
  target_compile_definitions(objects_${name} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(objects_${name} PRIVATE ${plain} ${ARG_LIBRARIES} sotto_warnings OpenSSL::Crypto)
  add_executable(test_${name} $<TARGET_OBJECTS:objects_${name}>)
  target_link_libraries(test_${name} PRIVATE ${ARG_LIBRARIES} ${plain} OpenSSL::Crypto)
  if(name IN_LIST SOTTO_RULES_PROGRAMS)
    add_executable(rules_${name} $<TARGET_OBJECTS:objects_${name}>)
    target_link_libraries(rules_${name} PRIVATE ${ARG_LIBRARIES} ${rules} OpenSSL::Crypto)
    add_test(NAME rules_${name}
             COMMAND sh ${PROJECT_SOURCE_DIR}/tests/rules.sh ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${name})
    set_tests_properties(rules_${name} PROPERTIES LABELS rules COST 30)
    set_property(GLOBAL APPEND PROPERTY SOTTO_RULES_TESTS rules_${name})
  endif()
endfunction()

# After the last of them: source, edits and rules.txt have the same rules, those in the source are guards, and every row
# was tried and caught.
function(sotto_rules_count)
  if(NOT SOTTO_PYTHON)
    add_test(NAME rules COMMAND sh -c "echo 'skipped: no python3'; exit 77")
    set_tests_properties(rules PROPERTIES LABELS rules SKIP_RETURN_CODE 77)
  endif()
  if(NOT SOTTO_HAS_RULES)
    return()
  endif()
  get_property(programs GLOBAL PROPERTY SOTTO_RULES_TESTS)
  foreach(name IN LISTS SOTTO_RULES_PROGRAMS)
    if(NOT rules_${name} IN_LIST programs)
      message(SEND_ERROR "tests/rules.txt names ${name}, but no test_${name} is built over rules")
    endif()
  endforeach()
  set(script sh ${PROJECT_SOURCE_DIR}/tests/rules.sh ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  add_test(NAME rules_listed COMMAND ${script} --listed)
  add_test(NAME rules_wrong COMMAND ${SOTTO_PYTHON} -B ${PROJECT_SOURCE_DIR}/tests/test_wrong.py)
  add_test(NAME rules_script COMMAND sh ${PROJECT_SOURCE_DIR}/tests/test_rules.sh ${PROJECT_SOURCE_DIR})
  add_test(NAME rules COMMAND ${script} --count)
  set_tests_properties(rules PROPERTIES LABELS rules DEPENDS "${programs}")
  set_tests_properties(rules_listed rules_wrong rules_script PROPERTIES LABELS rules)
endfunction()
