qfs_test(dyle_parts_test LABEL unit
  SOURCES unit/dyle/rows_test.cpp unit/dyle/selection_test.cpp
  LINK qfs_dyle_spec)
if(QFS_TORCH)
  qfs_test(dyle_test TORCH LABEL unit
    SOURCES unit/dyle/reading_test.cpp unit/dyle/session_test.cpp unit/dyle/spec_test.cpp unit/dyle/weights_test.cpp support/tiny_encoder.cpp
    LINK qfs_test_checkpoints qfs_dyle qfs_zero_shot nlohmann_json::nlohmann_json)
  qfs_test(dyle_conformance_test TORCH LABEL conformance
    SOURCES conformance/dyle/losses_test.cpp conformance/dyle/weights_test.cpp support/tiny_encoder.cpp
    LINK qfs_test_checkpoints qfs_dyle nlohmann_json::nlohmann_json)
  # By itself: other tests put a cache of their own in place of the machine's.
  qfs_test(dyle_real_test TORCH LABEL conformance
    SOURCES conformance/dyle/real_models_test.cpp
    LINK qfs_dyle nlohmann_json::nlohmann_json)
endif()
