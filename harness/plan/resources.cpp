#include "harness/plan/resources.h"

#include <algorithm>

#include "harness/core/suggest.h"

namespace qfs::plan {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Key of Needs::model_types for the backbone itself.
constexpr const char* kBackbone = "backbone";

bool accepts(const Needs& needs, const std::string& type) {
  const auto wanted = needs.model_types.find(kBackbone);
  return wanted == needs.model_types.end() || std::ranges::count(wanted->second, type) > 0;
}

/// The first choice of a parameter with which a method reads models of a type, for a message.
std::string choice_for(const MethodRow& row, const Params& params, const std::string& type) {
  for (const ParamSpec& param : row.params) {
    for (const std::string& choice : param.choices) {
      Params other = params;
      other.set(param.name, choice);
      if (!accepts(row.spec->needs(other), type)) continue;
      return ", and with \"" + param.name + "\": \"" + choice + "\" of " + type;
    }
  }
  return "";
}

}  // namespace

Result<std::optional<Resource>> ResourceResolver::backbone(const MethodRow& row,
                                                           const Needs& needs) {
  const std::optional<std::string>& name = row.entry->backbone;
  const std::string pointer = row.entry->pointer;
  const std::string method(row.spec->name());
  if (!needs.backbone) {
    if (!name) return std::optional<Resource>();
    return invalid_argument("method '" + method + "' reads no backbone; remove the key",
                            place(experiment_, pointer + "/backbone"));
  }
  if (!name) {
    return invalid_argument("method '" + method + "' needs a 'backbone': one of " +
                                listed(catalog_.backbone_names()) + ", a folder or a GGUF file",
                            place(experiment_, pointer));
  }
  auto found = model(*name, pointer + "/backbone");
  if (!found.ok()) return found.error();
  return std::optional<Resource>(*std::move(found));
}

Result<Resource> ResourceResolver::model(const std::string& name, const std::string& pointer) {
  auto it = backbones_.find(name);
  if (it == backbones_.end()) it = backbones_.emplace(name, catalog_.backbone(name)).first;
  if (it->second.ok()) return *it->second;
  return placed(it->second.error(), place(experiment_, pointer));
}

Result<std::map<std::string, Resource>> ResourceResolver::backbones(const MethodRow& row,
                                                                    const Needs& needs) {
  const std::string method(row.spec->name());
  const std::string pointer = row.entry->pointer + "/backbones";
  std::map<std::string, Resource> models;
  for (const auto& [role, name] : row.entry->backbones) {
    if (std::ranges::count(needs.backbones, role) == 0) {
      return invalid_argument("method '" + method + "' reads no model as '" + role + "'" +
                                  suggestion(role, needs.backbones),
                              place(experiment_, pointer + "/" + role));
    }
    auto found = model(name, pointer + "/" + role);
    if (!found.ok()) return found.error();
    const Status fits = check_type(needs, role, *found, pointer + "/" + role);
    if (!fits.ok()) return fits.error();
    models.emplace(role, *std::move(found));
  }
  for (const std::string& role : needs.backbones) {
    if (models.contains(role)) continue;
    return invalid_argument("method '" + method + "' needs a model as '" + role +
                                R"(': "backbones": {")" + role + R"(": NAME})",
                            place(experiment_, row.entry->pointer));
  }
  return models;
}

Status ResourceResolver::check_type(const Needs& needs, const std::string& role,
                                    const Resource& model, const std::string& pointer) {
  const auto wanted = needs.model_types.find(role);
  if (wanted == needs.model_types.end()) return {};
  const auto type = catalog_.model_type(model);
  if (!type.ok()) return placed(type.error(), place(experiment_, pointer));
  if (type->empty() || std::ranges::count(wanted->second, *type) > 0) return {};
  return unavailable("'" + model.path + "' is of type " + *type + "; '" + role + "' may be of " +
                         listed(wanted->second),
                     place(experiment_, pointer));
}

Status ResourceResolver::check_backbone_type(const MethodRow& row, const Params& params,
                                             const Needs& needs, const Resource& backbone) {
  const std::string pointer = row.entry->pointer + "/" + kBackbone;
  Status fits = check_type(needs, kBackbone, backbone, pointer);
  if (fits.ok()) return fits;
  Error error = fits.error();
  const auto type = catalog_.model_type(backbone);
  if (type.ok()) error.message += choice_for(row, params, *type);
  return error;
}

Result<BackboneFacts> ResourceResolver::facts(const MethodRow& row,
                                              const std::optional<Resource>& backbone) {
  if (!backbone) return BackboneFacts();
  auto it = facts_.find(backbone->digest);
  if (it == facts_.end()) {
    it = facts_.emplace(backbone->digest, catalog_.backbone_facts(*backbone)).first;
  }
  if (it->second.ok()) return *it->second;
  return placed(it->second.error(), place(experiment_, row.entry->pointer + "/backbone"));
}

Result<std::optional<Resource>> ResourceResolver::tokenizer(const MethodRow& row,
                                                            const Needs& needs) {
  const MethodEntry& entry = *row.entry;
  const std::string method(row.spec->name());
  if (!needs.tokenizer) {
    if (!entry.tokenizer) return std::optional<Resource>();
    return invalid_argument("method '" + method + "' counts no tokens; remove the key",
                            place(experiment_, entry.pointer + "/tokenizer"));
  }
  std::string name;
  std::string pointer;
  if (entry.tokenizer) {
    name = *entry.tokenizer;
    pointer = entry.pointer + "/tokenizer";
  } else if (entry.backbone) {
    name = *entry.backbone;
    pointer = entry.pointer + "/backbone";
  } else if (experiment_.tokenizer) {
    name = *experiment_.tokenizer;
    pointer = "/tokenizer";
  } else {
    return invalid_argument("method '" + method +
                                "' counts tokens: give it or the sweep the key 'tokenizer' (the "
                                "name of a backbone, 'words', 'characters' or a file)",
                            place(experiment_, entry.pointer));
  }
  auto it = tokenizers_.find(name);
  if (it == tokenizers_.end()) it = tokenizers_.emplace(name, catalog_.tokenizer(name)).first;
  if (!it->second.ok()) return placed(it->second.error(), place(experiment_, pointer));
  return std::optional<Resource>(*it->second);
}

}  // namespace qfs::plan
