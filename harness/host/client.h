// HostClient: the driver's side of one host process. It starts the program, speaks the session
// protocol, enforces time and memory limits, and turns every way of failing into a typed verdict.
//
// Used by harness/run and method check. Not thread-safe. After a failure whose `host_usable` is
// false the object may only be destroyed (which kills what is left of the process group).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/result.h"
#include "harness/core/child_process.h"
#include "harness/host/channel.h"
#include "harness/host/messages.h"

namespace qfs::host {

/// Why a request did not succeed. The first five are results of a cell; `signal` is tried once
/// more.
enum class Verdict { method_error, data_error, oom_device, oom_host, timeout, signal };

struct HostFailure {
  Verdict verdict = Verdict::method_error;
  Error error;
  bool host_usable = false;  ///< the process lives and accepts an `open`
};

struct UnitResults {
  /// One per example, in the order of the request; after a failure those that came before it.
  std::vector<PredictionReply> predictions;
  std::vector<PhaseReply> phases;
  DoneReply done;
};

struct HostLimits {
  int64_t memory_bytes = 0;  ///< anonymous resident memory; 0: none
  /// A host that has sent heartbeats, says nothing for so long and uses no processor time
  /// meanwhile hangs.
  std::chrono::seconds silence{120};
};

/// Takes a prediction as it arrives; an error ends the request.
using RowSink = std::function<Status(const PredictionReply&)>;

/// Takes a point of the training curve; likewise.
using PointSink = std::function<Status(const TrainingPoint&)>;

class HostClient {
 public:
  using Seconds = std::chrono::seconds;

  static Result<HostClient> start(const ChildOptions& child, HostLimits limits);

  /// `probe` is filled; another version of the protocol is a failure.
  std::optional<HostFailure> probe(const RuntimeOptions& runtime, Seconds timeout,
                                   ProbeReply& probe);
  std::optional<HostFailure> describe(Seconds timeout, Description& description);

  /// The answer to a question about a model, a JSON object.
  Result<Json> ask(const ModelRequest& request, Seconds timeout);

  /// std::nullopt: success. A zero timeout means none.
  std::optional<HostFailure> open(const OpenRequest& request, Seconds timeout);
  /// What a host says is checked against the unit: one prediction an example, a ledger of places in
  /// its document, each phase once.
  std::optional<HostFailure> run(const RunRequest& request, Visibility visibility, Seconds timeout,
                                 UnitResults& results, const RowSink& on_row = {});
  /// `replies`: one per item, in the order of the request.
  std::optional<HostFailure> score(const ScoreRequest& request, Seconds timeout,
                                   std::vector<ScoreReply>& replies);
  /// `added`: what the host says about the texts.
  std::optional<HostFailure> add_texts(const TextsRequest& request, Seconds timeout,
                                       AddedTexts& added);
  /// As above for an open metric.
  std::optional<HostFailure> score(const PairsRequest& request, Seconds timeout,
                                   std::vector<ScoreReply>& replies);
  /// Hands examples, with their references, to the open training, in messages of bounded size.
  std::optional<HostFailure> learn(std::span<const NumberedExample> examples, bool development,
                                   Visibility visibility, Seconds timeout);
  /// Trains; points come as they are made, and an error of the sink ends the request.
  std::optional<HostFailure> fit(const FitRequest& request, Seconds timeout,
                                 const PointSink& on_point, TrainingOutcome& outcome);
  std::optional<HostFailure> close(Seconds timeout);

  pid_t pid() const { return child_->pid(); }

 private:
  HostClient(ChildProcess child, HostLimits limits);

  template <class Handler>
  std::optional<HostFailure> exchange(Request request, Visibility visibility, Seconds timeout,
                                      Handler&& handle);
  /// `request` asks for one score each of `ordinals`.
  std::optional<HostFailure> collect_scores(Request request, std::span<const int64_t> ordinals,
                                            Seconds timeout, std::vector<ScoreReply>& replies);
  std::optional<HostFailure> watch_limits(std::chrono::steady_clock::time_point sent,
                                          Seconds timeout);
  bool hangs();
  HostFailure death();

  std::unique_ptr<ChildProcess> child_;
  std::unique_ptr<LineChannel> channel_;
  HostLimits limits_;
  bool watches_memory_ = true;
  int64_t next_id_ = 1;
  int64_t cgroup_oom_kills_ = 0;
  bool beats_ = false;  ///< it has sent a heartbeat
  std::chrono::steady_clock::time_point alive_;
  int64_t processor_ticks_ = 0;
};

/// Asks a fresh host: `start() -> Result<HostClient>`, `ask(HostClient&)` -> a failure or none. A
/// host that a signal ends is replaced once, as everywhere.
template <class Start, class Ask>
std::optional<HostFailure> ask_fresh_host(const Start& start, const Ask& ask) {
  const auto once = [&]() -> std::optional<HostFailure> {
    Result<HostClient> client = start();
    if (!client) return HostFailure{Verdict::method_error, client.error(), false};
    return ask(*client);
  };
  auto failure = once();
  return failure && failure->verdict == Verdict::signal ? once() : failure;
}

}  // namespace qfs::host
