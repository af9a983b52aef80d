// What the benchmarks of models have in common: a model as they open it, and how they end on
// errors.
//
// Used by the programs beside this file. One thread.
#pragma once

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "harness/api/result.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/nn/decoder.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/registry/registry.h"

namespace qfs::test {

inline void must(const Status& status) {
  if (status.ok()) return;
  std::cerr << status.error().to_string() << "\n";
  std::exit(1);
}

template <class T>
T value_or_exit(Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::cerr << result.error().to_string() << "\n";
  std::exit(1);
}

/// `name`: a registered name, a GGUF file or a folder. Threads and element type are those of the
/// process from here on.
class BenchModel {
 public:
  /// `positions`: as many or more, beyond those that it was trained with.
  BenchModel(const char* name, const char* threads, const std::string& dtype = "float32",
             int64_t positions = 0) {
    runtime.threads = std::atoi(threads);
    must(nn::configure_torch(runtime));
    runtime.dtype = dtype;
    backbone = value_or_exit(
        architectures::open_backbone(value_or_exit(registry::resolve_backbone(name))));
    std::shared_ptr<const nn::Network> network = backbone->network;
    if (positions > network->shape().context) {
      network = value_or_exit(network->extended(positions));
    }
    decoder = value_or_exit(network->decoder(runtime, backbone->digest, cache_));
  }

  RuntimeOptions runtime;
  std::shared_ptr<const architectures::Backbone> backbone;
  std::shared_ptr<const nn::Decoder> decoder;

 private:
  ResourceCache cache_;
};

}  // namespace qfs::test
