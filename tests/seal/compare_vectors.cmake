# cmake -DMAKE=<make_vectors> -DHELD=<file in the tree> -DMADE=<file to write> -P compare_vectors.cmake
execute_process(COMMAND ${MAKE} OUTPUT_FILE ${MADE} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the generator failed")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${HELD} ${MADE} RESULT_VARIABLE differ)
if(differ)
  message(FATAL_ERROR "${MADE} differs from ${HELD}: what HPKE computes has changed")
endif()
