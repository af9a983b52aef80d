#include "reports/place_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "harness/compare/comparison.h"
#include "harness/compare/performance.h"
#include "harness/store/work_rows.h"
#include "reports/output_facts.h"
#include "reports/trainings.h"
#include "reports/trouble.h"

namespace qfs::reports {
namespace {

using compare::Repeated;

TableCell with_status(CellStatus status) {
  TableCell cell;
  cell.status = status;
  return cell;
}

TableCell measured(const Repeated& repeated) {
  TableCell cell = with_status(CellStatus::ok);
  cell.value = repeated.median;
  cell.n = repeated.repetitions;
  cell.spread = Spread{repeated.low, repeated.high, SpreadKind::repetitions};
  return cell;
}

TableCell share(int64_t part, int64_t whole, int64_t n) {
  if (whole == 0) return with_status(CellStatus::not_applicable);
  TableCell cell = with_status(CellStatus::ok);
  cell.value = static_cast<double>(part) / static_cast<double>(whole);
  cell.n = n;
  return cell;
}

TableCell scored(const store::ScoreJobRow& job, const store::ScoreRow& row) {
  TableCell cell = with_status(CellStatus::ok);
  cell.value = row.value;
  cell.n = job.n;
  if (!job.interval_method.empty()) cell.clusters = job.clusters;
  if (row.interval) {
    cell.spread = Spread{row.interval->low, row.interval->high, SpreadKind::interval};
  }
  return cell;
}

double cost_of(const TrainingCost& cost, std::string_view name) {
  if (name == "seconds") return cost.seconds;
  return static_cast<double>(name == "tokens"       ? cost.tokens
                             : name == "flops"      ? cost.flops
                             : name == "peak_bytes" ? cost.peak_bytes
                                                    : cost.trainable_parameters);
}

}  // namespace

Result<TableCell> PlaceEvaluator::evaluate(const ValueSpec& value) {
  // Times of a server come with its outputs; all others from a measure result.
  const bool served = value.source == ValueSource::latency;
  const bool timed = value.shown.group == ValueGroup::performance && !served;
  const std::optional<TableCell> trouble =
      timed ? measure_trouble(place_) : predict_trouble(place_);
  Result<TableCell> cell = trouble                              ? Result<TableCell>(*trouble)
                           : timed                              ? performance(value)
                           : value.source == ValueSource::score ? score(value)
                                                                : coverage(value);
  if (!cell) return cell;
  const std::optional<store::ResultRow>& result = timed ? place_.measure : place_.predict;
  cell->source.cell_id = place_.cell.id.hex();
  if (result) cell->source.numerics_id = result->key.numerics.hex();
  if (cell->status != CellStatus::ok) return cell;
  if (timed) {
    const Result<std::string> where = machine();
    if (!where) return where.error();
    if (!where->empty()) cell->comparable = *where + "|" + cell->detail;
  } else {
    cell->comparable +=
        fmt::format("|{}|{}", place_.cell.dataset.hex(), fmt::join(place_.cell.ordinals, ","));
  }
  return cell;
}

Result<std::string> PlaceEvaluator::machine() const {
  const auto environment = context_.reader.environment_of(place_.measure->key.numerics);
  if (!environment) return environment.error();
  if (!*environment) return std::string();
  const auto at = compare::measured_at(**environment);
  if (!at) return at.error();
  return fmt::format("{}|{}|{}", place_.cell.dataset.hex(), at->machine, at->protocol);
}

Result<TableCell> PlaceEvaluator::score(const ValueSpec& value) {
  Result<const store::ScoreJobRow*> found = score_job(value);
  if (!found) return found.error();
  if (*found == nullptr) return with_status(CellStatus::not_reported);
  const store::ScoreJobRow& job = **found;
  if (job.n < job.expected) return incomplete_cell(job.n, job.expected);
  const auto row = std::ranges::find(job.scores, value.key, &store::ScoreRow::name);
  if (row == job.scores.end()) return with_status(CellStatus::not_reported);
  TableCell cell = scored(job, *row);
  Result<int64_t> empty = empty_texts(job.id);
  if (!empty) return empty.error();
  cell.empty = *empty;
  cell.source.score_id = job.id.hex();
  cell.comparable = job.signature;
  context_.used.metrics.emplace(job.metric, job.signature);
  if (!job.interval_method.empty()) context_.used.interval_methods.insert(job.interval_method);
  return cell;
}

Result<int64_t> PlaceEvaluator::empty_texts(const ScoreId& id) {
  if (auto known = empty_texts_.find(id); known != empty_texts_.end()) return known->second;
  const auto empty = context_.reader.empty_scored_texts(id);
  if (!empty) return empty.error();
  return empty_texts_[id] = static_cast<int64_t>(empty->size());
}

Result<const store::ScoreJobRow*> PlaceEvaluator::score_job(const ValueSpec& value) const {
  const auto has_column = [&](const store::ScoreJobRow& job) {
    return std::ranges::find(job.columns, value.key) != job.columns.end();
  };
  std::vector<const store::ScoreJobRow*> found;
  for (const MetricChoice& choice : context_.metrics) {
    if (!value.metric.empty() && choice.name != value.metric) continue;
    for (const store::ScoreJobRow& job : place_.scores) {
      if (job.signature == choice.signature && has_column(job)) found.push_back(&job);
    }
    if (!found.empty()) break;
  }
  if (found.empty()) {  // a metric or version that the caller does not have
    for (const store::ScoreJobRow& job : place_.scores) {
      if ((value.metric.empty() || job.metric == value.metric) && has_column(job)) {
        found.push_back(&job);
      }
    }
  }
  if (found.size() > 1) {
    std::string signatures;
    for (const store::ScoreJobRow* job : found) {
      signatures +=
          "\n  " + job->metric + ": " + job->signature + " after " + job->postprocess.text;
    }
    return invalid_argument("'" + value.shown.name + "' of cell " + place_.cell.id.short_hex() +
                            " is stored " + std::to_string(found.size()) +
                            " times, and nothing says which is meant:" + signatures);
  }
  return found.empty() ? nullptr : found.front();
}

Result<TableCell> PlaceEvaluator::performance(const ValueSpec& value) {
  if (Status loaded = load_measurements(); !loaded) return loaded.error();
  const auto examples = static_cast<int64_t>(place_.place.measure_ordinals.size());
  std::optional<Repeated> found;
  std::string detail;
  switch (value.source) {
    case ValueSource::phase_rate:
      found = compare::phase_rate(*measurements_, value.key);
      break;
    case ValueSource::phase_fraction:
      found = compare::phase_fraction(*measurements_, value.key);
      break;
    case ValueSource::machine_rate:
      return machine_rate(value.key);
    case ValueSource::phase_latency:
      found = compare::phase_latency(*measurements_, value.key);
      break;
    case ValueSource::example_time:
      found = compare::time_per_example(*measurements_, value.key, examples);
      break;
    case ValueSource::example_flops:
      found = compare::flops_per_example(*measurements_, examples);
      break;
    case ValueSource::example_joules:
      found = compare::joules_per_example(*measurements_, value.key, examples);
      break;
    case ValueSource::memory_kind:
      found = compare::memory_peak(*memory_, value.key);
      break;
    default:
      if (const auto peak = compare::peak_memory(*memory_)) {
        found = peak->bytes;
        detail = peak->of_device ? "device" : "host";
      }
  }
  if (!found) return with_status(CellStatus::not_applicable);
  TableCell cell = measured(*found);
  cell.detail = detail;
  return cell;
}

TableCell PlaceEvaluator::machine_rate(std::string_view which) const {
  const std::optional<MachineLimits> limits = store::limits_among(*measurements_);
  if (!limits) return with_status(CellStatus::not_applicable);
  TableCell cell = with_status(CellStatus::ok);
  cell.value = static_cast<double>(which == "read"   ? limits->read_bytes
                                   : which == "copy" ? limits->copy_bytes
                                                     : limits->gemm_flops);
  return cell;
}

Result<TableCell> PlaceEvaluator::mean_fact(const std::string& name) {
  const std::vector<SaidNumber> said = said_numbers(*outputs_, name);
  if (said.empty()) return with_status(CellStatus::not_applicable);
  if (Status loaded = load_documents(); !loaded) return loaded.error();
  std::vector<double> values;
  std::vector<std::string> clusters;
  for (const SaidNumber& one : said) {
    values.push_back(one.value);
    clusters.push_back(documents_[one.ordinal]);
  }
  const auto interval = compare::mean_interval(values, clusters);
  if (!interval) return interval.error();
  TableCell cell = with_status(CellStatus::ok);
  cell.n = static_cast<int64_t>(said.size());
  cell.value =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(said.size());
  cell.clusters = interval->clusters;
  if (interval->available()) {
    cell.spread = Spread{interval->low, interval->high, SpreadKind::interval};
  }
  context_.used.interval_methods.insert(compare::interval_signature());
  return cell;
}

Result<TableCell> PlaceEvaluator::coverage(const ValueSpec& value) {
  if (value.source == ValueSource::training) return training(value.key);
  if (Status loaded = load_outputs(); !loaded) return loaded.error();
  switch (value.source) {
    case ValueSource::evidence_cut:
      return evidence_cut();
    case ValueSource::latency:
    case ValueSource::money:
      return served(value);
    case ValueSource::fact:
      return mean_fact(value.key);
    case ValueSource::tokens_read:
    case ValueSource::tokens_made:
      return mean_tokens(value.source == ValueSource::tokens_read);
    default:
      break;
  }
  int64_t examples = 0;
  int64_t cut = 0;
  int64_t tokens = 0;
  int64_t kept = 0;
  for (const store::OutputRow& output : *outputs_) {
    const std::optional<Truncation>& truncation = output.prediction.truncation;
    if (!truncation) continue;
    ++examples;
    tokens += truncation->document_tokens;
    kept += truncation->kept_tokens;
    if (truncation->kept_tokens < truncation->document_tokens) ++cut;
  }
  if (value.source == ValueSource::document_tokens) return share(tokens, examples, examples);
  return value.source == ValueSource::documents_cut ? share(cut, examples, examples)
                                                    : share(kept, tokens, examples);
}

/// Over the trainings that the cell rests on and those that they began with: the sum, of memory the
/// largest; of parameters the sum over the former, which go on with those that the latter changed.
/// Imported files do not say what they took.
Result<TableCell> PlaceEvaluator::training(std::string_view cost) {
  TableCell cell = with_status(CellStatus::not_applicable);
  const std::vector<store::Dependency>& files = place_.cell.dependencies;
  const auto imported = [](const store::Dependency& file) { return file.training_cell.empty(); };
  if (std::ranges::any_of(files, imported)) return cell;
  const auto trainings = trainings_behind(context_.reader, place_.cell);
  if (!trainings) return trainings.error();
  for (const CellId& training : *trainings) {
    const bool first = std::ranges::count(files, training, &store::Dependency::training_cell) == 0;
    if (first && cost == "trainable_parameters") continue;
    auto results = context_.reader.results(training);
    if (!results) return results.error();
    for (const store::ResultRow& result : *results) {
      if (result.status != store::Completeness::complete) continue;
      auto known = context_.reader.training_cost(result.id);
      if (!known) return known.error();
      if (!*known) continue;
      const double value = cost_of(**known, cost);
      cell.status = CellStatus::ok;
      cell.value = cost == "peak_bytes" ? std::max(cell.value, value) : cell.value + value;
      break;
    }
  }
  return cell;
}

TableCell PlaceEvaluator::served(const ValueSpec& value) const {
  TableCell cell = with_status(CellStatus::ok);
  if (value.source == ValueSource::latency) {
    const std::vector<int64_t> latencies = served_latencies_ms(*outputs_);
    if (latencies.empty()) return with_status(CellStatus::not_applicable);
    cell.value = static_cast<double>(percentile(latencies, std::stoi(value.key)));
    cell.n = static_cast<int64_t>(latencies.size());
    return cell;
  }
  const std::optional<Prices> prices = prices_in(place_.place.params);
  const std::optional<double> cost = prices ? served_cost(*outputs_, *prices) : std::nullopt;
  if (!cost) return with_status(CellStatus::not_applicable);
  cell.value = *cost;
  cell.n = static_cast<int64_t>(outputs_->size());
  return cell;
}

TableCell PlaceEvaluator::mean_tokens(bool read) const {
  int64_t tokens = 0;
  int64_t examples = 0;
  for (const store::OutputRow& output : *outputs_) {
    if (output.prediction.finish == FinishReason::overlength) continue;  // nothing was computed
    ++examples;
    tokens += read ? output.prediction.tokens_in : output.prediction.tokens_out;
  }
  // Methods without a model read no tokens, which is not the same as few.
  return tokens == 0 ? with_status(CellStatus::not_applicable) : share(tokens, examples, examples);
}

Result<TableCell> PlaceEvaluator::evidence_cut() {
  int64_t examples = 0;
  int64_t bytes = 0;
  int64_t kept = 0;
  for (const store::OutputRow& output : *outputs_) {
    if (!output.prediction.truncation) continue;
    Result<std::vector<EvidenceSegment>> evidence =
        context_.evidence.of(place_.cell.dataset, output.ordinal);
    if (!evidence) return evidence.error();
    if (evidence->empty()) continue;
    ++examples;
    for (const EvidenceSegment& segment : *evidence) bytes += segment.bytes;
    kept += kept_bytes(*evidence, *output.prediction.truncation);
  }
  return share(bytes - kept, bytes, examples);
}

Status PlaceEvaluator::load_measurements() {
  if (measurements_) return {};
  Result<std::vector<store::MeasurementRow>> rows =
      context_.reader.measurements(place_.measure->id);
  if (!rows) return rows.error();
  Result<std::vector<store::MemoryRow>> memory = context_.reader.memory(place_.measure->id);
  if (!memory) return memory.error();
  measurements_ = std::move(*rows);
  memory_ = std::move(*memory);
  return {};
}

Status PlaceEvaluator::load_documents() {
  if (!documents_.empty()) return {};
  const auto examples = context_.reader.examples(place_.cell.dataset);
  if (!examples) return examples.error();
  for (const store::ExampleRow& row : *examples) documents_[row.ordinal] = row.document_id;
  return {};
}

Status PlaceEvaluator::load_outputs() {
  if (outputs_) return {};
  Result<std::vector<store::OutputRow>> outputs = context_.reader.outputs(place_.predict->id);
  if (!outputs) return outputs.error();
  outputs_ = std::move(*outputs);
  return {};
}

}  // namespace qfs::reports
