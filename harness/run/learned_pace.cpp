#include "harness/run/learned_pace.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/clock.h"
#include "harness/core/json_dom.h"

namespace qfs::run {
namespace {

using nlohmann::json;

bool is_foreign(const plan::Cell& cell) {
  return cell.needs.network || cell.host == plan::HostKind::external;
}

/// A stored cell with rows.
struct Stored {
  json params;
  LearnedPace pace;
};

Result<std::optional<Stored>> stored(const store::CellRow& cell, store::Reader& reader) {
  Stored found;
  const auto results = reader.results(cell.id);
  if (!results) return results.error();
  for (const store::ResultRow& result : *results) {
    if (result.key.kind != store::ResultKind::predict || result.done == 0) continue;
    const Result<double> seconds = seconds_of_attempts(reader, result.id);
    if (!seconds) return seconds.error();
    if (*seconds <= 0) continue;
    found.pace.seconds += *seconds;
    found.pace.examples += static_cast<double>(result.done);
  }
  if (found.pace.examples == 0) return std::optional<Stored>();
  auto params = parse_json(cell.params.text, "params");
  if (!params) return params.error();
  found.params = *std::move(params);
  return std::optional(std::move(found));
}

int64_t shared_params(const plan::Cell& cell, const json& params) {
  return std::ranges::count_if(cell.params.values(), [&](const auto& own) {
    const auto other = params.find(own.first);
    return other != params.end() &&
           *other == std::visit([](const auto& value) { return json(value); }, own.second);
  });
}

std::optional<LearnedPace> nearest(const plan::Cell& cell, const std::vector<Stored>& known) {
  std::optional<LearnedPace> pace;
  int64_t most = -1;
  for (const Stored& other : known) {
    const int64_t shared = shared_params(cell, other.params);
    if (shared < most) continue;
    if (shared > most) pace = LearnedPace{};
    most = shared;
    pace->seconds += other.pace.seconds;
    pace->examples += other.pace.examples;
  }
  return pace;
}

}  // namespace

Result<double> seconds_of_attempts(store::Reader& reader, store::ResultId result) {
  const auto attempts = reader.attempts(result);
  if (!attempts) return attempts.error();
  double seconds = 0;
  for (const store::AttemptRow& attempt : *attempts) {
    const std::optional<double> begin = utc_seconds(attempt.started_at);
    const std::optional<double> end = utc_seconds(attempt.ended_at);
    if (!begin || !end || attempt.state == store::AttemptState::abandoned) return 0.0;
    seconds += std::max(0.0, *end - *begin);
  }
  return seconds;
}

Result<std::vector<std::optional<LearnedPace>>> learned_paces(const plan::Plan& plan,
                                                              store::Reader& reader) {
  std::vector<std::optional<LearnedPace>> paces(plan.cells.size());
  if (std::ranges::none_of(plan.cells, is_foreign)) return paces;
  const auto cells = reader.cells();
  if (!cells) return cells.error();
  std::map<std::string, std::vector<Stored>, std::less<>> by_method;
  for (const store::CellRow& cell : *cells) {
    const bool wanted = std::ranges::any_of(plan.cells, [&](const plan::Cell& own) {
      return is_foreign(own) && own.spec->name() == cell.method;
    });
    if (!wanted) continue;
    auto found = stored(cell, reader);
    if (!found) return found.error();
    if (*found) by_method[cell.method].push_back(**std::move(found));
  }
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const auto known = by_method.find(plan.cells[i].spec->name());
    if (is_foreign(plan.cells[i]) && known != by_method.end()) {
      paces[i] = nearest(plan.cells[i], known->second);
    }
  }
  return paces;
}

}  // namespace qfs::run
