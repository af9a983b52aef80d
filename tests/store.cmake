qfs_test(store_test LABEL unit
  SOURCES
    unit/store/test_archive.cpp
    unit/store/test_codec.cpp
    unit/store/test_disk_and_locks.cpp
    unit/store/test_durability.cpp
    unit/store/test_foreign_files.cpp
    unit/store/test_merge.cpp
    unit/store/test_migrations.cpp
    unit/store/test_plan_rows.cpp
    unit/store/test_process_identity.cpp
    unit/store/test_results.cpp
    unit/store/test_scores.cpp
    unit/store/test_training.cpp
    unit/store/test_work_rows.cpp
    crash/store/crash_writer.cpp
  LINK qfs_store)
qfs_test(store_crash_test LABEL crash
  SOURCES crash/store/crash_writer.cpp crash/store/test_crash.cpp
  LINK qfs_store)
qfs_fuzz(store_fuzz_archive SOURCES fuzz/store/fuzz_archive.cpp LINK qfs_store)
qfs_fuzz(store_fuzz_store SOURCES fuzz/store/fuzz_store.cpp LINK qfs_store)

# A killed process loses nothing of the page cache, so that a memory file system tests the same and
# spares thousands of fsyncs.
if(EXISTS /dev/shm)
  foreach(name store_test store_crash_test store_fuzz_store)
    if(TEST ${name})
      set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "TMPDIR=/dev/shm")
    endif()
  endforeach()
endif()
