# What a library shows: the functions that its public headers declare with SOTTO_API, and nothing else.

# sotto_api(OUT HEADER...): the names, sorted. Reading the headers again is a reason to configure again.
function(sotto_api out)
  set(names)
  foreach(header IN LISTS ARGN)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(READ ${header} text)
    # Declarations only: a macro is defined on a line that starts with a #.
    string(REGEX REPLACE "#[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "SOTTO_API[^(;]*[(;]" found "${text}")
    foreach(declaration IN LISTS found)
      string(REGEX MATCH "(sotto_[a-z0-9_]+)[(]?$" name "${declaration}")
      list(APPEND names ${CMAKE_MATCH_1})
    endforeach()
  endforeach()
  list(SORT names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# sotto_only_exports(TARGET NAME...): a shared library that shows these names, and drops what none of them needs.
function(sotto_only_exports target)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  list(JOIN ARGN ";\n    " names)
  file(CONFIGURE OUTPUT ${map} CONTENT "{\nglobal:\n    @names@;\nlocal:\n    *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,--gc-sections -Wl,-Bsymbolic-functions)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# sotto_archive(TARGET OUTPUT_NAME ROOMS API): the static library that is installed. A plain archive of the rooms would
# hand every program their internals, and with them the handles by which tests make the allocator or the random
# generator fail. So the rooms are joined into one object, what the API doesn't need is dropped from it, and the
# rest becomes local. Functions keep their own sections, so a program can drop what it doesn't call.
function(sotto_archive target output_name rooms api)
  list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  if(SOTTO_SANITIZE OR SOTTO_COVERAGE)
    add_library(${target} STATIC ${objects}) # instruments need sections that nothing refers to
  else()
    set(joined ${CMAKE_CURRENT_BINARY_DIR}/${target}.o)
    set(arguments ${CMAKE_CURRENT_BINARY_DIR}/${target}.ld)
    list(TRANSFORM api PREPEND "--undefined=" OUTPUT_VARIABLE roots)
    list(JOIN api "\n" kept)
    file(CONFIGURE OUTPUT ${joined}.api CONTENT "@kept@\n" @ONLY)
    file(GENERATE OUTPUT ${arguments} CONTENT "$<JOIN:${roots};${objects},\n>\n")
    add_custom_command(OUTPUT ${joined}
      COMMAND ${CMAKE_LINKER} -r --gc-sections -o ${joined} @${arguments}
      COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${joined}.api ${joined}
      DEPENDS ${objects} ${arguments} ${joined}.api
      COMMENT "Joining ${target}" VERBATIM)
    set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_library(${target} STATIC ${joined})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  endif()
  # Beside the archive of the same name that tests link, which holds everything.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${output_name} ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/archives)
endfunction()
