#include "harness/cli/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "harness/cli/cell_names.h"
#include "harness/cli/output.h"
#include "harness/cli/progress_printer.h"
#include "harness/cli/store_path.h"
#include "harness/compare/cells.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/store/store_lock.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {
namespace {

using Clock = std::chrono::steady_clock;
using store::Completeness;

constexpr std::chrono::milliseconds kBetweenLooks{500};

/// What one look at the store saw of the predictions.
struct Look {
  std::map<int64_t, store::ResultRow> results;  ///< by position
  Clock::time_point at = Clock::now();

  /// Outputs that are there, and those that cells which have not ended lack.
  std::pair<int64_t, int64_t> outputs() const {
    int64_t done = 0;
    int64_t missing = 0;
    for (const auto& [position, result] : results) {
      done += result.done;
      if (result.status != Completeness::failed) missing += result.expected - result.done;
    }
    return {done, missing};
  }
  int64_t count(Completeness status) const {
    return std::ranges::count_if(results, [&](const auto& r) { return r.second.status == status; });
  }
};

std::string end_text(const store::ResultRow& result) {
  if (result.status == Completeness::complete) return counted(result.done, "output");
  return fmt::format("{}: {}", to_string(result.failure), result.failure_text);
}

class Watch {
 public:
  Watch(store::Reader& reader, const reports::SweepFacts& facts, std::unique_ptr<ProgressSink> sink)
      : reader_(reader), facts_(facts), sink_(std::move(sink)) {
    compare::Cells cells;
    for (const reports::PlaceFacts& place : facts.places) cells.push_back(&place);
    telling_ = compare::telling_dimensions(cells);
  }

  /// Looks once and tells what has ended since the last time.
  Status look() {
    Look now;
    const Result<std::vector<store::SweepResult>> results =
        reader_.results_of_sweep(facts_.sweep.id);
    if (!results) return results.error();
    for (const store::SweepResult& used : *results) {
      if (used.result.key.kind == store::ResultKind::predict) {
        now.results[used.position] = used.result;
      }
    }
    if (!first_) first_ = now;
    sink_->status("");
    for (const auto& [position, result] : now.results) tell_end(now, position, result);
    last_ = std::move(now);
    sink_->status(status_text());
    return {};
  }

  bool all_complete() const {
    return last_.count(Completeness::complete) == static_cast<int64_t>(facts_.places.size());
  }

  std::string summary() const {
    const auto all = static_cast<int64_t>(facts_.places.size());
    const int64_t failed = last_.count(Completeness::failed);
    return fmt::format("{}: {} of {} complete{}", facts_.sweep.name,
                       last_.count(Completeness::complete), counted(all, "cell is", "cells are"),
                       failed == 0 ? "" : fmt::format(", {} failed", failed));
  }

  void clear() { sink_->status(""); }

 private:
  std::string name(int64_t position) const {
    return compare::cell_name(facts_.places[static_cast<size_t>(position)], telling_);
  }

  void tell_end(const Look& now, int64_t position, const store::ResultRow& result) {
    const bool ended =
        result.status == Completeness::complete || result.status == Completeness::failed;
    const auto before = last_.results.find(position);
    const bool known = before != last_.results.end() && before->second.status == result.status;
    if (!ended || known || now.at == first_->at) return;
    const std::string text = fmt::format("{}: {}", name(position), end_text(result));
    if (result.status == Completeness::failed) {
      sink_->problem(text);
    } else {
      sink_->line(text);
    }
  }

  /// "small: 3 of 8 cells are complete; slow words=5 4/12; 2.5 outputs/s, 12 s left".
  std::string status_text() const {
    std::string text = summary();
    for (const auto& [position, result] : last_.results) {
      if (!result.running) continue;
      text += fmt::format("; {} {}/{}", name(position), result.done, result.expected);
    }
    const double seconds = std::chrono::duration<double>(last_.at - first_->at).count();
    const auto [done, missing] = last_.outputs();
    const auto made = static_cast<double>(done - first_->outputs().first);
    if (made <= 0 || seconds <= 0) return text;
    return text + fmt::format("; {:.1f} outputs/s, {} left", made / seconds,
                              duration_text(static_cast<double>(missing) * seconds / made));
  }

  store::Reader& reader_;
  const reports::SweepFacts& facts_;
  std::unique_ptr<ProgressSink> sink_;
  std::set<std::string> telling_;
  std::optional<Look> first_;
  Look last_;
};

}  // namespace

Result<ExitCode> watch_cells(const GlobalOptions& global, const std::string& run) {
  const Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  Result<store::Reader> reader = open_existing_store(global);
  if (!reader) return reader.error();
  const Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, run);
  if (!facts) return facts.error();
  Watch watch(*reader, *facts, standard_progress_sink(global.quiet));
  while (true) {
    const bool at_work = store::StoreLock::held(*path);  // before the look: nothing is missed
    if (Status looked = watch.look(); !looked) return looked.error();
    if (!at_work) break;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  watch.clear();
  const Status printed = print_result(terminal_safe(watch.summary() + "; nothing runs\n"));
  if (!printed) return printed.error();
  return watch.all_complete() ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace qfs::cli
