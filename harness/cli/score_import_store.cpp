#include "harness/cli/chosen_places.h"
#include "harness/cli/score_import.h"
#include "harness/store/store.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {
namespace {

/// The cell that a system of the file names.
Result<const reports::PlaceFacts*> place_of(const reports::SweepFacts& facts,
                                            const std::string& system) {
  if (system.empty() && facts.places.size() > 1) {
    return invalid_argument(
        "the scores name no system; --system method=lead,local_context=512, or a field 'system' "
        "in every record, says which cell they belong to");
  }
  auto places = matching_places(facts, "", system);
  if (!places) return places.error();
  if (places->size() > 1) return several_places(*places);
  if (!places->front()->predict) {
    return not_found("the cell of system '" + system + "' has no predictions");
  }
  return places->front();
}

}  // namespace

Result<int64_t> store_imported_scores(const std::vector<score::ImportedScores>& scores,
                                      const ScoreImportOptions& options,
                                      const std::string& store_path) {
  Result<store::Store> store = store::Store::open(store_path, {.create = false});
  if (!store) return store.error();
  Result<store::Reader> reader = store::Reader::open(store_path);
  if (!reader) return reader.error();
  const Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, options.sweep);
  if (!facts) return facts.error();
  // Everything is checked before anything is written.
  std::vector<store::ScoreJob> jobs;
  for (const score::ImportedScores& imported : scores) {
    for (const score::ImportedSeries& series : imported.systems) {
      const auto place = place_of(*facts, series.system);
      if (!place) return place.error();
      const auto rows = reader->examples((*place)->cell.dataset);
      if (!rows) return rows.error();
      Result<store::ScoreJob> job = score::imported_job(*imported.metric, series, (*place)->cell,
                                                        *(*place)->predict, *rows, options.partial);
      if (!job) return job.error();
      jobs.push_back(*std::move(job));
    }
  }
  for (const store::ScoreJob& job : jobs) {
    if (Status put = store->put_scores(job); !put) return put.error();
  }
  return static_cast<int64_t>(jobs.size());
}

}  // namespace qfs::cli
