# heddle_module(NAME [REAL | EITHER_REAL] [KERNELS] [SOURCES file...] [DEPENDS module...] [LINK target...] [PRECOMPILE header]
#               [OPTIMIZE level])
#
# One module is one folder of libcore/ or formats/. Headers are included by their path in the repository,
# "libcore/NAME/...", in the build and where they are installed. What a module depends on it links with, and
# tests/include_rules.sh finds includes of others.
#
# REAL modules are built twice: heddle_NAME with Real = float, which users run, and heddle_NAME_f64 with Real = double,
# in which the tests check gradients; those in double only as far as a test needs them. Modules in whose objects no Real
# occurs, but which use such modules, are EITHER_REAL: compiled once, and linked with either. A module depends on modules
# of its own kind.
add_library(heddle_options INTERFACE)
target_compile_features(heddle_options INTERFACE cxx_std_20)
# For this build alone: programs that use the installed library choose their own. Targets that do not compute are not
# worth all that the optimiser can do: the property HEDDLE_OPTIMIZE is 1 for formats and tools, g or 0 for tests, which a
# compiler translates in two thirds of the time that it takes with 1, and 3 where it is not set.
define_property(TARGET PROPERTY HEDDLE_KERNELS BRIEF_DOCS "Whether the target is a KERNELS module")
define_property(TARGET PROPERTY HEDDLE_OPTIMIZE BRIEF_DOCS "Level of optimisation" FULL_DOCS "0, 1, g, or unset for 3")
set(property $<TARGET_PROPERTY:HEDDLE_OPTIMIZE>)
set(level $<IF:$<STREQUAL:${property},>,3,${property}>)
set(flags
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  -fno-math-errno -fno-trapping-math -fopenmp-simd $<$<CONFIG:Release>:-O${level}> $<$<BOOL:${HEDDLE_WERROR}>:-Werror>
  # GCC collects its garbage from 400 MB on instead of 128: a twelfth of its time, for 100 MB at most of the 1.3 GB that
  # the largest group of sources takes.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=400000>)
target_compile_options(heddle_options INTERFACE "$<BUILD_INTERFACE:${flags}>")
if(HEDDLE_BASELINE)
  target_compile_definitions(heddle_options INTERFACE "$<BUILD_INTERFACE:HEDDLE_WITHOUT_AVX512;HEDDLE_WITHOUT_AVX2>")
endif()
if(HEDDLE_SANITIZE)
  # Without checks of each pointer, of which the address sanitizer finds most: they take a compiler a quarter of its time.
  set(unchecked)
  if(HEDDLE_SANITIZE MATCHES "undefined")
    set(unchecked -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
  endif()
  # What the optimiser does of a sanitized build takes a compiler four fifths of its time, and is of use where loops
  # compute: KERNELS modules.
  set(level $<IF:$<BOOL:$<TARGET_PROPERTY:HEDDLE_KERNELS>>,1,0>)
  target_compile_options(heddle_options INTERFACE
    -fsanitize=${HEDDLE_SANITIZE} ${unchecked} -fno-omit-frame-pointer -O${level} -g1)
  target_link_options(heddle_options INTERFACE -fsanitize=${HEDDLE_SANITIZE})
  find_program(HEDDLE_LLD ld.lld)
  if(HEDDLE_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    target_link_options(heddle_options INTERFACE -fuse-ld=lld)  # in a quarter of the time
  endif()
  target_compile_definitions(heddle_options INTERFACE HEDDLE_SANITIZED)
endif()

# heddle_precompile(TARGET HEADER): the target's sources begin with the header. The first target with it, and with a level
# of optimisation, compiles it; the others, which must be compiled with the same options and at least its definitions, use
# the result. At another level GCC 12 may crash on it.
# With precompiled headers GCC 12 takes lengths of strings for negative where it optimises most, as it does in -Wrestrict
# above; builds without precompiled headers have these warnings.
function(heddle_precompile target header)
  get_property(level TARGET ${target} PROPERTY HEDDLE_OPTIMIZE)
  if(NOT level AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
  get_property(kernels TARGET ${target} PROPERTY HEDDLE_KERNELS)
  if(kernels AND HEDDLE_SANITIZE)
    string(APPEND level "_kernels")
  endif()
  string(MAKE_C_IDENTIFIER "HEDDLE_PRECOMPILED_${header}_${level}" owner)
  get_property(first GLOBAL PROPERTY ${owner})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/${header})
    set_property(GLOBAL PROPERTY ${owner} ${target})
  endif()
endfunction()

# heddle_group(TARGET): with HEDDLE_UNITY, sources are compiled several at once, and share what headers cost. Names in
# anonymous namespaces of a target must then differ, but for functions whose parameters are of different classes. With
# HEDDLE_UNITY=tests, only those of test programs are.
function(heddle_group target)
  set(is_grouped ${HEDDLE_UNITY})
  if(HEDDLE_UNITY STREQUAL "tests")
    set(is_grouped OFF)
    if(target MATCHES "^test_")
      set(is_grouped ON)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${is_grouped} UNITY_BUILD_BATCH_SIZE 32)
endfunction()

function(heddle_module_variant target name definitions)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "SOURCES;DEPENDS;LINK")
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    heddle_group(${target})
    if(name MATCHES "^(tensor|ops)$")  # in the groups of the folder's CMakeLists.txt
      set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    endif()
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heddle>)
  target_compile_definitions(${target} ${scope} ${definitions})
  target_link_libraries(${target} ${scope} heddle_options ${arg_DEPENDS} ${arg_LINK})
endfunction()

# heddle_chemical, which is no module, has its folder in formats, and is not installed.
# The float variant is what is installed: heddle::NAME of the CMake package, and a library of the pkg-config file.
function(heddle_install_module name)
  set_target_properties(heddle_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS heddle_${name} EXPORT heddle COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/${folder}
    COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" REGEX "/(chemical|symbolic)$" EXCLUDE)
  get_target_property(type heddle_${name} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY HEDDLE_LIBRARIES heddle_${name})
  endif()
endfunction()

# heddle_NAME_f64, which tests alone need, and of it only what they link with.
function(heddle_module_in_double name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LINK")
  list(TRANSFORM arg_DEPENDS PREPEND heddle_ OUTPUT_VARIABLE depends)
  list(TRANSFORM depends APPEND _f64)
  heddle_module_variant(heddle_${name}_f64 ${name} HEDDLE_REAL_IS_DOUBLE
    SOURCES ${arg_SOURCES} DEPENDS ${depends} LINK ${arg_LINK})
  set_target_properties(heddle_${name}_f64 PROPERTIES
    EXCLUDE_FROM_ALL ON HEDDLE_OPTIMIZE 1 LINKER_LANGUAGE CXX)
endfunction()

# The definitions that leave out kernels for processors better than avx2 or baseline.
set(HEDDLE_KERNELS_avx2 HEDDLE_WITHOUT_AVX512)
set(HEDDLE_KERNELS_baseline HEDDLE_WITHOUT_AVX512 HEDDLE_WITHOUT_AVX2)

function(heddle_kernels_for_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILE" "SOURCES")
  foreach(processor avx2 baseline)
    set(target heddle_${name}_${processor})
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${arg_SOURCES})
    target_compile_definitions(${target} PRIVATE ${HEDDLE_KERNELS_${processor}})
    target_link_libraries(${target} PRIVATE heddle_${name})
    heddle_group(${target})
    if(name MATCHES "^(tensor|ops)$")
      set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    endif()
    heddle_precompile(${target} ${arg_PRECOMPILE})
  endforeach()
endfunction()

function(heddle_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REAL;EITHER_REAL;KERNELS" "PRECOMPILE;OPTIMIZE" "SOURCES;DEPENDS;LINK")
  list(TRANSFORM arg_DEPENDS PREPEND heddle_ OUTPUT_VARIABLE depends)
  heddle_module_variant(heddle_${name} ${name} "" SOURCES ${arg_SOURCES} DEPENDS ${depends} LINK ${arg_LINK})
  set_target_properties(heddle_${name} PROPERTIES HEDDLE_OPTIMIZE "${arg_OPTIMIZE}" HEDDLE_KERNELS ${arg_KERNELS})
  if(NOT arg_PRECOMPILE)
    set(arg_PRECOMPILE cmake/precompiled.hpp)
  endif()
  heddle_precompile(heddle_${name} ${arg_PRECOMPILE})
  heddle_install_module(${name})
  if(NOT HEDDLE_TESTS)
    return()
  endif()
  if(arg_KERNELS)
    heddle_kernels_for_tests(${name} SOURCES ${arg_SOURCES} PRECOMPILE ${arg_PRECOMPILE})
  endif()
  if(arg_REAL)
    heddle_module_in_double(${name} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS} LINK ${arg_LINK})
    heddle_precompile(heddle_${name}_f64 ${arg_PRECOMPILE})
  elseif(arg_EITHER_REAL)
    heddle_module_in_double(${name} SOURCES $<TARGET_OBJECTS:heddle_${name}> DEPENDS ${arg_DEPENDS} LINK ${arg_LINK})
  endif()
endfunction()
