// What a cell takes of trained files that its sweep names: the files by role, whose they are, and
// the parameters that they were trained with.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/model_rules.h"
#include "harness/core/sha256.h"
#include "harness/plan/param_values.h"
#include "harness/plan/training.h"

namespace qfs::plan {

namespace {

/// Whether the row or an axis of the grid gives the parameter, be it with its default.
bool is_written(const Experiment& experiment, const MethodEntry& entry, const std::string& name) {
  const auto has_name = [&](const auto& given) { return given.name == name; };
  return std::ranges::any_of(entry.params, has_name) ||
         std::ranges::any_of(experiment.grid, [&](const AxisGroup& group) {
           return std::ranges::any_of(group.axes, has_name);
         });
}

void use_file(Cell& cell, const std::string& role, const ArtifactFacts& facts) {
  cell.artifacts[role] = facts.file;
  if (!facts.training_cell.empty()) cell.origins[role] = facts.training_cell;
}

/// The recipe without what a file beside it says, which another method made in this one's place.
Params own_recipe(const Cell& cell, const std::map<std::string, const ArtifactFacts*>& files,
                  const ArtifactFacts& facts) {
  const auto of_another = [&](const ArtifactFacts& one) {
    return !one.method.empty() && one.method != cell.spec->name();
  };
  if (of_another(facts)) return facts.recipe;
  Params recipe;
  for (const auto& [name, value] : facts.recipe.values()) {
    const auto says = [&](const auto& file) {
      return !cell.needs.made_by.contains(file.first) && of_another(*file.second) &&
             file.second->recipe.has(name);
    };
    if (std::ranges::none_of(files, says)) recipe.set(name, value);
  }
  return recipe;
}

/// A program of the user trains files of any form, which say nothing of themselves.
Result<ArtifactFacts> any_file(const std::string& path) {
  Result<std::string> digest = sha256_file(path);
  if (!digest.ok()) return digest.error();
  ArtifactFacts facts;
  facts.file = {std::filesystem::path(path).filename().string(), path, *std::move(digest)};
  return facts;
}

}  // namespace

Result<TrainingPlanner::NamedFiles> TrainingPlanner::named_files(
    const Cell& cell, const MethodRow& row, const std::map<std::string, std::string>& paths,
    const std::string& where, std::span<const std::string> other_methods) {
  const std::vector<std::string>& roles = cell.needs.artifacts;
  NamedFiles files;
  for (const auto& [named, path] : paths) {
    const std::string role = named.empty() && roles.size() == 1 ? roles.front() : named;
    if (std::find(roles.begin(), roles.end(), role) == roles.end()) {
      return invalid_argument("method '" + std::string(row.spec->name()) +
                                  "' takes trained files " + "by role: " + quoted_list(roles),
                              where);
    }
    auto it = files_.find(path);
    if (it == files_.end()) {
      it = files_.emplace(path, cell.external ? any_file(path) : context_.methods.artifact(path))
               .first;
    }
    if (!it->second.ok()) return placed(it->second.error(), where);
    if (Status fits = check_origin(cell, role, *it->second, where, other_methods); !fits.ok()) {
      return fits.error();
    }
    files[role] = &*it->second;
  }
  return files;
}

Status TrainingPlanner::use_files(Cell& cell, const MethodRow& row) {
  const std::string where = at(row.entry->pointer + "/artifact");
  const auto files = named_files(cell, row, row.entry->artifacts, where, cell.needs.reads_files_of);
  if (!files.ok()) return files.error();
  for (const auto& [role, facts] : *files) {
    // Another method's recipe says nothing of this one's parameters.
    if (!cell.needs.made_by.contains(role)) {
      const Params recipe = own_recipe(cell, *files, *facts);
      if (Status fits = use_recipe(cell, row, *facts, recipe); !fits.ok()) return fits;
    }
    use_file(cell, role, *facts);
    if (facts->backbone.empty() && cell.backbone && !cell.external) {
      note_once("'" + facts->file.path +
                "' does not say which backbone it was trained for; its shapes decide");
    }
  }
  for (const std::string& role : cell.needs.artifacts) {
    if (cell.artifacts.contains(role) || row.entry->artifact_rows.contains(role)) continue;
    return invalid_argument("names no file for the role '" + role + "'", where);
  }
  return check_together(*files, where);
}

Status TrainingPlanner::use_files_of_others(Cell& cell, const MethodRow& row) {
  const std::string where = at(row.entry->pointer + "/artifact");
  const auto files = named_files(cell, row, row.entry->artifacts, where, {});
  if (!files.ok()) return files.error();
  for (const auto& [role, facts] : *files) use_file(cell, role, *facts);
  return {};
}

Status TrainingPlanner::check_together(const NamedFiles& files, const std::string& where) {
  for (const auto& [role, facts] : files) {
    for (const auto& [of, digest] : facts->backbones) {
      const auto beside = files.find(of);
      if (beside == files.end() || beside->second->file.digest == digest) continue;
      return invalid_argument("'" + facts->file.path + "' ('" + role + "') was made with the '" +
                                  of + "' " + digest.substr(0, 12) + ", not with '" +
                                  beside->second->file.path + "' (" +
                                  beside->second->file.digest.substr(0, 12) + ")",
                              where);
    }
    const ArtifactFacts& first = *files.begin()->second;
    if (facts->training_cell.empty() || first.training_cell.empty()) continue;
    if (facts->training_cell == first.training_cell || facts->method != first.method) continue;
    return invalid_argument("'" + facts->file.path + "' ('" + role +
                                "') was not made by the training of '" + first.file.path + "' ('" +
                                files.begin()->first +
                                "'); name files that one training left together",
                            where);
  }
  return {};
}

Status TrainingPlanner::check_origin(const Cell& cell, const std::string& role,
                                     const ArtifactFacts& facts, const std::string& where,
                                     std::span<const std::string> other_methods) {
  const std::string file = "'" + facts.file.path + "'";
  const auto maker = cell.needs.made_by.find(role);
  const bool of_others = maker != cell.needs.made_by.end();
  const std::string wanted(of_others ? maker->second : cell.spec->name());
  if (of_others && facts.method.empty()) {
    return invalid_argument(file + " does not say that '" + wanted + "' trained it", where);
  }
  const bool another = !facts.method.empty() && facts.method != wanted;
  if (another && (of_others || std::ranges::count(other_methods, facts.method) == 0)) {
    return invalid_argument(
        file + " was trained by the method '" + facts.method + "', not by '" + wanted + "'", where);
  }
  const auto check = [&](const Resource* model, const std::string& digest,
                         const std::string& kind) -> Status {
    if (digest.empty() || model == nullptr || digest == model->digest) return {};
    return invalid_argument(file + " was trained for another " + kind + " than '" + model->name +
                                "' (" + digest.substr(0, 12) + ", not " +
                                model->digest.substr(0, 12) +
                                "); name one that was trained for it, or leave the method out "
                                "with --filter",
                            where);
  };
  for (const auto& [name, digest] : facts.backbones) {
    const auto model = cell.backbones.find(name);
    if (model == cell.backbones.end()) continue;
    if (Status fits = check(&model->second, digest, name); !fits.ok()) return fits;
  }
  const auto further = cell.backbones.find(role);
  const Resource* model = further != cell.backbones.end() ? &further->second
                          : cell.backbone                 ? &*cell.backbone
                                                          : nullptr;
  return check(model, facts.backbone, "backbone");
}

Status TrainingPlanner::use_recipe(Cell& cell, const MethodRow& row, const ArtifactFacts& facts,
                                   const Params& written_recipe) const {
  const std::string where = at(row.entry->pointer + "/artifact");
  const std::string file = "'" + facts.file.path + "'";
  Params recipe = written_recipe;
  for (const ParamSpec& spec : row.params) {
    const auto written = written_recipe.values().find(spec.name);
    if (written == written_recipe.values().end()) continue;
    std::optional<ParamValue> value = recorded_value(spec.type, written->second);
    if (!value) {
      return data_error("the recipe of " + file + " has " + value_text(written->second) + " as '" +
                            spec.name + "'",
                        where);
    }
    recipe.set(spec.name, *std::move(value));
  }
  const auto* rules = dynamic_cast<const ModelRules*>(row.spec.get());
  if (rules != nullptr) {
    if (Status fits = rules->check_file(cell.params, recipe); !fits.ok()) {
      return placed(fits.error(), where);
    }
  }
  Params params;
  for (const ParamSpec& spec : row.params) {
    const auto asked = cell.params.values().find(spec.name);
    const auto trained = recipe.values().find(spec.name);
    const bool has_asked = asked != cell.params.values().end();
    const bool written = is_written(experiment_, *row.entry, spec.name);
    const bool as_default =
        has_asked && spec.default_value && same_value(asked->second, *spec.default_value);
    if (spec.stage == Stage::predict || trained == recipe.values().end()) {
      // How it was trained is not known where the file does not say it; a file of this method
      // leaves out what its training did. Of both stages the method has rules of its own.
      const bool left_out = spec.stage == Stage::train && facts.method == row.spec->name() &&
                            row.spec->trains_with(cell.params, spec.name);
      if (has_asked && left_out && written && !as_default) {
        return invalid_argument("'" + spec.name + "' is " + value_text(asked->second) + ", but " +
                                    file + " was trained without it",
                                where);
      }
      if (has_asked && written && spec.stage == Stage::train && facts.method.empty()) {
        note_once("'" + row.label + "': '" + spec.name + "' has no effect: " + file +
                  " does not say how it was trained, its tensors do");
      }
      if (has_asked && spec.stage != Stage::train) params.set(spec.name, asked->second);
      continue;
    }
    const bool by_default = as_default && !written;
    const bool differs = has_asked && !by_default && !same_value(asked->second, trained->second);
    if (differs) {
      const std::string words = "'" + spec.name + "' is " + value_text(asked->second) + ", but " +
                                file + " was trained with " + value_text(trained->second);
      if (rules == nullptr || !rules->may_differ(spec.name)) return invalid_argument(words, where);
      note_once("'" + row.label + "': " + words);
    }
    params.set(spec.name, differs ? asked->second : trained->second);
  }
  cell.params = std::move(params);
  // A recipe may read answers where the default does not. What its training left beside the file is
  // read where the row asks for it.
  Needs needs = row.spec->needs(cell.params);
  std::erase_if(needs.artifacts, [&](const std::string& role) {
    return std::ranges::count(cell.needs.artifacts, role) == 0 && !needs.made_by.contains(role);
  });
  cell.needs = std::move(needs);
  return {};
}

}  // namespace qfs::plan
