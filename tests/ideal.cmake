if(QFS_TORCH)
  qfs_test(ideal_test LABEL unit
    SOURCES unit/ideal/sessions_test.cpp support/gguf_writer.cpp support/tiny_llama.cpp
    LINK qfs_ideal nlohmann_json::nlohmann_json)
endif()
