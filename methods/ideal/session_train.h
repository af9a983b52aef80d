// What methods of this family train: the adapters that a cell's parameters ask for, and their
// training as a prompted::TrainedAdapter.
//
// Called by sessions of both kinds. Errors: those of peft/layer_adapter.h and, where training
// begins with a file, of layer_adapter_files.h.
#pragma once

#include <memory>
#include <string_view>

#include "methods/models/peft/layer_adapter.h"
#include "methods/models/prompted/adapter_training.h"

namespace qfs::ideal {

/// For a method of this family; unchecked (peft::check_config). What a file of adapters says itself
/// may be missing.
peft::LayerAdapterConfig config_of(std::string_view method, const Params& params,
                                   const nn::LayerWidths& widths);

Result<std::unique_ptr<prompted::TrainedAdapter>> make_layers(const prompted::AdapterPlace& place,
                                                              std::string_view method);

/// A prompted::MakeAdapter.
template <class Spec>
Result<std::unique_ptr<prompted::TrainedAdapter>> make_trained_layers(
    const prompted::AdapterPlace& place) {
  return make_layers(place, Spec().name());
}

}  // namespace qfs::ideal
