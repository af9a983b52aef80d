#include "methods/ideal/session_train.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/ideal/session_rows.h"
#include "methods/ideal/specs.h"
#include "methods/models/nn/sequences.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/peft/hyper_network.h"
#include "methods/models/peft/layer_adapter_files.h"
#include "methods/models/peft/trained_biases.h"
#include "methods/models/prompted/memory_params.h"
#include "methods/models/prompted/memory_session.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::ideal {

namespace {

constexpr const char* kFile = "adapter.safetensors";
constexpr const char* kNorm = "generated.";           // of what a decoder makes, in the curve
constexpr const char* kPartner = "generated.beside";  // of what makes it matter

/// What a sequence begins with, without the summary that is learned.
nn::SequenceInput prompt_of(const training::LabelledSequence& sequence) {
  nn::SequenceInput prompt = sequence.input;
  const auto first =
      std::ranges::find_if(sequence.labels, [](int64_t label) { return label != nn::kNoLabel; });
  prompt.ids.resize(static_cast<size_t>(first - sequence.labels.begin()) + 1);
  return prompt;
}

class TrainedLayers final : public prompted::TrainedAdapter {
 public:
  TrainedLayers(peft::LayerAdapter adapter, const prompted::AdapterPlace& place)
      : adapter_(std::move(adapter)),
        decoder_(place.decoder),
        seed_(place.request.seed),
        params_(place.request.params),
        goes_on_(place.request.artifacts.contains(prompted::kAdapter)) {}

  training::NamedTensors tensors() const override {
    training::NamedTensors all = adapter_.tensors;
    all.insert(adapter_.memory.begin(), adapter_.memory.end());
    all.insert(adapter_.biases.begin(), adapter_.biases.end());
    return all;
  }
  void replace(const training::NamedTensors& leaves) override {
    for (auto* part : {&adapter_.tensors, &adapter_.memory, &adapter_.biases}) {
      for (auto& [name, tensor] : *part) tensor = leaves.at(name);
    }
  }
  std::shared_ptr<const nn::Decoder> decoder() override {
    if (adapter_.biases.empty()) return nullptr;
    learning_ = biased();  // layers that are computed again for gradients need it behind the loss
    return learning_;
  }
  Result<std::shared_ptr<const nn::InfiniMemory>> memory() override {
    return prompted::trained_memory(params_, adapter_.memory, *decoder_);
  }

  Result<training::RowAdapters> adapters(std::span<const training::GraphRow> rows) override {
    training::RowAdapters all;
    for (const training::GraphRow& row : rows) {
      if (!generates() && !all.empty()) {
        all.push_back(all.front());
        continue;
      }
      auto bound = generates() ? generated(row, 0) : peft::row_adapters(adapter_, {}, model());
      if (!bound.ok()) return bound.error();
      all.push_back(*std::move(bound));
    }
    return all;
  }

  /// Those that the hypernetwork generates anew for each segment, where the release's does.
  Result<training::RowAdapters> later_adapters(const training::GraphRow& row,
                                               int64_t segments) override {
    training::RowAdapters later;
    if (!generates() || !row.draw || !prompted::memory_form(params_).released) return later;
    for (int64_t segment = 1; segment <= segments; ++segment) {
      auto bound = generated(row, segment);
      if (!bound.ok()) return bound.error();
      later.push_back(*std::move(bound));
    }
    return later;
  }

  /// The memory's share, and the root mean square over rows and layers of the norms of what each
  /// decoder made since the last call, and that of what stands beside it.
  std::map<std::string, double> observed() override {
    std::map<std::string, double> norms;
    if (!adapter_.memory.empty()) norms["memory.share"] = peft::mean_share(adapter_.memory);
    if (!generates()) return norms;
    if (!dead_.empty()) norms[kDeadWarning] = 1;
    for (const auto& [decoder, sum] : squares_) {
      norms[kNorm + decoder] = std::sqrt(sum / static_cast<double>(std::max<int64_t>(made_, 1)));
    }
    squares_.clear();
    made_ = 0;
    double beside = 0;
    const std::vector<std::string> partners = peft::partners_of_generated(adapter_);
    for (const std::string& name : partners) {
      const double norm = adapter_.tensors.at(name).detach().norm().item<double>();
      beside += norm * norm;
    }
    if (!partners.empty()) norms[kPartner] = std::sqrt(beside);
    return norms;
  }

  void told(const TrainingPoint& point) override {
    if (!generates()) return;
    // The norms of a step are those before it is taken: the first moves what stands beside, the
    // second what is generated.
    const auto warm = std::max<int64_t>(
        static_cast<int64_t>(params_.get<double>("warmup") * static_cast<double>(point.steps)), 4);
    if (point.step == 1) start_ = point.values;
    if (point.step == 1 || point.step != std::min(warm, point.steps - 1)) return;
    dead_.clear();
    for (const auto& [name, norm] : point.values) {
      if (!name.starts_with(kNorm) || name == kPartner) continue;
      if (norm > (goes_on_ ? 0 : start_[name])) continue;
      dead_.append(dead_.empty() ? "" : ",").append(name.substr(std::string_view(kNorm).size()));
    }
  }

  Result<TrainedFile> keep(const std::string& folder,
                           const std::map<std::string, std::string>& metadata,
                           at::ScalarType type) const override {
    std::map<std::string, std::string> said = metadata;
    if (!dead_.empty()) said[kDeadMark] = dead_;
    return prompted::keep_bytes(folder, prompted::kAdapter, kFile,
                                peft::layer_adapter_bytes(adapter_, said, type));
  }

 private:
  bool generates() const { return adapter_.config.hyper.layers > 0; }

  /// The backbone over the trained biases of now.
  std::shared_ptr<const nn::Decoder> biased() const {
    return adapter_.biases.empty() ? decoder_ : peft::with_biases(*decoder_, adapter_.biases);
  }

  peft::AdaptedModel model() const {
    const std::shared_ptr<const nn::Decoder> decoder = biased();
    return {
        .bind = [decoder](const nn::AdapterSet& set) { return nn::bind_adapters(set, *decoder); },
        .stream =
            [decoder](size_t layer, const nn::SequenceInput& input) {
              return nn::stream_before(*decoder, input, layer);
            }};
  }

  Result<std::shared_ptr<const nn::Adapters>> generated(const training::GraphRow& row,
                                                        int64_t segment) {
    const auto prefix = peft::pooled_prefix(prompt_of(row.sequence), adapter_.config.hyper.pooling);
    if (!prefix.ok()) return prefix.error();
    if (!row.draw) return peft::row_adapters(adapter_, *prefix, model());
    const std::string drawn = segment == 0 ? "dropout" : "dropout." + std::to_string(segment);
    return peft::row_adapters(adapter_, *prefix, model(), Rng::derived(seed_, drawn, *row.draw),
                              [&](const peft::NamedTensors& values) { watch(values); });
  }

  void watch(const peft::NamedTensors& values) {
    ++made_;
    for (const auto& [decoder, tensor] : values) {
      const double norm = tensor.detach().to(at::kDouble).norm().item<double>();
      squares_[decoder] += norm * norm;
    }
  }

  peft::LayerAdapter adapter_;
  std::shared_ptr<const nn::Decoder> decoder_;
  std::shared_ptr<const nn::Decoder> learning_;  ///< of the graph of now, with trained biases
  uint64_t seed_;
  Params params_;
  std::map<std::string, double> squares_;
  int64_t made_ = 0;
  bool goes_on_;  ///< with a file, whose norms need not grow
  std::map<std::string, double> start_;
  std::string dead_;  ///< decoders whose norms were not above their start behind the warm-up
};

}  // namespace

Result<std::unique_ptr<prompted::TrainedAdapter>> make_layers(const prompted::AdapterPlace& place,
                                                              std::string_view method) {
  const nn::LayerWidths& widths = place.decoder->shape().sequence.widths;
  const peft::LayerAdapterConfig config = config_of(method, place.request.params, widths);
  if (Status possible = peft::check_config(config, widths); !possible.ok()) {
    return possible.error();
  }
  if (method == "ideal" && config.hyper.layers + config.bare_layers == 0) {
    return invalid_argument("'first_layer' is " + std::to_string(config.first_layer) + " of " +
                            std::to_string(widths.layers) +
                            " layers; behind it is no upper half to generate");
  }
  peft::LayerAdapter adapter = peft::new_layer_adapter(config, widths, place.request.seed);
  adapter.memory =
      prompted::first_memory(place.request.params, place.decoder->shape(), place.request.seed);
  if (place.request.params.find<bool>(kBiases).value_or(false)) {
    // As the checkpoint has them, whatever type the training computes in.
    ResourceCache passing;
    const auto own = place.prompts.backbone->network->decoder({}, "own", passing);
    if (!own.ok()) return own.error();
    adapter.biases = peft::first_biases(**own);
  }
  const auto init = place.request.artifacts.find(prompted::kAdapter);
  if (init != place.request.artifacts.end()) {
    auto given = peft::read_layer_adapter(init->second.path, widths, config);
    if (!given.ok()) return given.error();
    if (peft::tensor_shapes(given->config, widths) != peft::tensor_shapes(config, widths)) {
      return invalid_argument("cannot begin with '" + init->second.path +
                              "': its tensors are of other adapters than the training's");
    }
    adapter.tensors = std::move(given->tensors);
    if (adapter.biases.empty() && !given->biases.empty()) {
      return invalid_argument("cannot begin with '" + init->second.path +
                              "': it has trained biases and norms, which need 'w_bias'");
    }
    if (!given->biases.empty()) adapter.biases = std::move(given->biases);
    const Status begun = peft::begin_memory(given->memory, init->second.path, adapter.memory);
    if (!begun.ok()) return begun.error();
  }
  return std::unique_ptr<prompted::TrainedAdapter>(
      std::make_unique<TrainedLayers>(std::move(adapter), place));
}

}  // namespace qfs::ideal
