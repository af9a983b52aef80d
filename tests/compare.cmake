qfs_test(compare_test LABEL unit
  SOURCES
    unit/compare/cells_test.cpp
    unit/compare/comparison_test.cpp
    unit/compare/decision_test.cpp
    unit/compare/performance_test.cpp
    unit/compare/stored_test.cpp
  LINK qfs_compare)
if(EXISTS /dev/shm)
  set_property(TEST compare_test APPEND PROPERTY ENVIRONMENT "TMPDIR=/dev/shm")
endif()
