#include "methods/families.h"

#include <string>
#include <utility>

#include "harness/core/suggest.h"
#include "methods/endpoint/spec.h"
#include "methods/extractive/specs.h"
#include "methods/imported/spec.h"
#include "methods/models/registry/registry.h"
#include "methods/zero_shot/chunked_spec.h"
#include "methods/zero_shot/spec.h"

namespace qfs::methods {
namespace {

class BuiltinMethods final : public MethodCatalog {
 public:
  explicit BuiltinMethods(std::vector<std::shared_ptr<const MethodSpec>> specs)
      : specs_(std::move(specs)) {}

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
    return backbones::resolve_backbone(name);
  }

  Result<Resource> tokenizer(std::string_view name) const override {
    return backbones::resolve_tokenizer(name);
  }

  std::vector<std::string> backbone_names() const override { return backbones::backbone_names(); }

 private:
  std::vector<std::shared_ptr<const MethodSpec>> specs_;
};

}  // namespace

std::vector<std::shared_ptr<const MethodSpec>> builtin_specs() {
  std::vector<std::shared_ptr<const MethodSpec>> specs;
  for (auto& spec : extractive::extractive_specs()) specs.push_back(std::move(spec));
  specs.push_back(std::make_shared<zero_shot::ZeroShotSpec>());
  specs.push_back(std::make_shared<zero_shot::ChunkMergeSpec>());
  specs.push_back(std::make_shared<zero_shot::RefineSpec>());
  specs.push_back(std::make_shared<endpoint::EndpointSpec>());
  specs.push_back(std::make_shared<imported::ImportedSpec>());
  return specs;
}

std::unique_ptr<MethodCatalog> make_method_catalog() {
  return std::make_unique<BuiltinMethods>(builtin_specs());
}

}  // namespace qfs::methods
