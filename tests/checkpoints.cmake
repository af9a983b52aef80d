qfs_test(checkpoints_test LABEL unit
  SOURCES unit/checkpoints/gguf_test.cpp unit/checkpoints/tensor_types_test.cpp
          support/gguf_writer.cpp
  LINK qfs_checkpoints)
qfs_fuzz(gguf_fuzz
  SOURCES fuzz/checkpoints/gguf_fuzz.cpp support/gguf_writer.cpp
  LINK qfs_tokenizers)
