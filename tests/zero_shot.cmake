qfs_test(zero_shot_spec_test LABEL unit
  SOURCES unit/zero_shot/chunks_test.cpp unit/zero_shot/spec_test.cpp
  LINK qfs_zero_shot_spec)
if(QFS_TORCH)
  qfs_test(zero_shot_test TORCH LABEL unit
    SOURCES unit/zero_shot/chunked_session_test.cpp unit/zero_shot/seq2seq_session_test.cpp unit/zero_shot/session_test.cpp
    LINK qfs_test_checkpoints qfs_zero_shot nlohmann_json::nlohmann_json)
endif()
