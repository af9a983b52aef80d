qfs_test(checkpoints_test LABEL unit
  SOURCES unit/models/checkpoints/gguf_test.cpp unit/models/checkpoints/model_directory_test.cpp
          unit/models/checkpoints/safetensors_test.cpp unit/models/checkpoints/tensor_types_test.cpp
  LINK qfs_test_checkpoints qfs_checkpoints)
qfs_test(checkpoints_conformance_test LABEL conformance
  SOURCES conformance/models/checkpoints/reference_test.cpp
  LINK qfs_checkpoints)
qfs_fuzz(gguf_fuzz
  SOURCES fuzz/models/checkpoints/gguf_fuzz.cpp
  LINK qfs_test_checkpoints qfs_prompting)
qfs_fuzz(safetensors_fuzz
  SOURCES fuzz/models/checkpoints/safetensors_fuzz.cpp
  LINK qfs_test_checkpoints qfs_checkpoints)
qfs_fuzz(model_json_fuzz
  SOURCES fuzz/models/checkpoints/model_json_fuzz.cpp
  LINK qfs_checkpoints)
qfs_test(tokenizers_test LABEL unit
  SOURCES unit/models/tokenizers/word_splitter_test.cpp unit/models/tokenizers/tokenizer_test.cpp unit/models/tokenizers/tokenizer_json_test.cpp
          unit/models/prompting/truncation_test.cpp unit/models/prompting/chat_template_test.cpp
          unit/models/tokenizers/sentence_piece_test.cpp unit/models/tokenizers/folder_json_test.cpp
          unit/models/prompting/chat_program_test.cpp unit/models/prompting/source_layout_test.cpp
  LINK qfs_test_checkpoints qfs_prompting)
qfs_test(smollm_tokenizer_test LABEL conformance
  SOURCES conformance/models/tokenizers/smollm_test.cpp
  LINK qfs_prompting qfs_registry)
qfs_test(trained_tokenizers_test LABEL conformance
  SOURCES conformance/models/tokenizers/trained_test.cpp support/random_strings.cpp
  LINK qfs_prompting)
qfs_test(folder_tokenizers_test LABEL conformance
  SOURCES conformance/models/tokenizers/folders_test.cpp support/random_strings.cpp
  LINK qfs_prompting)
qfs_test(real_tokenizers_test LABEL conformance
  SOURCES conformance/models/tokenizers/real_files_test.cpp support/random_strings.cpp
  LINK qfs_prompting)
qfs_fuzz(tokenizer_json_fuzz
  SOURCES fuzz/models/tokenizers/tokenizer_json_fuzz.cpp
  LINK qfs_prompting)
qfs_fuzz(tokenizer_files_fuzz
  SOURCES fuzz/models/tokenizers/tokenizer_files_fuzz.cpp
  LINK qfs_prompting)
qfs_test(chat_templates_test LABEL conformance
  SOURCES conformance/models/prompting/templates_test.cpp
  LINK qfs_prompting qfs_registry)
qfs_fuzz(source_layout_fuzz
  SOURCES fuzz/models/prompting/source_layout_fuzz.cpp
  LINK qfs_prompting)
qfs_fuzz(chat_program_fuzz
  SOURCES fuzz/models/prompting/chat_program_fuzz.cpp
  LINK qfs_prompting)
qfs_test(ranking_test LABEL unit
  SOURCES unit/models/greedy_oracle/remembered_oracle_test.cpp unit/models/ranking/packing_test.cpp
    unit/models/ranking/snippets_test.cpp
  LINK qfs_ranking_params)
qfs_test(backbone_registry_test LABEL unit
  SOURCES unit/models/registry/artifacts_test.cpp unit/models/registry/registry_test.cpp
  LINK qfs_test_checkpoints qfs_registry)
if(QFS_TORCH)
  qfs_test(backbones_test TORCH LABEL unit
    SOURCES unit/models/kernels/cpu_kernels_test.cpp unit/models/kernels/dense_kernels_test.cpp unit/models/kernels/packed_attention_test.cpp unit/models/kernels/thread_pool_test.cpp unit/models/architectures/cpu_bfloat16_test.cpp unit/models/architectures/llama_test.cpp
            unit/models/inspect/machine_limits_test.cpp unit/models/nn/model_work_test.cpp unit/models/architectures/prefill_gemm_test.cpp unit/models/nn/rope_test.cpp unit/models/architectures/weight_reader_test.cpp
    LINK qfs_test_checkpoints qfs_inspect nlohmann_json::nlohmann_json)
  add_library(fake_nvml MODULE support/fake_nvml.cpp)
  add_library(incomplete_nvml MODULE support/fake_nvml.cpp)
  target_compile_definitions(incomplete_nvml PRIVATE QFS_FAKE_NVML_INCOMPLETE)
  qfs_test(nvml_test LABEL unit
    SOURCES unit/models/kernels/nvml_test.cpp
    LINK qfs_kernels
    DEFINES QFS_FAKE_NVML_LIBRARY="$<TARGET_FILE:fake_nvml>" QFS_INCOMPLETE_NVML_LIBRARY="$<TARGET_FILE:incomplete_nvml>")
  add_dependencies(nvml_test fake_nvml incomplete_nvml)
  qfs_test(step_graphs_test TORCH LABEL unit
    SOURCES unit/models/architectures/recorded_bart_test.cpp unit/models/nn/step_graphs_test.cpp support/fake_graphs.cpp
    LINK qfs_test_checkpoints qfs_inspect nlohmann_json::nlohmann_json)
  # The CUDA kernels, compiled for the CPU.
  set(cuda_kernels decode_attention.cu gated_activation.cu rotate_store.cu)
  list(TRANSFORM cuda_kernels PREPEND ${PROJECT_SOURCE_DIR}/methods/models/kernels/cuda/)
  set_source_files_properties(${cuda_kernels} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++;-Wno-unknown-pragmas")
  qfs_library(emulated_cuda
    SOURCES ${cuda_kernels} support/emulated_cuda/block_threads.cpp support/emulated_cuda/emulated_kernels.cpp
    LINK LibTorch::cpu)
  target_include_directories(emulated_cuda BEFORE PRIVATE support/emulated_cuda)
  # Four devices for one executable: the CPU twins, the CUDA kernels thread by thread on the CPU, LibTorch in place of
  # kernels, and a GPU where the plug-in is built (it fails where there is none).
  qfs_test(device_test TORCH LABEL unit
    SOURCES unit/models/kernels/device_kernels_test.cpp unit/models/kernels/emulated_cuda_test.cpp
            unit/models/nn/proven_kernels_test.cpp unit/models/architectures/device_bart_test.cpp unit/models/nn/device_copier_test.cpp
            unit/models/architectures/device_llama_test.cpp unit/models/architectures/embedded_rows_test.cpp unit/models/nn/windowed_test.cpp unit/models/architectures/shared_prefix_test.cpp
    LINK qfs_test_checkpoints qfs_inspect emulated_cuda nlohmann_json::nlohmann_json)
  # Without those that take minutes there.
  add_test(NAME device_test_emulated WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND device_test --gtest_filter=-SharedPrefixTest.the_rest_*:*DeviceLongBartTest*)
  set_tests_properties(device_test_emulated PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT
    "OMP_NUM_THREADS=1;QFS_TEST_DEVICE=emulated")
  add_test(NAME device_test_libtorch COMMAND device_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(device_test_libtorch PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT
    "OMP_NUM_THREADS=1;QFS_TEST_DEVICE=libtorch")
  if(QFS_CUDA)
    add_dependencies(device_test qfs_cuda)
    add_test(NAME device_test_cuda COMMAND device_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(device_test_cuda PROPERTIES LABELS gpu TIMEOUT 300 ENVIRONMENT
      "OMP_NUM_THREADS=1;QFS_TEST_DEVICE=cuda")
  endif()
  qfs_test(training_test TORCH LABEL unit
    SOURCES unit/models/nn/causal_attention_test.cpp unit/models/nn/dropout_test.cpp unit/models/nn/layer_adapters_test.cpp unit/models/nn/recompute_test.cpp unit/models/nn/tensor_arena_test.cpp unit/models/nn/token_loss_test.cpp unit/models/peft/layer_adapter_test.cpp unit/models/peft/lora_test.cpp unit/models/training/recipe_test.cpp
            unit/models/training/optimizer_test.cpp unit/models/training/trainer_test.cpp
    LINK qfs_test_checkpoints qfs_training nlohmann_json::nlohmann_json)
  qfs_test(segments_test TORCH LABEL unit
    SOURCES unit/models/architectures/parameter_counts_test.cpp unit/models/nn/fused_memory_test.cpp unit/models/nn/infini_memory_test.cpp unit/models/nn/segments_test.cpp
            unit/models/architectures/packed_reader_test.cpp
    LINK qfs_test_checkpoints qfs_architectures nlohmann_json::nlohmann_json)
  qfs_test(tiny_infini_test TORCH LABEL conformance
    SOURCES conformance/models/architectures/tiny_infini_test.cpp
    LINK qfs_test_checkpoints qfs_architectures nlohmann_json::nlohmann_json)
  qfs_fuzz(adapter_files_fuzz
    SOURCES fuzz/models/peft/adapter_files_fuzz.cpp
    LINK qfs_test_checkpoints qfs_peft)
  qfs_test(peft_test TORCH LABEL conformance
    SOURCES conformance/models/peft/ideal_test.cpp conformance/models/peft/peft_test.cpp
    LINK qfs_test_checkpoints qfs_training nlohmann_json::nlohmann_json)
  qfs_test(tiny_models_test TORCH LABEL conformance
    SOURCES conformance/models/architectures/cpu_encoder_test.cpp conformance/models/architectures/tiny_adapters_test.cpp conformance/models/architectures/tiny_encoders_test.cpp conformance/models/architectures/tiny_gpt2_test.cpp conformance/models/architectures/tiny_gradients_test.cpp conformance/models/architectures/tiny_llama_test.cpp conformance/models/architectures/tiny_seq2seq_test.cpp
    LINK qfs_test_checkpoints qfs_inspect nlohmann_json::nlohmann_json)
  qfs_test(smollm2_test TORCH LABEL conformance
    SOURCES conformance/models/architectures/smollm2_test.cpp
    LINK qfs_architectures qfs_registry)
endif()
qfs_test(decoding_params_test LABEL unit
  SOURCES unit/models/decoding/decoding_params_test.cpp
  LINK qfs_decoding_params)
if(QFS_TORCH)
  qfs_test(generation_test TORCH LABEL unit
    SOURCES unit/models/decoding/chosen_decoding_test.cpp unit/models/decoding/greedy_test.cpp unit/models/decoding/logits_processors_test.cpp unit/models/decoding/mixed_test.cpp
    LINK qfs_test_checkpoints qfs_decoding nlohmann_json::nlohmann_json)
  qfs_test(generation_conformance_test TORCH LABEL conformance
    SOURCES conformance/models/decoding/generation_test.cpp conformance/models/decoding/sampling_test.cpp conformance/models/decoding/stories260k_test.cpp conformance/models/decoding/transliteration_test.cpp
    LINK qfs_test_checkpoints qfs_decoding nlohmann_json::nlohmann_json)
endif()
