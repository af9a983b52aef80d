# Several processes that share nothing but a folder, as shells and schedulers start them.
if(TARGET qfs-bench)
  add_test(NAME test_shards
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/cluster/test_shards.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(test_shards PROPERTIES LABELS cluster TIMEOUT 600)
endif()
