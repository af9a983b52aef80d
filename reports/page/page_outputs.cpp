#include "reports/page/page_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/api/metric_columns.h"
#include "harness/core/files.h"
#include "harness/core/postprocess.h"
#include "harness/core/utf8.h"
#include "reports/format.h"
#include "reports/page/utf16.h"
#include "reports/trouble.h"
#include "reports/value.h"

namespace qfs::reports {
namespace {

using nlohmann::json;

constexpr size_t kLogEndBytes = 6000;

/// Scores to the digits that a page shows.
json rounded(double number) { return std::round(number * 1e6) / 1e6; }

/// A score job of the place with its rows.
struct Job {
  const store::ScoreJobRow* row = nullptr;
  std::map<int64_t, store::StatisticRow> statistics;
};

/// Bytes become UTF-16 units: [length, bits, length, bits, …].
json runs_json(std::string_view text, const MarkedRuns& runs) {
  json list = json::array();
  Utf16Places places(text);
  size_t bytes = 0;
  size_t before = 0;
  for (const auto& [length, bits] : runs) {
    bytes += length;
    const size_t end = places.at(bytes);
    list.push_back(end - before);
    list.push_back(bits);
    before = end;
  }
  return list;
}

/// Whole segments as [first, last], others as [segment, begin, end] in UTF-16 units.
json kept_json(const Truncation& truncation, const std::vector<Segment>& document) {
  json whole = json::array();
  json parts = json::array();
  for (const ByteSpan& span : truncation.kept) {
    if (span.segment < 0 || span.segment >= static_cast<int64_t>(document.size())) continue;
    const std::string text = rendered(document[static_cast<size_t>(span.segment)]);
    const auto begin = static_cast<size_t>(std::max<int64_t>(span.begin, 0));
    const auto end = static_cast<size_t>(std::max<int64_t>(span.end, span.begin));
    if (begin > 0 || end < text.size()) {
      Utf16Places places(text);
      const size_t first = places.at(begin);
      parts.push_back({span.segment, first, places.at(end)});
    } else if (!whole.empty() && whole.back()[1] == span.segment - 1) {
      whole.back()[1] = span.segment;
    } else {
      whole.push_back({span.segment, span.segment});
    }
  }
  json object = {{"whole", std::move(whole)}};
  if (!parts.empty()) object["parts"] = std::move(parts);
  return object;
}

/// Whether a path that a store names is a log below its folder, as hosts leave them
/// ("NAME.logs/…"), also where links lead: a store may be somebody else's, and other files are
/// nobody's business.
bool is_log(const std::filesystem::path& folder, const std::filesystem::path& path) {
  const auto named_so = [](const std::filesystem::path& way) {
    return way.is_relative() && std::ranges::find(way, "..") == way.end() &&
           way.extension() == ".log" && way.parent_path().extension() == ".logs";
  };
  std::error_code error;
  const auto root = std::filesystem::weakly_canonical(folder, error);
  if (error || !named_so(path)) return false;
  const auto file = std::filesystem::weakly_canonical(folder / path, error);
  return !error && named_so(file.lexically_relative(root));
}

/// The end of the log of the last attempt, where there is one inside the folder.
json log_json(store::Reader& reader, const store::ResultRow& result, const std::string& folder) {
  if (folder.empty()) return nullptr;
  const Result<std::vector<store::AttemptRow>> attempts = reader.attempts(result.id);
  if (!attempts || attempts->empty() || attempts->back().log_path.empty()) return nullptr;
  const std::filesystem::path path = attempts->back().log_path;
  if (!is_log(folder, path)) return nullptr;
  const Result<std::string> text =
      read_file((std::filesystem::path(folder) / path).string(), uint64_t{64} << 20);
  if (!text) {  // whose message has the whole path, which a page that is passed on need not say
    const bool gone = text.error().kind == ErrorKind::not_found;
    return {{"name", path.string()},
            {"problem", gone ? "it is gone" : "no permission, or no file"}};
  }
  std::string end = *text;
  if (end.size() > kLogEndBytes) {
    end.erase(0, end.size() - kLogEndBytes);
    end.erase(0, end.find('\n') + 1);
  }
  return {{"name", path.string()}, {"end", repair_utf8(end).text}, {"bytes", text->size()}};
}

/// Why the place has no outputs, or no times, in the words of the table.
json trouble_json(store::Reader& reader, const PlaceFacts& place, const std::string& folder) {
  json list = json::array();
  const auto add = [&](const char* what, const std::optional<TableCell>& cell,
                       const std::optional<store::ResultRow>& result) {
    if (!cell || cell->status == CellStatus::not_reported) return;
    json object = {{"what", what}, {"state", behind_number({}, *cell)}};
    if (result && !result->failure_text.empty()) object["text"] = result->failure_text;
    if (result) object["log"] = log_json(reader, *result, folder);
    list.push_back(std::move(object));
  };
  const std::optional<TableCell> predict = predict_trouble(place);
  add("outputs", predict, place.predict);
  if (!predict) add("speed and memory", measure_trouble(place), place.measure);
  return list;
}

class PlaceWriter {
 public:
  PlaceWriter(store::Reader& reader, const PagePlace& place, const Table& table,
              const PageRequest& request, Page& page)
      : reader_(reader), place_(place), table_(table), request_(request), page_(page) {}

  Result<json> write() {
    if (Status read = read_jobs(); !read) return read.error();
    json object = place_json();
    if (!place_.facts->predict) return object;
    Result<std::vector<store::OutputRow>> outputs = reader_.outputs(place_.facts->predict->id);
    if (!outputs) return outputs.error();
    for (const store::OutputRow& output : *outputs) {
      const auto position = place_.dataset->index.find(output.ordinal);
      if (position != place_.dataset->index.end()) outputs_[position->second] = &output;
    }
    add_lists(object);
    if (Status added = add_blocks(); !added) return added.error();
    return object;
  }

 private:
  Status read_jobs() {
    for (const store::ScoreJobRow& row : place_.facts->scores) {
      Result<std::vector<store::StatisticRow>> rows = reader_.statistics(row.id);
      if (!rows) return rows.error();
      Job& job = jobs_.emplace_back();
      job.row = &row;
      for (store::StatisticRow& one : *rows) job.statistics[one.ordinal] = std::move(one);
    }
    return choose_marked();
  }

  /// What texts have in common is marked by the first shown score whose words can be.
  Status choose_marked() {
    std::vector<const Job*> order;
    for (const auto& [value, id] : place_.shown) {
      for (const Job& job : jobs_) {
        if (job.row->id == id) order.push_back(&job);
      }
    }
    for (const Job& job : jobs_) order.push_back(&job);
    for (const Job* job : order) {
      const auto tried = request_.match(job->row->signature, "", "");
      if (!tried) return tried.error();
      if (!*tried) continue;
      marked_ = job;
      if (job->row->postprocess.text == "[]") return {};
      // Of a chain with a step that this version does not have, references cannot be made again.
      if (auto chain = Postprocess::of_chain(job->row->postprocess)) chain_ = *std::move(chain);
      return {};
    }
    return {};
  }

  json place_json() const {
    const PlaceFacts& facts = *place_.facts;
    json dimensions = facts.dimensions;
    dimensions.erase("cell");
    json object = {{"title", place_.title},
                   {"dimensions", std::move(dimensions)},
                   {"dataset", place_.dataset_number},
                   {"cell", facts.cell.id.short_hex()}};
    if (facts.cell.oracle) object["oracle"] = true;
    json trouble = trouble_json(reader_, facts, request_.logs_folder);
    if (!trouble.empty()) object["trouble"] = std::move(trouble);
    for (const Job& job : jobs_) {
      object["jobs"].push_back({{"metric", job.row->metric},
                                {"signature", job.row->signature},
                                {"columns", shown_columns(*job.row)}});
    }
    if (marked_ != nullptr) object["marked"] = marked_->row->metric;
    return object;
  }

  static json shown_columns(const store::ScoreJobRow& row) {
    json columns = json::array();
    for (const std::string& column : row.columns) {
      if (!is_statistic(column)) columns.push_back(column);
    }
    return columns;
  }

  /// For the list of examples, an entry an example of the data set: null where there is none.
  void add_lists(json& object) const {
    for (const auto& [value, id] : place_.shown) {
      const auto job = std::ranges::find(jobs_, id, [](const Job& j) { return j.row->id; });
      if (job == jobs_.end()) continue;
      const std::string key = value_spec(table_.values[value].name).key;
      const auto column = std::ranges::find(job->row->columns, key);
      if (column == job->row->columns.end()) continue;
      const auto at = static_cast<size_t>(column - job->row->columns.begin());
      json& list = object["scores"][std::to_string(value)] = json::array();
      for (const store::ExampleRow& row : place_.dataset->rows) {
        const auto own = job->statistics.find(row.ordinal);
        list.push_back(own == job->statistics.end() ? json() : rounded(own->second.values[at]));
      }
    }
    json kept = json::array();
    bool cut = false;
    for (size_t i = 0; i < place_.dataset->rows.size(); ++i) {
      const auto output = outputs_.find(i);
      const std::optional<Truncation>* ledger =
          output == outputs_.end() ? nullptr : &output->second->prediction.truncation;
      if (ledger == nullptr || !*ledger || (*ledger)->document_tokens == 0) {
        kept.push_back(nullptr);
        continue;
      }
      const double share = static_cast<double>((*ledger)->kept_tokens) /
                           static_cast<double>((*ledger)->document_tokens);
      cut = cut || share < 1;
      kept.push_back(std::round(share * 1000) / 1000);
    }
    if (cut) object["kept"] = std::move(kept);
    json missing = json::array();
    for (size_t i = 0; i < place_.dataset->rows.size(); ++i) {
      if (!outputs_.contains(i)) missing.push_back(i);
    }
    if (!missing.empty()) object["missing"] = std::move(missing);
  }

  Status add_blocks() {
    const size_t count = place_.dataset->rows.size();
    for (size_t begin = 0; begin < count; begin += kBlockExamples) {
      json block = json::array();
      for (size_t i = begin; i < std::min(begin + kBlockExamples, count); ++i) {
        const auto output = outputs_.find(i);
        if (output == outputs_.end()) {
          block.push_back(nullptr);
          continue;
        }
        Result<json> object = output_json(i, *output->second);
        if (!object) return object.error();
        block.push_back(*std::move(object));
      }
      page_.blocks.emplace_back(fmt::format("outputs-{}-{}", place_.number, begin / kBlockExamples),
                                block_text(block));
    }
    return {};
  }

  Result<json> output_json(size_t position, const store::OutputRow& output) {
    const Prediction& prediction = output.prediction;
    json object = {{"text", prediction.text}, {"finish", to_string(prediction.finish)}};
    if (prediction.tokens_in > 0) object["tokens_in"] = prediction.tokens_in;
    if (prediction.tokens_out > 0) object["tokens_out"] = prediction.tokens_out;
    if (prediction.truncation) {
      object["document_tokens"] = prediction.truncation->document_tokens;
      object["kept_tokens"] = prediction.truncation->kept_tokens;
      if (const auto document = place_.dataset->document_of[position]) {
        object["kept"] = kept_json(*prediction.truncation, place_.dataset->documents[*document]);
      }
    }
    for (const Job& job : jobs_) {
      json& values = object["scores"].emplace_back();
      const auto own = job.statistics.find(output.ordinal);
      if (own == job.statistics.end()) continue;
      values = json::array();
      for (size_t i = 0; i < job.row->columns.size(); ++i) {
        if (!is_statistic(job.row->columns[i])) values.push_back(rounded(own->second.values[i]));
      }
    }
    if (marked_ == nullptr) return object;
    if (Status marked = add_marks(position, output, object); !marked) return marked.error();
    return object;
  }

  /// Of the texts that were scored: after postprocessing, where it changed them.
  Status add_marks(size_t position, const store::OutputRow& output, json& object) {
    const auto own = marked_->statistics.find(output.ordinal);
    if (own == marked_->statistics.end()) return {};
    std::string text = output.prediction.text;
    if (!own->second.processed_sha256.empty()) {
      Result<std::optional<std::string>> processed = reader_.text(own->second.processed_sha256);
      if (!processed) return processed.error();
      if (!*processed) return {};
      text = **std::move(processed);
      object["scored"] = text;
    }
    text = repair_utf8(text).text;
    const std::vector<std::string>& references = place_.dataset->texts[position].references;
    for (size_t i = 0; i < references.size(); ++i) {
      Result<std::string> reference = chain_.reference(references[i]);
      if (!reference) return reference.error();
      if (*reference != references[i]) object["references"][std::to_string(i)] = *reference;
      const std::string scored = repair_utf8(*reference).text;
      auto matches = request_.match(marked_->row->signature, text, scored);
      if (!matches) return matches.error();
      if (!*matches) return {};
      object["marks"].push_back(
          {runs_json(text, (*matches)->prediction), runs_json(scored, (*matches)->reference)});
    }
    return {};
  }

  store::Reader& reader_;
  const PagePlace& place_;
  const Table& table_;
  const PageRequest& request_;
  Page& page_;
  std::vector<Job> jobs_;
  const Job* marked_ = nullptr;
  Postprocess chain_;
  std::map<size_t, const store::OutputRow*> outputs_;  ///< by position in the data set
};

}  // namespace

Result<json> add_place(store::Reader& reader, const PagePlace& place, const Table& table,
                       const PageRequest& request, Page& page) {
  return PlaceWriter(reader, place, table, request, page).write();
}

}  // namespace qfs::reports
