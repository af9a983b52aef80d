// The steps of a merge, as SQL over two attached databases: `main`, which is written, and `source`,
// a checked private copy. Private to merge*.cpp. Each runs inside the caller's transaction, adds to
// the outcome and reports through the connection's sticky failure.
#pragma once

#include <string>
#include <string_view>

#include "harness/store/merge.h"
#include "harness/store/sqlite.h"

namespace qfs::store {

/// Runs a statement and returns how many rows it changed.
template <class... Args>
int64_t rows_changed(Connection& db, std::string_view sql, const Args&... args) {
  return db.run(sql, args...) ? db.changes() : 0;
}

/// Temporary tables that say which row here is which row there. Outside transactions.
void make_merge_tables(Connection& db);

/// Data sets, texts, environments, cells, sweeps. Fails with `data` where two rows of one id say
/// different things.
void merge_what_was_asked(Connection& db, const std::string& source, MergeOutcome& outcome);

/// Results and attempts, with the tables that map them. `logs`: what leads from the destination's
/// folder to the source's, empty where nothing does. A running attempt there is abandoned here: its
/// process no longer holds the source.
void merge_attempts(Connection& db, const std::string& logs, MergeOutcome& outcome);

void merge_outputs(Connection& db, MergeOutcome& outcome);
void merge_repetitions(Connection& db, MergeOutcome& outcome);
void merge_scores(Connection& db, MergeOutcome& outcome);
/// Which results the sweeps show: those here, unless one from there has more.
void merge_shown_results(Connection& db);
void merge_events(Connection& db);

/// Copies trained files that are not here into this store's folder and notes their places in
/// temp.merge_file. Before the transaction: a file that no row names is harmless.
Status copy_trained_files(Connection& db, const std::string& destination, const std::string& source,
                          MergeOutcome& outcome);
/// Artifacts, curves and costs.
void merge_trainings(Connection& db, MergeOutcome& outcome);

/// Everything there that contradicts what is here.
void find_conflicts(Connection& db, MergeOutcome& outcome);

}  // namespace qfs::store
