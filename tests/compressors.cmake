qfs_test(compressor_rules_test LABEL unit
  SOURCES unit/compressors/demonstrations_test.cpp unit/compressors/lingua_test.cpp unit/compressors/specs_test.cpp
          unit/compressors/split_test.cpp
  LINK qfs_compressors_specs)
if(QFS_TORCH)
  qfs_test(compressors_test TORCH LABEL unit
    SOURCES unit/compressors/bank_test.cpp unit/compressors/few_shot_test.cpp unit/compressors/sessions_test.cpp
            unit/compressors/train_test.cpp
    LINK qfs_test_checkpoints qfs_compressors qfs_zero_shot nlohmann_json::nlohmann_json)
  qfs_test(compressors_conformance_test TORCH LABEL conformance
    SOURCES conformance/compressors/compressors_test.cpp conformance/compressors/lingua_choices_test.cpp
    LINK qfs_test_checkpoints qfs_compressors nlohmann_json::nlohmann_json)
endif()
