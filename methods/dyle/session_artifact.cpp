#include "methods/dyle/session_artifact.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/core/json_dom.h"
#include "methods/dyle/session_losses.h"
#include "methods/dyle/spec.h"
#include "methods/models/checkpoints/renamed_checkpoint.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/lora_training.h"
#include "methods/models/prompted/retrained_network.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::dyle {

namespace {

constexpr const char* kScales = "qfs.dyle.scales";
constexpr const char* kExtractorDigest = "qfs.extractor";
/// Of the generator in the release's checkpoint.
const std::string kReleased = "rag.generator.";

/// Puts a tensor of an artifact where its name belongs; false: nowhere.
bool place(const std::string& name, const at::Tensor& values, DyleTensors& tensors) {
  if (name.starts_with("rag.dynamic_mlp.")) {
    tensors.gate[name] = values;
    return true;
  }
  return tensors.extractor.place(name, values) ||
         ranking::place_matrix(kGeneratorPrefix, name, values, tensors.generator);
}

Result<DyleTensors> read(const std::string& path) {
  const auto file = checkpoints::open_safetensors(path);
  if (!file.ok()) return file.error();
  DyleTensors tensors;
  tensors.metadata = (*file)->metadata();
  const auto scales = tensors.metadata.find(kScales);
  if (scales == tensors.metadata.end()) return data_error("no trained file of 'dyle'", path);
  for (const checkpoints::TensorEntry& entry : (*file)->tensors()) {
    const at::Tensor values = at::empty(entry.shape, at::kFloat);
    const Status done = (*file)->read(
        entry, {values.mutable_data_ptr<float>(), static_cast<size_t>(entry.elements)});
    if (!done.ok()) return done.error();
    if (!place(entry.name, values, tensors)) {
      return data_error("the tensor '" + entry.name + "' is none of DYLE's", path);
    }
  }
  const auto parsed = parse_json(scales->second, path);
  if (!parsed.ok()) return parsed.error();
  std::map<std::string, double> scale;
  for (const char* role : {"extractor", "generator"}) {
    if (!parsed->contains(role) || !(*parsed)[role].is_number()) {
      return data_error(std::string("no scale of the ") + role + "'s matrices", path);
    }
    scale[role] = (*parsed)[role].get<double>();
  }
  Status whole = tensors.extractor.complete(scale["extractor"], path);
  if (whole.ok()) whole = ranking::complete_matrices(scale["generator"], path, tensors.generator);
  if (!whole.ok()) return whole.error();
  return tensors;
}

Status check_models(const DyleTensors& tensors, const SessionRequest& request,
                    const std::string& path) {
  if (Status same = prompted::check_backbone(tensors.metadata, request, path); !same.ok()) {
    return same;
  }
  const auto made_for = tensors.metadata.find(kExtractorDigest);
  const std::string& digest = request.backbones.at(kExtractor).digest;
  if (made_for == tensors.metadata.end() || made_for->second == digest) return {};
  return data_error("it was trained with the extractor " + made_for->second + "; '" +
                        request.backbones.at(kExtractor).name + "' is " + digest,
                    path);
}

/// Copies of all weights, float32, with a new head and gate.
DyleTensors all_weights_of(const Params& params, uint64_t seed, const DyleModel& model,
                           const nn::Decoder& decoder) {
  DyleTensors tensors;
  tensors.extractor.head = ranking::new_head(params, model.extractor().width(), seed);
  tensors.extractor.weights = model.extractor().weights();
  for (const auto& [name, weight] : nn::weights_of(decoder)) {
    tensors.generator_weights[name] = weight.to(at::kCPU, at::kFloat);
  }
  if (!model.settings().is_static) tensors.gate = new_gate(decoder.hidden(), seed);
  return tensors;
}

}  // namespace

Result<DyleTensors> new_tensors(const Params& params, uint64_t seed, const DyleModel& model,
                                const nn::Decoder& decoder) {
  if (prompted::all_weights(params)) return all_weights_of(params, seed, model, decoder);
  const peft::AdaptableLayers of_generator = peft::adaptable_layers(decoder);
  const peft::AdaptableLayers of_extractor = model.extractor().layers();
  auto generator =
      peft::new_lora(of_generator, prompted::lora_config(params, "targets", of_generator), seed);
  if (!generator.ok()) return generator.error();
  auto extractor = ranking::new_scorer_tensors(
      model.extractor(), params, prompted::lora_config(params, "extractor_targets", of_extractor),
      seed);
  if (!extractor.ok()) return extractor.error();
  DyleTensors tensors{*std::move(extractor), *std::move(generator)};
  if (!model.settings().is_static) tensors.gate = new_gate(decoder.hidden(), seed);
  return tensors;
}

std::string artifact_bytes(const DyleTensors& tensors, const std::string& extractor_digest,
                           std::map<std::string, std::string> metadata, at::ScalarType type) {
  metadata[kExtractorDigest] = extractor_digest;
  metadata[kScales] = nlohmann::json({{"extractor", tensors.extractor.adapter.config.scale()},
                                      {"generator", tensors.generator.config.scale()}})
                          .dump();
  return peft::tensor_file_bytes(tensors.all(), std::move(metadata), type);
}

Result<DyleTensors> read_artifact(const std::string& path, const SessionRequest& request) {
  auto tensors = read(path);
  if (!tensors.ok()) return tensors;
  if (Status fits = check_models(*tensors, request, path); !fits.ok()) return fits.error();
  return tensors;
}

Status check_gate(const training::NamedTensors& gate, int64_t width, bool needed,
                  const std::string& path) {
  if (gate.empty()) {
    if (!needed) return {};
    return data_error(
        "there is no gate: it was trained with \"prior\": \"static\", or is what a training begins "
        "with",
        path);
  }
  training::NamedTensors known = new_gate(width, 0);
  for (const auto& [name, tensor] : gate) {
    const auto like = known.find(name);
    if (like == known.end()) return data_error("the tensor '" + name + "' is none of DYLE's", path);
    if (like->second.sizes() != tensor.sizes()) {
      return data_error("the tensor '" + name + "' is " + checkpoints::shape_text(tensor.sizes()) +
                            "; the generator's gate has " +
                            checkpoints::shape_text(like->second.sizes()),
                        path);
    }
    known.erase(like);
  }
  if (known.empty()) return {};
  return data_error("the gate has no '" + known.begin()->first + "'", path);
}

Status write_weights(const std::string& path, const DyleTensors& tensors,
                     const ranking::SnippetScorer& extractor, const nn::Decoder& generator,
                     const std::string& extractor_digest,
                     std::map<std::string, std::string> metadata, at::ScalarType type) {
  metadata[kExtractorDigest] = extractor_digest;
  training::NamedTensors all = extractor.checkpoint();
  all.insert(tensors.extractor.head.begin(), tensors.extractor.head.end());
  all.insert(tensors.gate.begin(), tensors.gate.end());
  for (const auto& [name, tensor] : nn::checkpoint_of(generator)) all[kReleased + name] = tensor;
  return peft::write_tensor_file(path, all, std::move(metadata), type);
}

Result<TrainedModels> read_weights(const Resource& file, const SessionRequest& request,
                                   const DyleModel& model, bool initial) {
  const auto opened = checkpoints::open_safetensors(file.path);
  if (!opened.ok()) return opened.error();
  TrainedModels trained;
  trained.tensors.metadata = (*opened)->metadata();
  if (Status fits = check_models(trained.tensors, request, file.path); !fits.ok()) {
    return fits.error();
  }
  for (const checkpoints::TensorEntry& entry : (*opened)->tensors()) {
    // The last is of the release's masked language model.
    const auto of_a_model = {model.extractor().prefix(), kReleased, std::string("lm_head.")};
    const bool other = std::ranges::any_of(
        of_a_model, [&](const std::string& prefix) { return entry.name.starts_with(prefix); });
    if (other) continue;
    const auto values = peft::read_tensor(**opened, entry);
    if (!values.ok()) return values.error();
    if (!place(entry.name, *values, trained.tensors)) {
      return data_error("the tensor '" + entry.name + "' is none of DYLE's", file.path);
    }
  }
  if (!trained.tensors.generator.layers.empty() ||
      !trained.tensors.extractor.adapter.layers.empty()) {
    return data_error("low-rank matrices stand beside all weights", file.path);
  }
  if (!initial || !trained.tensors.extractor.head.empty()) {
    if (Status whole = trained.tensors.extractor.complete(1, file.path); !whole.ok()) {
      return whole.error();
    }
  }
  auto extractor = model.extractor().read(*opened, file.path);
  if (!extractor.ok()) return extractor.error();
  trained.extractor = *std::move(extractor);
  const auto of_generator = checkpoints::without_prefix(*opened, kReleased);
  if (!of_generator.ok()) return of_generator.error();
  auto generator = prompted::retrained(model.generator().network, *of_generator, file);
  if (!generator.ok()) return generator.error();
  trained.generator = *std::move(generator);
  return trained;
}

Result<DyleTensors> weights_to_begin_with(const Resource& file, const SessionRequest& request,
                                          const DyleModel& model) {
  auto given = read_weights(file, request, model, /*initial=*/true);
  if (!given.ok()) return given.error();
  ResourceCache passing;  // the file's own weights are gone behind this
  const auto decoder = given->generator->decoder({}, file.digest, passing);
  if (!decoder.ok()) return decoder.error();
  DyleTensors tensors = all_weights_of(request.params, request.seed,
                                       model.with_extractor(given->extractor), **decoder);
  const ranking::ScorerTensors& scorer = given->tensors.extractor;
  if (!scorer.head.empty()) {
    if (Status same = ranking::check_same_score(scorer, file.path, tensors.extractor); !same.ok()) {
      return same.error();
    }
    tensors.extractor.head = scorer.head;
  }
  const training::NamedTensors& gate = given->tensors.gate;
  if (Status fits = check_gate(gate, (*decoder)->hidden(), false, file.path); !fits.ok()) {
    return fits.error();
  }
  if (!gate.empty() && !model.settings().is_static) tensors.gate = gate;
  return tensors;
}

Status begin_with(const std::string& path, const SessionRequest& request, DyleTensors& tensors) {
  const auto file = checkpoints::open_safetensors(path);
  if (!file.ok()) return file.error();
  if (!(*file)->metadata().contains(kScales)) {
    const auto adapter = peft::read_lora(path);
    if (!adapter.ok()) return adapter.error();
    if (Status same = prompted::check_backbone(adapter->metadata, request, path); !same.ok()) {
      return same;
    }
    return peft::begin_with(*adapter, path, tensors.generator);
  }
  const auto given = read_artifact(path, request);
  if (!given.ok()) return given.error();
  if (Status same = ranking::check_same_score(given->extractor, path, tensors.extractor);
      !same.ok()) {
    return same;
  }
  Status begun = peft::begin_with(given->generator, path, tensors.generator);
  if (begun.ok()) {
    begun = peft::begin_with(given->extractor.adapter, path, tensors.extractor.adapter);
  }
  if (!begun.ok()) return begun;
  training::NamedTensors own = tensors.all();
  const training::NamedTensors its = given->all();
  for (auto& [name, tensor] : own) {
    const auto found = its.find(name);
    if (found == its.end() || found->second.sizes() != tensor.sizes()) {
      return invalid_argument("cannot begin with '" + path + "': it has no '" + name +
                              "' like the training's");
    }
    tensor = found->second;
  }
  tensors.replace(own);
  return {};
}

}  // namespace qfs::dyle
