// The CUDA side of device_kernels.h, one function a file; its contracts hold here.
//
// Called through the plug-in's table. Returns codes of the CUDA runtime; thread-safe as it is.
#pragma once

#include "methods/models/kernels/device_kernels.h"

namespace qfs::kernels::cuda {

int rotate_store(const RotateStore& task, void* stream);
int decode_attention(const DecodeAttention& task, void* stream);
int gated_activation(const GatedActivation& task, void* stream);

}  // namespace qfs::kernels::cuda
