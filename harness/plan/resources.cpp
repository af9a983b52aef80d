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

Status ResourceResolver::find_models(const MethodRow& row, Cell& cell) {
  if (Status done = find_backbone(row, cell); !done.ok()) return done;
  if (Status done = find_further(row, cell); !done.ok()) return done;
  // Of one that is missing nothing is known.
  if (cell.backbone || !cell.needs.backbone) {
    if (Status fits = check_backbone(row, cell); !fits.ok()) return fits;
  }
  return find_tokenizer(row, cell);
}

Status ResourceResolver::all_found() const {
  if (missing_.empty()) return {};
  Error error = missing_.front();
  for (size_t i = 1; i < missing_.size(); ++i) error.message += "\n" + missing_[i].to_string();
  return error;
}

Status ResourceResolver::find_backbone(const MethodRow& row, Cell& cell) {
  const std::optional<std::string>& name = row.entry->backbone;
  const std::string pointer = row.entry->pointer;
  const std::string method(row.spec->name());
  if (!cell.needs.backbone) {
    if (!name) return {};
    return invalid_argument("method '" + method + "' reads no backbone; remove the key",
                            place(experiment_, pointer + "/backbone"));
  }
  if (!name) {
    return invalid_argument("method '" + method + "' needs a 'backbone': one of " +
                                listed(catalog_.backbone_names()) + ", a folder or a GGUF file",
                            place(experiment_, pointer));
  }
  cell.backbone = model(*name, pointer + "/backbone");
  return {};
}

std::optional<Resource> ResourceResolver::found(const Result<Resource>& looked_up,
                                                const std::string& pointer) {
  if (looked_up.ok()) return *looked_up;
  const Error& error = looked_up.error();
  const auto told = [&](const Error& other) { return other.message == error.message; };
  if (std::ranges::none_of(missing_, told)) {
    missing_.push_back(placed(error, place(experiment_, pointer)));
  }
  return std::nullopt;
}

std::optional<Resource> ResourceResolver::model(const std::string& name,
                                                const std::string& pointer) {
  auto it = backbones_.find(name);
  if (it == backbones_.end()) it = backbones_.emplace(name, catalog_.backbone(name)).first;
  return found(it->second, pointer);
}

Status ResourceResolver::find_further(const MethodRow& row, Cell& cell) {
  const std::vector<std::string>& roles = cell.needs.backbones;
  const std::map<std::string, std::string>& given = row.entry->backbones;
  const std::string method(row.spec->name());
  const std::string pointer = row.entry->pointer + "/backbones";
  for (const auto& [role, name] : given) {
    if (std::ranges::count(roles, role) == 0) {
      return invalid_argument(
          "method '" + method + "' reads no model as '" + role + "'" + suggestion(role, roles),
          place(experiment_, pointer + "/" + role));
    }
    const std::optional<Resource> there = model(name, pointer + "/" + role);
    if (!there) continue;
    if (Status fits = check_type(cell.needs, role, *there, pointer + "/" + role); !fits.ok()) {
      return fits;
    }
    cell.backbones.emplace(role, *there);
  }
  for (const std::string& role : roles) {
    if (given.contains(role)) continue;
    return invalid_argument("method '" + method + "' needs a model as '" + role +
                                R"(': "backbones": {")" + role + R"(": NAME})",
                            place(experiment_, row.entry->pointer));
  }
  return {};
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

Status ResourceResolver::check_backbone(const MethodRow& row, Cell& cell) {
  const std::string pointer = row.entry->pointer + "/" + kBackbone;
  if (cell.backbone) {
    const std::string& digest = cell.backbone->digest;
    auto it = facts_.find(digest);
    if (it == facts_.end()) {
      it = facts_.emplace(digest, catalog_.backbone_facts(*cell.backbone)).first;
    }
    if (!it->second.ok()) return placed(it->second.error(), place(experiment_, pointer));
    cell.facts = *it->second;
  }
  if (Status fits = row.spec->check_backbone(cell.params, cell.facts); !fits.ok()) {
    return placed(fits.error(), place(experiment_, row.entry->pointer));
  }
  if (!cell.backbone) return {};
  Status fits = check_type(cell.needs, kBackbone, *cell.backbone, pointer);
  if (fits.ok()) return fits;
  Error error = fits.error();
  const auto type = catalog_.model_type(*cell.backbone);
  if (type.ok()) error.message += choice_for(row, cell.params, *type);
  return error;
}

Status ResourceResolver::find_tokenizer(const MethodRow& row, Cell& cell) {
  const MethodEntry& entry = *row.entry;
  const std::string method(row.spec->name());
  if (!cell.needs.tokenizer) {
    if (!entry.tokenizer) return {};
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
  const auto same_model = backbones_.find(name);
  if (same_model != backbones_.end() && !same_model->second.ok()) return {};  // told already
  auto it = tokenizers_.find(name);
  if (it == tokenizers_.end()) it = tokenizers_.emplace(name, catalog_.tokenizer(name)).first;
  cell.tokenizer = found(it->second, pointer);
  return {};
}

}  // namespace qfs::plan
