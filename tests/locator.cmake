if(QFS_TORCH)
  qfs_test(locator_test TORCH LABEL unit
    SOURCES unit/locator/session_test.cpp unit/models/ranking/scorer_test.cpp support/tiny_encoder.cpp
    LINK qfs_test_checkpoints qfs_locator nlohmann_json::nlohmann_json)
endif()
