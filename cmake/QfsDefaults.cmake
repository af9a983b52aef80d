# Language, warnings and numerics shared by every target. Results must not depend on the machine that
# compiled them: no fused contraction, no -march=native; hot paths dispatch at run time.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(QFS_CCACHE ccache)
if(QFS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths are relative to the tree, so that clones and presets share what is compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${QFS_CCACHE})
endif()

add_library(qfs_options INTERFACE)
# Warnings are errors of the compiler that this is developed with; users have others, which warn of more.
set(developed_with $<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>)
target_compile_options(qfs_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion $<${developed_with}:-Werror> -ffp-contract=off
  -Wno-missing-field-initializers  # designated initialisers leave members at their defaults on purpose
  $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-march=x86-64-v2>
  # In a unity build every source is an included file to the compiler.
  $<$<BOOL:${CMAKE_UNITY_BUILD}>:-Wno-subobject-linkage>
  # False alarms of g++ 12 on "literal" + std::string (GCC bug 105651).
  $<${developed_with}:-Wno-restrict>)
target_include_directories(qfs_options INTERFACE ${PROJECT_SOURCE_DIR})
if(QFS_SANITIZE)
  # Without the checks of each access that AddressSanitizer makes too, or that no cast here needs; they double the code.
  target_compile_options(qfs_options INTERFACE -fsanitize=address,undefined -fno-sanitize=null,vptr,object-size,alignment
    -fno-omit-frame-pointer)
  target_link_options(qfs_options INTERFACE -fsanitize=address,undefined)
endif()
if(QFS_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "QFS_FUZZERS needs clang++ (libFuzzer); use the preset 'fuzz'")
  endif()
  target_compile_options(qfs_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
