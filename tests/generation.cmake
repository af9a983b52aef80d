qfs_test(decoding_params_test LABEL unit
  SOURCES unit/generation/decoding_params_test.cpp
  LINK qfs_decoding)
if(QFS_TORCH)
  qfs_test(generation_test LABEL unit
    SOURCES unit/generation/chosen_decoding_test.cpp unit/generation/greedy_test.cpp unit/generation/token_rules_test.cpp support/gguf_writer.cpp support/tiny_llama.cpp
    LINK qfs_generation)
  qfs_test(generation_conformance_test LABEL conformance
    SOURCES conformance/generation/generation_test.cpp conformance/generation/sampling_test.cpp conformance/generation/stories260k_test.cpp conformance/generation/transliteration_test.cpp
            support/safetensors_writer.cpp support/tiny_checkpoint.cpp
    LINK qfs_generation nlohmann_json::nlohmann_json)
endif()
