// The largest memory of a repetition's units, and its rows in the store.
//
// Used by measure_cell. A peak that no unit reported has no row. Not thread-safe.
#pragma once

#include <vector>

#include "harness/host/messages.h"
#include "harness/store/rows.h"

namespace qfs::run {

class MemoryPeaks {
 public:
  void add(const host::DoneReply& done);
  /// Kinds as in store::MemoryRow.
  std::vector<store::MemoryRow> rows() const;

 private:
  int64_t resident_ = 0;
  host::DeviceCounts device_;
};

}  // namespace qfs::run
