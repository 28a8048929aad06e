# How a room is compiled. A source is compiled once for each set of flags that really changes it. The fast objects
# serve both libraries, programs and tests; the small ones libsotto-device. A test's variant compiles only the sources
# that include the header its definition changes, and takes every other object as it is (docs/decisions/0053).

# sotto_sources_including(OUT HEADER SOURCE...): which of the current room's sources include HEADER ("base/rule.h"),
# themselves or through another header of src/. `make` configures each time, so a new #include counts at once.
function(sotto_sources_including out header)
  get_property(headers GLOBAL PROPERTY SOTTO_INCLUDING_${header})
  if(NOT headers)
    sotto_headers_including(headers ${header})
    set_property(GLOBAL PROPERTY SOTTO_INCLUDING_${header} "${headers}")
  endif()
  set(found)
  foreach(source IN LISTS ARGN)
    sotto_includes_any(included ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${headers})
    if(header STREQUAL base/rule.h AND NOT included)
      sotto_wrong_edits(included ${source}) # whose copy includes it
    endif()
    if(included)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# HEADER, and every header of src/ that leads to it.
function(sotto_headers_including out header)
  set(found ${header})
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/*.h)
  set(grew ON)
  while(grew)
    set(grew OFF)
    foreach(candidate IN LISTS headers)
      sotto_includes_any(included ${PROJECT_SOURCE_DIR}/src/${candidate} ${found})
      if(included AND NOT candidate IN_LIST found)
        list(APPEND found ${candidate})
        set(grew ON)
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

function(sotto_includes_any out file)
  set(${out} OFF PARENT_SCOPE)
  file(STRINGS ${file} lines REGEX "^#include \"")
  foreach(header IN LISTS ARGN)
    if(lines MATCHES "#include \"${header}\"")
      set(${out} ON PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# sotto_room_objects(TARGET SOURCE...): one object library, with what every room is compiled with.
function(sotto_room_objects target)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE sotto_warnings OpenSSL::Crypto)
endfunction()

# sotto_wrong_edits(OUT SOURCE): the file below tests/wrong/ with the edits of a source of the current room, or nothing.
file(GLOB_RECURSE SOTTO_WRONG_EDITS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/wrong/*)
function(sotto_wrong_edits out source)
  file(RELATIVE_PATH edits ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  string(REGEX REPLACE "[.]c$" ".txt" edits ${PROJECT_SOURCE_DIR}/tests/wrong/${edits})
  if(edits IN_LIST SOTTO_WRONG_EDITS)
    set(${out} ${edits} PARENT_SCOPE)
  else()
    set(${out} PARENT_SCOPE)
  endif()
endfunction()

# sotto_wrong_sources(OUT SOURCE...): the same sources of the current room for a library with rules that can be switched
# off. One that has edits is taken from its edited copy in the build folder. The paths that #line names there are relative, so
# that a compiler cache knows the copy again in another checkout.
function(sotto_wrong_sources out)
  set(sources)
  foreach(source IN LISTS ARGN)
    sotto_wrong_edits(edits ${source})
    if(edits)
      set(original ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      set(copy ${CMAKE_CURRENT_BINARY_DIR}/wrong/${source})
      file(RELATIVE_PATH named_edits ${CMAKE_BINARY_DIR} ${edits})
      file(RELATIVE_PATH named_original ${CMAKE_BINARY_DIR} ${original})
      add_custom_command(OUTPUT ${copy}
        COMMAND ${SOTTO_PYTHON} ${PROJECT_SOURCE_DIR}/tests/wrong.py ${named_edits} ${named_original} ${copy}
        DEPENDS ${PROJECT_SOURCE_DIR}/tests/wrong.py ${edits} ${original}
        WORKING_DIRECTORY ${CMAKE_BINARY_DIR} COMMENT "Editing ${named_original} for tests of rules" VERBATIM)
      get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
      if(definitions)
        set_source_files_properties(${copy} PROPERTIES COMPILE_DEFINITIONS "${definitions}")
      endif()
      set_property(GLOBAL APPEND PROPERTY SOTTO_WRONG_USED ${edits})
      set(source ${copy})
    endif()
    list(APPEND sources ${source})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# After the last room: no file of edits was left out.
function(sotto_wrong_all_used)
  get_property(used GLOBAL PROPERTY SOTTO_WRONG_USED)
  foreach(edits IN LISTS SOTTO_WRONG_EDITS)
    if(NOT edits IN_LIST used)
      message(SEND_ERROR "${edits}: edits no source of a room that has rules")
    endif()
  endforeach()
endfunction()

# sotto_room_again(TARGET FROM HEADER LIST): the room FROM once more for tests. TARGET compiles the sources that include
# HEADER, or all where HEADER is ALL; the other objects are FROM's own. Appends both to the global property LIST.
function(sotto_room_again target from header list)
  get_target_property(sources ${from} SOURCES)
  if(header STREQUAL ALL)
    set(changed ${sources})
  else()
    sotto_sources_including(changed ${header} ${sources})
    if(NOT changed)
      set_property(GLOBAL APPEND PROPERTY ${list} $<TARGET_OBJECTS:${from}>)
      return()
    endif()
    string(REPLACE ";" "|" names "${changed}")
    string(REPLACE "." "[.]" names "${names}")
    set_property(GLOBAL APPEND PROPERTY ${list} "$<FILTER:$<TARGET_OBJECTS:${from}>,EXCLUDE,/${from}[.]dir/([.]/)?(${names})[.]o$>")
  endif()
  sotto_room_objects(${target} ${changed})
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  foreach(property COMPILE_OPTIONS LINK_LIBRARIES)
    get_target_property(value ${from} ${property})
    if(value)
      set_target_properties(${target} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ${list} $<TARGET_OBJECTS:${target}>)
endfunction()

# What a device is sent is built for size: room is what it lacks, and a report takes it a fraction of a millisecond
# either way (docs/decisions/0026). Nobody unwinds through C; a build with -g still describes its frames.
# Without guesses at branches and without copies of loops' heads -Os is smaller by 900 bytes.
set(SOTTO_SMALL_OPTIONS -Os -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-guess-branch-probability -fno-tree-ch)
set(SOTTO_SMALL OFF)
if(CMAKE_BUILD_TYPE MATCHES "^(Release|MinSizeRel)$" AND NOT SOTTO_SANITIZE AND NOT SOTTO_COVERAGE)
  set(SOTTO_SMALL ON)
endif()

# sotto_room(NAME SOURCE...): a room of both libraries.
function(sotto_room name)
  sotto_room_objects(sotto_${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SOTTO_ROOMS sotto_${name})
  # At the end of the room's own file, when all its sources and their options are known.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL sotto_room_kinds ${name})")
endfunction()

# The same room for libsotto-device, and for the constant-time tests, where base/declassify.h speaks to valgrind. Those
# test it as servers have it, and as devices do, since a compiler that optimises for size may turn a mask into a branch.
function(sotto_room_kinds name)
  if(SOTTO_SMALL)
    get_target_property(sources sotto_${name} SOURCES)
    sotto_room_objects(sotto_${name}_small ${sources})
    target_compile_options(sotto_${name}_small PRIVATE ${SOTTO_SMALL_OPTIONS})
  endif()
  if(NOT SOTTO_HAS_CTIME OR NOT BUILD_TESTING)
    return()
  endif()
  # A debug build tests optimised code too: without optimisation every comparison is a jump, and nobody ships that.
  if(CMAKE_BUILD_TYPE STREQUAL Debug)
    sotto_room_again(sotto_${name}_ctime sotto_${name} ALL SOTTO_CTIME_OBJECTS)
    target_compile_options(sotto_${name}_ctime PRIVATE -O2)
  else()
    sotto_room_again(sotto_${name}_ctime sotto_${name} base/declassify.h SOTTO_CTIME_OBJECTS)
  endif()
  if(SOTTO_SMALL)
    sotto_room_again(sotto_${name}_ctime_small sotto_${name}_small base/declassify.h SOTTO_CTIME_SMALL_OBJECTS)
  else()
    sotto_room_again(sotto_${name}_ctime_small sotto_${name} ALL SOTTO_CTIME_SMALL_OBJECTS)
    target_compile_options(sotto_${name}_ctime_small PRIVATE ${SOTTO_SMALL_OPTIONS})
  endif()
  foreach(kind sotto_${name}_ctime sotto_${name}_ctime_small)
    if(TARGET ${kind})
      target_include_directories(${kind} SYSTEM PRIVATE ${SOTTO_VALGRIND_INCLUDE})
      target_compile_definitions(${kind} PRIVATE SOTTO_CTIME)
    endif()
  endforeach()
endfunction()

# sotto_device_room(NAME SOURCE...): a room of libsotto-device alone, since servers need neither SQLite nor JSON recipes.
function(sotto_device_room name)
  sotto_room_objects(sotto_${name}_room ${ARGN})
  target_link_libraries(sotto_${name}_room PRIVATE PkgConfig::SQLITE3 PkgConfig::JANSSON)
  if(SOTTO_SMALL)
    target_compile_options(sotto_${name}_room PRIVATE ${SOTTO_SMALL_OPTIONS})
  endif()
  set_property(GLOBAL APPEND PROPERTY SOTTO_DEVICE_ROOMS sotto_${name}_room)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL sotto_room_rules ${name} SOTTO_RULES_OBJECTS)")
endfunction()

# sotto_server_room(NAME SOURCE...): a room of servers, collectors and programs alone: the libraries that speak to a
# network are linked here and nowhere below.
function(sotto_server_room name)
  sotto_room_objects(sotto_${name}_room ${ARGN})
  target_link_libraries(sotto_${name}_room PRIVATE
    OpenSSL::SSL PkgConfig::INIH PkgConfig::JANSSON PkgConfig::LIBEVENT PkgConfig::LIBCURL PkgConfig::LIBPQ
    PkgConfig::SQLITE3)
  set_property(GLOBAL APPEND PROPERTY SOTTO_SERVER_ROOMS sotto_${name}_room)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL sotto_room_rules ${name} SOTTO_SERVER_RULES_OBJECTS)")
endfunction()

# The same room with rules that tests/rules.sh can switch off (base/rule.h), and with the edits below tests/wrong/.
function(sotto_room_rules name list)
  if(NOT SOTTO_HAS_RULES)
    return()
  endif()
  sotto_room_again(sotto_${name}_rules sotto_${name}_room base/rule.h ${list})
  if(TARGET sotto_${name}_rules)
    get_target_property(sources sotto_${name}_rules SOURCES)
    sotto_wrong_sources(sources ${sources})
    set_target_properties(sotto_${name}_rules PROPERTIES SOURCES "${sources}")
    target_compile_definitions(sotto_${name}_rules PRIVATE SOTTO_RULES)
    target_compile_options(sotto_${name}_rules PRIVATE ${SOTTO_TEST_OPTIONS})
  endif()
endfunction()
