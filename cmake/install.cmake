# Install rules and the package that find_package(fmsim) reads.
include(CMakePackageConfigHelpers)

install(TARGETS fmsim EXPORT fmsimTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS fmsim_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/fmsim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY topologies schemas workloads DESTINATION ${CMAKE_INSTALL_DATADIR}/fmsim)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fmsim)
install(EXPORT fmsimTargets NAMESPACE fmsim:: DESTINATION ${package_folder})
configure_package_config_file(cmake/fmsimConfig.cmake.in ${PROJECT_BINARY_DIR}/fmsimConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fmsimConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fmsimConfig.cmake ${PROJECT_BINARY_DIR}/fmsimConfigVersion.cmake
        DESTINATION ${package_folder})
