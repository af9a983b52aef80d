if(QFS_TORCH)
  qfs_test(finetune_test TORCH LABEL unit
    SOURCES unit/finetune/session_test.cpp
    LINK qfs_test_checkpoints qfs_finetune qfs_zero_shot nlohmann_json::nlohmann_json)
endif()
