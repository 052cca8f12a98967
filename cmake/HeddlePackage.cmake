# What stands beside programs and libraries when heddle is installed: the CMake package, the pkg-config file, the
# licence; and what cpack makes of it. Component tools is what users run, component mpi what several ranks need besides,
# component development what programs are built with.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT tools)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)

install(TARGETS heddle_options EXPORT heddle COMPONENT development)
set_target_properties(heddle_options PROPERTIES EXPORT_NAME options)
install(EXPORT heddle NAMESPACE heddle:: FILE heddleTargets.cmake DESTINATION ${package_folder} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heddleConfig.cmake.in ${PROJECT_BINARY_DIR}/heddleConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heddleConfig.cmake ${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)

# Static libraries in the order in which linkers want them: each before those it uses.
get_property(libraries GLOBAL PROPERTY HEDDLE_LIBRARIES)
list(REVERSE libraries)
list(TRANSFORM libraries PREPEND -l)
list(JOIN libraries " " HEDDLE_PC_LIBRARIES)
# Of HDF5's, the library itself, if it is shared: it knows what it needs. HDF5's own CMake package has targets in place
# of files.
if(NOT HDF5_C_LIBRARIES MATCHES "hdf5[^;]*[.]a(;|$)")
  list(FILTER HDF5_C_LIBRARIES INCLUDE REGEX hdf5)
endif()
list(TRANSFORM HDF5_C_LIBRARIES REPLACE "^hdf5::.*" -lhdf5)
set(others ${HDF5_C_LIBRARIES} ${BLAS_LIBRARIES})
list(JOIN others " " HEDDLE_PC_OTHERS)
file(RELATIVE_PATH HEDDLE_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/heddle.pc.in ${PROJECT_BINARY_DIR}/heddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# cpack -G DEB: heddle, libheddle-dev and, where there is MPI, heddle-mpi.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_CONTACT "heddle <heddle@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Transformers as Unix tools")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL tools development)
if(TARGET heddle_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME heddle-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "heddle (= ${PROJECT_VERSION})")
  set(CPACK_COMPONENT_MPI_DESCRIPTION "Training on several ranks by MPI: what mpirun needs to start pretrain and finetune.")
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME heddle)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libheddle-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libopenblas-dev, libhdf5-dev, libboost-program-options-dev, libboost-serialization-dev, nlohmann-json3-dev, \
libxxhash-dev, libutf8proc-dev, zlib1g-dev, libfmt-dev")
string(CONCAT CPACK_COMPONENT_TOOLS_DESCRIPTION
  "Programs that train transformers, run them and look inside them: tokenize, pretrain,\n"
  "finetune, classify, generate, inspect and convert, with self-contained HDF5 files between them.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and static libraries of heddle's core.")
include(CPack)
