# What `cmake --install` lays down: find_package(sotto) gives sotto::sotto, sotto::device, sotto::device_full and
# sotto::analyst (shared), and each as an archive: sotto::static, sotto::device_static and so on. pkg-config gives sotto, sotto-device,
# sotto-device-full and sotto-analyst.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(installed_libraries sotto_static sotto_shared sotto_device_static sotto_device_shared sotto_device_full_static
                        sotto_device_full_shared sotto_analyst_static sotto_analyst_shared)
# Builds all that is installed, and no test or benchmark.
add_custom_target(installed DEPENDS ${installed_libraries} sotto_program sotto-sim)

# Nothing is laid down if anything of it has rules that can be switched off.
set(installed)
foreach(target ${installed_libraries} sotto_program sotto-sim)
  list(APPEND installed $<TARGET_FILE:${target}>)
endforeach()
install(CODE "set(FILES \"${installed}\")\ninclude(\"${PROJECT_SOURCE_DIR}/cmake/refuse_rules.cmake\")")

set_target_properties(sotto_shared PROPERTIES EXPORT_NAME sotto)
set_target_properties(sotto_static PROPERTIES EXPORT_NAME static)
set_target_properties(sotto_device_shared PROPERTIES EXPORT_NAME device)
set_target_properties(sotto_device_static PROPERTIES EXPORT_NAME device_static)
set_target_properties(sotto_device_full_shared PROPERTIES EXPORT_NAME device_full)
set_target_properties(sotto_device_full_static PROPERTIES EXPORT_NAME device_full_static)
set_target_properties(sotto_analyst_shared PROPERTIES EXPORT_NAME analyst)
set_target_properties(sotto_analyst_static PROPERTIES EXPORT_NAME analyst_static)
install(TARGETS ${installed_libraries}
        EXPORT sotto-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sotto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT sotto-targets NAMESPACE sotto:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sottoConfig.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/sottoConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sottoConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)

# Found from where sotto.pc lies, so that an installed tree can be moved.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(SOTTO_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /tree/${CMAKE_INSTALL_LIBDIR}/pkgconfig /tree)
  set(SOTTO_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(name sotto sotto-device sotto-device-full sotto-analyst)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sottoConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/sottoConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sotto)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sotto.pc ${CMAKE_CURRENT_BINARY_DIR}/sotto-device.pc
              ${CMAKE_CURRENT_BINARY_DIR}/sotto-device-full.pc
              ${CMAKE_CURRENT_BINARY_DIR}/sotto-analyst.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# A library is called sotto already, so the program's target has the longer name.
if(TARGET sotto_program)
  install(TARGETS sotto_program sotto-sim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(section 1 3)
  file(GLOB pages ${PROJECT_SOURCE_DIR}/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# A unit for each service, and the user that they run as (docs/operating.md).
include(${PROJECT_SOURCE_DIR}/cmake/units.cmake)
sotto_write_units(${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
install(CODE "set(SOURCE \"${PROJECT_SOURCE_DIR}\")\nset(BUILD \"${CMAKE_CURRENT_BINARY_DIR}\")
set(BINDIR \"${CMAKE_INSTALL_BINDIR}\")\nset(DOCDIR \"${CMAKE_INSTALL_DOCDIR}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/install_units.cmake\")")
install(FILES ${PROJECT_SOURCE_DIR}/packaging/systemd/sotto.sysusers DESTINATION lib/sysusers.d RENAME sotto.conf)
install(FILES ${PROJECT_SOURCE_DIR}/docs/operating.md ${PROJECT_SOURCE_DIR}/docs/serving.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
