# Run by `cmake --install`: units that start the program where it is installed, which --prefix may say only then.
# SOURCE, BUILD, BINDIR and DOCDIR are set; the last two are relative to the prefix, or absolute.
foreach(place BINDIR DOCDIR)
  get_filename_component(CMAKE_INSTALL_FULL_${place} "${${place}}" ABSOLUTE BASE_DIR "${CMAKE_INSTALL_PREFIX}")
endforeach()
include("${SOURCE}/cmake/units.cmake")
sotto_write_units("${SOURCE}" "${BUILD}/installed-units")
foreach(unit ${UNITS})
  file(INSTALL "${BUILD}/installed-units/${unit}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
endforeach()
