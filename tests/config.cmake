qfs_test(config_test LABEL unit SOURCES unit/config/load_test.cpp LINK qfs_config)
qfs_test(config_golden_test LABEL golden
  SOURCES golden/config/corpus_test.cpp golden/config/schema_test.cpp
  LINK qfs_config)
qfs_fuzz(config_fuzz_sweep SOURCES fuzz/config/fuzz_sweep.cpp LINK qfs_config)
