#include "harness/plan/identity.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/api/document_cutter.h"
#include "harness/core/files.h"
#include "harness/core/identity.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/plan/param_values.h"

namespace qfs::plan {

using nlohmann::json;

namespace {

constexpr uintmax_t kLargeFile = uintmax_t{16} << 20;  // a checkpoint rather than a script

/// Large files are remembered by inode and time; a script edited twice within one tick of the file
/// system's clock must not be.
Result<std::string> file_digest(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(path, error);
  return !error && bytes >= kLargeFile ? sha256_file_cached(path) : sha256_file(path);
}

Status put_digest(json& object, const char* key, const std::optional<Resource>& resource) {
  if (!resource) return {};
  if (resource->digest.empty()) {
    return internal_error(std::string(key) + " '" + resource->name + "' has no digest");
  }
  object[key] = resource->digest;
  return {};
}

/// Those of the method, and the cut that is made for a program of the user.
std::vector<std::string> layers_of(const Cell& cell) {
  std::vector<std::string> layers = cell.spec->layers(cell.params, cell.facts);
  if (cell.external && cell.tokenizer) layers.emplace_back(kTruncationLayer);
  return layers;
}

}  // namespace

Result<std::vector<FingerprintFile>> fingerprint_files(const ExternalCommand& command) {
  const std::string folder = command.folder.empty() ? "." : command.folder;
  std::map<std::string, std::string> digests;  // by name: sorted, without repetition
  for (const std::string& pattern : command.fingerprint) {
    const Result<std::vector<std::string>> names = glob_files(folder, pattern);
    if (!names.ok()) return names.error();
    if (names->empty()) {
      return not_found("fingerprint pattern '" + pattern + "' matches no file below '" + folder +
                       "'");
    }
    for (const std::string& name : *names) {
      if (digests.contains(name)) continue;
      Result<std::string> digest = file_digest((std::filesystem::path(folder) / name).string());
      if (!digest.ok()) return digest.error();
      digests[name] = *std::move(digest);
    }
  }
  std::vector<FingerprintFile> files;
  for (auto& [name, digest] : digests) files.push_back({name, digest});
  return files;
}

namespace {

/// What cells that predict and cells that train are made of.
Result<json> common_identity(const Cell& cell, const PlannedDataset& dataset, Stage stage,
                             const std::vector<FingerprintFile>& files) {
  json object = {{"method", std::string(cell.spec->name())},
                 {"version", cell.spec->version()},
                 {"layers", layers_of(cell)},
                 {"params", params_json(*cell.spec, cell.params, false, stage)},
                 {"seed", cell.seed},
                 {"dataset", dataset.data->id.hex()}};
  if (Status s = put_digest(object, "backbone", cell.backbone); !s.ok()) return s.error();
  for (const auto& [role, model] : cell.backbones) {
    if (Status s = put_digest(object["backbones"], role.c_str(), model); !s.ok()) return s.error();
  }
  if (Status s = put_digest(object, "tokenizer", cell.tokenizer); !s.ok()) return s.error();
  if (cell.external) {
    json list = json::array();
    for (const FingerprintFile& file : files) {
      list.push_back({{"name", file.name}, {"sha256", file.sha256}});
    }
    object["external"] = {{"files", std::move(list)}};
  }
  Result<json> selection = parse_json(dataset.selection.text, "selection");
  if (!selection.ok()) return selection.error();
  object["selection"] = *std::move(selection);
  return object;
}

}  // namespace

Result<Json> cell_identity(const Cell& cell, const PlannedDataset& dataset,
                           const std::vector<FingerprintFile>& files) {
  Result<json> object = common_identity(cell, dataset, Stage::predict, files);
  if (!object.ok()) return object.error();
  if (cell.documents != Documents::own) {
    const std::string_view given = kDocuments[static_cast<size_t>(cell.documents)];
    (*object)["documents"] = std::string(given).append("@1");
  }
  if (cell.imported) (*object)["imported"] = cell.imported->sha256;
  if (!cell.sweep.empty()) {
    (*object)["sweep"] = {{"name", cell.sweep}, {"bound", cell.spec->sweep_bound(cell.params)}};
  }
  for (const std::string& role : cell.needs.artifacts) {
    const auto origin = cell.origins.find(role);
    const bool named = origin != cell.origins.end();
    (*object)["artifacts"][role] = {
        {named ? "training" : "sha256", named ? origin->second : cell.artifacts.at(role).digest}};
  }
  return canonical_json(*object);
}

Result<Json> training_identity(const Training& training, const Plan& plan,
                               const std::vector<FingerprintFile>& files) {
  const PlannedDataset& train = plan.training_data[training.cell.dataset];
  Result<json> object = common_identity(training.cell, train, Stage::train, files);
  if (!object.ok()) return object.error();
  (*object)["kind"] = "train";
  for (const auto& [role, file] : training.cell.artifacts) (*object)["init"][role] = file.digest;
  for (const auto& [role, made_by] : training.cell.origins) {
    (*object)["init"][role] = {{"training", made_by}};
  }
  if (training.development) {
    const PlannedDataset& development = plan.training_data[*training.development];
    const Result<json> selection = parse_json(development.selection.text, "selection");
    if (!selection.ok()) return selection.error();
    (*object)["development"] = {{"dataset", development.data->id.hex()}, {"selection", *selection}};
  }
  return canonical_json(*object);
}

std::string computation_key(const Cell& cell, Stage stage) {
  json key = {cell.id.hex(), params_json(*cell.spec, cell.params, true, stage)};
  for (const auto& [role, file] : cell.artifacts) key.push_back({role, file.digest});
  if (cell.training) key.push_back(*cell.training);
  return key.dump();
}

Result<NumericsIdentity> numerics_identity(const Cell& cell, const Json& probe,
                                           const RuntimeOptions& runtime, Stage stage) {
  const Result<json> facts = parse_json(probe.text, "probe");
  if (!facts.ok()) return facts.error();
  json object = {{"host", std::string(to_string(cell.host))},
                 // What a server answers does not rest on the libraries of the host that asks it.
                 {"probe", cell.needs.network ? json::object() : *facts},
                 {"params", params_json(*cell.spec, cell.params, true, stage)},
                 {"runtime", {{"ignore_eos", runtime.ignore_eos}}}};
  if (cell.host == HostKind::tensor || cell.host == HostKind::external) {
    json& options = object["runtime"];
    options["device"] = runtime.device;
    options["dtype"] = runtime.dtype;
    options["threads"] = runtime.threads;
  }
  if (cell.reversed) object["order"] = "reversed";
  for (const auto& [role, file] : cell.artifacts) object["artifacts"][role] = file.digest;
  Result<Json> canonical = canonical_json(object);
  if (!canonical.ok()) return canonical.error();
  return NumericsIdentity{make_numerics_id(*canonical), *canonical};
}

}  // namespace qfs::plan
