#include "methods/ideal/sessions.h"

#include <ATen/ops/cat.h>

#include <deque>
#include <map>
#include <utility>

#include "harness/core/log.h"
#include "methods/ideal/session_train.h"
#include "methods/ideal/specs.h"
#include "methods/models/architectures/backbone.h"
#include "methods/models/peft/hyper_network.h"
#include "methods/models/peft/layer_adapter_files.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/memory_session.h"
#include "methods/models/prompted/prompted_session.h"

namespace qfs::ideal {

namespace {

/// Adapters that were generated, and of what hypernetworks made: all numbers in a row, [numbers].
struct Generated {
  std::shared_ptr<const nn::Adapters> adapters;
  at::Tensor numbers;
};

double cosine(const at::Tensor& a, const at::Tensor& b) {
  const double norms = (a.norm() * b.norm()).item<double>();
  return norms > 0 ? a.dot(b).item<double>() / norms : 0;
}

/// The adapters of rows, generated once for what they are generated of.
class RowAdapters {
 public:
  RowAdapters(peft::LayerAdapter adapter, bool of_general_request)
      : adapter_(std::move(adapter)), of_general_request_(of_general_request) {}

  Result<prompted::RowAddition> of(const Example& example, const nn::SequenceInput& input,
                                   prompted::PromptedModel& model) {
    const peft::HyperConfig& hyper = adapter_.config.hyper;
    if (hyper.layers == 0) {
      if (example.other_query) {
        return invalid_argument("the file has no hypernetwork that would read another query");
      }
      auto made = generated_of({}, model.generator);
      if (!made.ok()) return made.error();
      return prompted::RowAddition{made->adapters};
    }
    const bool by_request = hyper.pooling == peft::Pooling::instruction;
    // The same for all examples, unless the prompt has the document in front of the query.
    Generated general;
    if (by_request) {
      auto of_any = generated_for_query(example, "", model);
      if (!of_any.ok()) return of_any.error();
      general = *std::move(of_any);
    }
    auto made = of_general_request_   ? Result<Generated>(general)
                : example.other_query ? generated_for_query(example, *example.other_query, model)
                                      : generated_for(input, model.generator);
    if (!made.ok()) return made.error();
    prompted::RowAddition addition = {made->adapters,
                                      {{"generated_norm", made->numbers.norm().item<double>()}}};
    if (by_request) {
      addition.observed["likeness_to_general"] = cosine(made->numbers, general.numbers);
    }
    if (by_request && example.other_query) {
      const auto own = generated_for(input, model.generator);
      if (!own.ok()) return own.error();
      addition.observed["likeness_to_own"] = cosine(made->numbers, own->numbers);
    }
    return addition;
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

  Result<Generated> generated_for(const nn::SequenceInput& input, decoding::Generator& generator) {
    const auto prefix = peft::pooled_prefix(input, adapter_.config.hyper.pooling);
    if (!prefix.ok()) return prefix.error();
    return generated_of(*prefix, generator);
  }

  Result<Generated> generated_of(const nn::SequenceInput& prefix, decoding::Generator& generator) {
    Key key = {prefix.ids, prefix.query.first, prefix.query.count, prefix.document.first};
    if (const auto known = made_.find(key); known != made_.end()) return known->second;
    std::vector<at::Tensor> numbers;
    auto bound = peft::row_adapters(
        adapter_, prefix,
        {.bind = [&](const nn::AdapterSet& set) { return generator.bind(set); },
         .stream = [&](size_t layer,
                       const nn::SequenceInput& of) { return generator.stream_before(layer, of); }},
        {}, [&](const peft::NamedTensors& values) {
          for (const auto& [decoder, tensor] : values) {
            numbers.push_back(tensor.flatten().to(at::kFloat));
          }
        });
    if (!bound.ok()) return bound.error();
    if (order_.size() == kMostKept) {
      made_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(key);
    const Generated made = {*bound, numbers.empty() ? at::Tensor() : at::cat(numbers)};
    made_.emplace(std::move(key), made);
    return made;
  }

  /// Those of the prompt with another query; an empty one asks for a summary of the document.
  Result<Generated> generated_for_query(Example example, std::string query,
                                        prompted::PromptedModel& model) {
    example.query = std::move(query);
    const auto prompt = model.prompts.maker.prepare_any_length(example);
    if (!prompt.ok()) return prompt.error();
    return generated_for(prompt->input, model.generator);
  }

  peft::LayerAdapter adapter_;
  bool of_general_request_;
  std::map<Key, Generated> made_;
  std::deque<Key> order_;  ///< the oldest first
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache,
                                            const MethodSpec& spec) {
  const auto file = request.artifacts.find(prompted::kAdapter);
  if (file == request.artifacts.end()) return invalid_argument("no adapter was given");
  const auto backbone = architectures::open_backbone(*request.backbone, cache);
  if (!backbone.ok()) return backbone.error();
  const std::string& path = file->second.path;
  const nn::LayerWidths& widths = (*backbone)->network->shape().widths;
  const peft::LayerAdapterConfig asked = config_of(spec.name(), request.params, widths);
  auto adapter = peft::read_layer_adapter(path, widths, asked);
  if (!adapter.ok()) return adapter.error();
  const auto memory = prompted::written_memory(request.params, adapter->memory, path);
  if (!memory.ok()) return memory.error();
  auto model = prompted::open_prompted_model(request, cache, *memory);
  if (!model.ok()) return model.error();
  const Status same = prompted::check_backbone(adapter->metadata, request, path);
  if (!same.ok()) return same.error();
  if (adapter->config.kind != asked.kind) {
    return data_error("the adapters are of another kind than the cell's", path);
  }
  if (adapter->config.hyper.layers > 0 && spec.name() != "ideal") {
    return data_error("the adapters are generated ones, of 'ideal'", path);
  }
  if (const auto dead = adapter->metadata.find("qfs.dead_hypernetwork");
      dead != adapter->metadata.end()) {
    log_warning("'" + path + "' was marked when it was trained: its hypernetwork is dead (" +
                dead->second + ")");
  }
  const bool general =
      request.params.find<std::string>("hyper_instruction").value_or("own") == "general";
  auto rows = std::make_shared<RowAdapters>(*std::move(adapter), general);
  return std::unique_ptr<MethodSession>(std::make_unique<prompted::PromptedSession>(
      request.seed, spec.name(), *std::move(model),
      [rows](const Example& example, const nn::SequenceInput& input,
             prompted::PromptedModel& prompted) { return rows->of(example, input, prompted); }));
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
            return prompted::open_adapter_training(
                request, cache, spec_of<Spec>(), &make_trained_layers<Spec>,
                [](const SessionRequest& writing, ResourceCache& shared) {
                  return open(writing, shared, spec_of<Spec>());
                });
          }};
}

}  // namespace

std::vector<SessionFactory> session_factories() {
  return {factory<ParallelAdapterSpec>(), factory<PromptTuningSpec>(), factory<IdealSpec>()};
}

}  // namespace qfs::ideal
