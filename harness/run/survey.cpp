#include "harness/run/survey.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "harness/core/build_info.h"
#include "harness/core/json_dom.h"
#include "harness/run/environment.h"
#include "harness/run/ways.h"

namespace qfs::run {
namespace {

using nlohmann::json;

enum class ParamsPart { asked, all };

/// The resolved parameters; `asked` leaves out those that are not in cell ids, `all` adds the
/// names of backbone and tokenizer, by which tables can be arranged, and another seed than the
/// cell's own for which they show it.
Result<Json> params_json(const plan::Cell& cell, ParamsPart part, uint64_t seed) {
  json object = json::object();
  for (const auto& [name, value] : cell.params.values()) {
    std::visit([&](const auto& v) { object[name] = v; }, value);
  }
  for (const ParamSpec& spec : cell.spec->params()) {
    if (spec.path) object.erase(spec.name);
  }
  if (part == ParamsPart::asked) {
    for (const ParamSpec& spec : cell.spec->params()) {
      if (spec.numerics || spec.transport) object.erase(spec.name);
    }
  } else {
    if (cell.backbone) object["backbone"] = cell.backbone->name;
    for (const auto& [role, model] : cell.backbones) object[role] = model.name;
    if (cell.tokenizer) object["tokenizer"] = cell.tokenizer->name;
    if (seed != cell.seed) object[store::kShownSeed] = seed;
  }
  return canonical_json(object);
}

Result<store::CellRow> cell_row(const plan::Cell& cell, const plan::PlannedDataset& dataset) {
  Result<Json> params = params_json(cell, ParamsPart::asked, cell.seed);
  if (!params) return params.error();
  store::CellRow row;
  row.id = cell.id;
  row.identity = cell.identity;
  row.method = cell.spec->name();
  row.oracle = cell.needs.references || cell.needs.evidence;
  row.params = *params;
  row.dataset = dataset.data->id;
  row.seed = cell.seed;
  row.ordinals = dataset.ordinals;
  return row;
}

/// What the cell predicts with: files of a training of the plan, or those that the sweep names.
void add_dependencies(const plan::Plan& plan, const plan::Cell& cell, store::CellRow& row) {
  std::set<std::string> roles(cell.needs.artifacts.begin(), cell.needs.artifacts.end());
  for (const auto& [role, file] : cell.artifacts) roles.insert(role);
  for (const std::string& role : roles) {
    const auto named = cell.artifacts.find(role);
    if (!cell.training && named == cell.artifacts.end()) continue;
    store::Dependency& dependency = row.dependencies.emplace_back();
    dependency.role = role;
    if (named == cell.artifacts.end()) {
      dependency.training_cell = plan.trainings[*cell.training].cell.id;
    } else {
      dependency.sha256 = named->second.digest;
    }
  }
}

/// A place of the sweep's table.
struct Place {
  size_t cell = 0;  ///< index into Plan::cells
  uint64_t seed = 0;
};

std::vector<size_t> cells_in_table_order(const plan::Plan& plan) {
  std::vector<size_t> order(plan.cells.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return plan.cells[i].position; });
  return order;
}

/// The places in the order in which tables show them; one a cell and seed that it is shown for.
std::vector<Place> table_order(const plan::Plan& plan) {
  std::vector<Place> places;
  for (size_t i : cells_in_table_order(plan)) {
    for (uint64_t seed : plan.cells[i].shown_seeds) places.push_back({i, seed});
  }
  return places;
}

Result<store::EnvironmentId> put_environment(store::Store& store,
                                             const plan::NumericsIdentity& numerics,
                                             const HostFacts& host) {
  const Json machine = host_facts();
  Result<Json> facts = canonical_json(
      json{{"machine", json::parse(machine.text)}, {"host", json::parse(host.facts.text)}});
  if (!facts) return facts.error();
  return store.put_environment({.id = {},
                                .numerics_id = numerics.id,
                                .numerics = numerics.identity,
                                .host = *facts,
                                .build = build_facts()});
}

/// Another complete result of the cell, for --accept-numerics.
Result<std::optional<store::ResultRow>> complete_elsewhere(store::Reader& reader,
                                                           const plan::Cell& cell) {
  auto results = reader.results(cell.id);
  if (!results) return results.error();
  for (const store::ResultRow& row : *results) {
    if (row.key.kind == store::ResultKind::predict && row.status == store::Completeness::complete) {
      return std::optional(row);
    }
  }
  return std::optional<store::ResultRow>();
}

/// Indices of the units that have a row missing.
std::vector<size_t> units_to_run(const plan::Cell& cell, const std::vector<int64_t>& present,
                                 bool all) {
  const std::set<int64_t> there(present.begin(), present.end());
  std::vector<size_t> missing;
  for (size_t i = 0; i < cell.units.size(); ++i) {
    const auto& ordinals = cell.units[i].ordinals;
    const bool whole =
        std::ranges::all_of(ordinals, [&](int64_t ordinal) { return there.contains(ordinal); });
    if (all || !whole) missing.push_back(i);
  }
  return missing;
}

Result<CellState> survey_predict(const RunContext& context, const RunOptions& options,
                                 const plan::Cell& cell, bool rerun) {
  CellState state;
  Result<plan::NumericsIdentity> numerics = predict_numerics(cell, context.launcher);
  if (!numerics) return numerics.error();
  auto predict = result_state(context, options, cell, store::ResultKind::predict, *numerics, {});
  if (!predict) return predict.error();
  state.predict = *std::move(predict);
  const Result<HostFacts> host = context.launcher.facts(cell);
  if (!host) return host.error();
  state.unreachable = host->failure;
  auto present = context.store.present_ordinals(state.predict.result);
  if (!present) return present.error();
  state.missing_units = units_to_run(cell, *present, rerun);
  state.predict.complete = state.missing_units.empty();
  if (!rerun) state.present = *present;
  if (rerun || state.predict.complete) state.predict.remembered_failure.reset();
  if (options.accept_numerics && !state.predict.complete && !rerun) {
    auto other = complete_elsewhere(context.reader, cell);
    if (!other) return other.error();
    if (*other) {
      state.predict.result = (*other)->id;
      state.predict.complete = true;
      state.predict.remembered_failure.reset();
    }
  }
  return state;
}

bool is_timed(const RunContext& context, const RunOptions& options, const plan::Cell& cell) {
  return options.measure && context.plan.experiment.measure && cell.timed();
}

Status survey_measure(const RunContext& context, const RunOptions& options, const plan::Cell& cell,
                      bool rerun, CellState& state) {
  const MeasureSettings& settings = *context.plan.experiment.measure;
  auto numerics = measure_numerics(cell, context.launcher, settings);
  if (!numerics) return numerics.error();
  auto measure = result_state(context, options, cell, store::ResultKind::measure, *numerics,
                              {.repetitions = settings.repetitions});
  if (!measure) return measure.error();
  auto present = context.store.present_repetitions(measure->result);
  if (!present) return present.error();
  for (int64_t i = 0; i < settings.repetitions; ++i) {
    if (!std::ranges::binary_search(*present, i)) state.missing_repetitions.push_back(i);
  }
  measure->complete = state.missing_repetitions.empty();
  if (rerun || measure->complete) measure->remembered_failure.reset();
  state.measure = *std::move(measure);
  return {};
}

}  // namespace

Result<ResultState> result_state(const RunContext& context, const RunOptions& options,
                                 const plan::Cell& cell, store::ResultKind kind,
                                 const plan::NumericsIdentity& numerics,
                                 const store::Expected& expected) {
  ResultState state;
  Result<HostFacts> host = context.launcher.facts(cell);
  if (!host) return host.error();
  auto environment = put_environment(context.store, numerics, *host);
  if (!environment) return environment.error();
  state.environment = *environment;
  auto result = context.store.ensure_result({cell.id, numerics.id, kind}, expected);
  if (!result) return result.error();
  state.result = *result;
  auto failure = context.store.last_failure(*result);
  if (!failure) return failure.error();
  if (*failure && !options.retry.contains((*failure)->failure)) {
    state.remembered_failure = **failure;
  }
  return state;
}

Result<plan::NumericsIdentity> predict_numerics(const plan::Cell& cell, HostLauncher& launcher) {
  Result<HostFacts> facts = launcher.facts(cell);
  if (!facts) return facts.error();
  return plan::numerics_identity(cell, facts->numerics, launcher.runtime(cell));
}

Result<plan::NumericsIdentity> measure_numerics(const plan::Cell& cell, HostLauncher& launcher,
                                                const MeasureSettings& settings) {
  Result<HostFacts> facts = launcher.facts(cell);
  if (!facts) return facts.error();
  json probe = json::parse(facts->numerics.text);
  probe["hardware"] = json::parse(hardware_fingerprint().text);
  probe["measure"] = {{"examples", settings.examples},
                      {"warmup", settings.warmup},
                      {"repetitions", settings.repetitions},
                      {"protocol", settings.protocol}};
  Result<Json> combined = canonical_json(probe);
  if (!combined) return combined.error();
  return plan::numerics_identity(cell, *combined, launcher.runtime(cell));
}

namespace {

/// Of the trainings and the cells; a cell that has several places once.
Result<std::vector<store::CellRow>> cell_rows(const plan::Plan& plan) {
  std::vector<store::CellRow> rows;
  for (const plan::Training& training : plan.trainings) {
    Result<store::CellRow> row = cell_row(training.cell, plan.training_data[training.cell.dataset]);
    if (!row) return row.error();
    row->training = true;
    row->oracle = false;  // the references of a training split are no answers
    if (training.development) {
      row->development = plan.training_data[*training.development].data->id;
    }
    for (const auto& [role, made_by] : training.cell.origins) {
      row->dependencies.push_back({role, CellId(made_by), ""});
    }
    rows.push_back(*std::move(row));
  }
  for (size_t i : cells_in_table_order(plan)) {
    const plan::Cell& cell = plan.cells[i];
    Result<store::CellRow> row = cell_row(cell, plan.datasets[cell.dataset]);
    if (!row) return row.error();
    add_dependencies(plan, cell, *row);
    rows.push_back(*std::move(row));
  }
  return rows;
}

}  // namespace

Status register_cells(const plan::Plan& plan, store::Store& store) {
  for (const plan::PlannedDataset& dataset : plan.datasets) {
    if (Status put = store.put_dataset(*dataset.data, plan.experiment.store_documents); !put) {
      return put;
    }
  }
  for (const plan::PlannedDataset& dataset : plan.training_data) {
    if (Status put = store.put_dataset(*dataset.data, false); !put) return put;
  }
  const Result<std::vector<store::CellRow>> rows = cell_rows(plan);
  if (!rows) return rows.error();
  return store.put_cells(*rows);
}

Result<store::SweepId> register_plan(const plan::Plan& plan, store::Store& store) {
  if (Status put = register_cells(plan, store); !put) return put.error();
  store::SweepRow sweep;
  sweep.name = plan.experiment.name;
  sweep.config = plan.experiment.resolved;
  for (const auto& [i, seed] : table_order(plan)) {
    const plan::Cell& cell = plan.cells[i];
    Result<Json> params = params_json(cell, ParamsPart::all, seed);
    if (!params) return params.error();
    store::SweepCell& place = sweep.cells.emplace_back();
    place.cell = cell.id;
    place.label = cell.label;
    place.params = *params;
    if (cell.timed()) place.measure_ordinals = plan.datasets[cell.dataset].measure_ordinals;
  }
  return store.put_sweep(sweep);
}

Status use_results(const plan::Plan& plan, const plan::Plan& whole, store::Store& store,
                   const store::SweepId& sweep, const std::vector<CellState>& states) {
  std::map<size_t, size_t> here;  // Cell::position -> index into the plan's cells
  for (size_t i = 0; i < plan.cells.size(); ++i) here.emplace(plan.cells[i].position, i);
  const std::vector<Place> order = table_order(whole);
  for (size_t place = 0; place < order.size(); ++place) {
    const auto cell = here.find(whole.cells[order[place].cell].position);
    if (cell == here.end()) continue;
    const CellState& state = states[cell->second];
    const auto position = static_cast<int64_t>(place);
    if (state.waiting) continue;
    if (Status used = store.use_result(sweep, position, state.predict.result); !used) return used;
    if (!state.measure) continue;
    if (Status used = store.use_result(sweep, position, state.measure->result); !used) return used;
  }
  return {};
}

Result<std::optional<store::ResultRow>> stored_predictions(const plan::Plan& plan, plan::Cell cell,
                                                           const MemoryPolicy& memory,
                                                           store::Reader& reader,
                                                           HostLauncher& launcher, bool any_way) {
  const auto find = [&]() -> Result<std::optional<store::ResultRow>> {
    const Result<plan::NumericsIdentity> numerics = predict_numerics(cell, launcher);
    if (!numerics) return numerics.error();
    return reader.find_result({cell.id, numerics->id, store::ResultKind::predict});
  };
  auto row = find();
  while (row && *row && ran_out_of_memory((*row)->failure)) {
    const std::optional<int64_t> batch = memory.smaller_batch(cell);
    if (!batch) break;
    cell = in_another_way(plan, cell, {.batch_size = batch});
    auto smaller = find();
    if (smaller && !*smaller) break;
    row = std::move(smaller);
  }
  const bool complete = row && *row && (*row)->status == store::Completeness::complete;
  if (!row || complete || !any_way) return row;
  auto other = complete_elsewhere(reader, cell);
  return !other || *other ? other : row;
}

bool nothing_left(const store::ResultRow& row, const RunOptions& options) {
  if (row.status == store::Completeness::complete) return true;
  return row.status == store::Completeness::failed && !options.retry.contains(row.failure);
}

Result<bool> is_done(const RunContext& context, const RunOptions& options, const plan::Cell& cell) {
  const MemoryPolicy memory(context.plan);
  const auto row = stored_predictions(context.plan, cell, memory, context.reader, context.launcher,
                                      options.accept_numerics);
  if (!row) return row.error();
  const bool done = *row && nothing_left(**row, options);
  const bool failed = *row && (*row)->status == store::Completeness::failed;
  if (!done || failed || !is_timed(context, options, cell)) return done;
  const auto numerics = measure_numerics(cell, context.launcher, *context.plan.experiment.measure);
  if (!numerics) return numerics.error();
  const auto measured =
      context.reader.find_result({cell.id, numerics->id, store::ResultKind::measure});
  if (!measured) return measured.error();
  return *measured && nothing_left(**measured, options);
}

Result<CellState> survey_cell(const RunContext& context, const RunOptions& options,
                              const plan::Cell& cell, bool rerun) {
  Result<CellState> state = survey_predict(context, options, cell, rerun);
  if (state) state->rerun = rerun;
  const bool timed = is_timed(context, options, cell);
  if (!state || !timed || state->unreachable) return state;
  if (Status done = survey_measure(context, options, cell, rerun, *state); !done) {
    return done.error();
  }
  return state;
}

Result<std::vector<CellState>> survey(const RunContext& context, const RunOptions& options) {
  std::set<size_t> rerun;
  if (options.rerun) {
    auto selected = plan::select_cells(*options.rerun, context.plan);
    if (!selected) return selected.error();
    rerun.insert(selected->begin(), selected->end());
  }
  std::vector<CellState> states;
  for (size_t i = 0; i < context.plan.cells.size(); ++i) {
    const plan::Cell& cell = context.plan.cells[i];
    if (cell.waits()) {
      states.emplace_back().waiting = true;
      continue;
    }
    auto state = survey_cell(context, options, cell, rerun.contains(i));
    if (!state) return state.error();
    states.push_back(*std::move(state));
  }
  return states;
}

}  // namespace qfs::run
