#include "harness/config/load.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/config/document.h"
#include "harness/config/node.h"
#include "harness/config/own_names.h"
#include "harness/config/resolved.h"
#include "harness/config/sections.h"
#include "harness/config/variables.h"
#include "harness/core/files.h"
#include "harness/core/utf8.h"

namespace qfs::config {

using nlohmann::json;

namespace {

constexpr size_t kMaxSweepBytes = size_t{16} << 20;
constexpr int64_t kMaxThreads = 4096;

constexpr std::string_view kKeys[] = {"$schema",
                                      "datasets",
                                      "description",
                                      "exclude",
                                      "external_metrics",
                                      "grid",
                                      "host_reuse",
                                      "include",
                                      "limits",
                                      "measure",
                                      "methods",
                                      "metrics",
                                      "name",
                                      "out_of_memory",
                                      "postprocess",
                                      "report",
                                      "seeds",
                                      "store_documents",
                                      "threads",
                                      "tokenizer",
                                      "variables",
                                      "zip"};

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

/// `path` as seen from here, when it was written relative to `folder`.
std::string anchored(const std::string& folder, const std::string& path) {
  const std::filesystem::path joined = std::filesystem::path(folder) / path;
  const std::string text = joined.lexically_normal().string();
  return text.empty() ? "." : text;
}

void anchor_paths(Experiment& experiment, const std::string& folder) {
  const auto anchor_data = [&](DatasetEntry& entry) {
    if (!entry.request.path.empty()) entry.request.path = anchored(folder, entry.request.path);
  };
  for (DatasetEntry& entry : experiment.datasets) anchor_data(entry);
  for (MethodEntry& entry : experiment.methods) {
    if (entry.training) anchor_data(entry.training->train);
    if (entry.training && entry.training->development) anchor_data(*entry.training->development);
    if (entry.training) {
      for (auto& [role, file] : entry.training->init) file = anchored(folder, file);
    }
    for (auto& [role, file] : entry.artifacts) file = anchored(folder, file);
    if (entry.external) entry.external->folder = anchored(folder, entry.external->folder);
  }
  for (ExternalMetricEntry& entry : experiment.external_metrics) {
    entry.external.folder = anchored(folder, entry.external.folder);
  }
}

void decode_grid_keys(const Node& root, const std::string& folder, Experiment& experiment) {
  if (const auto grid = root.find("grid")) experiment.grid = decode_grid(*grid, folder);
  if (const auto zip = root.find("zip")) {
    for (AxisGroup& group : decode_zip(*zip, folder)) experiment.grid.push_back(std::move(group));
  }
  check_axes(experiment.grid, root);
  if (const auto rules = root.find("include")) experiment.include = decode_rules(*rules, folder);
  if (const auto rules = root.find("exclude")) experiment.exclude = decode_rules(*rules, folder);
}

Experiment decode_sections(const Node& root, const std::string& folder) {
  Experiment experiment;
  experiment.path = root.scope().file;
  if (const auto name = root.require("name")) experiment.name = decode_sweep_name(*name);
  if (const auto text = root.find("description")) experiment.description = text->text();
  if (const auto datasets = root.require("datasets")) {
    experiment.datasets = decode_datasets(*datasets);
  }
  if (const auto tokenizer = root.find("tokenizer")) experiment.tokenizer = tokenizer->text();
  if (const auto methods = root.require("methods")) {
    experiment.methods = decode_methods(*methods, folder);
  }
  decode_grid_keys(root, folder, experiment);
  if (const auto seeds = root.find("seeds")) experiment.seeds = decode_seeds(*seeds);
  if (const auto metrics = root.find("metrics")) experiment.metrics = decode_metrics(*metrics);
  if (const auto chain = root.find("postprocess")) {
    experiment.postprocess = decode_postprocess(*chain);
  }
  if (const auto metrics = root.find("external_metrics")) {
    experiment.external_metrics = decode_external_metrics(*metrics);
  }
  if (const auto measure = root.find("measure")) experiment.measure = decode_measure(*measure);
  if (const auto report = root.find("report")) experiment.report = decode_report(*report);
  if (const auto limits = root.find("limits")) experiment.limits = decode_limits(*limits);
  if (const auto policy = root.find("out_of_memory")) {
    experiment.out_of_memory = decode_out_of_memory(*policy);
  }
  if (const auto reuse = root.find("host_reuse")) experiment.host_reuse = decode_host_reuse(*reuse);
  if (const auto threads = root.find("threads")) {
    experiment.threads = static_cast<int>(threads->integer(0, kMaxThreads));
  }
  if (const auto store = root.find("store_documents")) {
    experiment.store_documents = store->boolean();
  }
  return experiment;
}

Status check_overrides(const LoadOptions& options) {
  for (const auto& [name, value] : options.set_overrides) {
    if (first_ill_formed_utf8(name) || first_ill_formed_utf8(value)) {
      return invalid_argument("--set: the name and the value must be UTF-8");
    }
  }
  return {};
}

}  // namespace

Result<Experiment> decode_experiment(std::string_view text, const std::string& path,
                                     const LoadOptions& options) {
  if (const Status status = check_overrides(options); !status.ok()) return status.error();
  const Result<json> parsed = parse_document(text, path, kMaxSweepBytes);
  if (!parsed.ok()) return parsed.error();

  Scope scope{path, std::nullopt};
  const Node written(*parsed, "", scope);
  written.is_object("a sweep as one object");
  written.only_keys(kKeys);
  const json variables = read_variables(written, options.set_overrides);
  if (scope.failure) return *scope.failure;
  const json replaced = substitute(written, variables, options.set_overrides);
  if (scope.failure) return *scope.failure;

  if (const auto schema = written.find("$schema")) schema->text("the address of a schema");
  const std::string folder = folder_of(path);
  Experiment experiment = decode_sections(Node(replaced, "", scope), folder);
  if (scope.failure) return *scope.failure;
  for (const auto& [name, value] : variables.items()) {
    experiment.variables[name] = variable_text(value);
  }

  if (options.own_names) {
    Status named = use_own_names(experiment, *options.own_names);
    if (!named.ok()) return named.error();
  }
  Result<Json> resolved = resolved_json(experiment);
  if (!resolved.ok()) return resolved.error();
  experiment.resolved = *std::move(resolved);
  anchor_paths(experiment, folder);
  return experiment;
}

Result<Experiment> load_experiment(const std::string& path, const LoadOptions& options) {
  const Result<std::string> text = read_file(path, kMaxSweepBytes);
  if (!text.ok()) return text.error();
  return decode_experiment(*text, path, options);
}

}  // namespace qfs::config
