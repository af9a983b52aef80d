#include "methods/families.h"

#include <set>
#include <utility>

#include "harness/core/suggest.h"
#include "methods/endpoint/spec.h"
#include "methods/extractive/specs.h"
#include "methods/imported/spec.h"
#include "methods/lora/spec.h"
#include "methods/models/checkpoints/architecture.h"
#include "methods/models/decoding/decoding_params.h"
#include "methods/models/registry/artifacts.h"
#include "methods/models/registry/registry.h"
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
    {"endpoint", &of<endpoint::EndpointSpec>},
    {"imported", &of<imported::ImportedSpec>},
};

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
  const Params defaults = default_params(spec);
  std::set<std::string> layers;
  for (const checkpoints::Architecture& architecture : checkpoints::architectures()) {
    const auto some = spec.layers(defaults, {std::string(architecture.name)});
    layers.insert(some.begin(), some.end());
  }
  return {layers.begin(), layers.end()};
}

std::map<std::string, std::string> method_sources() {
  std::map<std::string, std::string> sources;
  for (const Family& family : kFamilies) {
    std::string digest;
    for (const FamilySource& source : family_sources()) {
      if (source.family == family.folder) digest = source.digest;
    }
    for (const auto& spec : family.specs()) sources[std::string(spec->name())] = digest;
  }
  return sources;
}

}  // namespace qfs::methods
