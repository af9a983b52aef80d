if(QFS_TORCH)
  qfs_test(ideal_test TORCH LABEL unit
    SOURCES unit/ideal/released_test.cpp unit/ideal/rows_test.cpp unit/ideal/sessions_test.cpp unit/ideal/specs_test.cpp
    LINK qfs_test_checkpoints qfs_ideal nlohmann_json::nlohmann_json)
  qfs_test(ideal_conformance_test TORCH LABEL conformance
    SOURCES conformance/ideal/released_test.cpp
    LINK qfs_test_checkpoints qfs_ideal nlohmann_json::nlohmann_json)
endif()
