#include "datasets/predictions/importers/importers.h"

#include <unordered_map>
#include <utility>

#include "datasets/predictions/importers/formats.h"
#include "datasets/predictions/one_kind_of_id.h"
#include "datasets/predictions/prediction_lines.h"
#include "harness/core/sha256.h"
#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

/// Of what is scored; two rows with the same id and digest are one row written twice.
std::string digest_of(const PredictionRecord& record) {
  Sha256 sha;
  sha.update(record.prediction ? "p" + *record.prediction : "-");
  for (const std::string& reference : record.references.value_or(std::vector<std::string>())) {
    sha.update("\n" + std::to_string(reference.size()) + " " + reference);
  }
  return sha.hex();
}

/// Passes a row on unless the same one was there before.
class RepeatFilter {
 public:
  explicit RepeatFilter(const PredictionSink& sink) : sink_(sink) {}

  Status add(PredictionRecord record) {
    if (Status same = ids_.add(record); !same) return same;
    std::string digest = digest_of(record);
    const auto [first, fresh] = seen_.emplace(record.id, std::pair(digest, record.where));
    if (fresh) return sink_(std::move(record));
    if (first->second.first == digest) {
      ++dropped_;
      return {};
    }
    return data_error("item '" + record.id + "' is there again with other texts than at " +
                          first->second.second +
                          "; was a second run appended to the file? Keep one run",
                      record.where);
  }

  int64_t dropped() const { return dropped_; }

 private:
  const PredictionSink& sink_;
  OneKindOfId ids_;
  std::unordered_map<std::string, std::pair<std::string, std::string>> seen_;
  int64_t dropped_ = 0;
};

}  // namespace

const std::vector<Importer>& importers() {
  static const std::vector<Importer> list = {
      {"lm-eval", "samples_*.jsonl of --log_samples", read_lm_eval},
      {"inspect-json", "an eval log in JSON", read_inspect_json},
      {"helm", "scenario_state.json", read_helm},
      {"longbench", "pred/MODEL/TASK.jsonl", read_longbench},
      {"scrolls", "a submission: one JSON object from id to text", read_scrolls},
      {"openai-batch", "the output file of a batch", read_openai_batch}};
  return list;
}

Result<ImportSummary> import_predictions(std::string_view name, const std::string& path,
                                         const std::map<std::string, std::string>& fields,
                                         const PredictionSink& sink) {
  std::vector<std::string> names;
  for (const Importer& importer : importers()) {
    names.emplace_back(importer.name);
    if (importer.name != name) continue;
    RepeatFilter filter(sink);
    Status read = importer.read(
        path, fields, [&](PredictionRecord record) { return filter.add(std::move(record)); });
    if (!read) return read.error();
    return ImportSummary{filter.dropped()};
  }
  names.emplace_back(kLineFileImporter);
  return not_found("unknown prediction format '" + std::string(name) + "'" +
                   suggestion(name, names));
}

}  // namespace qfs::datasets
