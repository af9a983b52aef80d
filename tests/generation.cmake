if(QFS_TORCH)
  qfs_test(generation_test LABEL unit
    SOURCES unit/generation/greedy_test.cpp support/gguf_writer.cpp support/tiny_llama.cpp
    LINK qfs_generation)
endif()
