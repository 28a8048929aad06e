# cmake -D "FILES=A;B" -P refuse_rules.cmake: fails if a file was compiled with SOTTO_RULES, under which a variable of the
# environment switches rules off (base/rule.h). Every installation begins with it, however the definition came about.
foreach(file IN LISTS FILES)
  file(STRINGS ${file} found REGEX "SOTTO_RULE_OFF")
  if(found)
    message(FATAL_ERROR "${file} was compiled with SOTTO_RULES, for tests alone: it is not installed")
  endif()
endforeach()
