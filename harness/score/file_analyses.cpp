#include "harness/score/file_analyses.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "harness/score/item_keeper.h"
#include "harness/score/rouge_tries.h"

namespace qfs::score {
namespace {

Error in_signature(const char* which, Error error) {
  error.message = std::string("signature ") + which + ": " + error.message;
  return error;
}

Result<SignatureFields> read_any_signature(std::string_view text, const MetricCatalog& catalog) {
  if (is_tool_signature(text)) return read_tool_signature(text, catalog);
  return read_signature(text, catalog);
}

/// What items must have for the metrics of both computations.
Result<MetricNeeds> joint_needs(const Computation& a, const Computation& b,
                                const MetricCatalog& catalog) {
  MetricNeeds joint{.references = false};
  for (const Computation* side : {&a, &b}) {
    const auto metric = catalog.make(side->name());
    if (!metric) return metric.error();
    const MetricNeeds needs = (*metric)->needs();
    joint.references |= needs.references;
    joint.document |= needs.document;
    joint.query |= needs.query;
  }
  return joint;
}

Result<ExplainedDifference> explained_on_texts(const FilesRequest& request,
                                               const SignatureFields& a, const SignatureFields& b,
                                               const DatasetCatalog& datasets,
                                               const MetricCatalog& metrics) {
  const auto from = computation_of(a, metrics);
  if (!from) return in_signature("A", from.error());
  const auto to = computation_of(b, metrics);
  if (!to) return in_signature("B", to.error());
  const Result<MetricNeeds> needs = joint_needs(*from, *to, metrics);
  if (!needs) return needs.error();
  const Result<KeptItems> kept = keep_items(request, datasets, *needs);
  if (!kept) return kept.error();
  return explain_difference(*from, *to, kept->items, metrics);
}

}  // namespace

Result<KeptItems> keep_items(const FilesRequest& request, const DatasetCatalog& datasets,
                             const MetricNeeds& needs) {
  const auto keeper = std::make_shared<ItemKeeper>(needs);
  TextScorer scorer({keeper});
  Result<ScoredItems> read = read_items(request, datasets, scorer);
  if (!read) return read.error();
  const auto finished = scorer.finish();
  if (!finished) return finished.error();
  return KeptItems{std::move(read->ids), keeper->items()};
}

Result<std::vector<MatchReport>> match_files(const FilesRequest& request,
                                             const std::string& targets,
                                             const DatasetCatalog& datasets,
                                             const MetricCatalog& metrics) {
  auto parsed = parse_match_targets(targets);
  if (!parsed) return parsed.error();
  const Result<KeptItems> kept = keep_items(request, datasets, {});
  if (!kept) return kept.error();
  const std::vector<ScoreItem>& items = kept->items;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = request.threads == 0 ? cores : request.threads;
  std::vector<MatchReport> reports;
  for (std::vector<MatchTarget>& family : *parsed) {
    Result<MatchTries> known = MatchTries();
    if (family.front().family == MatchFamily::rouge) known = rouge_tries(items, threads);
    if (!known) return known.error();
    auto report = match_published(items, std::move(family), metrics, *std::move(known), threads);
    if (!report) return report.error();
    reports.push_back(*std::move(report));
  }
  return reports;
}

Result<ExplainedDifference> explain_files(const FilesRequest& request,
                                          const std::vector<std::string>& signatures,
                                          const DatasetCatalog& datasets,
                                          const MetricCatalog& metrics) {
  const auto a = read_any_signature(signatures[0], metrics);
  if (!a) return in_signature("A", a.error());
  const auto b = read_any_signature(signatures[1], metrics);
  if (!b) return in_signature("B", b.error());
  ExplainedDifference explained;
  if (request.any_input()) {
    auto with_texts = explained_on_texts(request, *a, *b, datasets, metrics);
    if (!with_texts) return with_texts.error();
    explained = *std::move(with_texts);
  }
  explained.differences = differences(*a, *b);
  return explained;
}

}  // namespace qfs::score
