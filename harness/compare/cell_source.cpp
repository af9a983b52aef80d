#include "harness/compare/cell_source.h"

#include <algorithm>
#include <array>
#include <utility>

namespace qfs::compare {
namespace {

void add(Measured& measured, const char* name, const std::optional<Repeated>& value) {
  if (value && value->high > 0) measured.values.emplace(name, *value);
}

constexpr std::array kMemoryKinds = {"host_peak", "device_allocated_peak", "device_used_peak",
                                     "device_reserved_peak", "device_requested_peak"};

}  // namespace

Result<const StoreCells::Examples*> StoreCells::examples(const DatasetId& dataset) {
  const auto known = examples_.find(dataset);
  if (known != examples_.end()) return &known->second;
  const Result<std::vector<store::ExampleRow>> rows = reader_.examples(dataset);
  if (!rows) return rows.error();
  Examples& places = examples_[dataset];
  for (const store::ExampleRow& row : *rows) places[row.ordinal] = {row.key, row.document_id};
  return &places;
}

Result<std::vector<ScoredRow>> StoreCells::rows(const StoredCell& cell,
                                                const store::ScoreJobRow& job) {
  Result<std::vector<store::StatisticRow>> statistics = reader_.statistics(job.id);
  if (!statistics) return statistics.error();
  const auto places = examples(cell.cell.dataset);
  if (!places) return places.error();
  const auto empty = reader_.empty_scored_texts(job.id);
  if (!empty) return empty.error();
  std::vector<ScoredRow> rows;
  rows.reserve(statistics->size());
  for (store::StatisticRow& row : *statistics) {
    const auto place = (*places)->find(row.ordinal);
    if (place == (*places)->end()) {
      return internal_error("the store has a score of example " + std::to_string(row.ordinal) +
                            " that its data set lacks");
    }
    rows.push_back({row.ordinal, place->second.key, place->second.cluster,
                    empty->contains(row.ordinal), std::move(row.values)});
  }
  return rows;
}

Result<std::vector<double>> StoreCells::noise(const StoredCell& cell,
                                              const store::ScoreJobRow& job) {
  std::vector<double> spread(job.columns.size(), 0);
  auto results = reader_.results(cell.cell.id);
  if (!results) return results.error();
  for (const store::ResultRow& other : *results) {
    const bool counts = other.key.kind == store::ResultKind::predict && other.id != job.result &&
                        other.status == store::Completeness::complete;
    if (!counts) continue;
    auto scores = reader_.scores(other.id);
    if (!scores) return scores.error();
    for (const store::ScoreJobRow& twin : *scores) {
      if (twin.signature != job.signature || twin.n != job.n) continue;
      for (size_t c = 0; c < job.columns.size(); ++c) {
        const auto own = std::ranges::find(job.scores, job.columns[c], &store::ScoreRow::name);
        const auto its = std::ranges::find(twin.scores, job.columns[c], &store::ScoreRow::name);
        if (own == job.scores.end() || its == twin.scores.end()) continue;
        spread[c] = std::max(spread[c], std::abs(own->value - its->value));
      }
    }
  }
  return spread;
}

Result<Measured> StoreCells::measured(const StoredCell& cell) {
  Measured measured;
  if (!cell.measure || cell.measure->status != store::Completeness::complete) return measured;
  const auto times = reader_.measurements(cell.measure->id);
  if (!times) return times.error();
  const auto memory = reader_.memory(cell.measure->id);
  if (!memory) return memory.error();
  add(measured, "tokens_per_second", phase_rate(*times, "decode"));
  add(measured, "decode_tokens_per_second", phase_rate(*times, "decode"));
  add(measured, "prefill_tokens_per_second", phase_rate(*times, "prefill"));
  if (cell.measured_examples > 0) {
    add(measured, "seconds_per_example", time_per_example(*times, "total", cell.measured_examples));
  }
  for (const char* kind : kMemoryKinds) add(measured, kind, memory_peak(*memory, kind));
  if (const auto peak = peak_memory(*memory)) add(measured, "peak_memory", peak->bytes);
  const auto environment = reader_.environment_of(cell.measure->key.numerics);
  if (!environment) return environment.error();
  if (!*environment) return measured;
  auto at = measured_at(**environment);
  if (!at) return at.error();
  measured.machine = std::move(at->machine);
  return measured;
}

Result<MadeAt> StoreCells::made(const StoredCell& cell) {
  MadeAt made;
  if (!cell.predict) return made;
  const auto attempts = reader_.attempts(cell.predict->id);
  if (!attempts) return attempts.error();
  for (const store::AttemptRow& attempt : *attempts) {
    if (made.first.empty() || attempt.started_at < made.first) made.first = attempt.started_at;
    const std::string& end = attempt.ended_at.empty() ? attempt.started_at : attempt.ended_at;
    made.last = std::max(made.last, end);
  }
  return made;
}

std::string StoreCells::last_message(const StoredCell& cell) {
  const auto attempts = reader_.attempts(cell.predict->id);
  return attempts && !attempts->empty() ? attempts->back().message : "";
}

}  // namespace qfs::compare
