// CUDA graphs as DeviceGraphs (methods/models/kernels/device_plugin.h); its contracts hold here.
//
// Called through the plug-in's table by one thread at a time.
#pragma once

#include <functional>

namespace qfs::kernels::cuda {

void* record_graph(int device, const std::function<void()>& work);
void replay_graph(void* graph);
void forget_graph(void* graph);

}  // namespace qfs::kernels::cuda
