// The file between `plan --shards` and its workers: which cells each of them runs.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/json_dom.h"
#include "harness/plan/shards.h"

namespace qfs::plan {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "qfs-bench/shards/1";
constexpr const char* kSchemaName = "qfs-bench/shards/";

void append_ids(std::string& text, const char* name, const std::vector<std::string>& ids) {
  text += std::string(",\n   \"") + name + "\": [";
  for (size_t i = 0; i < ids.size(); ++i) {
    text += (i == 0 ? "\n    \"" : ",\n    \"") + ids[i] + "\"";
  }
  text += "]";
}

/// Ids in their order, each once: cells of one id are in one shard.
template <class IdOf>
std::vector<std::string> ids_of(const std::vector<size_t>& indices, const IdOf& id_of) {
  std::vector<std::string> ids;
  std::map<std::string, bool> listed;
  for (size_t i : indices) {
    if (listed.emplace(id_of(i), true).second) ids.push_back(id_of(i));
  }
  return ids;
}

/// The plan's indices by id, of the list `name` of a shard.
template <class Indices>
Result<std::vector<size_t>> indices_of(const json& shard, const char* name, const Indices& by_id,
                                       const std::string& source) {
  std::vector<size_t> indices;
  const auto list = shard.find(name);
  if (list == shard.end() || !list->is_array()) {
    return data_error(std::string("a shard has no list '") + name + "'", source);
  }
  for (const json& id : *list) {
    if (!id.is_string()) return data_error(std::string("'") + name + "' holds no id", source);
    const auto [begin, end] = by_id.equal_range(id.get_ref<const std::string&>());
    if (begin == end) {
      return invalid_argument("cell " + id.get_ref<const std::string&>().substr(0, 12) +
                                  " is none of this sweep as it is planned here: the data, the "
                                  "options or a method's version differ from where 'plan --shards' "
                                  "ran; plan again",
                              source);
    }
    for (auto it = begin; it != end; ++it) indices.push_back(it->second);
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

}  // namespace

std::string shard_manifest(const Plan& plan, const std::vector<Shard>& shards) {
  std::string text = std::string("{\"schema\": \"") + kSchema + "\",\n \"sweep\": ";
  append_json_string(text, plan.experiment.name);
  text += ",\n \"shards\": [";
  for (size_t i = 0; i < shards.size(); ++i) {
    const Shard& shard = shards[i];
    text +=
        (i == 0 ? "\n" : ",\n") + std::string("  {\"seconds\": ") + shortest_decimal(shard.seconds);
    append_ids(text, "trainings", ids_of(shard.trainings, [&plan](size_t t) {
                 return plan.trainings[t].cell.id.hex();
               }));
    append_ids(text, "cells",
               ids_of(shard.cells, [&plan](size_t c) { return plan.cells[c].id.hex(); }));
    text += "}";
  }
  return text + "]}\n";
}

bool is_shard_manifest(std::string_view text) { return has_schema(text, kSchemaName); }

Result<Shard> shard_in_manifest(std::string_view text, const std::string& source, const Plan& plan,
                                const ShardNumber& number) {
  const Result<json> manifest = parse_json(text, source);
  if (!manifest) return manifest.error();
  if (!manifest->is_object() || manifest->value("schema", json()) != kSchema) {
    return data_error(std::string("no manifest of schema ") + kSchema, source);
  }
  if (manifest->value("sweep", json()) != plan.experiment.name) {
    return invalid_argument("the manifest is of another sweep than '" + plan.experiment.name + "'",
                            source);
  }
  const auto shards = manifest->find("shards");
  if (shards == manifest->end() || !shards->is_array()) {
    return data_error("the manifest has no list 'shards'", source);
  }
  if (shards->size() != number.count) {
    return invalid_argument("the manifest has " + std::to_string(shards->size()) + " shards, not " +
                                std::to_string(number.count),
                            source);
  }
  const json& entry = (*shards)[number.index];
  if (!entry.is_object()) return data_error("a shard is no object", source);
  std::multimap<std::string, size_t, std::less<>> cells;
  for (size_t i = 0; i < plan.cells.size(); ++i) cells.emplace(plan.cells[i].id.hex(), i);
  std::multimap<std::string, size_t, std::less<>> trainings;
  for (size_t i = 0; i < plan.trainings.size(); ++i) {
    trainings.emplace(plan.trainings[i].cell.id.hex(), i);
  }
  Shard shard;
  auto listed = indices_of(entry, "cells", cells, source);
  if (!listed) return listed.error();
  shard.cells = *std::move(listed);
  listed = indices_of(entry, "trainings", trainings, source);
  if (!listed) return listed.error();
  shard.trainings = *std::move(listed);
  if (const auto seconds = entry.find("seconds"); seconds != entry.end() && seconds->is_number()) {
    shard.seconds = seconds->get<double>();
  }
  return shard;
}

}  // namespace qfs::plan
