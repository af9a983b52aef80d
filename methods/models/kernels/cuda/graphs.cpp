#include "methods/models/kernels/cuda/graphs.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <memory>

namespace qfs::kernels::cuda {

namespace {

/// Graphs share the memory of their intermediate results: they are replayed one after the other and
/// leave their results outside of it. The allocator ends a pool with its last graph.
struct Pool {
  at::cuda::MempoolId_t id{};
  int64_t graphs = 0;

  void join() {
    if (graphs++ == 0) id = at::cuda::graph_pool_handle();
  }
  void leave() { --graphs; }
};
Pool g_pool;

/// Work is recorded on a stream that is not the default one and that cuBLAS has met already.
const c10::cuda::CUDAStream& recording_stream(int device) {
  static const c10::cuda::CUDAStream stream =
      c10::cuda::getStreamFromPool(false, static_cast<c10::DeviceIndex>(device));
  return stream;
}

}  // namespace

void* record_graph(int device, const std::function<void()>& work) {
  const c10::cuda::CUDAGuard on_device(static_cast<c10::DeviceIndex>(device));
  c10::cuda::device_synchronize();  // what the work reads may still be written on other streams
  const c10::cuda::CUDAStreamGuard on_stream(recording_stream(device));
  work();
  c10::cuda::device_synchronize();
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  g_pool.join();
  try {
    graph->capture_begin(g_pool.id);
    work();
    graph->capture_end();
  } catch (...) {
    try {
      graph->capture_end();  // the stream is not left recording
    } catch (...) {          // it was not, or says again what failed
    }
    graph.reset();
    g_pool.leave();
    throw;
  }
  return graph.release();
}

void replay_graph(void* graph) { static_cast<at::cuda::CUDAGraph*>(graph)->replay(); }

void forget_graph(void* graph) {
  delete static_cast<at::cuda::CUDAGraph*>(graph);
  g_pool.leave();
}

}  // namespace qfs::kernels::cuda
