if(QFS_TORCH)
  qfs_test(lora_test LABEL unit
    SOURCES unit/lora/session_test.cpp support/gguf_writer.cpp support/safetensors_writer.cpp support/tiny_checkpoint.cpp
            support/tiny_llama.cpp support/tiny_seq2seq.cpp
    LINK qfs_lora nlohmann_json::nlohmann_json)
endif()
