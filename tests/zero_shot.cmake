qfs_test(zero_shot_spec_test LABEL unit
  SOURCES unit/zero_shot/spec_test.cpp
  LINK qfs_zero_shot_spec)
if(QFS_TORCH)
  qfs_test(zero_shot_test LABEL unit
    SOURCES unit/zero_shot/session_test.cpp support/gguf_writer.cpp support/tiny_llama.cpp
    LINK qfs_zero_shot)
endif()
