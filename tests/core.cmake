qfs_test(core_unit_test
  LABEL unit
  SOURCES
    unit/core/build_info_test.cpp
    unit/core/canonical_json_test.cpp
    unit/core/child_process_test.cpp
    unit/core/clock_test.cpp
    unit/core/counted_test.cpp
    unit/core/failpoint_test.cpp
    unit/core/file_glob_test.cpp
    unit/core/files_test.cpp
    unit/core/identity_test.cpp
    unit/core/json_dom_test.cpp
    unit/core/line_reader_test.cpp
    unit/core/log_test.cpp
    unit/core/postprocess_test.cpp
    unit/core/process_environment_test.cpp
    unit/core/rng_test.cpp
    unit/core/standard_directories_test.cpp
    unit/core/suggest_test.cpp
    unit/core/utf8_test.cpp
  LINK qfs_core qfs_build_info
  DEFINES QFS_CMAKE_COMMAND="${CMAKE_COMMAND}")
# What the tests of child processes and failpoints start.
add_executable(core_child unit/core/child_program.cpp)
target_link_libraries(core_child PRIVATE qfs_core qfs_options)
add_dependencies(core_unit_test core_child)

qfs_test(core_property_test
  LABEL property
  SOURCES
    property/core/canonical_json_property_test.cpp
    property/core/line_reader_property_test.cpp
    property/core/utf8_property_test.cpp
  LINK qfs_core rapidcheck_gtest)

qfs_fuzz(core_fuzz_postprocess SOURCES fuzz/core/fuzz_postprocess.cpp LINK qfs_core)
qfs_fuzz(core_fuzz_json SOURCES fuzz/core/fuzz_json.cpp LINK qfs_core)
