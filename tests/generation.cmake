qfs_test(decoding_params_test LABEL unit
  SOURCES unit/models/decoding/decoding_params_test.cpp
  LINK qfs_decoding_params)
if(QFS_TORCH)
  qfs_test(generation_test LABEL unit
    SOURCES unit/models/decoding/chosen_decoding_test.cpp unit/models/decoding/greedy_test.cpp unit/models/decoding/token_rules_test.cpp support/gguf_writer.cpp support/tiny_llama.cpp
    LINK qfs_decoding)
  qfs_test(generation_conformance_test LABEL conformance
    SOURCES conformance/models/decoding/generation_test.cpp conformance/models/decoding/sampling_test.cpp conformance/models/decoding/stories260k_test.cpp conformance/models/decoding/transliteration_test.cpp
            support/safetensors_writer.cpp support/tiny_checkpoint.cpp
    LINK qfs_decoding nlohmann_json::nlohmann_json)
endif()
