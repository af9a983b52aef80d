#include "harness/claims/evaluate.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "datasets/statistics.h"
#include "harness/claims/counts.h"
#include "harness/core/files.h"
#include "harness/core/line_reader.h"

namespace qfs::claims {
namespace {

Answer missing(std::string why) { return {std::nullopt, std::move(why)}; }

Answer number(double value, int64_t n = 0) {
  Answer answer;
  answer.measured = Measured{};
  answer.measured->value = value;
  answer.measured->n = n;
  return answer;
}

/// Predictions that are records with their own references and ids; others are lines of text.
constexpr std::string_view kRecordEndings[] = {".jsonl", ".jsonl.gz", ".jsonl.zst"};
/// References that a registered data set has: "dataset:qmsum:test".
constexpr std::string_view kOfDataset = "dataset:";

/// Lines that are not empty, in all files below `folder` that match.
Result<int64_t> count_records(const std::string& folder, const std::vector<std::string>& patterns) {
  int64_t records = 0;
  for (const std::string& pattern : patterns) {
    const Result<std::vector<std::string>> names = glob_files(folder, pattern);
    if (!names) return names.error();
    if (names->empty()) return not_found("no file below '" + folder + "' matches " + pattern);
    for (const std::string& name : *names) {
      Result<LineReader> lines = LineReader::open(folder + "/" + name);
      if (!lines) return lines.error();
      std::string line;
      Result<bool> more = lines->next(line);
      for (; more && *more; more = lines->next(line)) records += line.empty() ? 0 : 1;
      if (!more) return more.error();
    }
  }
  return records;
}

}  // namespace

score::FilesRequest files_request(const FilesQuery& files, const std::string& folder) {
  const std::filesystem::path below(folder);
  score::FilesRequest request;
  const bool records = std::ranges::any_of(
      kRecordEndings, [&](std::string_view ending) { return files.predictions.ends_with(ending); });
  (records ? request.records : request.predictions) = (below / files.predictions).string();
  if (files.references.starts_with(kOfDataset)) {
    request.references_dataset = files.references.substr(kOfDataset.size());
  } else if (!files.references.empty()) {
    request.references = {(below / files.references).string()};
  }
  return request;
}

const Result<score::FileScores>& Evaluator::file_scores(const FilesQuery& files,
                                                        const std::string& metric) {
  const std::tuple key(files.folder, files.predictions, files.references, metric);
  const auto known = files_.find(key);
  if (known != files_.end()) return known->second;
  score::FilesRequest request = files_request(files, lookups_.place_of(files.folder));
  request.metrics = {metric};
  request.missing = missing_;
  const Surroundings& here = lookups_.surroundings();
  return files_.emplace(key, score::score_files(request, here.datasets, here.metrics))
      .first->second;
}

Result<Answer> Evaluator::measure_score(const Claim& claim) {
  if (claim.files) {
    const Result<score::FileScores>& scores = file_scores(*claim.files, claim.metric);
    if (!scores) return missing(scores.error().to_string());
    const score::FileScore& own = scores->scores.front();
    const auto column = std::ranges::find(own.score.columns, claim.what);
    const auto at = static_cast<size_t>(column - own.score.columns.begin());
    Answer answer = number(own.score.values[at].value * claim.scale,
                           static_cast<int64_t>(scores->items.ids.size()));
    answer.measured->missing = scores->items.missing;
    if (at < own.intervals.columns.size() && own.intervals.columns[at]) {
      const store::ScoreInterval& interval = *own.intervals.columns[at];
      answer.measured->interval = Bounds{interval.low * claim.scale, interval.high * claim.scale};
    }
    return answer;
  }
  if (results_ == nullptr) return missing("no run in the store");
  const auto method = lookups_.method(*claim.method);
  const auto data = lookups_.requests(*claim.dataset);
  const auto metric = lookups_.metric(claim.metric);
  if (!method || !data || !metric) return missing("no run in the store");  // obstacles say more
  return results_->score(*method, data->front(), **metric, claim);
}

Result<Answer> Evaluator::measure_data(const Claim& claim) {
  if (claim.files) {
    const Result<int64_t> records =
        count_records(lookups_.place_of(claim.files->folder), claim.files->records);
    if (!records) return missing(records.error().to_string());
    return number(static_cast<double>(*records) * claim.scale);
  }
  const auto requests = lookups_.requests(*claim.dataset);
  if (!requests) return missing(requests.error().message);
  if (claim.what == "document_tokens") {
    if (results_ == nullptr) return missing("no run in the store");
    const auto lead = lookups_.method({"lead", "", claim.dataset->tokenizer, {}});
    if (!lead) return missing(lead.error().message);
    return results_->document_tokens(*lead, *requests);
  }
  std::vector<std::shared_ptr<const Dataset>> splits;
  for (const DatasetRequest& request : *requests) {
    auto data = lookups_.surroundings().datasets.load(request);
    if (!data) return missing(data.error().to_string());
    splits.push_back(*std::move(data));
  }
  const Result<double> value = datasets::statistic(claim.what, splits);
  if (!value) return missing(value.error().message);
  return number(*value * claim.scale);
}

Result<Answer> Evaluator::measure_longest(const Claim& claim) {
  const auto method = lookups_.method(*claim.method);
  const auto data = lookups_.requests(*claim.dataset);
  if (results_ == nullptr || !method || !data) return missing("no run in the store");
  return results_->longest(*method, data->front(), *claim.longest);
}

Result<Answer> Evaluator::measure(const Claim& claim) {
  switch (claim.kind) {
    case ClaimKind::score:
      return measure_score(claim);
    case ClaimKind::data:
      return measure_data(claim);
    case ClaimKind::count: {
      const Result<double> count = count_of(claim);
      if (!count) return missing(count.error().message);
      return number(*count * claim.scale);
    }
    case ClaimKind::longest:
      return measure_longest(claim);
    case ClaimKind::stated:
      break;
  }
  return missing(claim.why);
}

Result<Finding> Evaluator::evaluate(const Claim& claim) {
  Finding finding;
  finding.claim = &claim;
  if (const auto obstacle = lookups_.obstacle(claim)) {
    finding.state = obstacle->for_good ? State::not_runnable : State::not_run;
    finding.detail = obstacle->why;
    return finding;
  }
  Result<Answer> answer = measure(claim);
  if (!answer) return answer.error();
  if (!answer->measured) {
    finding.detail = answer->missing;
    return finding;
  }
  finding.measured = std::move(answer->measured);
  Measured judged = *finding.measured;
  // The same outputs give the same number or another; what a metric draws is a matter of tolerance.
  if (claim.files) judged.interval.reset();
  finding.state = claim.kind == ClaimKind::longest
                      ? compare_length(claim.printed, claim.longest->tries, judged)
                      : compare(claim.printed, claim.tolerance, judged);
  return finding;
}

}  // namespace qfs::claims
