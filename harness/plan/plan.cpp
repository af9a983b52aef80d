#include "harness/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "harness/api/model_rules.h"
#include "harness/core/identity.h"
#include "harness/plan/expand.h"
#include "harness/plan/identity.h"
#include "harness/plan/order.h"
#include "harness/plan/param_values.h"
#include "harness/plan/preflight.h"
#include "harness/plan/resources.h"
#include "harness/plan/select.h"
#include "harness/plan/training.h"

namespace qfs::plan {

namespace {

/// A specification that lives in the catalogue, as the shared pointer of a cell.
std::shared_ptr<const MethodSpec> borrowed(const MethodSpec* spec) {
  return {std::shared_ptr<const MethodSpec>(), spec};
}

/// What making one plan carries from step to step.
class Planner {
 public:
  Planner(const Experiment& experiment, const PlanContext& context)
      : experiment_(experiment),
        context_(context),
        resources_(experiment, context.methods),
        trainings_(experiment, context, plan_) {
    plan_.experiment = experiment;
  }

  Result<Plan> make() {
    if (Status status = steps(); !status.ok()) {
      Error error = status.error();  // perhaps for want of a method that could not be described
      for (const Error& other : plan_.undescribed) error.message += "\n" + other.to_string();
      return error;
    }
    return std::move(plan_);
  }

 private:
  Status steps();
  Status find_methods();
  Status check_consent(const MethodEntry& entry) const;
  Status keep_matching();
  Status make_cells();
  Status check_batch_size(const Cell& cell) const;
  Status load_datasets();
  Status load_dataset(size_t index);
  Status complete_cells();
  Status complete(Cell& cell, const MethodRow& row, uint64_t seed);
  Status cut_units(Cell& cell);
  Params anchored(const std::vector<ParamSpec>& specs, Params params) const;
  Status read_outputs(Cell& cell, const PlannedDataset& dataset);
  void leave_out_trainers();
  void merge_duplicates();
  void note_absent_params();

  std::string at(const std::string& pointer) const { return place(experiment_, pointer); }
  bool only_trains(size_t i) const { return only_train_.contains(i); }

  const Experiment& experiment_;
  const PlanContext& context_;
  ResourceResolver resources_;
  std::vector<MethodRow> rows_;
  std::vector<Draft> drafts_;
  std::set<size_t> only_train_;                         // drafts that no filter asks for
  std::map<std::string, ImportedFile> imported_;        // by path and parameters
  std::vector<std::vector<NumberedExample>> examples_;  // by index of plan_.datasets
  Plan plan_;
  TrainingPlanner trainings_;
};

Status Planner::steps() {
  if (context_.limit && *context_.limit < 1) {
    return invalid_argument("the limit of examples is " + std::to_string(*context_.limit) +
                            ", but must be at least 1");
  }
  if (Status s = find_methods(); !s.ok()) return s;
  Result<std::vector<Draft>> drafts = expand(experiment_, rows_);
  if (!drafts.ok()) return drafts.error();
  drafts_ = *std::move(drafts);
  Result<Metrics> metrics = make_metrics(experiment_, context_.metrics);
  if (!metrics.ok()) return metrics.error();
  plan_.metrics = *std::move(metrics);
  if (Status s = check_report(experiment_, rows_, plan_.metrics); !s.ok()) return s;
  if (Status s = keep_matching(); !s.ok()) return s;
  if (Status s = make_cells(); !s.ok()) return s;
  if (Status s = load_datasets(); !s.ok()) return s;
  if (Status s = complete_cells(); !s.ok()) return s;
  leave_out_trainers();
  merge_duplicates();
  note_absent_params();
  for (size_t i = 0; i < plan_.cells.size(); ++i) plan_.cells[i].position = i;
  order_cells(plan_.cells);
  return {};
}

/// Rows follow those that train for them.
Status Planner::complete_cells() {
  std::set<std::string> labels;
  for (const Draft& draft : drafts_) labels.insert(rows_[draft.method].label);
  const Result<std::map<std::string, size_t>> rounds = training_rounds(experiment_, rows_, labels);
  if (!rounds.ok()) return rounds.error();
  for (size_t round = 0; round < labels.size(); ++round) {
    for (size_t i = 0; i < drafts_.size(); ++i) {
      const MethodRow& row = rows_[drafts_[i].method];
      if (rounds->at(row.label) != round) continue;
      Cell& cell = plan_.cells[i];
      const uint64_t seed = drafts_[i].seed;
      const Status s =
          only_trains(i) ? trainings_.rest(cell, row, seed) : complete(cell, row, seed);
      if (!s.ok()) return s;
    }
  }
  return {};
}

Status Planner::check_consent(const MethodEntry& entry) const {
  if (context_.allow_external && context_.external != nullptr) return {};
  return invalid_argument("this method starts a program of yours ('" +
                              entry.external->command.front() +
                              "'); pass --allow-external to permit this",
                          at(entry.pointer + "/command"));
}

Status Planner::find_methods() {
  std::map<std::string, std::string> labels;  // label -> pointer
  for (const MethodEntry& entry : experiment_.methods) {
    MethodRow row;
    row.entry = &entry;
    if (entry.external) {
      if (Status allowed = check_consent(entry); !allowed.ok()) return allowed;
      auto spec = context_.external->describe(*entry.external);
      if (!spec.ok()) {
        plan_.undescribed.push_back(placed(spec.error(), at(entry.pointer + "/command")));
        continue;
      }
      row.spec = *std::move(spec);
      auto files = fingerprint_files(*entry.external);
      if (!files.ok()) return placed(files.error(), at(entry.pointer + "/fingerprint"));
      row.files = *std::move(files);
    } else {
      const auto spec = context_.methods.find(entry.method);
      if (!spec.ok()) return placed(spec.error(), at(entry.pointer + "/method"));
      row.spec = borrowed(*spec);
    }
    row.params = row.spec->params();
    row.label = entry.label.empty() ? std::string(row.spec->name()) : entry.label;
    const auto [it, fresh] = labels.emplace(row.label, entry.pointer);
    if (!fresh) {
      return invalid_argument("two methods would have the row name '" + row.label +
                                  "' (the other is at " + it->second +
                                  "); give one of them a 'label'",
                              at(entry.pointer));
    }
    rows_.push_back(std::move(row));
  }
  if (rows_.empty() && !plan_.undescribed.empty()) {
    return std::exchange(plan_.undescribed, {}).front();
  }
  return {};
}

Status Planner::keep_matching() {
  if (context_.filter.empty()) return {};
  std::vector<std::string> names;
  for (const DatasetEntry& entry : experiment_.datasets) names.push_back(dataset_name(entry));
  std::vector<CellFacts> facts;
  for (const Draft& draft : drafts_) facts.push_back(draft_facts(rows_, names, draft));
  const Result<std::vector<size_t>> kept = matching_cells(context_.filter, facts);
  if (!kept.ok()) return kept.error();
  const auto chosen = with_trainers({drafts_, rows_, facts}, *kept, context_);
  if (!chosen.ok()) return chosen.error();
  std::vector<Draft> matching;
  for (size_t i : *chosen) {
    if (!std::ranges::binary_search(*kept, i)) only_train_.insert(matching.size());
    matching.push_back(std::move(drafts_[i]));
  }
  drafts_ = std::move(matching);
  return {};
}

/// Everything of a cell that needs no data.
Status Planner::make_cells() {
  for (const Draft& draft : drafts_) {
    const MethodRow& row = rows_[draft.method];
    Cell cell;
    cell.spec = row.spec;
    cell.label = row.label;
    cell.params = anchored(row.params, draft.params);
    cell.seed = row.spec->seed_matters(cell.params) ? draft.seed : 0;
    cell.shown_seeds = {draft.seed};
    cell.external = row.entry->external;
    cell.pointer = row.entry->pointer;
    cell.needs = row.spec->needs(cell.params);
    if (Status status = row.spec->validate(cell.params); !status.ok()) {
      return placed_in_text(status.error(), experiment_, row);
    }
    if (cell.needs.network && !context_.allow_external) {
      return invalid_argument(
          "this method sends documents to a server that the sweep names; pass --allow-external to "
          "permit this",
          at(cell.pointer));
    }
    if (!row.spec->sweep_bound(cell.params).empty()) cell.sweep = experiment_.name;
    if (Status status = check_batch_size(cell); !status.ok()) return status;
    if (Status found = resources_.find_models(row, cell); !found.ok()) return found;
    cell.host = cell.external         ? HostKind::external
                : cell.needs.imported ? HostKind::none
                : cell.needs.tensors  ? HostKind::tensor
                                      : HostKind::light;
    cell.weights_key = std::string(to_string(cell.host));
    if (cell.external) cell.weights_key += cell.pointer;
    if (cell.backbone) cell.weights_key += "/" + cell.backbone->digest;
    for (const auto& [role, model] : cell.backbones) {
      cell.weights_key += "/" + role + ":" + model.digest;
    }
    // A host that knows a secret serves no other method.
    if (cell.needs.network) cell.weights_key += "/network";
    for (const std::string& name : cell.needs.secrets) cell.weights_key += "/" + name;
    plan_.cells.push_back(std::move(cell));
  }
  return resources_.all_found();
}

/// Cutting cells into units relies on it, whatever a program of the user declares.
Status Planner::check_batch_size(const Cell& cell) const {
  const auto it = cell.params.values().find("batch_size");
  if (it == cell.params.values().end()) return {};
  if (std::holds_alternative<int64_t>(it->second) && std::get<int64_t>(it->second) >= 1) return {};
  return invalid_argument(
      "'batch_size' is " + value_text(it->second) + ", but must be an integer of at least 1",
      at(cell.pointer));
}

Status Planner::load_datasets() {
  std::set<size_t> used;
  for (const Draft& draft : drafts_) used.insert(draft.dataset);
  std::map<size_t, size_t> position;  // index in the sweep -> index in the plan
  for (size_t index : used) {
    position[index] = plan_.datasets.size();
    if (Status status = load_dataset(index); !status.ok()) return status;
  }
  for (size_t i = 0; i < drafts_.size(); ++i) {
    plan_.cells[i].dataset = position.at(drafts_[i].dataset);
  }
  return {};
}

Status Planner::load_dataset(size_t index) {
  Result<PlannedDataset> loaded = load_planned(experiment_, context_, experiment_.datasets[index]);
  if (!loaded.ok()) return loaded.error();
  PlannedDataset dataset = *std::move(loaded);
  const auto size = static_cast<int64_t>(dataset.data->examples.size());
  if (dataset.entry.sample && *dataset.entry.sample > size) {
    plan_.notes.push_back("data set '" + dataset.name + "' has " + std::to_string(size) +
                          " examples, fewer than the sample of " +
                          std::to_string(*dataset.entry.sample) + ": all are used");
  }
  if (experiment_.measure) {
    dataset.measure_ordinals =
        select_measured(*dataset.data, dataset.ordinals, experiment_.measure->examples);
  }
  if (Status s = check_metric_needs(experiment_, plan_.metrics, dataset); !s.ok()) return s;

  examples_.push_back(dataset.numbered(dataset.ordinals));
  plan_.datasets.push_back(std::move(dataset));
  return {};
}

/// Whether a cell can be given what is not its examples' own.
Status check_documents(const Cell& cell) {
  const bool instruction = cell.documents == Documents::other_instruction;
  if (cell.needs.imported) {
    return invalid_argument("what a file holds was made already, from whatever documents");
  }
  if (instruction && !cell.needs.instruction) {
    return invalid_argument("'" + std::string(cell.spec->name()) +
                            "' makes no weights of an instruction here; \"other\" gives it other "
                            "documents");
  }
  if (cell.others.empty()) {
    return invalid_argument(std::string("all examples have the same ") +
                            (instruction ? "query" : "document") + ": there is no other" +
                            (cell.documents == Documents::other_memory ? " with a word" : ""));
  }
  if (cell.documents == Documents::other_memory && !cell.needs.memory) {
    return invalid_argument("'" + std::string(cell.spec->name()) +
                            "' reads no part of a document as memory beside another here; "
                            "\"other\" gives it other documents");
  }
  return {};
}

/// What of a cell depends on the data, and its id.
Status Planner::complete(Cell& cell, const MethodRow& row, uint64_t seed) {
  const PlannedDataset& dataset = plan_.datasets[cell.dataset];
  if (Status status = trainings_.rest(cell, row, seed); !status.ok()) return status;
  cell.documents = row.entry->documents;
  if (cell.documents != Documents::own) {  // by the needs that the recipe of a file leaves
    cell.others = other_examples(
        *dataset.data, dataset.ordinals,
        cell.documents == Documents::other_instruction ? &Example::query : &Example::document_id,
        cell.documents == Documents::other_memory);  // which cannot be made of nothing
    if (Status given = check_documents(cell); !given.ok()) {
      return placed(given.error(), at(cell.pointer + "/documents"));
    }
  }
  if (const auto* rules = dynamic_cast<const ModelRules*>(cell.spec.get())) {
    for (const auto& [role, model] : cell.backbones) {
      const Status fits = rules->check_model(cell.params, role, model);
      if (!fits.ok()) return placed(fits.error(), at(cell.pointer));
    }
  }
  if (Status status = cut_units(cell); !status.ok()) return status;
  cell.cost = cell.spec->cost(cell.params, dataset.stats);
  if (!std::isfinite(cell.cost.flops + cell.cost.bytes + cell.cost.tokens_out)) {
    return internal_error("method '" + row.label + "' predicts a cost that is no number",
                          at(cell.pointer));
  }
  if (cell.needs.imported) {
    if (Status status = read_outputs(cell, dataset); !status.ok()) {
      return placed(status.error(), at(cell.pointer + "/file"));
    }
  }
  Result<Json> identity = cell_identity(cell, dataset, row.files);
  if (!identity.ok()) return placed(identity.error(), at(cell.pointer));
  cell.identity = *std::move(identity);
  cell.id = make_cell_id(cell.identity);
  return {};
}

/// Paths that are relative to the sweep file's folder, as seen from here.
Params Planner::anchored(const std::vector<ParamSpec>& specs, Params params) const {
  const std::filesystem::path folder = std::filesystem::path(experiment_.path).parent_path();
  for (const ParamSpec& spec : specs) {
    if (!spec.path || !params.has(spec.name)) continue;
    const std::filesystem::path path = folder / params.get<std::string>(spec.name);
    params.set(spec.name, path.lexically_normal().string());
  }
  return params;
}

Status Planner::read_outputs(Cell& cell, const PlannedDataset& dataset) {
  if (context_.imported == nullptr) return internal_error("nobody reads files of predictions");
  const std::string& path = cell.params.get<std::string>("file");
  const std::string key = params_json(*cell.spec, cell.params, false).dump() + path;
  auto file = imported_.find(key);
  if (file == imported_.end()) {
    Result<ImportedFile> read = context_.imported->read(path, cell.params);
    if (!read.ok()) return read.error();
    file = imported_.emplace(key, *std::move(read)).first;
  }
  const bool missing_is_empty = cell.params.get<std::string>("missing") == "empty";
  auto outputs = match_imported(file->second, *dataset.data, dataset.ordinals, missing_is_empty);
  if (!outputs.ok()) return outputs.error();
  cell.imported = std::make_shared<const ImportedOutputs>(*std::move(outputs));
  return {};
}

Status Planner::cut_units(Cell& cell) {
  cell.units = cell.spec->units(cell.params, examples_[cell.dataset]);
  std::vector<int64_t> covered;
  bool empty_unit = false;
  for (const Unit& unit : cell.units) {
    empty_unit = empty_unit || unit.ordinals.empty();
    covered.insert(covered.end(), unit.ordinals.begin(), unit.ordinals.end());
  }
  std::sort(covered.begin(), covered.end());
  if (!empty_unit && covered == plan_.datasets[cell.dataset].ordinals) return {};
  return internal_error("method '" + std::string(cell.spec->name()) +
                            "' cuts the cell into units that do not hold every example once",
                        at(cell.pointer));
}

/// Cells that no filter asks for, whose trainings others may rest on.
void Planner::leave_out_trainers() {
  std::vector<size_t> asked;
  for (size_t i = 0; i < plan_.cells.size(); ++i) {
    if (!only_trains(i)) asked.push_back(i);
  }
  if (asked.size() < plan_.cells.size()) plan_ = plan_of_cells(plan_, asked);
}

/// Cells that ask the same and are computed the same way run once; those that differ in a seed that
/// does not matter are shown for each.
void Planner::merge_duplicates() {
  std::map<std::string, size_t> seen;                            // computation -> index of kept
  std::map<std::pair<std::string, std::string>, size_t> merged;  // labels -> count
  std::vector<std::string> seedless;                             // labels
  std::vector<Cell> kept;
  for (Cell& cell : plan_.cells) {
    const auto [it, fresh] = seen.emplace(computation_key(cell, Stage::predict), kept.size());
    if (fresh) {
      kept.push_back(std::move(cell));
      continue;
    }
    Cell& first = kept[it->second];
    std::vector<uint64_t>& seeds = first.shown_seeds;
    const uint64_t seed = cell.shown_seeds.front();
    if (first.label != cell.label || std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
      ++merged[{cell.label, first.label}];
      continue;
    }
    seeds.push_back(seed);
    if (std::find(seedless.begin(), seedless.end(), cell.label) == seedless.end()) {
      seedless.push_back(cell.label);
    }
  }
  if (!seedless.empty()) {
    plan_.notes.push_back("the seed does not matter to " + quoted_list(seedless) +
                          ": computed once, shown for each seed");
  }
  for (const auto& [labels, count] : merged) {
    plan_.notes.push_back(std::to_string(count) + (count == 1 ? " cell" : " cells") + " of '" +
                          labels.first + "' would repeat cells of '" + labels.second + "' and " +
                          (count == 1 ? "is" : "are") + " left out");
  }
  plan_.cells = std::move(kept);
}

/// Who stands beside the cells of an axis without having its parameter, and reads whole documents
/// beside cells that are cut.
void Planner::note_absent_params() {
  std::set<std::string> params = {"local_context"};
  for (const AxisGroup& group : experiment_.grid) {
    for (const GridAxis& axis : group.axes) params.insert(axis.name);
  }
  for (const std::string& param : params) {
    const bool context = param == "local_context";
    std::vector<std::string> without;
    std::vector<std::string> imported;
    for (const Cell& cell : plan_.cells) {
      if (cell.params.has(param) || (context && cell.params.has("total_tokens"))) continue;
      std::vector<std::string>& names = cell.needs.imported ? imported : without;
      if (std::find(names.begin(), names.end(), cell.label) == names.end()) {
        names.push_back(cell.label);
      }
    }
    const bool any_has = std::any_of(plan_.cells.begin(), plan_.cells.end(),
                                     [&](const Cell& cell) { return cell.params.has(param); });
    if (!any_has) continue;
    const auto add = [&](const std::vector<std::string>& names, const std::string& meaning) {
      if (names.empty()) return;
      plan_.notes.push_back(quoted_list(names) + (names.size() == 1 ? " has no " : " have no ") +
                            param + meaning);
    };
    add(without,
        context ? ": whole documents are read" : ": one cell stands beside all values of the grid");
    add(imported, context ? ": how much of the documents was read is not known"
                          : ": one cell stands beside all values of the grid");
  }
}

}  // namespace

std::vector<NumberedExample> PlannedDataset::numbered(const std::vector<int64_t>& of) const {
  std::vector<NumberedExample> examples;
  examples.reserve(of.size());
  for (const int64_t ordinal : of) {
    examples.push_back({ordinal, data->examples[static_cast<size_t>(ordinal)]});
  }
  return examples;
}

Result<Plan> make_plan(const Experiment& experiment, const PlanContext& context) {
  return Planner(experiment, context).make();
}

}  // namespace qfs::plan
