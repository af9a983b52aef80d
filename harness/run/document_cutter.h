// DocumentCutter: cuts the documents of units that go to a program of the user, by a light host
// that counts the tokens of the cell, and puts the ledger of the cut beside the predictions.
//
// Used inside harness/run, and by `method check`. Holds at most one host, which stays for the next
// cell. Not thread-safe. A tokenizer that cannot be opened is the cell's failure.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/api/prediction.h"
#include "harness/host/client.h"
#include "harness/run/host_pool.h"

namespace qfs::run {

/// A cell for a session of the light host that is no method of any sweep; without parameters.
plan::Cell light_cell(const plan::Cell& cell, std::string_view session);
/// The one that cuts the cell's documents: `params` are its local_context and truncate.
plan::Cell cutter_cell(const plan::Cell& cell);

class DocumentCutter {
 public:
  explicit DocumentCutter(HostLauncher& launcher)
      : launcher_(launcher), pool_(launcher, HostReuse::weights) {}
  ~DocumentCutter() { pool_.discard(); }
  DocumentCutter(const DocumentCutter&) = delete;
  DocumentCutter& operator=(const DocumentCutter&) = delete;

  /// Whether the cell's documents are cut on the way.
  static bool cuts(const plan::Cell& cell) { return cell.external && cell.tokenizer; }

  /// Replaces the documents of the request by what local_context leaves of them.
  std::optional<host::HostFailure> cut(const plan::Cell& cell, host::RunRequest& request);
  /// As HostPool has it.
  const std::optional<Error>& not_started() const { return pool_.not_started(); }
  /// The ledger of a prediction of the request that was cut last.
  void add_ledger(host::PredictionReply& row) const;

 private:
  HostLauncher& launcher_;
  HostPool pool_;
  CellId opened_;
  std::map<int64_t, Truncation> ledgers_;  ///< by ordinal
};

}  // namespace qfs::run
