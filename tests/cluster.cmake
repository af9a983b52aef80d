# Several processes that share nothing but a folder, as shells and schedulers start them.
if(TARGET qfs-bench)
  add_test(NAME test_shards
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/cluster/test_shards.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(test_shards PROPERTIES LABELS cluster TIMEOUT 600)
  add_test(NAME test_slots
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/cluster/test_slots.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(test_slots PROPERTIES LABELS cluster TIMEOUT 300)
  # Two nodes of a real Slurm on the loopback; skipped by name without Debian's packages.
  add_test(NAME test_slurm
    COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/cluster/test_slurm.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(test_slurm PROPERTIES LABELS slurm TIMEOUT 600 SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
endif()
