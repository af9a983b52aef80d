# The include table of the design, checked on the tree, and the check itself on trees with one fault.
add_test(NAME architecture
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/architecture/check_architecture.py
          ${PROJECT_SOURCE_DIR})
add_test(NAME architecture_check
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/architecture/check_architecture_test.py)
add_test(NAME versions_lock_check
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/architecture/versions_lock_test.py
          $<TARGET_FILE:qfs_source_digests>)
set_tests_properties(architecture architecture_check versions_lock_check PROPERTIES LABELS architecture TIMEOUT 60)
if(TARGET qfs-bench)
  add_test(NAME versions_lock
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/architecture/versions_lock.py
            $<TARGET_FILE:qfs-bench>)
  set_tests_properties(versions_lock PROPERTIES LABELS architecture TIMEOUT 60)
endif()
