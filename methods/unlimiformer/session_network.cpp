#include "methods/unlimiformer/session_network.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>

#include <string>
#include <utility>

#include "methods/models/architectures/bart/bart_names.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/nn/steps/step_model.h"
#include "methods/unlimiformer/session_index.h"
#include "methods/unlimiformer/windows.h"

namespace qfs::unlimiformer {

namespace {

using nn::Linear;

/// Finds each layer's projections of the encoder's states among a model's weights.
class CrossProjections final : public nn::WeightVisitor {
 public:
  explicit CrossProjections(int64_t layers) : found_(static_cast<size_t>(layers)) {}

  void tensor(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void optional(const std::string&, at::Tensor&, std::vector<int64_t>) override {}
  void tied(const std::string&, at::Tensor&, const at::Tensor&, std::vector<int64_t>) override {}
  void transposed(const std::string&, Linear&, int64_t, int64_t) override {}
  void fused(const std::vector<nn::FusedPart>& parts, Linear& linear, int64_t, bool) override {
    for (size_t i = 0; i < found_.size(); ++i) {
      const auto& names = architectures::decoder_layer_names(static_cast<int64_t>(i)).cross;
      const bool keys_values =
          parts.size() == 2 && parts[0].name == names.key && parts[1].name == names.value;
      if (keys_values) found_[i] = linear;
    }
  }

  const std::vector<Linear>& found() const { return found_; }

 private:
  std::vector<Linear> found_;
};

constexpr int64_t kAnyLength = int64_t{1} << 40;

class RetrievingNetwork final : public nn::Network {
 public:
  RetrievingNetwork(std::shared_ptr<const nn::Network> network, const Retrieval& retrieval)
      : network_(std::move(network)), retrieval_(retrieval), shape_(network_->shape()) {
    shape_.source_context = kAnyLength;
  }

  const nn::SequenceShape& shape() const override { return shape_; }

  Result<std::unique_ptr<nn::SequenceModel>> open(const RuntimeOptions& runtime,
                                                  const std::string& digest,
                                                  ResourceCache& cache) const override {
    if (Status here = check_place(runtime); !here.ok()) return here.error();
    auto own = network_->decoder(runtime, digest, cache);
    if (!own.ok()) return own.error();
    auto sources = retrieving_sources(*own, retrieval_);
    if (!sources.ok()) return sources.error();
    return std::unique_ptr<nn::SequenceModel>(
        std::make_unique<nn::StepModel>(*std::move(own), *std::move(sources)));
  }

  Result<std::shared_ptr<const nn::Decoder>> decoder(const RuntimeOptions& runtime,
                                                     const std::string& digest,
                                                     ResourceCache& cache) const override {
    return network_->decoder(runtime, digest, cache);
  }

  /// Not counted: windows overlap, and what is retrieved is no fixed share of a source.
  nn::ModelWork work(const nn::ElementBytes&) const override { return {}; }

 private:
  std::shared_ptr<const nn::Network> network_;
  Retrieval retrieval_;
  nn::SequenceShape shape_;
};

}  // namespace

Status check_place(const RuntimeOptions& runtime) {
  if (runtime.device == "cpu" && runtime.dtype == "float32") return {};
  return unavailable("unlimiformer retrieves on the CPU in float32, not on '" + runtime.device +
                     "' in " + runtime.dtype);
}

Result<at::Tensor> windowed_states(const nn::Decoder& decoder, const nn::SequenceInput& input,
                                   double overlap, nn::Recompute recompute) {
  const auto tokens = static_cast<int64_t>(input.ids.size());
  if (tokens == 0) return invalid_argument("a source without tokens");
  std::vector<at::Tensor> states;
  at::Tensor joined;  // without gradients: all states, which are then never held twice
  for (const Window& window :
       windows_of(tokens, decoder.shape().sequence.source_context, overlap)) {
    nn::SequenceInput part;
    part.ids.assign(input.ids.begin() + window.begin, input.ids.begin() + window.end);
    part.adapters = input.adapters;
    if (input.dropout != nullptr) {
      part.dropout = std::make_shared<nn::Dropout>(
          input.dropout->of_part(static_cast<uint64_t>(window.begin)));
    }
    const auto read = decoder.encode(part, recompute);
    if (!read.ok()) return read.error();
    const Status kept = nn::guarded("keeping a window's states", [&]() -> Status {
      const int64_t count = window.kept_end - window.kept_begin;
      const at::Tensor own = read->squeeze(0).narrow(0, window.kept_begin - window.begin, count);
      if (!at::isfinite(own).all().item<bool>()) {
        return data_error("the encoder's states of tokens " + std::to_string(window.kept_begin) +
                          " to " + std::to_string(window.kept_end) + " are not finite");
      }
      if (own.requires_grad()) {
        states.push_back(own.clone());  // without the rest of the window
        return {};
      }
      if (!joined.defined()) joined = at::empty({tokens, own.size(1)}, own.options());
      joined.narrow(0, window.kept_begin, count).copy_(own);
      return {};
    });
    if (!kept.ok()) return kept.error();
  }
  return nn::guarded("joining windows", [&]() -> Result<at::Tensor> {
    return joined.defined() ? joined : at::cat(states);
  });
}

Result<nn::ReadSource> retrieving_sources(std::shared_ptr<const nn::Decoder> decoder,
                                          const Retrieval& retrieval) {
  CrossProjections projections(decoder->shape().layers);
  decoder->visit(projections);
  for (const Linear& linear : projections.found()) {
    if (!linear.weight.defined()) {
      return unavailable("a backbone without BART's cross-attention has no states to retrieve");
    }
  }
  return nn::ReadSource(
      [decoder = std::move(decoder), retrieval, layers = projections.found()](
          const nn::SequenceInput& input) -> Result<std::shared_ptr<const nn::RetrievedSource>> {
        auto states = windowed_states(*decoder, input, retrieval.overlap);
        if (!states.ok()) return states.error();
        return nn::guarded(
            "making an index", [&]() -> Result<std::shared_ptr<const nn::RetrievedSource>> {
              std::vector<HeadProjections> of_layers;
              for (const Linear& linear : layers) {
                of_layers.push_back(
                    head_projections(linear, decoder->shape().heads, input.adapters.get()));
              }
              return std::shared_ptr<const nn::RetrievedSource>(std::make_shared<SourceIndex>(
                  *std::move(states), std::move(of_layers), retrieval.retrieved));
            });
      });
}

std::shared_ptr<const nn::Network> retrieving_network(std::shared_ptr<const nn::Network> network,
                                                      const Retrieval& retrieval) {
  return std::make_shared<RetrievingNetwork>(std::move(network), retrieval);
}

}  // namespace qfs::unlimiformer
