# qfs_library(<name> SOURCES … [LINK …]): a static library of one module, with the house options.
function(qfs_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE qfs_options)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

# Assertions name files below the tree, so that clones share what is compiled (QfsDefaults.cmake, ccache).
set(QFS_FILE_NAMES -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# qfs_test(<name> [TORCH] LABEL <unit|property|golden|conformance|crash|architecture> SOURCES … LINK … [DEFINES …])
# One executable, one process, one ctest entry; working directory is the source tree's root. Under the sanitizers
# there are unit and property tests alone: the others repeat their code with more data. TORCH: its sources use
# tensors. Tests share a precompiled header, that of the first of them.
function(qfs_test name)
  cmake_parse_arguments(ARG "TORCH" "LABEL;TIMEOUT" "SOURCES;LINK;DEFINES" ${ARGN})
  if(QFS_SANITIZE AND NOT ARG_LABEL MATCHES "^(unit|property)$")
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} qfs_options GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${QFS_FILE_NAMES} $<$<CONFIG:Release>:-O1>)  # compiled once, run for a second
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  set(header test_pch.h)
  if(ARG_TORCH)
    set(header torch_pch.h)
  endif()
  get_property(first GLOBAL PROPERTY QFS_FIRST_OF_${header})
  if(first)
    target_precompile_headers(${name} REUSE_FROM ${first})
  elseif(NOT ARG_DEFINES)  # which the others would lack
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/${header})
    set_property(GLOBAL PROPERTY QFS_FIRST_OF_${header} ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "OMP_NUM_THREADS=1;QFS_TEST_BIN_DIR=${PROJECT_BINARY_DIR}/bin;QFS_PYTHON=${Python3_EXECUTABLE}")
endfunction()

# qfs_fuzz(<name> SOURCES … LINK …): a fuzz target (tests/support/fuzz.h). As a ctest entry (label fuzz) it
# runs for QFS_FUZZ_SECONDS of the environment, 2 without; with QFS_FUZZERS under libFuzzer for 60 s.
function(qfs_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  set(support ${PROJECT_SOURCE_DIR}/tests/support)
  set(arguments)
  if(QFS_FUZZERS)
    add_executable(${name} ${ARG_SOURCES} ${support}/fuzz_libfuzzer.cpp)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(arguments -max_total_time=60 -max_len=65536)
  else()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE qfs_fuzz_main)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} qfs_options)
  add_test(NAME ${name} COMMAND ${name} ${arguments})
  set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 120 ENVIRONMENT "OMP_NUM_THREADS=1")
endfunction()
