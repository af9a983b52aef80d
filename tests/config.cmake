qfs_test(config_test LABEL unit SOURCES unit/config/document_test.cpp unit/config/load_test.cpp LINK qfs_config nlohmann_json::nlohmann_json
  DEFINES QFS_YAML=$<BOOL:$<TARGET_EXISTS:qfs_yaml>>)
qfs_test(config_golden_test LABEL golden
  SOURCES golden/config/corpus_test.cpp golden/config/schema_test.cpp
  LINK qfs_config)
qfs_fuzz(config_fuzz_sweep SOURCES fuzz/config/fuzz_sweep.cpp LINK qfs_config)
qfs_fuzz(config_fuzz_document SOURCES fuzz/config/fuzz_document.cpp LINK qfs_config nlohmann_json::nlohmann_json)
