#include "harness/gate/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/config/node.h"
#include "harness/core/clock.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/json_dom.h"
#include "harness/core/sha256.h"
#include "harness/gate/gate.h"

namespace qfs::gate {

using compare::StoredCell;
using config::Node;
using nlohmann::json;

namespace {

constexpr std::string_view kSchema = "qfs-bench/baseline/2";
constexpr int64_t kMost = int64_t{1} << 40;  ///< of what is counted
/// What a live cell's identity says in a file, which has no other part of it.
constexpr const char* kLiveIdentity = R"({"sweep":""})";

std::string line_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

double number(const Node& node) {
  const json& value = node.value();
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    node.fail("expected a number");
    return 0;
  }
  return value.get<double>();
}

std::vector<double> numbers(const Node& node, size_t count) {
  std::vector<double> values;
  for (const Node& item : node.items("a list of numbers")) values.push_back(number(item));
  if (values.size() != count) node.fail(fmt::format("expected {} numbers", count));
  values.resize(count);
  return values;
}

std::string any_text(const Node& node) {
  if (node.value().is_string()) return node.value().get<std::string>();
  node.fail("expected a text");
  return {};
}

template <class Id>
Id id_of(const Node& node) {
  const std::string hex = node.text("an id of 64 hex digits");
  if (hex.size() != 64 || hex.find_first_not_of("0123456789abcdef") != std::string::npos) {
    node.fail("expected an id of 64 hex digits");
  }
  return Id(hex);
}

json measured_json(const compare::Measured& measured) {
  json values = json::object();
  for (const auto& [name, value] : measured.values) {
    values[name] = {value.median, value.low, value.high, value.repetitions};
  }
  return {{"values", std::move(values)}, {"hardware", measured.machine}};
}

/// Why a cell has no place in a baseline; empty where it has.
std::string lack_of(const StoredCell& cell) {
  if (!cell.predict) return "not run";
  if (cell.predict->status != store::Completeness::complete) {
    return fmt::format("{} of {} predictions", cell.predict->done, cell.predict->expected);
  }
  if (cell.scores.empty()) return "not scored";
  const bool whole =
      std::ranges::all_of(cell.scores, [](const auto& job) { return job.n >= job.expected; });
  return whole ? "" : "scored in part";
}

class BaselineWriter {
 public:
  BaselineWriter(const compare::StoredSide& side, bool measured)
      : side_(side), measured_(measured) {}

  Status add(const StoredCell& cell) {
    json object = {{"cell", cell.cell.id.hex()},
                   {"method", cell.cell.method},
                   {"dataset", cell.cell.dataset.hex()},
                   {"dataset_name", cell.dataset},
                   {"dimensions", cell.dimensions}};
    object["dimensions"].erase("cell");
    if (cell.cell.oracle) object["oracle"] = true;
    if (cell.another_seed) object["another_seed"] = true;
    const bool again = !written_.insert(cell.cell.id).second;
    if (!again && is_live(cell.cell)) {
      const auto made = side_.source->made(cell);
      if (!made) return made.error();
      object["made"] = {made->first, made->last};
    }
    if (!again && measured_) {
      const auto measured = side_.source->measured(cell);
      if (!measured) return measured.error();
      if (!measured->values.empty()) object["measured"] = measured_json(*measured);
    }
    text_ += line_of(object);
    ++cells_;
    if (again) return {};
    std::vector<const store::ScoreJobRow*> jobs;
    for (const store::ScoreJobRow& job : cell.scores) jobs.push_back(&job);
    std::ranges::sort(jobs, {}, [](const auto* job) { return job->signature; });
    for (const store::ScoreJobRow* job : jobs) {
      if (Status added = add(cell, *job); !added) return added;
    }
    return {};
  }

  std::string text() && { return std::move(text_); }
  size_t cells() const { return cells_; }

 private:
  Status add(const StoredCell& cell, const store::ScoreJobRow& job) {
    const auto rows = side_.source->rows(cell, job);
    if (!rows) return rows.error();
    const auto noise = side_.source->noise(cell, job);
    if (!noise) return noise.error();
    json object = {{"metric", job.metric},
                   {"signature", job.signature},
                   {"postprocess", job.postprocess.text},
                   {"columns", job.columns},
                   {"clusters", job.clusters},
                   {"examples", rows->size()},
                   {"scores", json::object()}};
    for (const store::ScoreRow& score : job.scores) object["scores"][score.name] = score.value;
    if (std::ranges::any_of(*noise, [](double n) { return n > 0; })) object["noise"] = *noise;
    text_ += line_of(object);
    for (const compare::ScoredRow& row : *rows) {
      json example = {{"example", row.ordinal},
                      {"key", row.key},
                      {"cluster", row.cluster},
                      {"values", row.values}};
      if (row.empty) example["empty"] = true;
      text_ += line_of(example);
    }
    return {};
  }

  const compare::StoredSide& side_;
  bool measured_;
  std::string text_;
  size_t cells_ = 0;
  std::set<CellId> written_;
};

}  // namespace

/// Line by line: a cell, its scores, their examples, and at last the digest of all that.
class BaselineDecoder {
 public:
  /// `before`: the bytes in front of the line.
  Status add(const json& line, const std::string& place, std::string_view before) {
    config::Scope scope{place, std::nullopt};
    const Node node(line, "", scope);
    if (node.is_object("a line as one object")) {
      if (begun_ && node.find("sha256")) {
        end(node, before);
      } else if (ended_) {
        node.fail("expected nothing behind the line with the digest");
      } else {
        add(node);
      }
    }
    if (failure_) return *failure_;
    return scope.failure ? Status(*scope.failure) : Status();
  }

  Result<Baseline> finish(const std::string& path) && {
    if (!begun_) return data_error("no baseline: there are no lines", path);
    count_rows();
    if (failure_) return *failure_;
    if (cells_ && *cells_ != std::ssize(baseline_.cells_)) {
      return data_error(fmt::format("lines are missing: {} of {}", baseline_.cells_.size(),
                                    counted(static_cast<size_t>(*cells_), "cell")),
                        path);
    }
    if (damage_) return *damage_;
    if (!ended_) return data_error("lines are missing: the last one, with the digest", path);
    return std::move(baseline_);
  }

 private:
  void add(const Node& node) {
    if (!begun_) {
      begin(node);
    } else if (node.find("cell")) {
      add_cell(node);
    } else if (node.find("signature")) {
      add_score(node);
    } else {
      add_example(node);
    }
  }

  void end(const Node& node, std::string_view before) {
    constexpr std::string_view kKeys[] = {"sha256"};
    node.only_keys(kKeys);
    if (ended_) return node.fail("expected one line with the digest");
    ended_ = true;
    if (any_text(*node.require("sha256")) == sha256_hex(before)) return;
    damage_ = data_error(
        "the lines in front of this one are not those that it is the digest of: somebody changed "
        "or merged them; 'qfs-bench baseline set' writes the file again",
        node.scope().file + "#/sha256");
  }

  void begin(const Node& node) {
    constexpr std::string_view kKeys[] = {"cells", "metrics", "name", "schema", "shown", "sweep"};
    begun_ = true;
    const auto schema = node.require("schema");
    if (schema && schema->text() != kSchema) {
      schema->fail(
          fmt::format("expected '{}': 'qfs-bench baseline set' writes such a file", kSchema));
    }
    if (node.scope().failure) return;
    node.only_keys(kKeys);
    if (const auto name = node.require("name")) baseline_.info_.name = any_text(*name);
    if (const auto sweep = node.require("sweep")) baseline_.info_.sweep = any_text(*sweep);
    if (const auto cells = node.find("cells")) cells_ = cells->integer(0, kMost);
    if (const auto metrics = node.find("metrics"); metrics && !metrics->value().empty()) {
      baseline_.info_.metrics = metrics->names("a list of metrics");
    }
    if (const auto shown = node.find("shown"); shown && !shown->value().empty()) {
      baseline_.info_.shown = shown->names("a list of values");
    }
  }

  void add_cell(const Node& node) {
    constexpr std::string_view kKeys[] = {"another_seed", "cell",       "dataset",
                                          "dataset_name", "dimensions", "made",
                                          "measured",     "method",     "oracle"};
    node.only_keys(kKeys);
    count_rows();
    StoredCell& cell = baseline_.cells_.emplace_back();
    cell.cell.identity = Json{"{}"};
    cell.cell.params = Json{"{}"};
    if (const auto id = node.require("cell")) cell.cell.id = id_of<CellId>(*id);
    if (const auto method = node.require("method")) cell.cell.method = method->text();
    if (const auto id = node.require("dataset")) cell.cell.dataset = id_of<DatasetId>(*id);
    if (const auto name = node.require("dataset_name")) cell.dataset = name->text();
    if (const auto oracle = node.find("oracle")) cell.cell.oracle = oracle->boolean();
    if (const auto seed = node.find("another_seed")) cell.another_seed = seed->boolean();
    if (const auto dimensions = node.require("dimensions")) {
      dimensions->is_object("an object of texts");
      for (const auto& [name, value] : dimensions->members()) {
        cell.dimensions[name] = any_text(value);
      }
    }
    cell.dimensions["cell"] = cell.cell.id.short_hex();
    cell.predict.emplace();
    cell.predict->key.cell = cell.cell.id;
    cell.predict->status = store::Completeness::complete;
    const auto first = std::ranges::find_if(baseline_.cells_, [&](const StoredCell& other) {
      return &other != &cell && other.cell.id == cell.cell.id;
    });
    if (first != baseline_.cells_.end()) {
      cell.scores = first->scores;
      cell.cell.identity = first->cell.identity;
    }
    if (const auto made = node.find("made")) add_made(*made, cell);
    if (const auto measured = node.find("measured")) add_measured(*measured, cell);
    score_ = nullptr;
  }

  void add_made(const Node& node, StoredCell& cell) {
    cell.cell.identity = Json{kLiveIdentity};
    const std::vector<Node> times = node.items("two times");
    if (times.size() != 2) return node.fail("expected two times");
    for (const Node& time : times) {
      if (!utc_seconds(any_text(time))) time.fail("expected a time such as " + wall_clock_utc());
    }
    baseline_.made_[cell.cell.id] = {any_text(times[0]), any_text(times[1])};
  }

  void add_measured(const Node& node, StoredCell& cell) {
    constexpr std::string_view kKeys[] = {"hardware", "values"};
    node.only_keys(kKeys);
    compare::Measured& measured = baseline_.measured_[cell.cell.id];
    if (const auto hardware = node.require("hardware")) {
      measured.machine = any_text(*hardware);
    }
    const auto values = node.require("values");
    if (!values || !values->is_object("an object of numbers")) return;
    for (const auto& [name, value] : values->members()) {
      const std::vector<double> four = numbers(value, 4);
      const bool sound = 0 < four[1] && four[1] <= four[0] && four[0] <= four[2] && four[3] >= 1 &&
                         four[3] <= static_cast<double>(kMost);
      if (!sound)
        return value.fail("expected a median, the smallest and the largest, and how many");
      measured.values[name] = {four[0], four[1], four[2], static_cast<int64_t>(four[3])};
    }
  }

  void add_score(const Node& node) {
    constexpr std::string_view kKeys[] = {"clusters", "columns", "examples",    "metric",
                                          "noise",    "scores",  "postprocess", "signature"};
    node.only_keys(kKeys);
    if (baseline_.cells_.empty()) return node.fail("a score before the first cell");
    count_rows();
    StoredCell& cell = baseline_.cells_.back();
    store::ScoreJobRow& job = cell.scores.emplace_back();
    if (const auto metric = node.require("metric")) job.metric = metric->text();
    if (const auto signature = node.require("signature")) job.signature = signature->text();
    if (const auto chain = node.require("postprocess")) job.postprocess = Json{any_text(*chain)};
    if (const auto columns = node.require("columns")) job.columns = columns->names("columns");
    if (const auto clusters = node.require("clusters")) job.clusters = clusters->integer(0, kMost);
    examples_.reset();
    if (const auto examples = node.find("examples")) examples_ = examples->integer(0, kMost);
    score_place_ = node.scope().file;
    if (const auto scores = node.require("scores")) {
      scores->is_object("an object of numbers");
      for (const auto& [name, value] : scores->members()) {
        job.scores.push_back({name, number(value), std::nullopt});
      }
    }
    const auto [place, added] = baseline_.scores_.try_emplace({cell.cell.id, job.signature});
    if (!added) return node.fail("the cell has this score already");
    score_ = &place->second;
    columns_ = job.columns.size();
    score_->noise.assign(columns_, 0);
    if (const auto noise = node.find("noise")) score_->noise = numbers(*noise, columns_);
  }

  void add_example(const Node& node) {
    constexpr std::string_view kKeys[] = {"cluster", "empty", "example", "key", "values"};
    node.only_keys(kKeys);
    if (score_ == nullptr) return node.fail("an example before its score");
    compare::ScoredRow& row = score_->rows.emplace_back();
    if (const auto ordinal = node.require("example")) {
      row.ordinal = ordinal->integer(0, int64_t{1} << 60);
    }
    if (const auto key = node.require("key")) row.key = any_text(*key);
    if (const auto cluster = node.require("cluster")) row.cluster = any_text(*cluster);
    if (const auto empty = node.find("empty")) row.empty = empty->boolean();
    if (const auto values = node.require("values")) row.values = numbers(*values, columns_);
    const auto& rows = score_->rows;
    if (rows.size() > 1 && rows[rows.size() - 2].ordinal >= row.ordinal) {
      node.fail("examples are in ascending order, each once");
    }
  }

  /// Once the examples of a score are all there.
  void count_rows() {
    if (score_ == nullptr) return;
    store::ScoreJobRow& job = baseline_.cells_.back().scores.back();
    job.n = job.expected = std::ssize(score_->rows);
    score_ = nullptr;
    if (examples_ && *examples_ != job.n) {
      failure_ = data_error(fmt::format("lines are missing: {} of {} of this score", job.n,
                                        counted(static_cast<size_t>(*examples_), "example")),
                            score_place_);
    }
  }

  Baseline baseline_;
  bool begun_ = false;
  bool ended_ = false;
  std::optional<Error> damage_;   ///< told where nothing says more
  std::optional<int64_t> cells_;  ///< that the first line promises
  Baseline::Score* score_ = nullptr;
  std::string score_place_;
  std::optional<int64_t> examples_;  ///< that its line promises
  size_t columns_ = 0;
  std::optional<Error> failure_;  ///< seen after the line that is at fault
};

Result<Baseline> Baseline::decode(std::string_view text, const std::string& path) {
  BaselineDecoder decoder;
  std::string scratch;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string place = fmt::format("{}:{}", path, ++number);
    const auto line = parse_json(text.substr(at, end - at), place, scratch);
    if (!line) {
      Error error = line.error();
      const std::string first = place + ":1:";  // a line has but one
      if (error.where.starts_with(first)) error.where.replace(0, first.size(), place + ":");
      return error;
    }
    if (Status added = decoder.add(*line, place, text.substr(0, at)); !added) {
      Error error = added.error();
      error.kind = ErrorKind::data;
      return error;
    }
    at = end + 1;
  }
  return std::move(decoder).finish(path);
}

Result<Baseline> Baseline::load(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  return decode(*text, path);
}

compare::Cells Baseline::cells() const {
  compare::Cells cells;
  for (const StoredCell& cell : cells_) cells.push_back(&cell);
  return cells;
}

Result<std::vector<compare::ScoredRow>> Baseline::rows(const StoredCell& cell,
                                                       const store::ScoreJobRow& job) {
  return scores_.at({cell.cell.id, job.signature}).rows;
}

Result<std::vector<double>> Baseline::noise(const StoredCell& cell, const store::ScoreJobRow& job) {
  return scores_.at({cell.cell.id, job.signature}).noise;
}

Result<compare::Measured> Baseline::measured(const StoredCell& cell) {
  const auto found = measured_.find(cell.cell.id);
  return found == measured_.end() ? compare::Measured() : found->second;
}

Result<compare::MadeAt> Baseline::made(const StoredCell& cell) {
  const auto found = made_.find(cell.cell.id);
  return found == made_.end() ? compare::MadeAt() : found->second;
}

std::string Baseline::last_message(const StoredCell&) { return {}; }

Result<BaselineContents> write_baseline(const compare::StoredSide& side, const BaselineInfo& info,
                                        bool measured) {
  BaselineContents contents;
  const std::set<std::string> shown = compare::telling_dimensions(side.cells);
  BaselineWriter writer(side, measured);
  for (const StoredCell* cell : side.cells) {
    std::string lack = lack_of(*cell);
    if (!lack.empty()) {
      contents.left_out.push_back({compare::cell_name(*cell, shown), std::move(lack)});
    } else if (Status added = writer.add(*cell); !added) {
      return added.error();
    }
  }
  contents.cells = writer.cells();
  contents.text = line_of({{"schema", kSchema},
                           {"name", info.name},
                           {"sweep", info.sweep},
                           {"metrics", info.metrics},
                           {"shown", info.shown},
                           {"cells", contents.cells}});
  contents.text += std::move(writer).text();
  contents.text += line_of({{"sha256", sha256_hex(contents.text)}});
  return contents;
}

bool holds_baseline(const std::string& path) {
  std::string first(size_t{1} << 16, '\0');  // the metrics stand before the schema
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), static_cast<std::streamsize>(first.size()));
  first.resize(static_cast<size_t>(file.gcount()));
  return first.substr(0, first.find('\n')).find("\"qfs-bench/baseline/") != std::string::npos;
}

bool is_baseline_file(std::string_view path) { return path.ends_with(".jsonl"); }

}  // namespace qfs::gate
