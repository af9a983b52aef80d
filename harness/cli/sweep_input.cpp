#include "harness/cli/sweep_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "harness/cli/assumed_host.h"
#include "harness/cli/commands.h"
#include "harness/cli/imported_predictions.h"
#include "harness/cli/progress_printer.h"
#include "harness/config/load.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"
#include "harness/run/describe.h"
#include "harness/run/external_metric.h"
#include "harness/run/signals.h"
#include "methods/families.h"
#include "reports/settings.h"

namespace qfs::cli {
namespace {

Result<std::map<std::string, std::string>> overrides(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid_argument(
          fmt::format("--set expects VARIABLE=VALUE, for instance --set backbone=smollm2-135m; "
                      "found '{}'",
                      setting));
    }
    values[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return values;
}

Result<plan::Filter> filter_of(const std::vector<std::string>& parts, std::string_view option) {
  if (parts.empty()) return plan::Filter{};
  Result<plan::Filter> filter =
      plan::parse_filter(fmt::format("{}", fmt::join(parts, ",")), methods::foreign_names());
  if (filter) return filter;
  Error error = filter.error();
  error.message = fmt::format("{}: {}", option, error.message);
  return error;
}

constexpr store::FailureKind kFailures[] = {
    store::FailureKind::oom_device,   store::FailureKind::oom_host,   store::FailureKind::timeout,
    store::FailureKind::method_error, store::FailureKind::data_error, store::FailureKind::signal,
    store::FailureKind::implied_oom,
};

std::vector<std::string> failure_names() {
  std::vector<std::string> names;
  for (const store::FailureKind kind : kFailures) names.emplace_back(store::to_string(kind));
  return names;
}

Result<store::FailureKind> failure_kind(const std::string& name) {
  for (const store::FailureKind kind : kFailures) {
    if (name == store::to_string(kind)) return kind;
  }
  return invalid_argument(
      fmt::format("--retry: no kind of failure '{}'{}", name, suggestion(name, failure_names())));
}

CLI::Validator at_least_one() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        const auto value = whole_number<int64_t>(text);
        if (value && *value >= 1) return {};
        return fmt::format("expected a whole number of at least 1, found '{}'", text);
      },
      "");
}

/// Cells that a section of the page is of; of a plan that is a part only the words are looked at.
Status check_section(const PageSection& section, const plan::Plan& plan, bool whole) {
  const auto placed = [&](Error error) {
    error.where = section.pointer + "/filter";
    return error;
  };
  const Result<plan::Filter> filter = plan::parse_filter(section.filter, methods::foreign_names());
  if (!filter) return placed(filter.error());
  if (!whole) return {};
  const Result<std::vector<size_t>> cells = plan::select_cells(*filter, plan);
  if (!cells) return placed(cells.error());
  const bool there =
      std::ranges::any_of(*cells, [&](size_t i) { return plan.cells[i].label == section.against; });
  if (section.against.empty() || there) return {};
  return placed(
      invalid_argument(fmt::format("leaves out '{}', which the section's '{}' names",
                                   section.against, section.minus ? "minus" : "against")));
}

/// What the tables will show exists: found out before the first cell runs. `whole`: no cell of the
/// file is missing in the plan.
Status check_tables(const plan::Plan& plan, bool whole) {
  if (!plan.experiment.report) return {};
  std::vector<std::string> columns;
  for (const auto& metric : plan.metrics) {
    for (std::string& column : metric->columns()) columns.push_back(std::move(column));
  }
  Status known = reports::check_values(*plan.experiment.report, columns);
  for (const PageSection& section : plan.experiment.report->page) {
    if (known) known = reports::check_values(section, columns);
    if (known && !section.filter.empty()) known = check_section(section, plan, whole);
  }
  if (known) return known;
  return in_sweep_file(plan.experiment, known.error());
}

}  // namespace

Error in_sweep_file(const Experiment& experiment, Error error) {
  // A pointer, and not a place in a file that is named by its whole path.
  const bool pointer = error.where.starts_with('/') && !error.where.starts_with(experiment.path);
  if (pointer) error.where = experiment.path + "#" + error.where;
  return error;
}

Result<store::Store> open_store_of(const plan::Plan& plan, const std::string& path) {
  for (const std::string& note : plan.notes) log_info(note);
  Result<store::Store> store = store::Store::open(path);
  if (store) log_info(fmt::format("store {}", path));
  return store;
}

Result<run::RunSummary> run_shown(const plan::Plan& plan, store::Store& store,
                                  run::RunOptions options, bool quiet,
                                  const std::string& stopping) {
  ProgressPrinter progress(plan, standard_progress_sink(quiet));
  options.on_signal = [&](int signal) {
    log_info(fmt::format("{}: {}", run::signal_name(signal), stopping));
  };
  Result<run::RunSummary> summary = run::run_plan(plan, store, options, progress);
  if (!summary) return in_sweep_file(plan.experiment, summary.error());
  return summary;
}

void add_plan_options(CLI::App& command, SweepOptions& options) {
  command.add_option("FILE", options.file, "Sweep file (JSON with comments, or YAML)")->required();
  repeatable(
      command.add_option("--set", options.set, "Value of a variable of the file; repeatable"))
      ->type_name("VARIABLE=VALUE");
  repeatable(command.add_option(
                 "--filter", options.filter,
                 "Only cells that match, e.g. 'method=lead|bm25,local_context=512'; repeatable"))
      ->type_name("KEY=VALUE|VALUE,...");
  command.add_option("--limit", options.limit, "Only the first N examples of each data set")
      ->type_name("N")
      ->check(at_least_one());
  command
      .add_option("--threads", options.threads, "Threads of a tensor host (default: one per core)")
      ->type_name("N")
      ->check(at_least_one());
  command.add_option("--device", options.device, "Where tensor hosts compute")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command
      .add_option("--dtype", options.dtype,
                  "Element type of tensor hosts (default: float32 on a CPU, bfloat16 on CUDA)")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}));
  command.add_flag("--allow-external", options.allow_external,
                   "Start programs that the sweep file names");
}

void add_numerics_option(CLI::App& command, SweepOptions& options) {
  command
      .add_option("--numerics", options.numerics,
                  "Plan for another machine: a file of what 'qfs-host probe' prints there")
      ->type_name("FILE");
}

void add_training_options(CLI::App& command, SweepOptions& options) {
  command
      .add_option("--steps", options.steps,
                  "End after N optimiser steps of each training; the next run continues")
      ->type_name("N")
      ->check(at_least_one());
  command
      .add_option("--init", options.init,
                  "Begin with what this file holds (as \"init\" in a sweep file's \"training\")")
      ->type_name("FILE");
}

void add_retry_option(CLI::App& command, SweepOptions& options) {
  repeatable(command.add_option("--retry", options.retry,
                                fmt::format("Try cells again that failed this way ({}); repeatable",
                                            fmt::join(failure_names(), ", "))))
      ->type_name("KIND");
}

void add_run_options(CLI::App& command, SweepOptions& options) {
  command.add_flag("--dry-run", options.dry_run, "Print the plan and run nothing");
  command.add_option("--max-failures", options.max_failures, "Stop after N failed cells")
      ->type_name("N")
      ->check(at_least_one());
  add_retry_option(command, options);
  command.add_option("--rerun", options.rerun, "Compute matching cells again, e.g. method=lead")
      ->type_name("KEY=VALUE|VALUE,...");
  command.add_flag("--accept-numerics", options.accept_numerics,
                   "Reuse results computed in another way (device, threads, libraries)");
}

Result<Experiment> load_sweep_file(const SweepOptions& options, Catalogs& catalogs) {
  Result<std::map<std::string, std::string>> set = overrides(options.set);
  if (!set) return set.error();
  Result<Experiment> experiment = config::load_experiment(
      options.file, {.set_overrides = *set,
                     .own_names = config::OwnNames{catalogs.methods(), methods::foreign_names()}});
  if (experiment) return experiment;
  Error error = experiment.error();
  if (error.kind == ErrorKind::data) error.kind = ErrorKind::invalid_argument;
  return error;
}

Result<plan::Plan> load_plan(const SweepOptions& options, Catalogs& catalogs) {
  const Result<Experiment> experiment = load_sweep_file(options, catalogs);
  if (!experiment) return experiment.error();
  return plan_experiment(*experiment, options, catalogs);
}

Result<plan::Plan> plan_experiment(const Experiment& experiment, const SweepOptions& options,
                                   Catalogs& catalogs) {
  Result<plan::Filter> filter = filter_of(options.filter, "--filter");
  if (!filter) return filter.error();
  if (!experiment.external_metrics.empty() && !options.allow_external) {
    const ExternalMetricEntry& metric = experiment.external_metrics.front();
    return invalid_argument("this metric starts a program of yours ('" +
                                metric.external.command.front() +
                                "'); pass --allow-external to permit this",
                            experiment.path + "#" + metric.pointer + "/command");
  }
  Result<run::MetricsWithExternal> metrics =
      run::MetricsWithExternal::make(catalogs.metrics(), experiment);
  if (!metrics) return metrics.error();
  run::HostDescriber describer(experiment.limits);
  PredictionFiles predictions;
  Result<plan::Plan> plan = plan::make_plan(experiment, {.methods = catalogs.methods(),
                                                         .datasets = catalogs.datasets(),
                                                         .metrics = *metrics,
                                                         .external = &describer,
                                                         .filter = *std::move(filter),
                                                         .limit = options.limit,
                                                         .allow_external = options.allow_external,
                                                         .imported = &predictions,
                                                         .init = options.init});
  if (!plan) return plan;
  const bool whole = options.filter.empty() && plan->undescribed.empty();
  if (Status known = check_tables(*plan, whole); !known) return known.error();
  for (const Error& error : plan->undescribed) {
    log_warning(error.to_string() + "; this method has no cells here");
  }
  return plan;
}

Result<run::RunOptions> run_options(const SweepOptions& options) {
  run::RunOptions run;
  const std::string folder = executable_directory();
  run.programs.light = {folder + "/qfs-bench", "host"};
  if (::access((folder + "/qfs-host").c_str(), X_OK) == 0) {
    run.programs.tensor = {folder + "/qfs-host"};
  }
  run.threads = options.threads;
  run.device = options.device;
  const char* const default_dtype = options.device == "cpu" ? "float32" : "bfloat16";
  run.dtype = options.dtype.empty() ? default_dtype : options.dtype;
  run.max_failures = options.max_failures;
  run.accept_numerics = options.accept_numerics;
  run.train_steps = options.steps;
  for (const std::string& name : options.retry) {
    Result<store::FailureKind> kind = failure_kind(name);
    if (!kind) return kind.error();
    run.retry.insert(*kind);
  }
  if (!options.numerics.empty()) {
    Result<run::AssumedHost> host = read_assumed_host(options.numerics);
    if (!host) return host.error();
    run.assumed = *std::move(host);
  }
  if (!options.rerun.empty()) {
    Result<plan::Filter> rerun = filter_of({options.rerun}, "--rerun");
    if (!rerun) return rerun.error();
    run.rerun = *std::move(rerun);
  }
  return run;
}

}  // namespace qfs::cli
