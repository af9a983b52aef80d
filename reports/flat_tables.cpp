#include "reports/flat_tables.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "reports/escape.h"
#include "reports/example_scores.h"

namespace qfs::reports {
namespace {

using nlohmann::json;
using Rows = std::vector<json>;

std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_lines(const Rows& rows) {
  std::string text;
  for (const json& row : rows) text += dumped(row) + "\n";
  return text;
}

void flatten(const json& row, const std::string& prefix, std::map<std::string, std::string>& flat) {
  for (const auto& [name, value] : row.items()) {
    if (value.is_object()) {
      flatten(value, prefix + name + ".", flat);
    } else if (value.is_string()) {
      flat[prefix + name] = csv_field(value.get_ref<const std::string&>());
    } else if (value.is_structured()) {
      flat[prefix + name] = csv_field(dumped(value));
    } else {
      flat[prefix + name] = value.is_null() ? "" : dumped(value);
    }
  }
}

std::string csv_lines(const Rows& rows) {
  std::vector<std::map<std::string, std::string>> flat(rows.size());
  std::set<std::string> columns;
  for (size_t i = 0; i < rows.size(); ++i) {
    flatten(rows[i], "", flat[i]);
    for (const auto& [name, field] : flat[i]) columns.insert(name);
  }
  std::string text;
  for (const std::string& name : columns) text += (text.empty() ? "" : ",") + csv_field(name);
  text += "\r\n";
  for (const auto& row : flat) {
    bool first = true;
    for (const std::string& name : columns) {
      const auto field = row.find(name);
      text += (first ? "" : ",") + (field == row.end() ? std::string() : field->second);
      first = false;
    }
    text += "\r\n";
  }
  return text;
}

/// The number of the run, as `list runs` has it.
Result<int64_t> run_number(store::Reader& reader, const store::SweepRow& sweep) {
  const Result<std::vector<store::SweepInfo>> sweeps = reader.sweeps();
  if (!sweeps) return sweeps.error();
  const auto own = std::ranges::find(*sweeps, sweep.id, &store::SweepInfo::id);
  return own == sweeps->end() ? int64_t{0} : own->number;
}

/// What names the cell in every row of it.
Result<json> head_of(const SweepFacts& facts, const PlaceFacts& place, int64_t run) {
  Result<json> params = shown_params(place);
  if (!params) return params.error();
  const DatasetManifest& manifest = facts.datasets.at(place.cell.dataset).manifest;
  return json{{"run", run},
              {"sweep", facts.sweep.name},
              {"position", &place - facts.places.data()},
              {"cell_id", place.cell.id.hex()},
              {"numerics_id", place.predict ? json(place.predict->key.numerics.hex()) : json()},
              {"method", place.cell.method},
              {"label", place.place.label},
              {"oracle", place.cell.oracle},
              {"dataset", manifest.name},
              {"split", manifest.split},
              {"seed", shown_seed(place)},
              {"params", *std::move(params)}};
}

json cell_row(const json& head, const PlaceFacts& place) {
  json row = head;
  row["status"] = "not_started";
  row["done"] = 0;
  row["expected"] = place.cell.ordinals.size();
  if (!place.predict) return row;
  row["status"] = to_string(place.predict->status);
  row["done"] = place.predict->done;
  if (place.predict->status == store::Completeness::failed) {
    row["failure"] = to_string(place.predict->failure);
    row["message"] = place.predict->failure_text;
  }
  return row;
}

void add_scores(const json& head, const PlaceFacts& place, Rows& rows) {
  for (const store::ScoreJobRow& job : place.scores) {
    for (const store::ScoreRow& score : job.scores) {
      json& row = rows.emplace_back(head);
      row["metric"] = job.metric;
      row["signature"] = job.signature;
      row["n"] = job.n;
      row["clusters"] = job.clusters;
      row["column"] = score.name;
      row["value"] = score.value;
      row["low"] = score.interval ? json(score.interval->low) : json();
      row["high"] = score.interval ? json(score.interval->high) : json();
    }
  }
}

/// Query and references of an example; null where the store keeps hashes only.
Status add_texts(store::Reader& reader, const store::ExampleRow& example, json& row) {
  const Result<std::optional<std::string>> query = reader.text(example.query_sha256);
  if (!query) return query.error();
  row["query"] = *query ? json(**query) : json();
  json references = json::array();
  for (const std::string& digest : example.reference_sha256s) {
    const Result<std::optional<std::string>> text = reader.text(digest);
    if (!text) return text.error();
    if (*text) references.push_back(**text);
  }
  const bool whole = references.size() == example.reference_sha256s.size();
  row["references"] = whole ? std::move(references) : json();
  return {};
}

Status add_examples(store::Reader& reader, const json& head, const PlaceFacts& place, Rows& rows) {
  if (!place.predict) return {};
  const Result<std::vector<store::ExampleRow>> examples = reader.examples(place.cell.dataset);
  if (!examples) return examples.error();
  std::map<int64_t, const store::ExampleRow*> by_ordinal;
  for (const store::ExampleRow& example : *examples) by_ordinal[example.ordinal] = &example;
  const Result<std::map<int64_t, json>> scores = example_scores(reader, place);
  if (!scores) return scores.error();
  const Result<std::vector<store::OutputRow>> outputs = reader.outputs(place.predict->id);
  if (!outputs) return outputs.error();
  for (const store::OutputRow& output : *outputs) {
    const auto example = by_ordinal.find(output.ordinal);
    if (example == by_ordinal.end()) continue;
    json& row = rows.emplace_back(head);
    row["example"] = example->second->key;
    row["ordinal"] = output.ordinal;
    row["cluster"] = example->second->document_id;
    if (Status added = add_texts(reader, *example->second, row); !added) return added;
    row["prediction"] = output.prediction.text;
    row["finish"] = to_string(output.prediction.finish);
    row["tokens_in"] = output.prediction.tokens_in;
    row["tokens_out"] = output.prediction.tokens_out;
    const auto own = scores->find(output.ordinal);
    row["scores"] = own == scores->end() ? json::object() : own->second;
  }
  return {};
}

}  // namespace

Result<FlatTables> flat_tables(store::Reader& reader, const SweepFacts& facts, FlatFormat format) {
  const Result<int64_t> run = run_number(reader, facts.sweep);
  if (!run) return run.error();
  Rows cells;
  Rows scores;
  Rows examples;
  for (const PlaceFacts& place : facts.places) {
    const Result<json> head = head_of(facts, place, *run);
    if (!head) return head.error();
    cells.push_back(cell_row(*head, place));
    add_scores(*head, place, scores);
    if (Status added = add_examples(reader, *head, place, examples); !added) return added.error();
  }
  const auto written = format == FlatFormat::csv ? csv_lines : json_lines;
  return FlatTables{written(cells), written(scores), written(examples)};
}

}  // namespace qfs::reports
