qfs_test(backbone_registry_test LABEL unit
  SOURCES unit/backbones/registry_test.cpp
  LINK qfs_backbone_registry)
if(QFS_TORCH)
  qfs_test(backbones_test LABEL unit
    SOURCES unit/kernels/cpu_kernels_test.cpp unit/kernels/thread_pool_test.cpp unit/backbones/llama_test.cpp
            support/gguf_writer.cpp support/tiny_llama.cpp
    LINK qfs_backbones)
  qfs_test(smollm2_test LABEL conformance
    SOURCES conformance/backbones/smollm2_test.cpp
    LINK qfs_backbones qfs_backbone_registry)
endif()
