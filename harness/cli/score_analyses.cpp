#include "harness/cli/score_analyses.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "harness/cli/analysis_text.h"
#include "harness/cli/output.h"
#include "harness/cli/rouge_tries.h"
#include "harness/score/item_keeper.h"

namespace qfs::cli {
namespace {

Result<std::vector<ScoreItem>> all_items(const ScoreFilesOptions& options, Catalogs& catalogs) {
  const auto keeper = std::make_shared<score::ItemKeeper>();
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

}  // namespace

Result<ExitCode> run_match(const ScoreFilesOptions& options, const std::string& targets,
                           const GlobalOptions& global) {
  auto parsed = score::parse_match_targets(targets);
  if (!parsed) return parsed.error();
  Catalogs catalogs;
  const Result<std::vector<ScoreItem>> items = all_items(options, catalogs);
  if (!items) return items.error();
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = options.threads == 0 ? cores : options.threads;
  Result<score::MatchTries> rouge = rouge_tries(*items, threads);
  if (!rouge) return rouge.error();
  const auto report = score::match_published(*items, *std::move(parsed), catalogs.metrics(),
                                             *std::move(rouge), threads);
  if (!report) return report.error();
  Status printed = print_result(global.json ? match_json(*report) : match_text(*report));
  if (!printed) return printed.error();
  return ExitCode::ok;
}

Result<ExitCode> run_explain_diff(const ScoreFilesOptions& options,
                                  const std::vector<std::string>& signatures,
                                  const GlobalOptions& global) {
  if (!options.postprocess.empty()) {
    return invalid_argument("--postprocess does not go with --explain-diff: a signature says it");
  }
  Catalogs catalogs;
  const auto a = score::read_signature(signatures[0], catalogs.metrics());
  if (!a) return in_signature("A", a.error());
  const auto b = score::read_signature(signatures[1], catalogs.metrics());
  if (!b) return in_signature("B", b.error());
  std::vector<ScoreItem> items;
  if (options.any_input()) {
    Result<std::vector<ScoreItem>> read = all_items(options, catalogs);
    if (!read) return read.error();
    items = *std::move(read);
  }
  const auto explained = score::explain_difference(*a, *b, items, catalogs.metrics());
  if (!explained) return explained.error();
  Status printed = print_result(global.json ? explain_json(*explained) : explain_text(*explained));
  if (!printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
