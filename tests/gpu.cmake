# What a GPU machine without a network needs, in one ignored folder: `cmake --build --preset cuda --target gpu-kit`.
add_test(NAME gpu_kit COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/gpu/kit_test.py)
set_tests_properties(gpu_kit PROPERTIES LABELS unit TIMEOUT 120)
if(TARGET qfs-host)
  add_test(NAME efficiency_report
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/gpu/efficiency_test.py $<TARGET_FILE:qfs-bench>)
  set_tests_properties(efficiency_report PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT OMP_NUM_THREADS=1)
endif()
if(QFS_CUDA)
  add_executable(qfs_bench_device gpu/bench_bart.cpp gpu/bench_device.cpp)
  target_link_libraries(qfs_bench_device PRIVATE qfs_inspect nlohmann_json::nlohmann_json qfs_options)
  add_executable(qfs_write_tiny_model gpu/write_tiny_model.cpp support/gguf_writer.cpp support/tiny_llama.cpp)
  target_link_libraries(qfs_write_tiny_model PRIVATE qfs_prompting qfs_options)
  add_custom_target(gpu-kit
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/gpu/pack_kit.sh ${PROJECT_SOURCE_DIR}/gpu-kit ${PROJECT_SOURCE_DIR}
      $<TARGET_FILE:qfs_write_tiny_model> $<TARGET_FILE:qfs-bench> $<TARGET_FILE:qfs-host> $<TARGET_FILE:qfs_cuda>
      $<TARGET_FILE:device_test> $<TARGET_FILE:qfs_bench_device>
    DEPENDS qfs_write_tiny_model qfs-bench qfs-host qfs_cuda device_test qfs_bench_device
    USES_TERMINAL VERBATIM)
endif()
