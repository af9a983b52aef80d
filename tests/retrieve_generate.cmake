qfs_test(retriever_test LABEL unit SOURCES unit/retrieve_generate/retriever_test.cpp unit/retrieve_generate/spans_test.cpp
  LINK qfs_retrieve_generate_spec nlohmann_json::nlohmann_json)
if(QFS_TORCH)
  qfs_test(retrieve_generate_test TORCH LABEL unit
    SOURCES unit/retrieve_generate/session_test.cpp
            support/tiny_encoder.cpp
    LINK qfs_test_checkpoints qfs_retrieve_generate nlohmann_json::nlohmann_json)
  qfs_test(retrieve_generate_conformance_test TORCH LABEL conformance
    SOURCES conformance/retrieve_generate/dpr_test.cpp support/tiny_encoder.cpp
    LINK qfs_test_checkpoints qfs_retrieve_generate nlohmann_json::nlohmann_json)
endif()
