#include "harness/store/states.h"

#include <initializer_list>

namespace qfs::store {
namespace {

template <class Enum>
std::optional<Enum> named(std::string_view name, std::initializer_list<Enum> values) {
  for (const Enum value : values) {
    if (to_string(value) == name) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ResultKind> result_kind_from(std::string_view name) {
  return named(name, {ResultKind::predict, ResultKind::train, ResultKind::measure});
}

std::optional<AttemptState> attempt_state_from(std::string_view name) {
  return named(name, {AttemptState::running, AttemptState::done, AttemptState::failed,
                      AttemptState::cancelled, AttemptState::abandoned});
}

std::optional<FailureKind> failure_kind_from(std::string_view name) {
  return named(name, {FailureKind::none, FailureKind::oom_device, FailureKind::oom_host,
                      FailureKind::timeout, FailureKind::method_error, FailureKind::data_error,
                      FailureKind::signal, FailureKind::implied_oom});
}

std::optional<EventLevel> event_level_from(std::string_view name) {
  return named(name, {EventLevel::info, EventLevel::warning, EventLevel::error});
}

}  // namespace qfs::store
