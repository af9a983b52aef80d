qfs_test(egad_keywords_test LABEL unit SOURCES unit/egad/keywords_test.cpp LINK qfs_egad_spec)
if(QFS_TORCH)
  qfs_test(egad_test LABEL unit
    SOURCES unit/egad/session_test.cpp support/gguf_writer.cpp support/safetensors_writer.cpp support/tiny_checkpoint.cpp
            support/tiny_llama.cpp support/tiny_seq2seq.cpp
    LINK qfs_egad nlohmann_json::nlohmann_json)
endif()
