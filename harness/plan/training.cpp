#include "harness/plan/training.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "harness/api/model_rules.h"
#include "harness/core/identity.h"
#include "harness/plan/param_values.h"
#include "harness/plan/select.h"

namespace qfs::plan {

namespace {

/// The parameters that a training cell has.
Params of_training(const MethodRow& row, const Params& params) {
  Params kept;
  for (const ParamSpec& spec : row.params) {
    const auto value = params.values().find(spec.name);
    if (spec.stage != Stage::predict && value != params.values().end() &&
        row.spec->trains_with(params, spec.name)) {
      kept.set(spec.name, value->second);
    }
  }
  return kept;
}

/// Roles of the files that its own training makes.
std::vector<std::string> own_roles(const Needs& needs) {
  std::vector<std::string> own = needs.artifacts;
  std::erase_if(own, [&](const std::string& role) { return needs.made_by.contains(role); });
  return own;
}

}  // namespace

Status TrainingPlanner::rest(Cell& cell, const MethodRow& row, uint64_t seed) {
  const MethodEntry& entry = *row.entry;
  const bool named = !entry.artifacts.empty() || !entry.artifact_rows.empty();
  if (cell.needs.artifacts.empty()) {
    const std::string method(row.spec->name());
    if (named) {
      return invalid_argument("method '" + method + "' takes no trained file; remove the key",
                              at(entry.pointer + "/artifact"));
    }
    if (!entry.training) return {};
    return invalid_argument("method '" + method + "' does not train; remove the key",
                            at(entry.pointer + "/training"));
  }
  if (Status there = check_made_by(cell, row); !there.ok()) return there;
  if (Status used = use_rows(cell, row, seed); !used.ok()) return used;
  const std::vector<std::string> own = own_roles(cell.needs);
  const bool own_named =
      entry.artifacts.contains("") || std::ranges::any_of(own, [&](const std::string& role) {
        return entry.artifacts.contains(role);
      });
  if (!own.empty() && !own_named) {
    if (Status used = use_files_of_others(cell, row); !used.ok()) return used;
    return use_training(cell, row, seed);
  }
  if (entry.training) {
    return invalid_argument(own.empty()
                                ? "method '" + std::string(row.spec->name()) +
                                      "' trains nothing with these parameters; remove the key"
                                : "'training' and 'artifact' exclude each other: what is trained "
                                  "already is not trained again",
                            at(entry.pointer + "/training"));
  }
  return use_files(cell, row);
}

Status TrainingPlanner::check_made_by(const Cell& cell, const MethodRow& row) const {
  const MethodEntry& entry = *row.entry;
  for (const auto& [role, label] : entry.artifact_rows) {
    if (cell.needs.made_by.contains(role)) continue;
    return invalid_argument("method '" + std::string(row.spec->name()) + "' takes no '" + role +
                                "' that another row trains",
                            at(entry.pointer + "/artifact/" + role));
  }
  for (const auto& [role, method] : cell.needs.made_by) {
    const bool only = cell.needs.artifacts.size() == 1 && entry.artifacts.contains("");
    if (only || entry.artifacts.contains(role) || entry.artifact_rows.contains(role)) continue;
    return invalid_argument("method '" + std::string(row.spec->name()) + "' reads with what '" +
                                method + "' trained: name the file, \"artifact\": {\"" + role +
                                "\": FILE}, or a row that trains it, {\"" + role +
                                "\": {\"row\": LABEL}}",
                            at(entry.pointer));
  }
  return {};
}

Status TrainingPlanner::use_init(const Cell& cell, const MethodRow& row, Training& training) {
  std::map<std::string, std::string> begin;
  std::string where = at(row.entry->pointer + "/training/init");
  if (!context_.init.empty()) {
    begin = {{"", context_.init}};
    where = "--init";
  } else if (row.entry->training) {
    begin = row.entry->training->init;
    std::vector<std::string> methods = training.cell.needs.begins_with;
    methods.emplace(methods.begin(), row.spec->name());
    for (const auto& [role, label] : row.entry->training->init_rows) {
      const TrainedRow first{role, label, methods, training.cell.seed, where + "/" + role};
      if (Status s = begin_with_row(cell, first, training, begin); !s.ok()) return s;
    }
  }
  const auto files = named_files(training.cell, row, begin, where, training.cell.needs.begins_with);
  if (!files.ok()) return files.error();
  for (const auto& [role, facts] : *files) {
    if (Status fits = row.spec->check_init(training.cell.params, facts->recipe); !fits.ok()) {
      return invalid_argument(
          "cannot begin with '" + facts->file.path + "': " + fits.error().message, where);
    }
    training.cell.artifacts[role] = facts->file;
  }
  return {};
}

/// Cells of other seeds and data sets would say the same.
void TrainingPlanner::note_once(const std::string& words) const {
  if (std::ranges::count(plan_.notes, words) == 0) plan_.notes.push_back(words);
}

Result<TrainingEntry> TrainingPlanner::data_of(const Cell& cell, const MethodRow& row) const {
  if (row.entry->training) return *row.entry->training;
  const DatasetEntry& own = plan_.datasets[cell.dataset].entry;
  const std::string method = "method '" + std::string(row.spec->name()) + "' trains: ";
  std::vector<std::string> splits;
  for (const DatasetInfo& info : context_.datasets.list()) {
    if (!own.request.name.empty() && info.name == own.request.name) splits = info.splits;
  }
  const auto has = [&](std::string_view split) {
    return std::find(splits.begin(), splits.end(), split) != splits.end();
  };
  if (!has("train")) {
    return invalid_argument(
        method + "the data set '" + plan_.datasets[cell.dataset].name +
            R"(' has no split 'train'; give the method "training": {"train": {…}, "development": )"
            R"({…}} (data sets), or "artifact": the file of an earlier training)",
        at(row.entry->pointer));
  }
  const std::string& scored = plan_.datasets[cell.dataset].data->manifest.split;
  TrainingEntry entry;
  entry.train = {own.request, std::nullopt, row.entry->pointer};
  entry.train.request.split = "train";
  for (const std::string_view split : kDevelopmentSplits) {
    if (entry.development || !has(split)) continue;
    if (split == scored) {
      note_once("'" + row.label + "': '" + scored + "' is scored, so it does not choose");
      continue;
    }
    entry.development = entry.train;
    entry.development->request.split = split;
  }
  return entry;
}

Result<PlannedDataset> load_planned(const Experiment& experiment, const PlanContext& context,
                                    const DatasetEntry& entry, std::optional<uint64_t> draw) {
  const std::string where = place(experiment, entry.pointer);
  auto data = context.datasets.load(entry.request);
  if (!data.ok()) return placed(data.error(), where);
  PlannedDataset dataset;
  dataset.entry = entry;
  dataset.name = dataset_name(entry);
  dataset.data = *std::move(data);
  if (dataset.data->examples.empty()) {
    return data_error("data set '" + dataset.name + "' has no examples", where);
  }
  dataset.draw = draw;
  const Selection selection{entry.sample, context.limit, draw};
  dataset.ordinals = select_examples(*dataset.data, selection);
  dataset.stats = dataset_stats(*dataset.data, dataset.ordinals);
  Result<Json> chosen = selection_json(*dataset.data, selection);
  if (!chosen.ok()) return chosen.error();
  dataset.selection = *std::move(chosen);
  return dataset;
}

Result<size_t> TrainingPlanner::load(const DatasetEntry& entry, uint64_t seed) {
  const std::optional<uint64_t> draw =
      entry.drawn_by_seed ? std::optional<uint64_t>(seed) : std::nullopt;
  for (size_t i = 0; i < plan_.training_data.size(); ++i) {
    const PlannedDataset& there = plan_.training_data[i];
    if (there.entry.request == entry.request && there.entry.sample == entry.sample &&
        there.draw == draw) {
      return i;
    }
  }
  Result<PlannedDataset> dataset = load_planned(experiment_, context_, entry, draw);
  if (!dataset.ok()) return dataset.error();
  plan_.training_data.push_back(*std::move(dataset));
  return plan_.training_data.size() - 1;
}

namespace {

/// Whether both are of one split of a data set of the registry, in whatever view or text form.
bool of_one_split(const PlannedDataset& a, const PlannedDataset& b) {
  const std::string& name = a.entry.request.name;
  return !name.empty() && name == b.entry.request.name &&
         a.data->manifest.split == b.data->manifest.split;
}

const std::string& question_of(const Example& example) {
  return example.group.empty() ? example.key : example.group;
}

}  // namespace

Status TrainingPlanner::check_overlap(const Cell& cell, size_t data) {
  const PlannedDataset& scored = plan_.datasets[cell.dataset];
  const PlannedDataset& learnt = plan_.training_data[data];
  if (!compared_.emplace(cell.dataset, data).second) return {};
  std::set<std::string> hashes;
  std::set<std::string> documents;
  std::set<std::string> questions;  // of the split that is scored
  const bool one_split = of_one_split(scored, learnt);
  for (int64_t i : learnt.ordinals) {
    const Example& example = learnt.data->examples[static_cast<size_t>(i)];
    hashes.insert(learnt.data->example_hashes[static_cast<size_t>(i)]);
    documents.insert(rendered_document(example));
    if (one_split) questions.insert(question_of(example));
  }
  size_t same = 0;
  size_t known = 0;
  for (int64_t i : scored.ordinals) {
    const Example& example = scored.data->examples[static_cast<size_t>(i)];
    if (hashes.contains(scored.data->example_hashes[static_cast<size_t>(i)]) ||
        questions.contains(question_of(example))) {
      ++same;
    }
    if (documents.contains(rendered_document(example))) ++known;
  }
  const std::string of = " of the " + std::to_string(scored.ordinals.size()) + " examples of '" +
                         scored.name + "' that the cell is scored on ";
  const std::string& own = scored.entry.request.name;
  const std::string& split = learnt.data->manifest.split;
  if (same > 0 && !own.empty() && own == learnt.entry.request.name && split == "train" &&
      split != scored.data->manifest.split) {
    // As it was published: whoever compares with published numbers has them, too.
    plan_.notes.push_back(std::to_string(same) + of + "are in its split '" + split +
                          "' as well, which it learns from or is chosen by");
    return {};
  }
  if (same > 0) {
    return invalid_argument(std::to_string(same) + of +
                                "are in the data that it learns from or is "
                                "chosen by",
                            at(learnt.entry.pointer));
  }
  if (known > 0) {
    plan_.notes.push_back(std::to_string(known) + of + "have a document that '" + learnt.name +
                          "' (" + learnt.data->manifest.split + "), which it learns from or is " +
                          "chosen by, holds too");
  }
  return {};
}

Status TrainingPlanner::use_training(Cell& cell, const MethodRow& row, uint64_t seed) {
  if (cell.training) {
    return invalid_argument(
        "a training cannot read with what another row trains; name the file that it trained",
        at(row.entry->pointer + "/artifact"));
  }
  const Result<TrainingEntry> data = data_of(cell, row);
  if (!data.ok()) return data.error();
  Training training;
  const Result<size_t> train = load(data->train, seed);
  if (!train.ok()) return train.error();
  if (data->development) {
    const Result<size_t> development = load(*data->development, seed);
    if (!development.ok()) return development.error();
    training.development = *development;
    if (Status apart = check_overlap(cell, *development); !apart.ok()) {
      return apart;
    }
  }
  if (Status apart = check_overlap(cell, *train); !apart.ok()) return apart;

  Cell& learning = training.cell;
  learning.spec = cell.spec;
  learning.label = cell.label;
  learning.params = of_training(row, cell.params);
  learning.seed = seed;
  learning.shown_seeds = {seed};
  learning.dataset = *train;
  learning.backbone = cell.backbone;
  learning.facts = cell.facts;
  learning.backbones = cell.backbones;
  learning.tokenizer = cell.tokenizer;
  learning.external = cell.external;
  learning.host = cell.host;
  learning.weights_key = cell.weights_key;
  learning.needs = cell.needs;
  learning.needs.artifacts = own_roles(cell.needs);
  learning.artifacts = cell.artifacts;  // of other methods, with which it reads
  learning.pointer = cell.pointer;
  learning.cost = cell.spec->training_cost(learning.params, plan_.training_data[*train].stats);
  if (!std::isfinite(learning.cost.flops + learning.cost.bytes)) {
    return internal_error("method '" + row.label + "' predicts a cost that is no number",
                          at(cell.pointer));
  }
  const bool begins = !context_.init.empty() || !data->init.empty() || !data->init_rows.empty();
  const TrainingFacts facts{.examples = plan_.training_data[*train].stats.examples,
                            .development = training.development.has_value(),
                            .begins = begins};
  if (Status fits = cell.spec->check_training(cell.params, facts); !fits.ok()) {
    return placed(fits.error(), at(cell.pointer));
  }
  // What it leaves will be read as any file of such a recipe.
  if (const auto* rules = dynamic_cast<const ModelRules*>(row.spec.get())) {
    if (Status fits = rules->check_file(cell.params, cell.params); !fits.ok()) {
      return placed(fits.error(), at(cell.pointer));
    }
  }
  if (Status begun = use_init(cell, row, training); !begun.ok()) return begun;
  Result<Json> identity = training_identity(training, plan_, row.files);
  if (!identity.ok()) return placed(identity.error(), at(cell.pointer));
  learning.identity = *std::move(identity);
  learning.id = make_cell_id(learning.identity);

  const auto [it, fresh] =
      trainings_.emplace(computation_key(learning, Stage::train), plan_.trainings.size());
  cell.training = it->second;
  for (const std::string& role : learning.needs.artifacts) cell.origins[role] = learning.id.hex();
  if (fresh) plan_.trainings.push_back(std::move(training));
  return {};
}

}  // namespace qfs::plan
