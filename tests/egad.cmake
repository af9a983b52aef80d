qfs_test(egad_keywords_test LABEL unit SOURCES unit/egad/keywords_test.cpp LINK qfs_egad_spec)
if(QFS_TORCH)
  qfs_test(egad_test TORCH LABEL unit
    SOURCES unit/egad/session_test.cpp
    LINK qfs_test_checkpoints qfs_egad nlohmann_json::nlohmann_json)
endif()
