if(QFS_TORCH)
  qfs_test(lora_test TORCH LABEL unit
    SOURCES unit/lora/memory_params_test.cpp unit/lora/memory_test.cpp unit/lora/session_test.cpp
    LINK qfs_test_checkpoints qfs_lora nlohmann_json::nlohmann_json)
endif()
