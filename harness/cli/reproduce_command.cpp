#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/claims/sweeps.h"
#include "harness/cli/claims_session.h"
#include "harness/cli/commands.h"
#include "harness/cli/judged_output.h"
#include "harness/cli/run_scores.h"
#include "harness/cli/sweep_input.h"
#include "harness/config/load.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/plan/estimate.h"
#include "harness/run/signals.h"

namespace qfs::cli {
namespace {

struct ReproduceOptions {
  std::string table;
  std::vector<std::string> with;
  SweepOptions sweep;
};

/// What stands in the way of claims, each reason once with how many it keeps.
void tell_obstacles(const claims::ShownTable& table, claims::Lookups& lookups) {
  std::map<std::string, size_t> reasons;
  size_t kept = 0;
  for (const claims::Claim* claim : table.claims()) {
    const auto obstacle = lookups.obstacle(*claim);
    if (!obstacle) continue;
    ++reasons[obstacle->why];
    ++kept;
  }
  const size_t all = table.claims().size();
  log_info(fmt::format("{}: {} of {} can be measured here, given their data", table.table.id,
                       all - kept, counted(all, "number")));
  for (const auto& [reason, count] : reasons) {
    log_info(fmt::format("  {}: {}", counted(count, "number"), reason));
  }
}

/// Time, memory and files that a plan needs, before any of its cells runs.
void tell_needs(const plan::Plan& plan) {
  const plan::Estimator estimator;
  double seconds = 0;
  std::map<std::string, std::string> files;
  for (const plan::Cell& cell : plan.cells) {
    seconds += estimator.seconds(cell);
    if (cell.tokenizer && !cell.tokenizer->path.empty()) files[cell.tokenizer->path] = "tokenizer";
    if (!cell.backbone) continue;
    std::error_code error;  // of a folder
    const auto bytes = std::filesystem::file_size(cell.backbone->path, error);
    files[cell.backbone->path] =
        error ? "weights, and as much memory at least"
              : fmt::format("{} MiB of weights, and as much memory at least", bytes >> 20U);
  }
  for (const plan::Training& training : plan.trainings) {
    seconds += estimator.seconds(training.cell);
  }
  for (const plan::PlannedDataset& dataset : plan.datasets) {
    int64_t bytes = 0;
    for (const SourceFile& file : dataset.data->manifest.files) bytes += file.bytes;
    files[dataset.name] = fmt::format("{} in files of {:.1f} MiB, held in memory",
                                      counted(dataset.ordinals.size(), "example"),
                                      static_cast<double>(bytes) / (1U << 20U));
  }
  log_info(
      fmt::format("{}: {}, about {:.0f} s of the methods' computing on two cores; reading the "
                  "data and scoring come on top",
                  plan.experiment.name, counted(plan.cells.size(), "cell"), std::ceil(seconds)));
  for (const auto& [name, what] : files) log_info(fmt::format("  needs {}: {}", name, what));
}

struct PlannedSweep {
  plan::Plan plan;
  run::RunOptions options;
  bool on_device = false;  ///< what runs out of memory is a result
};

struct PlannedTable {
  std::vector<PlannedSweep> sweeps;
  bool lacks_data = false;     ///< of sweeps that are not among them
  bool lacks_methods = false;  ///< of any
};

/// The index in "methods" of the entry that an error of a plan is about.
std::optional<size_t> method_of(const Error& error) {
  constexpr std::string_view kMethods = "#/methods/";
  const size_t at = error.where.find(kMethods);
  if (at == std::string::npos) return std::nullopt;
  size_t index = 0;
  const char* const begin = error.where.data() + at + kMethods.size();
  const auto parsed = std::from_chars(begin, error.where.data() + error.where.size(), index);
  if (parsed.ec != std::errc()) return std::nullopt;
  return index;
}

/// Without the methods that cannot be planned with this data set; each is told. None: there is no
/// other.
Result<std::optional<plan::Plan>> plan_of(const claims::ClaimSweep& sweep,
                                          const ReproduceOptions& options, ClaimsSession& session,
                                          bool& lacks_methods) {
  nlohmann::json text = nlohmann::json::parse(sweep.text);
  nlohmann::json& methods = text["methods"];
  while (!methods.empty()) {
    const Result<Experiment> experiment =
        config::decode_experiment(text.dump(), sweep.name + ".json");
    if (!experiment) return experiment.error();
    Result<plan::Plan> plan = plan_experiment(*experiment, options.sweep, session.catalogs());
    if (plan) return std::optional(*std::move(plan));
    if (plan.error().kind == ErrorKind::unavailable) return plan.error();
    const auto refused = method_of(plan.error());
    if (!refused || *refused >= methods.size()) return plan.error();
    log_warning(fmt::format("'{}' of {} is left out: {}",
                            methods[*refused]["label"].get<std::string>(), sweep.name,
                            plan.error().message));
    lacks_methods = true;
    methods.erase(*refused);
  }
  return std::optional<plan::Plan>();
}

Result<PlannedTable> plan_sweeps(const claims::ShownTable& table, const ReproduceOptions& options,
                                 ClaimsSession& session) {
  const auto claims = table.claims();
  const auto sweeps = claims::sweeps_of(claims, session.lookups());
  if (!sweeps) return sweeps.error();
  PlannedTable planned;
  for (const claims::ClaimSweep& sweep : *sweeps) {
    if (sweep.on_device && options.sweep.device == "cpu") {
      log_warning(
          fmt::format("{} is left out: it asks what fits a device; --device cuda", sweep.name));
      planned.lacks_methods = true;
      continue;
    }
    auto plan = plan_of(sweep, options, session, planned.lacks_methods);
    if (!plan && plan.error().kind == ErrorKind::unavailable) {
      log_warning(fmt::format("{} is left out: {}", sweep.name, plan.error().message));
      planned.lacks_data = true;
      continue;
    }
    if (!plan) return plan.error();
    if (!*plan) continue;
    Result<run::RunOptions> run = run_options(options.sweep);
    if (!run) return run.error();
    if (Status sound = run::check_inputs(**plan, *run); !sound) return sound.error();
    tell_needs(**plan);
    planned.sweeps.push_back({**std::move(plan), *std::move(run), sweep.on_device});
  }
  return planned;
}

/// Runs and scores one sweep of the table.
Result<ExitCode> run_one(PlannedSweep& sweep, store::Store& store, bool quiet) {
  const Result<run::RunSummary> summary =
      run_shown(sweep.plan, store, sweep.options, quiet,
                "stopping when the unit in hand is done; a second signal ends at once");
  if (!summary) return summary.error();
  if (summary->interrupted_by != 0) {
    log_warning("stopped; run the same command again to continue");
    return exit_code_of_signal(summary->interrupted_by);
  }
  Result<store::Reader> reader = store::Reader::open(store.path());
  if (!reader) return reader.error();
  const Result<RunScores> scores = score_run(sweep.plan, store, *reader, *summary);
  if (!scores) return scores.error();
  if (Status warned = warn_of_empty_outputs(*reader, scores->results); !warned) {
    return warned.error();
  }
  if (!scores->summary.failures.empty()) return scores->summary.failures.front();
  const bool whole = summary->failed == 0 && summary->incomplete == 0;
  return whole || sweep.on_device ? ExitCode::ok : ExitCode::incomplete;
}

Result<ExitCode> run_reproduce(const ReproduceOptions& options, const GlobalOptions& global) {
  auto opened = ClaimsSession::open(options.with);
  if (!opened) return opened.error();
  ClaimsSession& session = **opened;
  const Result<claims::ShownTable> table = session.collection().table(options.table);
  if (!table) return table.error();
  tell_obstacles(*table, session.lookups());
  Result<PlannedTable> planned = plan_sweeps(*table, options, session);
  if (!planned) return planned.error();
  std::vector<PlannedSweep>& sweeps = planned->sweeps;
  ExitCode code = planned->lacks_data      ? ExitCode::environment
                  : planned->lacks_methods ? ExitCode::incomplete
                                           : ExitCode::ok;
  GlobalOptions with_store = global;
  if (with_store.store.empty()) with_store.store = kClaimsStore;
  if (options.sweep.dry_run) {
    for (const PlannedSweep& sweep : sweeps) {
      if (Status printed = print_plan(sweep.plan, with_store.store, sweep.options, false);
          !printed) {
        return printed.error();
      }
    }
    if (sweeps.empty()) log_info("no cell has to run");
    return code;
  }
  for (PlannedSweep& sweep : sweeps) {
    Result<store::Store> store = open_store_of(sweep.plan, with_store.store);
    if (!store) return store.error();
    const Result<ExitCode> ran = run_one(sweep, *store, global.quiet);
    if (!ran) return ran.error();
    if (*ran != ExitCode::ok) code = *ran;
    if (*ran != ExitCode::ok && *ran != ExitCode::incomplete) return code;
  }
  if (sweeps.empty() && !std::filesystem::exists(with_store.store)) with_store.store.clear();
  if (Status used = session.use_store(with_store); !used) return used.error();
  const auto not_run = print_judged(session, *table, global.json ? "json" : "markdown", "");
  if (!not_run) return not_run.error();
  if (*not_run > 0 && code == ExitCode::ok) return ExitCode::incomplete;
  return code;
}

}  // namespace

void add_reproduce_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "reproduce",
      "Says what a published table needs, runs the cells that can run, prints the verdicts",
      "qfs-bench reproduce ideal.table3\n\n"
      "Exit codes: 0 each number that this program can measure was, whatever the verdicts; 3 some "
      "were not; 5 data that its cells read are missing.");
  auto options = std::make_shared<ReproduceOptions>();
  command.add_option("TABLE", options->table, "A published table, e.g. ideal.table3")->required();
  command.add_flag("--dry-run", options->sweep.dry_run,
                   "Say what is needed and print the plan; run nothing");
  add_places_option(command, options->with);
  command.add_option("--device", options->sweep.device, "Where tensor hosts compute")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command
      .add_option("--threads", options->sweep.threads,
                  "Threads of a tensor host (default: one per core)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command.add_flag("--allow-external", options->sweep.allow_external,
                   "Ask servers that claims name");
  add_retry_option(command, options->sweep);
  add_json_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_reproduce(*options, global); };
  });
}

}  // namespace qfs::cli
