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
    network_ = backbone->network;
    if (positions > network_->shape().context) {
      network_ = value_or_exit(network_->extended(positions));
    }
  }

  /// As methods train, and as they read.
  std::shared_ptr<const nn::Decoder> trained() {
    return value_or_exit(network_->decoder(runtime, backbone->digest, cache_));
  }
  std::shared_ptr<const nn::Decoder> reader() {
    return value_or_exit(network_->reader(runtime, backbone->digest, cache_));
  }

  RuntimeOptions runtime;
  std::shared_ptr<const architectures::Backbone> backbone;

 private:
  std::shared_ptr<const nn::Network> network_;
  ResourceCache cache_;
};

}  // namespace qfs::test
