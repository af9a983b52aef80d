# Speed bars; built with -DQFS_BENCHMARKS=ON, run by hand, never by ctest.
if(QFS_BENCHMARKS AND QFS_TORCH)
  add_executable(qfs_bench_llama bench/bench_llama.cpp)
  target_link_libraries(qfs_bench_llama PRIVATE qfs_backbones nlohmann_json::nlohmann_json qfs_options)
endif()
if(QFS_BENCHMARKS)
  add_executable(qfs_bench_jieba bench/jieba_bench.cpp)
  target_link_libraries(qfs_bench_jieba PRIVATE qfs_metrics qfs_options)
endif()
