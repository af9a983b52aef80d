// SampleSweep: writes a store with one sweep, place by place, through store::Store, for the tests
// of reports and of the command line. Numbers are chosen by the test. Throws where the store fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/store/reader.h"
#include "harness/store/store.h"
#include "tests/support/temporary_folder.h"

namespace qfs::test {

/// One scored column.
struct SampleScore {
  std::string column;
  double value = 0;
  std::optional<store::ScoreInterval> interval;
  double wobble = 0;  ///< examples are above and below the value by this, in turn
};

/// What a place's timed repetitions measured; a phase without tokens is left out.
struct SampleTiming {
  std::vector<int64_t> decode_ns;  ///< one a repetition; empty: nothing was generated
  int64_t decode_tokens = 0;
  std::vector<int64_t> total_ns;  ///< one a repetition
  std::vector<int64_t> host_bytes;
  std::vector<int64_t> device_bytes;
};

struct SamplePlace {
  std::string method;
  std::string label;          ///< empty: the method's name
  std::string params = "{}";  ///< canonical JSON
  bool oracle = false;
  uint64_t seed = 0;
  size_t dataset = 0;        ///< index of the data set
  int64_t predictions = -1;  ///< how many are there; -1: all
  int64_t empty = 0;         ///< how many of them, the first, are white space
  std::string extra;         ///< of all of them
  double kept = 1;           ///< share of each document that was kept
  bool truncation = true;    ///< whether there is a ledger
  store::FailureKind failure = store::FailureKind::none;
  std::string failure_text;
  std::vector<SampleScore> scores;
  std::string signature = "rouge|profile:sample";
  int64_t clusters = 12;
  bool measured = false;  ///< the sweep asks for it
  std::optional<SampleTiming> timing;
  store::FailureKind measure_failure = store::FailureKind::none;
};

class SampleSweep {
 public:
  explicit SampleSweep(std::string name = "sample_sweep");

  /// `examples` examples of one document each, four segments of 25 bytes, the second is evidence.
  size_t add_dataset(const std::string& name, int64_t examples, const std::string& view = "whole");
  void add(const SamplePlace& place);
  /// Stores the sweep with this "report" (canonical JSON; empty: none) and uses all results.
  void finish(const std::string& report);

  /// A second, different output of an example of the place: evidence of non-determinism.
  void contradict(size_t place, int64_t ordinal);

  store::Reader reader() const;
  store::Store& store() { return store_; }
  const std::string& path() const { return store_.path(); }
  const store::SweepId& id() const { return id_; }
  const std::vector<store::SweepCell>& places() const { return sweep_.cells; }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  struct Used {
    int64_t position = 0;
    store::ResultId result;
  };

  store::ResultId predict(const SamplePlace& place, const store::CellRow& cell);
  store::ResultId measure(const SamplePlace& place, const store::CellRow& cell);
  void score(const SamplePlace& place, const store::CellRow& cell, store::ResultId result);
  void end(store::AttemptId attempt, store::FailureKind failure, const std::string& text);

  TemporaryFolder folder_;
  store::Store store_;
  store::SweepRow sweep_;
  store::SweepId id_;
  std::vector<Dataset> datasets_;
  std::vector<Used> used_;
  std::vector<store::ResultId> predictions_;
};

}  // namespace qfs::test
