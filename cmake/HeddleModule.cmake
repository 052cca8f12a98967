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
target_compile_options(heddle_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wno-restrict
  -fno-math-errno -fno-trapping-math -fopenmp-simd $<$<CONFIG:Release>:-O3> $<$<BOOL:${HEDDLE_WERROR}>:-Werror>)
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
  target_include_directories(${target} ${scope} ${root})
  target_compile_definitions(${target} ${scope} ${definitions})
  target_link_libraries(${target} ${scope} heddle_options ${arg_DEPENDS} ${arg_LINK})
endfunction()

function(heddle_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REAL" "" "SOURCES;DEPENDS;LINK")
  list(TRANSFORM arg_DEPENDS PREPEND heddle_ OUTPUT_VARIABLE depends)
  heddle_module_variant(heddle_${name} ${name} "" SOURCES ${arg_SOURCES} DEPENDS ${depends} LINK ${arg_LINK})
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
