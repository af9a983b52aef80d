#include "harness/claims/stored_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"
#include "harness/plan/param_values.h"
#include "harness/run/memory_policy.h"
#include "harness/score/score.h"

namespace qfs::claims {
namespace {

using nlohmann::json;

/// "ideal" of "ideal@1".
std::string_view form_name(std::string_view form) { return form.substr(0, form.find('@')); }

bool is_of(const store::DatasetRow& row, const DatasetRequest& data) {
  return row.manifest.name == data.name && row.manifest.split == data.split &&
         row.manifest.view == data.view &&
         form_name(row.manifest.text_form) == form_name(data.text_form);
}

/// The parameters of a stage as identities hold them.
Result<std::string> asked(const ResolvedMethod& method, Stage stage) {
  const Result<Json> canonical =
      canonical_json(plan::params_json(*method.spec, method.params, false, stage));
  if (!canonical) return canonical.error();
  return canonical->text;
}

bool has_digest(const json& identity, const char* key, const std::optional<Resource>& resource) {
  return !resource || identity.value(key, "") == resource->digest;
}

/// Whether method, version and weights are those of the claim.
bool is_of(const json& identity, const ResolvedMethod& method) {
  return identity.value("method", "") == method.spec->name() &&
         identity.value("version", 0) == method.spec->version() &&
         has_digest(identity, "backbone", method.backbone);
}

Result<bool> has_params(const json& identity, const ResolvedMethod& method, Stage stage) {
  if (!identity.contains("params")) return false;
  const Result<std::string> wanted = asked(method, stage);
  if (!wanted) return wanted.error();
  return identity["params"].dump() == *wanted;
}

}  // namespace

Result<StoredResults> StoredResults::read(store::Reader& reader) {
  StoredResults results(reader);
  Result<std::vector<store::DatasetRow>> datasets = reader.datasets();
  if (!datasets) return datasets.error();
  results.datasets_ = *std::move(datasets);
  Result<std::vector<store::CellRow>> cells = reader.cells();
  if (!cells) return cells.error();
  for (store::CellRow& row : *cells) {
    if (row.training) {
      results.trainings_.push_back(std::move(row));
      continue;
    }
    const auto dataset = std::ranges::find(results.datasets_, row.dataset, &store::DatasetRow::id);
    if (dataset == results.datasets_.end()) continue;
    results.cells_.push_back(std::move(row));
  }
  std::ranges::stable_sort(results.cells_, {}, &store::CellRow::seed);
  return results;
}

Result<bool> StoredResults::answers(const store::CellRow& cell, const ResolvedMethod& method,
                                    const DatasetRequest& data) {
  const auto dataset = std::ranges::find(datasets_, cell.dataset, &store::DatasetRow::id);
  const bool whole = static_cast<int64_t>(cell.ordinals.size()) == dataset->examples;
  if (cell.method != method.spec->name() || !whole || !is_of(*dataset, data)) return false;
  const Result<json> identity = parse_json(cell.identity.text, "identity of a cell");
  if (!identity) return identity.error();
  if (identity->contains("documents") || identity->contains("external")) return false;
  if (!is_of(*identity, method)) return false;
  if (identity->value("layers", json::array()) !=
      json(method.spec->layers(method.params, method.facts))) {
    return false;
  }
  if (!has_digest(*identity, "tokenizer", method.tokenizer)) return false;
  const json models = identity->value("backbones", json::object());
  if (models.size() != method.backbones.size()) return false;
  for (const auto& [role, model] : method.backbones) {
    if (models.value(role, "") != model.digest) return false;
  }
  const Result<bool> same = has_params(*identity, method, Stage::predict);
  if (!same || !*same) return same;
  if (method.spec->needs(method.params).artifacts.empty()) return true;
  // What it learnt must be what the claim says, too.
  for (const store::Dependency& dependency : cell.dependencies) {
    const auto training =
        std::ranges::find(trainings_, dependency.training_cell, &store::CellRow::id);
    if (training == trainings_.end()) return false;
    const Result<json> recipe = parse_json(training->identity.text, "identity of a training");
    if (!recipe) return recipe.error();
    if (recipe->contains("init")) return false;  // no claim begins with another training
    const Result<bool> equal = has_params(*recipe, method, Stage::train);
    if (!equal || !*equal) return equal;
    if (!learnt_from(*recipe, data, method.train_examples)) return false;
  }
  return !cell.dependencies.empty();
}

bool StoredResults::learnt_from(const json& recipe, DatasetRequest data,
                                int64_t train_examples) const {
  const std::string id = recipe.value("dataset", "");
  const auto row = std::ranges::find_if(
      datasets_, [&](const store::DatasetRow& one) { return one.id.hex() == id; });
  data.split = "train";
  if (row == datasets_.end() || !is_of(*row, data)) return false;
  json selection = json::object();
  if (train_examples > 0 && train_examples < row->examples) selection["sample"] = train_examples;
  json learnt = recipe.value("selection", json::object());
  learnt.erase("draw");  // whichever examples a seed has drawn, so many
  return learnt == selection;
}

Result<std::vector<store::ResultRow>> StoredResults::complete(const ResolvedMethod& method,
                                                              const DatasetRequest& data,
                                                              std::string& missing) {
  missing = "no run in the store";
  std::vector<store::ResultRow> found;
  for (const store::CellRow& cell : cells_) {
    const Result<bool> answer = answers(cell, method, data);
    if (!answer) return answer.error();
    if (!*answer) continue;
    const Result<std::vector<store::ResultRow>> results = reader_->results(cell.id);
    if (!results) return results.error();
    for (const store::ResultRow& result : *results) {
      if (result.key.kind != store::ResultKind::predict) continue;
      if (result.status == store::Completeness::complete) {
        found.push_back(result);
      } else if (result.failure != store::FailureKind::none) {
        missing = fmt::format("failed ({})", store::to_string(result.failure));
      } else {
        missing = fmt::format("incomplete ({}/{})", result.done, result.expected);
      }
    }
  }
  return found;
}

Result<Answer> StoredResults::score(const ResolvedMethod& method, const DatasetRequest& data,
                                    const Metric& metric, const Claim& claim) {
  Answer answer;
  const auto results = complete(method, data, answer.missing);
  if (!results) return results.error();
  const std::string signature = score::scored_signature(metric, claim.postprocess);
  for (const store::ResultRow& result : *results) {
    const Result<std::vector<store::ScoreJobRow>> jobs = reader_->scores(result.id);
    if (!jobs) return jobs.error();
    for (const store::ScoreJobRow& job : *jobs) {
      if (job.signature != signature || job.postprocess.text != claim.postprocess.text ||
          job.n != job.expected) {
        continue;
      }
      const auto value = std::ranges::find(job.scores, claim.what, &store::ScoreRow::name);
      if (value == job.scores.end()) continue;
      Measured& measured = answer.measured.emplace();
      measured.value = value->value * claim.scale;
      if (value->interval) {
        measured.interval =
            Bounds{value->interval->low * claim.scale, value->interval->high * claim.scale};
      }
      measured.n = job.n;
      measured.cell_id = result.key.cell.hex();
      measured.numerics_id = result.key.numerics.hex();
      measured.score_id = job.id.hex();
      return answer;
    }
    answer.missing = fmt::format("not scored by {}", signature);
  }
  return answer;
}

Result<std::optional<bool>> StoredResults::fitted(const store::CellRow& training,
                                                  int64_t device_memory_mib) {
  const Result<std::vector<store::ResultRow>> results = reader_->results(training.id);
  if (!results) return results.error();
  std::optional<bool> fits;
  for (const store::ResultRow& result : *results) {
    const auto environment = reader_->environment_of(result.key.numerics);
    if (!environment) return environment.error();
    if (!*environment) continue;
    const Result<json> numerics = parse_json((*environment)->numerics.text, "numerics");
    if (!numerics) return numerics.error();
    if (numerics->value("device_memory_bytes", int64_t{0}) >> 20 != device_memory_mib) continue;
    const bool complete = result.status == store::Completeness::complete;
    if (complete || run::ran_out_of_memory(result.failure)) fits = complete;
  }
  return fits;
}

Result<Answer> StoredResults::longest(const ResolvedMethod& method, const DatasetRequest& data,
                                      const LengthQuery& lengths) {
  std::map<int64_t, bool> tried;
  for (const store::CellRow& training : trainings_) {
    const Result<json> identity = parse_json(training.identity.text, "identity of a training");
    if (!identity) return identity.error();
    if (identity->contains("init") || !is_of(*identity, method)) continue;
    if (!learnt_from(*identity, data, method.train_examples)) continue;
    for (const int64_t length : lengths.tries) {
      ResolvedMethod at = method;
      at.params.set(lengths.parameter, length);
      const Result<bool> same = has_params(*identity, at, Stage::train);
      if (!same) return same.error();
      if (!*same) continue;
      const auto fits = fitted(training, lengths.device_memory_mib);
      if (!fits) return fits.error();
      if (*fits) tried[length] = **fits;
    }
  }
  Answer answer{.missing = "no run in the store"};
  const auto fits = std::ranges::find_if(tried.rbegin(), tried.rend(),
                                         [](const auto& one) { return one.second; });
  if (fits == tried.rend()) {
    if (!tried.empty()) answer.missing = fmt::format("{} did not fit", tried.begin()->first);
    return answer;
  }
  const bool last = fits->first == lengths.tries.back();
  if (!last && fits == tried.rbegin()) {
    answer.missing = fmt::format("{} fits, and nothing longer was tried", fits->first);
    return answer;
  }
  answer.measured.emplace().value = static_cast<double>(fits->first);
  return answer;
}

Result<Answer> StoredResults::document_tokens(const ResolvedMethod& lead,
                                              std::span<const DatasetRequest> data) {
  Answer answer;
  double tokens = 0;
  int64_t documents = 0;
  for (const DatasetRequest& request : data) {
    const auto results = complete(lead, request, answer.missing);
    if (!results) return results.error();
    if (results->empty()) return answer;
    const auto outputs = reader_->outputs(results->front().id);
    if (!outputs) return outputs.error();
    for (const store::OutputRow& output : *outputs) {
      if (!output.prediction.truncation) continue;
      tokens += static_cast<double>(output.prediction.truncation->document_tokens);
      ++documents;
    }
  }
  if (documents == 0) return answer;
  Measured& measured = answer.measured.emplace();
  measured.value = tokens / static_cast<double>(documents);
  measured.n = documents;
  return answer;
}

}  // namespace qfs::claims
