#include "harness/cli/score_analyses.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <thread>

#include "harness/cli/analysis_text.h"
#include "harness/cli/output.h"
#include "harness/cli/rouge_tries.h"
#include "harness/score/item_keeper.h"

namespace qfs::cli {
namespace {

Result<std::vector<ScoreItem>> all_items(const ScoreFilesOptions& options, Catalogs& catalogs,
                                         const MetricNeeds& needs) {
  const auto keeper = std::make_shared<score::ItemKeeper>(needs);
  score::TextScorer scorer({keeper});
  const Result<ScoredItems> read = read_items(options, catalogs.datasets(), scorer);
  if (!read) return read.error();
  const auto finished = scorer.finish();
  if (!finished) return finished.error();
  return keeper->items();
}

Error in_signature(const char* which, Error error) {
  error.message = std::string("signature ") + which + ": " + error.message;
  return error;
}

Result<score::SignatureFields> read_signature(std::string_view text, const MetricCatalog& catalog) {
  if (score::is_tool_signature(text)) return score::read_tool_signature(text, catalog);
  return score::read_signature(text, catalog);
}

/// What items must have for the metrics of both computations.
Result<MetricNeeds> joint_needs(const score::Computation& a, const score::Computation& b,
                                const MetricCatalog& catalog) {
  MetricNeeds joint{.references = false};
  for (const score::Computation* side : {&a, &b}) {
    const auto metric = catalog.make(side->name());
    if (!metric) return metric.error();
    const MetricNeeds needs = (*metric)->needs();
    joint.references |= needs.references;
    joint.document |= needs.document;
    joint.query |= needs.query;
  }
  return joint;
}

Result<score::ExplainedDifference> explained_on_texts(const ScoreFilesOptions& options,
                                                      const score::SignatureFields& a,
                                                      const score::SignatureFields& b,
                                                      Catalogs& catalogs) {
  const auto from = score::computation_of(a, catalogs.metrics());
  if (!from) return in_signature("A", from.error());
  const auto to = score::computation_of(b, catalogs.metrics());
  if (!to) return in_signature("B", to.error());
  const Result<MetricNeeds> needs = joint_needs(*from, *to, catalogs.metrics());
  if (!needs) return needs.error();
  const Result<std::vector<ScoreItem>> items = all_items(options, catalogs, *needs);
  if (!items) return items.error();
  return score::explain_difference(*from, *to, *items, catalogs.metrics());
}

}  // namespace

Result<ExitCode> run_match(const ScoreFilesOptions& options, const std::string& targets,
                           const GlobalOptions& global) {
  auto parsed = score::parse_match_targets(targets);
  if (!parsed) return parsed.error();
  Catalogs catalogs;
  catalogs.set_metric_threads(options.threads);
  const Result<std::vector<ScoreItem>> items = all_items(options, catalogs, {});
  if (!items) return items.error();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = options.threads == 0 ? cores : options.threads;
  std::vector<score::MatchReport> reports;
  bool all_found = true;
  for (std::vector<score::MatchTarget>& family : *parsed) {
    Result<score::MatchTries> known = score::MatchTries();
    if (family.front().family == score::MatchFamily::rouge) known = rouge_tries(*items, threads);
    if (!known) return known.error();
    auto report = score::match_published(*items, std::move(family), catalogs.metrics(),
                                         *std::move(known), threads);
    if (!report) return report.error();
    all_found = all_found && !report->matching().empty();
    reports.push_back(*std::move(report));
  }
  Status printed = print_result(global.json ? match_json(reports) : match_text(reports));
  if (!printed) return printed.error();
  return all_found ? ExitCode::ok : ExitCode::regression;
}

Result<ExitCode> run_explain_diff(const ScoreFilesOptions& options,
                                  const std::vector<std::string>& signatures,
                                  const GlobalOptions& global) {
  if (!options.postprocess.empty()) {
    return invalid_argument("--postprocess does not go with --explain-diff: a signature says it");
  }
  Catalogs catalogs;
  const auto a = read_signature(signatures[0], catalogs.metrics());
  if (!a) return in_signature("A", a.error());
  const auto b = read_signature(signatures[1], catalogs.metrics());
  if (!b) return in_signature("B", b.error());
  score::ExplainedDifference explained;
  if (options.any_input()) {
    auto with_texts = explained_on_texts(options, *a, *b, catalogs);
    if (!with_texts) return with_texts.error();
    explained = *std::move(with_texts);
  }
  explained.differences = score::differences(*a, *b);
  Status printed = print_result(global.json ? explain_json(explained) : explain_text(explained));
  if (!printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
