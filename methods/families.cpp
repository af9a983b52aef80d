#include "methods/families.h"

#include <set>
#include <sstream>
#include <utility>

#include "harness/core/sha256.h"
#include "harness/core/suggest.h"
#include "methods/compressors/specs.h"
#include "methods/dyle/spec.h"
#include "methods/egad/spec.h"
#include "methods/endpoint/spec.h"
#include "methods/extractive/specs.h"
#include "methods/finetune/spec.h"
#include "methods/ideal/specs.h"
#include "methods/imported/spec.h"
#include "methods/locator/spec.h"
#include "methods/lora/spec.h"
#include "methods/models/checkpoints/architecture.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/registry/artifacts.h"
#include "methods/models/registry/registry.h"
#include "methods/retrieve_generate/spec.h"
#include "methods/unlimiformer/spec.h"
#include "methods/zero_shot/chunked_spec.h"
#include "methods/zero_shot/spec.h"

namespace qfs::methods {
namespace {

using Specs = std::vector<std::shared_ptr<const MethodSpec>>;

template <class... Spec>
Specs of() {
  return {std::make_shared<const Spec>()...};
}

Specs extractive_methods() {
  Specs specs;
  for (auto& spec : extractive::extractive_specs()) specs.push_back(std::move(spec));
  return specs;
}

struct Family {
  std::string_view folder;  ///< in methods/
  Specs (*specs)();
};

constexpr Family kFamilies[] = {
    {"extractive", &extractive_methods},
    {"zero_shot", &of<zero_shot::ZeroShotSpec, zero_shot::ChunkMergeSpec, zero_shot::RefineSpec>},
    {"lora", &of<lora::LoraSpec>},
    {"finetune", &of<finetune::FinetuneSpec>},
    {"ideal", &of<ideal::ParallelAdapterSpec, ideal::PromptTuningSpec, ideal::IdealSpec>},
    {"compressors",
     &of<compressors::SelfcpSpec, compressors::AutocompressorSpec, compressors::IcaeSpec,
         compressors::LlmlinguaSpec, compressors::FewShotSpec>},
    {"dyle", &of<dyle::DyleSpec>},
    {"locator", &of<locator::LocatorSpec>},
    {"egad", &of<egad::EgadSpec>},
    {"retrieve_generate", &of<retrieve_generate::RetrieveGenerateSpec>},
    {"unlimiformer", &of<unlimiformer::UnlimiformerSpec>},
    {"endpoint", &of<endpoint::EndpointSpec>},
    {"imported", &of<imported::ImportedSpec>},
};

/// The digest of what of a family's code is in none of these layers; empty for an unknown family.
std::string digest_beside(std::string_view family, const std::set<std::string>& layers) {
  std::string lines;
  bool known = false;
  for (const FamilySource& source : family_sources()) {
    if (source.family != family) continue;
    known = true;
    std::istringstream owners{std::string(source.layers)};
    bool covered = false;
    for (std::string owner; owners >> owner;) covered = covered || layers.contains(owner);
    if (!covered) lines.append(source.layers).append(" ").append(source.digest).append("\n");
  }
  return known ? sha256_hex(lines) : "";
}

class BuiltinMethods final : public MethodCatalog {
 public:
  std::vector<const MethodSpec*> specs() const override {
    std::vector<const MethodSpec*> list;
    for (const auto& spec : specs_) list.push_back(spec.get());
    return list;
  }

  Result<const MethodSpec*> find(std::string_view name) const override {
    std::vector<std::string> names;
    for (const auto& spec : specs_) {
      if (spec->name() == name) return spec.get();
      names.emplace_back(spec->name());
    }
    return not_found("unknown method '" + std::string(name) + "'" + suggestion(name, names));
  }

  Result<Resource> backbone(std::string_view name) const override {
    return registry::resolve_backbone(name);
  }

  Result<BackboneFacts> backbone_facts(const Resource& backbone) const override {
    return registry::backbone_facts(backbone);
  }

  Result<std::string> model_type(const Resource& model) const override {
    return registry::model_type(model);
  }

  Result<Resource> tokenizer(std::string_view name) const override {
    return registry::resolve_tokenizer(name);
  }

  Result<ArtifactFacts> artifact(std::string_view path) const override {
    return registry::resolve_artifact(std::string(path));
  }

  std::vector<std::string> backbone_names() const override { return registry::backbone_names(); }

 private:
  Specs specs_ = builtin_specs();
};

}  // namespace

std::vector<std::shared_ptr<const MethodSpec>> builtin_specs() {
  Specs specs;
  for (const Family& family : kFamilies) {
    for (auto& spec : family.specs()) specs.push_back(std::move(spec));
  }
  return specs;
}

std::unique_ptr<MethodCatalog> make_method_catalog() { return std::make_unique<BuiltinMethods>(); }

ForeignNames foreign_names() { return decoding::foreign_decoding(); }

Params default_params(const MethodSpec& spec) {
  Params defaults;
  for (const ParamSpec& param : spec.params()) {
    if (param.default_value) defaults.set(param.name, *param.default_value);
  }
  return defaults;
}

std::vector<std::string> all_layers(const MethodSpec& spec) {
  std::set<std::string> layers;
  const auto add = [&](const Params& params) {
    for (const checkpoints::Architecture& architecture : checkpoints::architectures()) {
      const auto some = spec.layers(params, {std::string(architecture.name)});
      layers.insert(some.begin(), some.end());
    }
  };
  const Params defaults = default_params(spec);
  add(defaults);
  for (const ParamSpec& param : spec.params()) {
    for (const std::string& choice : param.choices) {
      Params chosen = defaults;
      chosen.set(param.name, choice);
      add(chosen);
    }
  }
  return {layers.begin(), layers.end()};
}

std::map<std::string, std::string> layer_digests() {
  std::map<std::string, std::string> digests;
  for (const LayerSource& source : layer_sources()) {
    digests.emplace(source.layer, source.digest);
  }
  return digests;
}

std::map<std::string, std::string> method_sources() {
  std::map<std::string, std::string> sources;
  for (const Family& family : kFamilies) {
    for (const auto& spec : family.specs()) {
      std::set<std::string> layers;
      for (const std::string& layer : all_layers(*spec)) layers.emplace(layer_name(layer));
      sources[std::string(spec->name())] = digest_beside(family.folder, layers);
    }
  }
  return sources;
}

}  // namespace qfs::methods
