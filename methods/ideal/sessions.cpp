#include "methods/ideal/sessions.h"

#include <deque>
#include <map>
#include <utility>

#include "methods/ideal/session_train.h"
#include "methods/ideal/specs.h"
#include "methods/models/peft/hyper_network.h"
#include "methods/models/peft/layer_adapter_files.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/prompted_session.h"

namespace qfs::ideal {

namespace {

using Bound = Result<std::shared_ptr<const nn::Adapters>>;

/// The adapters of rows, generated once for what they are generated of.
class RowAdapters {
 public:
  explicit RowAdapters(peft::LayerAdapter adapter) : adapter_(std::move(adapter)) {}

  Bound of(const nn::SequenceInput& input, decoding::Generator& generator) {
    const peft::HyperConfig& hyper = adapter_.config.hyper;
    nn::SequenceInput prefix;
    if (hyper.layers > 0) {
      auto read = peft::pooled_prefix(input, hyper.pooling);
      if (!read.ok()) return read.error();
      prefix = *std::move(read);
    }
    Key key = {prefix.ids, prefix.query.first, prefix.query.count, prefix.document.first};
    if (const auto known = made_.find(key); known != made_.end()) return known->second;
    auto bound =
        peft::row_adapters(adapter_, prefix,
                           {.bind = [&](const nn::AdapterSet& set) { return generator.bind(set); },
                            .stream =
                                [&](size_t layer, const nn::SequenceInput& of) {
                                  return generator.stream_before(layer, of);
                                }});
    if (!bound.ok()) return bound;
    if (order_.size() == kMostKept) {
      made_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(key);
    made_.emplace(std::move(key), *bound);
    return bound;
  }

 private:
  /// Instructions whose adapters are kept; of a large backbone they have some megabytes each.
  static constexpr size_t kMostKept = 32;

  struct Key {
    std::vector<int32_t> ids;
    int64_t query_first;
    int64_t query_count;
    int64_t document_first;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  peft::LayerAdapter adapter_;
  std::map<Key, std::shared_ptr<const nn::Adapters>> made_;
  std::deque<Key> order_;  ///< the oldest first
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache,
                                            const MethodSpec& spec) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  auto model = prompted::open_prompted_model(request, cache);
  if (!model.ok()) return model.error();
  const std::string& path = file->second.path;
  const nn::LayerWidths& widths = model->generator.shape().widths;
  const peft::LayerAdapterConfig asked = config_of(spec.name(), request.params, widths);
  auto adapter = peft::read_layer_adapter(path, widths, asked);
  if (!adapter.ok()) return adapter.error();
  const Status same = prompted::check_backbone(adapter->metadata, request, path);
  if (!same.ok()) return same.error();
  if (adapter->config.kind != asked.kind) {
    return data_error("the adapters are of another kind than the cell's", path);
  }
  if (adapter->config.hyper.layers > 0 && spec.name() != "ideal") {
    return data_error("the adapters are generated ones, of 'ideal'", path);
  }
  auto rows = std::make_shared<RowAdapters>(*std::move(adapter));
  return std::unique_ptr<MethodSession>(std::make_unique<prompted::PromptedSession>(
      request.seed, spec.name(), *std::move(model),
      [rows](const nn::SequenceInput& input, decoding::Generator& generator) {
        return rows->of(input, generator);
      }));
}

template <class Spec>
const Spec& spec_of() {
  static const Spec spec;
  return spec;
}

template <class Spec>
SessionFactory factory() {
  return {std::string(spec_of<Spec>().name()),
          [](const SessionRequest& request, ResourceCache& cache) {
            return open(request, cache, spec_of<Spec>());
          },
          [](const SessionRequest& request, ResourceCache& cache) {
            return prompted::open_adapter_training(request, cache, spec_of<Spec>(),
                                                   &make_trained_layers<Spec>);
          }};
}

}  // namespace

std::vector<SessionFactory> session_factories() {
  return {factory<ParallelAdapterSpec>(), factory<PromptTuningSpec>(), factory<IdealSpec>()};
}

}  // namespace qfs::ideal
