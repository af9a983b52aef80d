// MemoryPolicy: what a sweep says should follow when a cell runs out of memory: longer cells of the
// same kind are implied and not run, and a batch is halved. Nothing follows unless the sweep says
// so.
//
// Used by run_plan and by what looks at a plan beside a store. Not thread-safe; cannot fail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/memory_kind.h"
#include "harness/plan/plan.h"
#include "harness/store/states.h"

namespace qfs::run {

/// By itself, not as the consequence of another cell's.
constexpr bool ran_out_of_memory(store::FailureKind failure) {
  return failure == store::FailureKind::oom_host || failure == store::FailureKind::oom_device;
}

class MemoryPolicy {
 public:
  explicit MemoryPolicy(const plan::Plan& plan);

  /// Indices into Plan::cells: its order, but of cells that may imply one another the shortest
  /// first.
  const std::vector<size_t>& order() const { return order_; }
  void ran_out(size_t cell);
  /// Why a cell need not run: "local_context=512 ran out of memory"; nothing where it must.
  std::optional<std::string> implied(size_t cell) const;
  /// The batch with which a cell that ran out of memory runs again.
  std::optional<int64_t> smaller_batch(const plan::Cell& cell) const;

 private:
  void sort_kinds(const plan::Plan& plan);

  std::string parameter_;
  bool halves_ = false;
  std::vector<size_t> order_;
  std::vector<std::optional<plan::MemoryKind>> places_;  ///< by cell
  std::map<std::string, int64_t> ran_out_at_;            ///< shortest length, by kind
};

}  // namespace qfs::run
