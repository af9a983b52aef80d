#include "reports/methods_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/core/counted.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "reports/notes.h"

namespace qfs::reports {
namespace {

using nlohmann::json;
using Places = std::vector<const PlaceFacts*>;
using Texts = std::vector<std::string>;

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
constexpr size_t kShortText = 80;
constexpr size_t kDigestSize = 64;  ///< of a SHA-256 in hexadecimal digits

void add_once(Texts& texts, std::string text) {
  if (!text.empty() && std::ranges::find(texts, text) == texts.end())
    texts.push_back(std::move(text));
}

/// The member, or an empty object; whatever a stranger's store holds.
json member(const json& object, const char* key) {
  if (!object.is_object()) return json::object();
  const auto found = object.find(key);
  return found == object.end() ? json::object() : *found;
}

/// A text or a number as text; of anything else nothing.
std::string text_at(const json& object, const char* key) {
  const json value = member(object, key);
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? value.dump() : "";
}

json parsed(const Json& text) {
  Result<json> value = parse_json(text.text, "a stored fact");
  return value ? *std::move(value) : json::object();
}

bool is_long(const std::string& value) {
  return value.size() > kShortText || value.find('\n') != value.npos;
}

std::string shown_value(const std::string& value) {
  if (is_long(value)) {
    return fmt::format("a text of {} bytes (SHA-256 {})", value.size(), sha256_hex(value));
  }
  return value.empty() ? "\"\"" : value;
}

void add_value(const std::string& name, const std::string& value, MethodFacts& method) {
  auto known = std::ranges::find(method.params, name, &std::pair<std::string, Texts>::first);
  if (known == method.params.end()) {
    method.params.emplace_back(name, Texts{});
    known = method.params.end() - 1;
  }
  add_once(known->second, shown_value(value));
  if (is_long(value)) {
    add_once(method.texts, fmt::format("{} (SHA-256 {}): {}", name, sha256_hex(value), value));
  }
}

void add_params(const PlaceFacts& place, MethodFacts& method) {
  for (const auto& [name, value] : place.dimensions) {
    if (name == "method" || name == "dataset" || name == "seed" || name == "cell") continue;
    add_value(name, value, method);
  }
}

std::string machine_text(const json& environment_host, const json& numerics) {
  const json own = member(environment_host, "machine");
  const json& machine = own.empty() ? environment_host : own;
  Texts parts;
  add_once(parts, text_at(machine, "cpu"));
  if (const json cores = member(machine, "cores"); cores.is_number_integer()) {
    parts.push_back(counted(cores.get<int64_t>(), "core"));
  }
  if (const json memory = member(machine, "memory_bytes"); memory.is_number()) {
    parts.push_back(fmt::format("{:.1f} GiB memory", memory.get<double>() / kGibibyte));
  }
  add_once(parts, text_at(machine, "distribution"));
  add_once(parts, text_at(machine, "kernel"));
  const json probe = member(numerics, "probe");
  if (const std::string device = text_at(probe, "device"); !device.empty()) {
    const std::string name = text_at(probe, "device_name");
    parts.push_back("device " + device + (name.empty() ? "" : " (" + name + ")"));
  }
  for (const char* fact : {"dtype", "threads"}) {
    const std::string value = text_at(probe, fact);
    if (!value.empty()) parts.push_back(fmt::format("{} {}", fact, value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string program_text(const json& build) {
  const std::string version = text_at(build, "version");
  if (version.empty()) return "";
  Texts parts;
  const std::string commit = text_at(build, "commit");
  if (!commit.empty()) parts.push_back("commit " + commit);
  for (const char* fact : {"compiler", "build_type"}) add_once(parts, text_at(build, fact));
  return parts.empty() ? "qfs-bench " + version
                       : fmt::format("qfs-bench {} ({})", version, fmt::join(parts, ", "));
}

std::string protocol_text(const json& numerics) {
  const json measure = member(member(numerics, "probe"), "measure");
  Texts parts;
  for (const char* fact : {"examples", "warmup", "repetitions", "protocol"}) {
    const std::string value = text_at(measure, fact);
    if (!value.empty()) parts.push_back(fmt::format("{} {}", fact, value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// A training that places rest on.
struct TrainingFacts {
  Texts labels;
  Texts roles;
};

Result<std::string> data_text(store::Reader& reader, const DatasetId& id) {
  const auto dataset = reader.dataset(id);
  if (!dataset) return dataset.error();
  const DatasetManifest& manifest = dataset->manifest;
  return fmt::format("{} ({}{}, data {})", manifest.name, manifest.split,
                     manifest.view.empty() ? "" : ", view " + manifest.view, id.short_hex());
}

/// Without what a program of the user did not tell.
std::string cost_text(const TrainingCost& cost) {
  Texts parts;
  if (cost.steps > 0) parts.push_back(counted(cost.steps, "step"));
  if (cost.tokens > 0) parts.push_back(counted(cost.tokens, "token"));
  parts.push_back(fmt::format("{:.1f} s", cost.seconds));
  if (cost.flops > 0) {
    parts.push_back(
        fmt::format("{:.4g} floating-point operations", static_cast<double>(cost.flops)));
  }
  if (cost.trainable_parameters > 0) {
    parts.push_back(fmt::format("{} trainable parameters", cost.trainable_parameters));
  }
  parts.push_back(
      fmt::format("peak host memory {:.2f} GiB", static_cast<double>(cost.peak_bytes) / kGibibyte));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Adds a text for each time that it was trained.
Status tell_training(store::Reader& reader, const CellId& id, const TrainingFacts& facts,
                     Texts& said) {
  const auto cell = reader.cell(id);
  if (!cell) return cell.error();
  const auto learnt = data_text(reader, cell->dataset);
  if (!learnt) return learnt.error();
  std::string head =
      fmt::format("{} of {} (training cell {}, seed {}) learnt from {} of {}",
                  fmt::join(facts.roles, " and "), fmt::join(facts.labels, ", "), id.short_hex(),
                  cell->seed, counted(cell->ordinals.size(), "example"), *learnt);
  if (!cell->development.empty()) {
    const auto chosen = data_text(reader, cell->development);
    if (!chosen) return chosen.error();
    head += ", chosen by " + *chosen;
  }
  for (const store::Dependency& first : cell->dependencies) {
    head += fmt::format(", begun with the {} of training cell {}", first.role,
                        first.training_cell.short_hex());
  }
  const auto results = reader.results(id);
  if (!results) return results.error();
  for (const store::ResultRow& result : *results) {
    const auto cost = reader.training_cost(result.id);
    if (!cost) return cost.error();
    if (*cost) add_once(said, head + ": " + cost_text(**cost));
  }
  return {};
}

}  // namespace

std::vector<MethodFacts> methods_of(const Places& places) {
  std::vector<MethodFacts> methods;
  for (const PlaceFacts* place : places) {
    const std::string& label = place->dimensions.at("method");
    auto method = std::ranges::find(methods, label, &MethodFacts::label);
    if (method == methods.end()) {
      methods.push_back({.label = label});
      method = methods.end() - 1;
    }
    const json identity = parsed(place->cell.identity);
    const std::string version = text_at(identity, "version");
    method->method = place->cell.method + (version.empty() ? "" : "@" + version);
    method->oracle = method->oracle || place->cell.oracle;
    method->another_seed = method->another_seed || place->another_seed;
    add_once(method->seeds, place->dimensions.at("seed"));
    for (const char* file : {"backbone", "tokenizer"}) {
      const std::string digest = text_at(identity, file);
      if (digest.size() == kDigestSize) add_value(std::string(file) + " digest", digest, *method);
    }
    for (const json& layer : member(identity, "layers")) {
      if (layer.is_string()) add_once(method->layers, layer.get<std::string>());
    }
    add_params(*place, *method);
  }
  return methods;
}

Result<int64_t> documents_of(store::Reader& reader, const store::CellRow& cell) {
  const Result<std::vector<store::ExampleRow>> examples = reader.examples(cell.dataset);
  if (!examples) return examples.error();
  std::set<std::string_view> documents;
  for (const store::ExampleRow& example : *examples) {
    if (std::ranges::binary_search(cell.ordinals, example.ordinal)) {
      documents.insert(example.document_id);
    }
  }
  return static_cast<int64_t>(documents.size());
}

std::vector<std::string> postprocess_of(const SweepFacts& facts) {
  Texts steps;
  for (const json& step : member(parsed(facts.sweep.config), "postprocess")) {
    steps.push_back(step.is_string() ? step.get<std::string>() : step.dump());
  }
  return steps;
}

Result<Environments> environments_of(store::Reader& reader, const Places& places,
                                     store::ResultKind kind) {
  std::set<store::EnvironmentId> seen;
  Environments found;
  for (const PlaceFacts* place : places) {
    const auto& result = kind == store::ResultKind::predict ? place->predict : place->measure;
    if (!result) continue;
    const auto attempts = reader.attempts(result->id);
    if (!attempts) return attempts.error();
    for (const store::AttemptRow& attempt : *attempts) {
      if (!seen.insert(attempt.environment).second) continue;
      const auto environment = reader.environment(attempt.environment);
      if (!environment) return environment.error();
      const json numerics = parsed(environment->numerics);
      add_once(found.programs, program_text(parsed(environment->build)));
      add_once(found.machines, machine_text(parsed(environment->host), numerics));
      add_once(found.protocols, protocol_text(numerics));
    }
  }
  return found;
}

Result<std::vector<std::string>> trainings_of(store::Reader& reader, const Places& places) {
  Texts said;
  using Trained = std::pair<CellId, TrainingFacts>;
  std::vector<Trained> trainings;
  for (const PlaceFacts* place : places) {
    const std::string& label = place->dimensions.at("method");
    for (const store::Dependency& dependency : place->cell.dependencies) {
      if (dependency.training_cell.empty()) {
        add_once(said, fmt::format("{} of {} was imported (SHA-256 {})", dependency.role, label,
                                   dependency.sha256));
        continue;
      }
      auto training = std::ranges::find(trainings, dependency.training_cell, &Trained::first);
      if (training == trainings.end()) {
        training = trainings.insert(trainings.end(), {dependency.training_cell, {}});
      }
      add_once(training->second.labels, label);
      add_once(training->second.roles, dependency.role);
    }
  }
  // And what these began with that no place shows.
  for (size_t i = 0; i < trainings.size(); ++i) {
    const auto training = reader.cell(trainings[i].first);
    if (!training) return training.error();
    for (const store::Dependency& first : training->dependencies) {
      const CellId& id = first.training_cell;
      if (id.empty() || std::ranges::count(trainings, id, &Trained::first) > 0) continue;
      trainings.push_back({id, {{"another training"}, {first.role}}});
    }
  }
  for (const auto& [cell, facts] : trainings) {
    if (Status told = tell_training(reader, cell, facts, said); !told) return told.error();
  }
  return said;
}

Result<int64_t> conflicts_of(store::Reader& reader, const Places& places) {
  const auto conflicts = conflicts_by_result(reader);
  if (!conflicts) return conflicts.error();
  std::set<store::ResultId> shown;
  for (const PlaceFacts* place : places) {
    if (place->predict) shown.insert(place->predict->id);
  }
  int64_t count = 0;
  for (const auto& [result, outputs] : *conflicts) count += shown.contains(result) ? outputs : 0;
  return count;
}

}  // namespace qfs::reports
