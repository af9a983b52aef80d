#include "harness/config/resolved.h"

#include <nlohmann/json.hpp>

#include "harness/core/json_dom.h"

namespace qfs::config {

using nlohmann::json;

namespace {

json to_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

json to_json(const std::vector<NamedValue>& values) {
  json object = json::object();
  for (const NamedValue& value : values) object[value.name] = to_json(value.value);
  return object;
}

json to_json(const DatasetEntry& entry) {
  const DatasetRequest& request = entry.request;
  json object = json::object();
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) object[key] = text;
  };
  put("name", request.name);
  put("path", request.path);
  put("split", request.split);
  put("view", request.view);
  put("text_form", request.text_form);
  if (!request.fields.empty()) object["fields"] = request.fields;
  if (entry.sample) object["sample"] = *entry.sample;
  if (entry.drawn_by_seed) object["drawn_by"] = "seed";
  return object;
}

/// Files and rows by role; of the only role the file alone.
void put_files(json& object, const char* key, const std::map<std::string, std::string>& files,
               const std::map<std::string, std::string>& rows) {
  for (const auto& [role, file] : files) (role.empty() ? object[key] : object[key][role]) = file;
  for (const auto& [role, row] : rows) object[key][role]["row"] = row;
}

json to_json(const MethodEntry& entry) {
  json object = {{"method", entry.method}, {"params", to_json(entry.params)}};
  if (!entry.label.empty()) {
    object["label"] = entry.label;
  } else if (!entry.external) {
    object["label"] = entry.method;
  }
  if (entry.backbone) object["backbone"] = *entry.backbone;
  if (!entry.backbones.empty()) object["backbones"] = entry.backbones;
  if (entry.tokenizer) object["tokenizer"] = *entry.tokenizer;
  if (entry.documents != Documents::own) {
    object["documents"] = kDocuments[static_cast<size_t>(entry.documents)];
  }
  if (entry.training) {
    object["training"]["train"] = to_json(entry.training->train);
    if (entry.training->development) {
      object["training"]["development"] = to_json(*entry.training->development);
    }
    put_files(object["training"], "init", entry.training->init, entry.training->init_rows);
  }
  put_files(object, "artifact", entry.artifacts, entry.artifact_rows);
  if (entry.external) {
    object["command"] = entry.external->command;
    object["fingerprint"] = entry.external->fingerprint;
    object["folder"] = entry.external->folder.empty() ? "." : entry.external->folder;
  }
  return object;
}

json to_json(const AxisGroup& group) {
  json object = json::object();
  for (const GridAxis& axis : group.axes) {
    json values = json::array();
    for (const ParamValue& value : axis.values) values.push_back(to_json(value));
    object[axis.name] = std::move(values);
  }
  return object;
}

json to_json(const GridRule& rule) { return to_json(rule.values); }

json to_json(const NamedValue& metric) { return to_json(metric.value); }

json to_json(const TableSettings& table) {
  return {{"rows", table.rows},
          {"columns", table.columns},
          {"values", table.values},
          {"coverage", table.coverage}};
}

json to_json(const PageSection& section) {
  json object = to_json(static_cast<const TableSettings&>(section));
  object["title"] = section.title;
  if (!section.text.empty()) object["text"] = section.text;
  if (!section.filter.empty()) object["filter"] = section.filter;
  if (!section.against.empty()) object[section.minus ? "minus" : "against"] = section.against;
  return object;
}

template <class T>
json list_of(const std::vector<T>& items) {
  json list = json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

Result<Json> resolved_json(const Experiment& experiment) {
  json root = {{"name", experiment.name},
               {"description", experiment.description},
               {"variables", experiment.variables},
               {"datasets", list_of(experiment.datasets)},
               {"methods", list_of(experiment.methods)},
               {"grid", list_of(experiment.grid)},
               {"include", list_of(experiment.include)},
               {"exclude", list_of(experiment.exclude)},
               {"seeds", experiment.seeds},
               {"metrics", list_of(experiment.metrics)},
               {"host_reuse", experiment.host_reuse == HostReuse::none ? "none" : "weights"},
               {"threads", experiment.threads},
               {"store_documents", experiment.store_documents}};
  if (!experiment.postprocess.empty()) root["postprocess"] = list_of(experiment.postprocess);
  for (const ExternalMetricEntry& entry : experiment.external_metrics) {
    const std::string& folder = entry.external.folder;
    root["external_metrics"][entry.name] = {{"command", entry.external.command},
                                            {"fingerprint", entry.external.fingerprint},
                                            {"folder", folder.empty() ? "." : folder},
                                            {"timeout_seconds", entry.timeout_seconds}};
  }
  if (experiment.tokenizer) root["tokenizer"] = *experiment.tokenizer;
  const HostLimits& limits = experiment.limits;
  root["limits"] = {{"open_seconds", limits.open_seconds},
                    {"unit_seconds", limits.unit_seconds},
                    {"cell_seconds", limits.cell_seconds},
                    {"memory_bytes", limits.memory_bytes}};
  if (limits.device_memory_bytes > 0) {
    root["limits"]["device_memory_bytes"] = limits.device_memory_bytes;
  }
  if (const auto& policy = experiment.out_of_memory) {
    root["out_of_memory"] = {{"implied_by", policy->implied_by},
                             {"batch", policy->halve_batch ? "halve" : "fail"}};
  }
  if (const auto& measure = experiment.measure) {
    root["measure"] = {{"examples", measure->examples},
                       {"warmup", measure->warmup},
                       {"repetitions", measure->repetitions},
                       {"protocol", measure->protocol}};
  }
  if (const auto& report = experiment.report) {
    root["report"] = to_json(static_cast<const TableSettings&>(*report));
    for (const PageSection& section : report->page) {
      root["report"]["page"].push_back(to_json(section));
    }
  }
  return canonical_json(root);
}

}  // namespace qfs::config
