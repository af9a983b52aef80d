qfs_test(unlimiformer_windows_test LABEL unit SOURCES unit/unlimiformer/windows_test.cpp LINK qfs_unlimiformer_spec)
if(QFS_TORCH)
  qfs_test(unlimiformer_test TORCH LABEL unit
    SOURCES unit/unlimiformer/index_test.cpp unit/unlimiformer/reading_test.cpp unit/unlimiformer/session_test.cpp
            unit/unlimiformer/training_test.cpp support/random_bart.cpp
    LINK qfs_test_checkpoints qfs_unlimiformer qfs_lora nlohmann_json::nlohmann_json)
endif()
