# heddle_module(NAME [REAL] [SOURCES file...] [DEPENDS module...] [LINK target...])
#
# One module is one folder of libcore/ or formats/. Its headers are included as <heddle/NAME/...>, and the folder that
# makes that path resolve belongs to the module's own target: a file can include only the modules that its own target
# depends on, directly or through others. So the include rules of libcore/README.md hold by construction.
#
# REAL modules are built twice: heddle_NAME with Real = float, which users run, and heddle_NAME_f64 with Real = double,
# in which the tests check gradients. Each REAL module depends on the variant of its own kind.
add_library(heddle_options INTERFACE)
target_compile_features(heddle_options INTERFACE cxx_std_20)
# For this build alone: programs that use the installed library choose their own.
set(flags
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  -fno-math-errno -fno-trapping-math -fopenmp-simd $<$<CONFIG:Release>:-O3> $<$<BOOL:${HEDDLE_WERROR}>:-Werror>)
target_compile_options(heddle_options INTERFACE "$<BUILD_INTERFACE:${flags}>")
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_options INTERFACE -fsanitize=${HEDDLE_SANITIZE} -fno-omit-frame-pointer -O1)
  target_link_options(heddle_options INTERFACE -fsanitize=${HEDDLE_SANITIZE})
  target_compile_definitions(heddle_options INTERFACE HEDDLE_SANITIZED)
endif()

function(heddle_module_variant target name definitions)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "SOURCES;DEPENDS;LINK")
  set(root ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root}/heddle)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/heddle/${name} SYMBOLIC)
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(${target} ${scope} ${definitions})
  target_link_libraries(${target} ${scope} heddle_options ${arg_DEPENDS} ${arg_LINK})
endfunction()

# The float variant is what is installed: heddle::NAME of the CMake package, and a library of the pkg-config file.
function(heddle_install_module name)
  set_target_properties(heddle_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS heddle_${name} EXPORT heddle COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/${name}
    COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
  get_target_property(type heddle_${name} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY HEDDLE_LIBRARIES heddle_${name})
  endif()
endfunction()

function(heddle_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REAL" "" "SOURCES;DEPENDS;LINK")
  list(TRANSFORM arg_DEPENDS PREPEND heddle_ OUTPUT_VARIABLE depends)
  heddle_module_variant(heddle_${name} ${name} "" SOURCES ${arg_SOURCES} DEPENDS ${depends} LINK ${arg_LINK})
  heddle_install_module(${name})
  if(arg_REAL AND HEDDLE_TESTS)
    set(depends64)
    foreach(depend IN LISTS depends)
      if(TARGET ${depend}_f64)
        list(APPEND depends64 ${depend}_f64)
      else()
        list(APPEND depends64 ${depend})
      endif()
    endforeach()
    heddle_module_variant(heddle_${name}_f64 ${name} HEDDLE_REAL_IS_DOUBLE
      SOURCES ${arg_SOURCES} DEPENDS ${depends64} LINK ${arg_LINK})
  endif()
endfunction()
