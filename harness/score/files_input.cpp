#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "datasets/predictions/importers/importers.h"
#include "datasets/predictions/prediction_lines.h"
#include "datasets/predictions/suspicious_lines.h"
#include "harness/core/counted.h"
#include "harness/core/suggest.h"
#include "harness/core/text/unicode.h"
#include "harness/score/files.h"
#include "harness/score/item_source.h"
#include "harness/score/reference_records.h"

namespace qfs::score {
namespace {

using datasets::PredictionRecord;

/// "NAME[:split[:view]]".
Result<DatasetRequest> dataset_request(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() > 3 || std::ranges::any_of(parts, &std::string::empty)) {
    return invalid_argument("--refs-dataset '" + text + "' is not NAME[:split[:view]]");
  }
  parts.resize(3);
  DatasetRequest request;
  request.name = parts[0];
  request.split = parts[1];
  request.view = parts[2];
  return request;
}

/// Collects items from records: joins references, checks ids, counts.
class Collector {
 public:
  Collector(const FilesRequest& options, const Postprocess& postprocess, TextScorer& scorer)
      : options_(options), postprocess_(postprocess), scorer_(scorer) {
    items.postprocess = postprocess.chain();
  }

  /// References come from here, and nothing else may be predicted. `label` says so to people.
  void use(std::shared_ptr<const Dataset> dataset, std::string label) {
    dataset_ = std::move(dataset);
    used_.assign(dataset_->examples.size(), false);
    for (size_t i = 0; i < dataset_->examples.size(); ++i) {
      by_key_.emplace(dataset_->examples[i].key, i);
    }
    items.dataset = std::move(label);
  }

  Status add(PredictionRecord record) {
    const auto [first, fresh] = places_.emplace(record.id, record.where);
    if (!fresh) {
      return data_error(fmt::format("id '{}' is already that of {}", record.id, first->second),
                        record.where);
    }
    const Example* example = nullptr;
    if (dataset_) {
      Result<const Example*> found = example_of(record);
      if (!found) return found.error();
      example = *found;
    }
    items.python_lists += record.references_were_repr ? 1 : 0;
    items.other_predictions += record.other_predictions;
    if (!record.prediction) {
      ++items.missing;
      if (missing_.size() < kNamed) missing_.push_back(record.id);
      if (options_.missing != MissingPolicy::zero) return {};
      record.prediction.emplace();
    } else if (record.prediction->empty()) {
      ++items.empty_predictions;
    }
    return score(std::move(record), example);
  }

  /// Examples that no record named; then the policy for all that is missing.
  Status finish() {
    if (dataset_) {
      for (size_t i = 0; i < used_.size(); ++i) {
        if (used_[i]) continue;
        PredictionRecord record;
        record.id = dataset_->examples[i].key;
        record.where = items.dataset;
        if (Status status = add(std::move(record)); !status) return status;
      }
    }
    if (items.missing > 0 && options_.missing == MissingPolicy::error) {
      return data_error(
          fmt::format("{} of {} no prediction: {}{}. Score them as empty with --missing zero, or "
                      "leave them out with --missing skip",
                      items.missing, counted(places_.size(), "item has", "items have"),
                      fmt::join(missing_, ", "),
                      items.missing > static_cast<int64_t>(missing_.size()) ? ", …" : ""));
    }
    if (with_cluster_ > 0 && without_cluster_ > 0) {
      return data_error(fmt::format("{} a cluster and {} none, the first at {}; give all or none",
                                    counted(with_cluster_, "record has", "records have"),
                                    without_cluster_, first_without_cluster_));
    }
    if (grouped_ && !first_without_group_.empty()) {
      return data_error("some records have a group and others none, the first at " +
                        first_without_group_ + "; give all or none");
    }
    if (with_cluster_ > 0) {
      items.unit = dataset_ && !own_clusters_ ? "document" : "cluster";
    } else if (grouped_) {
      items.unit = "group";
      items.clusters = items.groups;
    } else {
      items.clusters = items.ids;
    }
    return {};
  }

  ScoredItems items;

 private:
  static constexpr size_t kNamed = 5;

  Result<const Example*> example_of(const PredictionRecord& record) {
    auto found = by_key_.find(record.id);
    if (found == by_key_.end()) {
      std::vector<std::string> keys;
      for (const Example& example : dataset_->examples) keys.push_back(example.key);
      const auto near = nearest_name(record.id, keys);
      return data_error(
          fmt::format("id '{}' is no example of {}{}", record.id, items.dataset,
                      near ? " (did you mean '" + *near + "'?)" : ", such as '" + keys[0] + "'"),
          record.where);
    }
    used_[found->second] = true;
    return &dataset_->examples[found->second];
  }

  Status score(PredictionRecord record, const Example* example) {
    ScoreItem item;
    item.candidate = *std::move(record.prediction);
    if (scorer_.needs_references()) {
      if (example != nullptr) {
        item.references = example->references;
      } else if (record.references) {
        item.references = *std::move(record.references);
      }
      if (item.references.empty()) {
        return data_error(fmt::format("item '{}' has no reference; --refs or --refs-dataset give "
                                      "them, or --fields references=NAME",
                                      record.id),
                          record.where);
      }
    }
    count_references(item.references);
    if (scorer_.needs_document()) item.document = document_of(record, example);
    if (scorer_.needs_query()) item.query = query_of(record, example);
    if (scorer_.needs_document() && !item.document) return lacks(record, "document");
    if (scorer_.needs_query() && !item.query) return lacks(record, "query");
    item.group = !record.group.empty() ? record.group : example != nullptr ? example->group : "";
    own_clusters_ = own_clusters_ || !record.cluster.empty();
    item.cluster = !record.cluster.empty() ? record.cluster
                   : example != nullptr    ? example->document_id
                                           : "";
    item.language = !record.language.empty() ? record.language
                    : example != nullptr     ? example->language
                                             : "";
    if (item.cluster.empty()) {
      if (without_cluster_++ == 0) first_without_cluster_ = record.where;
    } else {
      ++with_cluster_;
    }
    grouped_ = grouped_ || !item.group.empty();
    if (item.group.empty()) {
      if (first_without_group_.empty()) first_without_group_ = record.where;
      item.group = record.id;
    }
    items.ids.push_back(record.id);
    items.groups.push_back(item.group);
    items.clusters.push_back(item.cluster);
    if (!postprocess_.empty()) {
      const std::string raw = item.candidate;
      if (Status done = apply(postprocess_, item); !done) {
        Error error = done.error();
        error.where = record.where;
        return error;
      }
      items.processed += item.candidate == raw ? 0 : 1;
    }
    items.empty_texts.push_back(piece_kind(item.candidate) == PieceKind::space);
    return scorer_.add(std::move(item), std::move(record.where));
  }

  void count_references(const std::vector<std::string>& references) {
    const bool first = items.ids.empty();
    items.fewest_references =
        first ? references.size() : std::min(items.fewest_references, references.size());
    items.most_references = std::max(items.most_references, references.size());
    items.empty_references += std::ranges::count_if(references, &std::string::empty);
    size_t hash = references.size();
    for (const std::string& reference : references) {
      hash = hash * 31 + std::hash<std::string>()(reference);
    }
    items.reference_hashes.push_back(hash);
  }

  static std::optional<std::string> document_of(PredictionRecord& record, const Example* example) {
    if (record.document) return std::move(record.document);
    if (example == nullptr || example->document.empty()) return std::nullopt;
    return rendered_document(*example);
  }

  static std::optional<std::string> query_of(PredictionRecord& record, const Example* example) {
    if (record.query) return std::move(record.query);
    if (example == nullptr || example->query.empty()) return std::nullopt;
    return example->query;
  }

  static Error lacks(const PredictionRecord& record, std::string_view what) {
    return data_error(fmt::format("item '{}' has no {}, which a metric needs; name its field with "
                                  "--fields {}=NAME",
                                  record.id, what, what),
                      record.where);
  }

  const FilesRequest& options_;
  const Postprocess& postprocess_;
  TextScorer& scorer_;
  std::shared_ptr<const Dataset> dataset_;
  std::unordered_map<std::string, size_t> by_key_;
  std::vector<bool> used_;  ///< examples that a record named
  std::unordered_map<std::string, std::string> places_;
  std::vector<std::string> missing_;
  int64_t with_cluster_ = 0;
  int64_t without_cluster_ = 0;
  std::string first_without_cluster_;
  std::string first_without_group_;
  bool own_clusters_ = false;
  bool grouped_ = false;
};

/// The combinations of options that make sense.
Status check_inputs(const FilesRequest& options) {
  if (!options.records.empty() && !options.predictions.empty()) {
    return invalid_argument("give either --preds (a line file) or a file of records, not both");
  }
  if (options.records.empty() && options.predictions.empty()) {
    return invalid_argument(options.from.empty()
                                ? "give predictions: --preds FILE or a file of records"
                                : "--from " + options.from + " needs the file as its argument");
  }
  if (!options.references.empty() && !options.references_dataset.empty()) {
    return invalid_argument("give either --refs or --refs-dataset");
  }
  const bool lines = !options.predictions.empty() || options.from == datasets::kLineFileImporter;
  if (lines && !options.fields.empty()) {
    return invalid_argument("--fields is about records; a line file has none");
  }
  if (!options.predictions.empty() && (!options.from.empty() || !options.fields.empty())) {
    return invalid_argument("--from and --fields are about records; a line file has none");
  }
  int64_t standard_input = options.predictions == "-" || options.records == "-" ? 1 : 0;
  standard_input += std::ranges::count(options.references, "-");
  if (standard_input > 1) {
    return invalid_argument("standard input ('-') can be read once only");
  }
  return {};
}

/// What a file may be that has no record in its first line.
Error with_hint(Error error, const std::string& path) {
  const bool at_start = error.where.starts_with(path + ":1:") || error.where == path + ":1";
  if (!at_start) return error;
  if (error.message.starts_with("not valid JSON")) {
    error.message +=
        "; records are JSON lines, an object a line; files with a text a line are --preds and "
        "--refs; CSV is not read";
  } else if (error.message.ends_with("found a list")) {
    error.message += "; records are JSON lines, an object a line: jq -c '.[]' makes them of a list";
  }
  return error;
}

/// Line i of a line file is prediction of example i; further lines are only counted.
class LinesOfExamples {
 public:
  LinesOfExamples(const Dataset& dataset, Collector& collector)
      : dataset_(dataset), collector_(collector) {}

  Status add(PredictionRecord record) {
    const auto index = static_cast<size_t>(lines_++);
    suspicious_.look_at(record.prediction.value_or(""), lines_);
    if (index >= dataset_.examples.size()) return {};
    record.id = dataset_.examples[index].key;
    return collector_.add(std::move(record));
  }

  Status finish(const std::string& path, bool joined) {
    const size_t examples = dataset_.examples.size();
    if (joined && static_cast<size_t>(lines_) + 1 == examples) {
      PredictionRecord last;
      last.prediction.emplace();
      last.where = path;
      return add(std::move(last));
    }
    if (static_cast<size_t>(lines_) == examples) return {};
    std::string message = fmt::format(
        "{} has {} lines, {} has {} examples; line i belongs to "
        "example i",
        path, lines_, collector_.items.dataset, examples);
    if (const std::string line = suspicious_.describe(); !line.empty()) {
      message += fmt::format(". In {}, {}", path, line);
    }
    return data_error(std::move(message));
  }

 private:
  const Dataset& dataset_;
  Collector& collector_;
  datasets::SuspiciousLines suspicious_;
  int64_t lines_ = 0;
};

}  // namespace

Result<ScoredItems> read_items(const FilesRequest& options, const DatasetCatalog& datasets,
                               TextScorer& scorer) {
  if (Status status = check_inputs(options); !status) return status.error();
  const Result<Postprocess> postprocess = Postprocess::parse(options.postprocess);
  if (!postprocess) return postprocess.error();
  Collector collector(options, *postprocess, scorer);
  const bool joined = options.from == datasets::kLineFileImporter;
  const std::string& line_file = joined ? options.records : options.predictions;
  std::shared_ptr<const Dataset> dataset;
  if (!options.references_dataset.empty()) {
    Result<DatasetRequest> request = dataset_request(options.references_dataset);
    if (!request) return request.error();
    Result<std::shared_ptr<const Dataset>> loaded = datasets.load(*request);
    if (!loaded) return loaded.error();
    dataset = *loaded;
    const DatasetManifest& manifest = dataset->manifest;
    collector.use(dataset, fmt::format("{}/{}/{}#{}", manifest.name, manifest.split, manifest.view,
                                       dataset->id.short_hex()));
  } else if (line_file.empty() && !options.references.empty()) {
    Result<ReferenceRecords> read = read_reference_records(options.references);
    if (!read) return read.error();
    collector.use(std::move(read->examples), std::move(read->label));
  }
  const datasets::PredictionSink sink = [&](PredictionRecord record) {
    return collector.add(std::move(record));
  };
  Status read;
  if (!line_file.empty()) {
    collector.items.source = "lines of " + line_file;
    if (dataset) {
      LinesOfExamples lines(*dataset, collector);
      read = datasets::read_prediction_line_files(
          line_file, {}, [&](PredictionRecord record) { return lines.add(std::move(record)); });
      if (read) read = lines.finish(line_file, joined);
    } else {
      read = datasets::read_prediction_line_files(line_file, options.references, sink, joined);
    }
  } else if (!options.from.empty()) {
    collector.items.source = options.from + " file " + options.records;
    Result<datasets::ImportSummary> summary =
        datasets::import_predictions(options.from, options.records, options.fields, sink);
    if (summary) {
      collector.items.dropped_repeats = summary->dropped_repeats;
    } else {
      read = summary.error();
    }
  } else {
    collector.items.source = "JSON lines of " + options.records;
    Result<datasets::PredictionFields> fields = datasets::make_prediction_fields(options.fields);
    if (!fields) return fields.error();
    read = datasets::read_prediction_json_lines(options.records, *fields, sink);
    if (!read) read = with_hint(read.error(), options.records);
  }
  if (!read) return read.error();
  if (Status status = collector.finish(); !status) return status.error();
  return std::move(collector.items);
}

}  // namespace qfs::score
