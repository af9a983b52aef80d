qfs_test(checkpoints_test LABEL unit
  SOURCES unit/models/checkpoints/gguf_test.cpp unit/models/checkpoints/model_directory_test.cpp
          unit/models/checkpoints/safetensors_test.cpp unit/models/checkpoints/tensor_types_test.cpp
          support/gguf_writer.cpp support/safetensors_writer.cpp
  LINK qfs_checkpoints)
qfs_test(checkpoints_conformance_test LABEL conformance
  SOURCES conformance/models/checkpoints/reference_test.cpp
  LINK qfs_checkpoints)
qfs_fuzz(gguf_fuzz
  SOURCES fuzz/models/checkpoints/gguf_fuzz.cpp support/gguf_writer.cpp
  LINK qfs_tokenizers)
qfs_fuzz(safetensors_fuzz
  SOURCES fuzz/models/checkpoints/safetensors_fuzz.cpp support/safetensors_writer.cpp
  LINK qfs_checkpoints)
qfs_fuzz(model_json_fuzz
  SOURCES fuzz/models/checkpoints/model_json_fuzz.cpp
  LINK qfs_checkpoints)
