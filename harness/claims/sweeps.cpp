#include "harness/claims/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "harness/plan/training.h"

namespace qfs::claims {
namespace {

using nlohmann::json;

/// What the cells of a sweep have in common.
struct SweepKey {
  DatasetRequest data;  ///< as it is asked for
  std::string postprocess;
  int64_t device_memory_mib = 0;  ///< 0: all that there is

  friend bool operator<(const SweepKey& a, const SweepKey& b) {
    const auto order = [](const SweepKey& key) {
      return std::tie(key.data.name, key.data.split, key.data.view, key.data.text_form,
                      key.postprocess, key.device_memory_mib);
    };
    return order(a) < order(b);
  }
};

struct Draft {
  json methods = json::array();
  std::set<std::string> metrics;
};

/// So many examples of the training split, and as many of the first split to choose by.
json few_examples(int64_t count, const DatasetRequest& data, const Lookups& lookups) {
  json training;
  const auto add = [&](const char* key, const std::string& split) {
    json part = {{"name", data.name}, {"split", split}, {"sample", count}, {"drawn_by", "seed"}};
    if (!data.view.empty()) part["view"] = data.view;
    if (!data.text_form.empty()) part["text_form"] = data.text_form;
    training[key] = std::move(part);
  };
  add("train", "train");
  for (const DatasetInfo& info : lookups.surroundings().datasets.list()) {
    if (info.name != data.name) continue;
    const auto split = std::ranges::find_first_of(plan::kDevelopmentSplits, info.splits);
    if (split != std::end(plan::kDevelopmentSplits)) add("development", std::string(*split));
  }
  return training;
}

/// The entry of a sweep's "methods"; labels are added when all are known. `counter`: by whose
/// tokens documents are cut; empty: any.
json method_entry(const MethodQuery& query, const std::string& counter, const DatasetRequest& data,
                  const Lookups& lookups) {
  json entry = {{"method", query.method}};
  if (!counter.empty()) entry["tokenizer"] = lookups.place_of(counter);
  if (!query.backbone.empty()) entry["backbone"] = lookups.place_of(query.backbone);
  for (const auto& [role, name] : query.backbones) {
    entry["backbones"][role] = lookups.place_of(name);
  }
  if (query.train_examples > 0) {
    entry["training"] = few_examples(query.train_examples, data, lookups);
  }
  const auto spec = lookups.surroundings().methods.find(query.method);
  const std::vector<NamedValue> values =
      spec ? given_values(query, (*spec)->params()) : query.params;
  for (const NamedValue& param : values) {
    std::visit([&](const auto& value) { entry[param.name] = value; }, param.value);
  }
  return entry;
}

void add(const MethodQuery& query, const std::string& counter, const DatasetRequest& data,
         const Lookups& lookups, Draft& draft) {
  json entry = method_entry(query, counter, data, lookups);
  if (std::ranges::find(draft.methods, entry) == draft.methods.end()) {
    draft.methods.push_back(std::move(entry));
  }
}

ClaimSweep finished(const SweepKey& key, Draft draft) {
  std::map<std::string, int> seen;  // methods that are there more than once are numbered
  for (json& entry : draft.methods) {
    const std::string method = entry["method"];
    const int number = ++seen[method];
    entry["label"] = number == 1 ? method : fmt::format("{}-{}", method, number);
  }
  const auto& [name, split, view, form] =
      std::tie(key.data.name, key.data.split, key.data.view, key.data.text_form);
  ClaimSweep sweep;
  sweep.on_device = key.device_memory_mib > 0;
  sweep.name = "claims-" + name;
  for (const std::string& part : {split, view, form}) {
    if (!part.empty()) sweep.name += "-" + part;
  }
  json dataset = {{"name", name}};
  if (!split.empty()) dataset["split"] = split;
  if (!view.empty()) dataset["view"] = view;
  if (!form.empty()) dataset["text_form"] = form;
  if (sweep.on_device) {
    sweep.name += fmt::format("-{}mib", key.device_memory_mib);
    dataset["sample"] = 1;  // trainings are what is asked for
  }
  json text = {{"name", sweep.name},
               {"datasets", json::array({std::move(dataset)})},
               {"tokenizer", "words"},
               {"methods", std::move(draft.methods)}};
  if (sweep.on_device) text["limits"]["device_memory_mib"] = key.device_memory_mib;
  if (!draft.metrics.empty()) text["metrics"] = draft.metrics;
  if (const json steps = json::parse(key.postprocess); !steps.empty()) text["postprocess"] = steps;
  sweep.text = text.dump(2);
  return sweep;
}

}  // namespace

Result<std::vector<ClaimSweep>> sweeps_of(std::span<const Claim* const> claims, Lookups& lookups) {
  std::map<SweepKey, Draft> drafts;
  for (const Claim* claim : claims) {
    const bool tokens = claim->kind == ClaimKind::data && claim->what == "document_tokens";
    const bool runs = claim->kind == ClaimKind::score || claim->kind == ClaimKind::longest;
    if (claim->files || (!runs && !tokens)) continue;
    if (lookups.obstacle(*claim)) continue;
    const auto requests = lookups.requests(*claim->dataset);
    if (!requests) return requests.error();
    for (const DatasetRequest& request : *requests) {
      const int64_t device_memory_mib = claim->longest ? claim->longest->device_memory_mib : 0;
      Draft& draft = drafts[{request, claim->postprocess.text, device_memory_mib}];
      if (tokens) {
        add({"lead", "", "", {}}, claim->dataset->tokenizer, request, lookups, draft);
        continue;
      }
      const auto query = lookups.with_files(*claim->method);
      if (!query) return query.error();
      const auto resolved = lookups.method(*claim->method);
      if (!resolved) return resolved.error();
      if (claim->kind == ClaimKind::score) {
        add(*query, resolved->counter, request, lookups, draft);
        draft.metrics.insert(claim->metric);
        continue;
      }
      for (const int64_t length : claim->longest->tries) {
        MethodQuery at = *query;
        std::erase_if(at.params,
                      [&](const NamedValue& own) { return own.name == claim->longest->parameter; });
        at.params.push_back({claim->longest->parameter, length, ""});
        add(at, resolved->counter, request, lookups, draft);
      }
    }
  }
  std::vector<ClaimSweep> sweeps;
  for (auto& [key, draft] : drafts) sweeps.push_back(finished(key, std::move(draft)));
  return sweeps;
}

}  // namespace qfs::claims
