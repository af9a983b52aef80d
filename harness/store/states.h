// The words of the store: kinds of results, states of attempts, kinds of failures, levels of
// events. Their names are what the database holds and what tables and JSON show; only code knows
// them, so a new word needs no migration. Thread-safe.
#pragma once

#include <optional>
#include <string_view>

namespace qfs::store {

/// What a result consists of, and hence when it is complete.
enum class ResultKind {
  predict,  ///< one output per expected ordinal
  train,    ///< one artifact per expected role
  measure,  ///< all repetitions
};

enum class AttemptState {
  running,
  done,
  failed,     ///< with a FailureKind
  cancelled,  ///< stopped by the user; continued by the next sweep
  abandoned,  ///< its process died without a word; continued by the next sweep
};

enum class FailureKind {
  none,
  oom_device,
  oom_host,
  timeout,
  method_error,
  data_error,
  signal,
  implied_oom,  ///< not run: a smaller cell of the same kind ran out of memory
};

enum class EventLevel { info, warning, error };

/// How far a result is; derived from what is stored, never stored itself.
enum class Completeness { not_started, incomplete, failed, complete };

constexpr std::string_view to_string(ResultKind kind) {
  switch (kind) {
    case ResultKind::predict:
      return "predict";
    case ResultKind::train:
      return "train";
    case ResultKind::measure:
      return "measure";
  }
  return "predict";
}

constexpr std::string_view to_string(AttemptState state) {
  switch (state) {
    case AttemptState::running:
      return "running";
    case AttemptState::done:
      return "done";
    case AttemptState::failed:
      return "failed";
    case AttemptState::cancelled:
      return "cancelled";
    case AttemptState::abandoned:
      return "abandoned";
  }
  return "abandoned";
}

constexpr std::string_view to_string(FailureKind kind) {
  switch (kind) {
    case FailureKind::none:
      return "none";
    case FailureKind::oom_device:
      return "oom_device";
    case FailureKind::oom_host:
      return "oom_host";
    case FailureKind::timeout:
      return "timeout";
    case FailureKind::method_error:
      return "method_error";
    case FailureKind::data_error:
      return "data_error";
    case FailureKind::signal:
      return "signal";
    case FailureKind::implied_oom:
      return "implied_oom";
  }
  return "none";
}

constexpr std::string_view to_string(EventLevel level) {
  switch (level) {
    case EventLevel::info:
      return "info";
    case EventLevel::warning:
      return "warning";
    case EventLevel::error:
      return "error";
  }
  return "error";
}

constexpr std::string_view to_string(Completeness completeness) {
  switch (completeness) {
    case Completeness::not_started:
      return "not_started";
    case Completeness::incomplete:
      return "incomplete";
    case Completeness::failed:
      return "failed";
    case Completeness::complete:
      return "complete";
  }
  return "not_started";
}

/// The value whose name this is; std::nullopt for any other text.
std::optional<ResultKind> result_kind_from(std::string_view name);
std::optional<AttemptState> attempt_state_from(std::string_view name);
std::optional<FailureKind> failure_kind_from(std::string_view name);
std::optional<EventLevel> event_level_from(std::string_view name);

}  // namespace qfs::store
