qfs_test(run_test LABEL unit SOURCES unit/run/energy_test.cpp unit/run/length_search_test.cpp unit/run/memory_peaks_test.cpp
  unit/run/requests_test.cpp support/plan_fakes.cpp LINK qfs_run qfs_config)
# The driver as a whole: these run the built qfs-bench.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET qfs-bench)
  add_test(NAME test_external_method
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/run/test_external_method.py
            $<TARGET_FILE:qfs-bench> ${PROJECT_SOURCE_DIR})
  set_tests_properties(test_external_method PROPERTIES LABELS unit TIMEOUT 300)
  add_test(NAME test_external_cut
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/run/test_external_cut.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(test_external_cut PROPERTIES LABELS unit TIMEOUT 300)
  add_test(NAME test_external_metric
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/run/test_external_metric.py
            $<TARGET_FILE:qfs-bench> ${PROJECT_SOURCE_DIR})
  set_tests_properties(test_external_metric PROPERTIES LABELS unit TIMEOUT 300)
  add_test(NAME test_endpoint
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/run/test_endpoint.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(test_endpoint PROPERTIES LABELS unit TIMEOUT 300)
  add_test(NAME test_imported
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/run/test_imported.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(test_imported PROPERTIES LABELS unit TIMEOUT 300)
  foreach(name test_bad_hosts test_disturbed_run test_memory test_noise test_training)
    add_test(NAME ${name}
      COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/run/${name}.py $<TARGET_FILE:qfs-bench>)
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
  endforeach()
  add_test(NAME test_committed_artifacts
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/run/test_committed_artifacts.py
            $<TARGET_FILE:qfs-bench> ${PROJECT_SOURCE_DIR})
  set_tests_properties(test_committed_artifacts PROPERTIES LABELS unit TIMEOUT 60)
  add_test(NAME random_kills
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/crash/cli/random_kills.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(random_kills PROPERTIES LABELS crash TIMEOUT 900)
  add_test(NAME test_kill_and_continue
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/crash/cli/test_kill_and_continue.py
            $<TARGET_FILE:qfs-bench> ${CMAKE_CURRENT_SOURCE_DIR}/crash/cli/sweep.json)
  set_tests_properties(test_kill_and_continue PROPERTIES LABELS crash TIMEOUT 900)
endif()
