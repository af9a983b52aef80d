#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>

#include "harness/api/metric_columns.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/gate_output.h"
#include "harness/cli/gate_sides.h"
#include "harness/cli/margin_options.h"
#include "harness/cli/output.h"
#include "harness/core/clock.h"
#include "harness/core/log.h"
#include "harness/gate/gate.h"
#include "reports/settings.h"

namespace qfs::cli {
namespace {

constexpr double kDefaultPoints = 1;  ///< the margin where nothing says another
constexpr const char* kAnyTime = "1970-01-01T00:00:00.000Z";

struct GateOptions {
  std::string baseline;
  std::string candidate;
  std::string policy;
  MarginOptions margins;
  std::vector<std::string> fail_under;
  std::vector<std::string> fail_over;
  std::vector<std::string> pair_by;
  std::vector<std::string> filters;
  std::string run_baseline;
  std::string run;
  std::string baselines = "baselines";
  std::string if_no_baseline = "fail";
  std::string made_since;
  std::string missing = "error";
  std::optional<int64_t> repeats;
  std::optional<int64_t> minimum_examples;
  std::string junit;
  std::string markdown;
  std::string annotations;
  bool warn_only = false;
};

/// The policy file with what the command line adds.
Result<gate::Policy> policy_of(const GateOptions& options) {
  Result<gate::Policy> read = policy_with(options.policy, options.margins);
  if (!read) return read.error();
  gate::Policy policy = *std::move(read);
  for (const std::string& text : options.fail_under) {
    const auto limit = gate::parse_limit(text, "--fail-under", true);
    if (!limit) return limit.error();
    policy.limits.push_back(*limit);
  }
  for (const std::string& text : options.fail_over) {
    const auto limit = gate::parse_limit(text, "--fail-over", false);
    if (!limit) return limit.error();
    policy.limits.push_back(*limit);
  }
  if (!options.pair_by.empty()) policy.request.pair_by = options.pair_by;
  if (options.repeats) policy.repeats = *options.repeats;
  if (options.minimum_examples) policy.request.minimum_examples = *options.minimum_examples;
  policy.request.skip_missing = options.missing == "skip";
  std::vector<std::string> filters = options.filters;
  if (!policy.filter.empty()) filters.push_back(policy.filter);
  policy.filter = joined_filter(filters);
  return policy;
}

/// Of the scores of all cells, each once.
std::vector<std::string> columns_of(const GateSide& side) {
  std::vector<std::string> columns;
  for (const compare::StoredCell* cell : side.cells.cells) {
    for (const store::ScoreJobRow& job : cell->scores) {
      for (const std::string& column : job.columns) {
        if (std::ranges::count(columns, column) == 0) columns.push_back(column);
      }
    }
  }
  return columns;
}

/// What a side shows of its scores: its sweep's table, else what a table shows by default.
std::vector<std::string> shown_by(const GateSide& side) {
  if (!side.report_values.empty()) return side.report_values;
  return reports::default_values(columns_of(side), false);
}

/// Where no margin is asked for: a point on each score of the tables of both sides, so that neither
/// a limit nor another table of the candidate's turns the comparison off.
Status add_default_margins(const GateSide& baseline, const GateSide& candidate,
                           gate::Policy& policy) {
  if (!policy.request.margins.empty()) return {};
  for (const GateSide* side : {&baseline, &candidate}) {
    for (const std::string& value : shown_by(*side)) {
      const std::string column = value.substr(value.rfind('/') + 1);
      if (is_share(column)) {
        policy.request.margins[column] = {.rule = compare::Rule::non_inferior,
                                          .size = kDefaultPoints / table_scale(column)};
      }
    }
  }
  const bool asked = !policy.bands.empty() || !policy.limits.empty();
  if (asked || !policy.request.margins.empty()) return {};
  return invalid_argument(
      "nothing is asked for: the tables show no share, so give --policy FILE or a margin, "
      "for instance --non-inferior rougeL.f=1pt");
}

ExitCode exit_of(const gate::Outcome& outcome) {
  switch (outcome.conclusion()) {
    case gate::Conclusion::pass:
      return ExitCode::ok;
    case gate::Conclusion::worse:
      return ExitCode::regression;
    default:
      return ExitCode::incomplete;
  }
}

/// What goes to standard output in place of the text: --json, or a file that is called "-".
std::vector<std::string> printed_instead(const GateOptions& options, bool as_json) {
  std::vector<std::string> names;
  if (as_json) names.emplace_back("--json");
  if (!options.annotations.empty()) names.emplace_back("--annotations");
  if (options.junit == "-") names.emplace_back("--junit -");
  if (options.markdown == "-") names.emplace_back("--markdown -");
  return names;
}

Status print_report(const GateReport& report, const GateOptions& options, bool as_json) {
  if (!options.junit.empty()) {
    if (Status done = write_result(gate_junit(report), options.junit); !done) return done;
  }
  if (!options.markdown.empty()) {
    if (Status done = write_result(gate_markdown(report), options.markdown); !done) return done;
  }
  if (options.junit == "-" || options.markdown == "-") return {};
  if (as_json) return print_result(gate_json(report));
  const std::string annotations = options.annotations.empty() ? "" : gate_annotations(report);
  return print_result(annotations + gate_text(report));
}

Result<ExitCode> conclude(const GateReport& report, const GateOptions& options, bool as_json) {
  if (Status printed = print_report(report, options, as_json); !printed) return printed.error();
  return options.warn_only ? ExitCode::ok : exit_of(report.outcome);
}

/// "2026-01-31T12:00:00Z", as `date -u +%FT%TZ` prints it, in the form of stores.
std::string in_milliseconds(std::string utc) {
  if (utc.ends_with("Z") && utc.find('.') == std::string::npos) {
    utc.insert(utc.size() - 1, ".000");
  }
  return utc;
}

Status check_options(const GateOptions& options, const GlobalOptions& global) {
  if (options.baseline.empty() || options.candidate.empty()) {
    return invalid_argument("gate needs --baseline and --candidate; see 'qfs-bench gate --help'");
  }
  const std::vector<std::string> printed = printed_instead(options, global.json);
  if (printed.size() > 1) {
    return invalid_argument(
        fmt::format("{} and {} are both written to standard output", printed[0], printed[1]));
  }
  if (!options.made_since.empty() && !utc_seconds(in_milliseconds(options.made_since))) {
    return invalid_argument(
        "--made-since expects a time in UTC such as 2026-01-31T12:00:00Z; found '" +
        options.made_since + "'");
  }
  const std::vector<std::string> inputs = {baseline_path(options.baseline, options.baselines),
                                           options.candidate, options.policy};
  if (Status kept = keep_inputs("--junit", options.junit, inputs); !kept) return kept;
  if (Status kept = keep_inputs("--markdown", options.markdown, inputs); !kept) return kept;
  const OutputOption outputs[] = {
      {"--junit", options.junit}, {"--markdown", options.markdown}, {"--baseline", inputs[0]}};
  return keep_apart(outputs);
}

/// The candidate against the baseline, or against itself where it is to become one.
Result<gate::Outcome> judge(const GateSide& baseline, const GateSide& candidate,
                            const GateOptions& options, gate::Policy policy,
                            const MetricCatalog& catalog) {
  Status added = add_default_margins(baseline, candidate, policy);
  if (!added) return added.error();
  for (const GateSide* side : {&baseline, &candidate}) {
    if (!side->store) continue;
    Status named = use_own_names(policy.request.pair_by, side->store->facts);
    if (!named) return named.error();
  }
  gate::GateInput input{baseline.cells, candidate.cells, baseline.declared,
                        in_milliseconds(options.made_since)};
  if (&baseline == &candidate) {
    if (input.made_since.empty()) input.made_since = kAnyTime;
  } else {
    std::ranges::copy(candidate.declared, std::back_inserter(input.declared));
  }
  return gate::run_gate(input, policy, catalog);
}

/// The first run of a new repository or branch: no baseline is made of what breaks a limit, nor by
/// a policy under which it would not even be comparable with itself. Nothing where another gate
/// makes the baseline at the same time.
Result<std::optional<ExitCode>> create_baseline(const std::string& path, const GateOptions& options,
                                                const GateSide& candidate,
                                                const gate::Policy& policy,
                                                const MetricCatalog& catalog, bool as_json) {
  if (!gate::is_baseline_file(path)) {
    return invalid_argument(fmt::format(
        "--if-no-baseline create makes a file of JSON lines, and '{}' does not end in .jsonl",
        path));
  }
  auto outcome = judge(candidate, candidate, options, policy, catalog);
  if (!outcome) return outcome.error();
  if (outcome->conclusion() == gate::Conclusion::worse || !outcome->quality.missing.empty()) {
    std::vector<GateCheck> checks = gate_checks(*outcome);
    const auto code = conclude(
        {path, candidate.name, *std::move(outcome), std::move(checks), false}, options, as_json);
    if (!code) return code.error();
    return std::optional(*code);
  }
  const auto saved = save_baseline(candidate, path, !policy.bands.empty(), ExistingFile::keep);
  if (!saved || *saved != ExitCode::ok) return saved;
  const GateReport report{path, candidate.name, {}, {}, true};
  if (Status printed = print_report(report, options, as_json); !printed) return printed.error();
  return saved;
}

Result<ExitCode> run_gate_command(const GateOptions& options, const GlobalOptions& global) {
  if (Status sound = check_options(options, global); !sound) return sound.error();
  auto policy = policy_of(options);
  if (!policy) return policy.error();
  Catalogs catalogs;
  const std::string path = baseline_path(options.baseline, options.baselines);
  const bool exists = side_name(path).exists;
  const bool create = !exists && options.if_no_baseline == "create";
  if (!exists && !create) {
    return not_found(
        fmt::format("there is no baseline '{}'{}; 'qfs-bench baseline set' makes one, and "
                    "--if-no-baseline create takes the candidate for it",
                    path, path == options.baseline ? "" : " and no store " + options.baseline));
  }
  // Conditions that match nothing leave cells of a baseline without a partner, and make none.
  auto candidate = open_gate_side({options.candidate, options.run, policy->filter, exists},
                                  catalogs.metrics(), global);
  if (!candidate) return candidate.error();
  if (create) {
    const auto done =
        create_baseline(path, options, *candidate, *policy, catalogs.metrics(), global.json);
    if (!done) return done.error();
    if (*done) return **done;
    log_info(path + " was made meanwhile: compared with it");
  }
  auto baseline =
      open_gate_side({path, options.run_baseline, policy->filter}, catalogs.metrics(), global);
  if (!baseline) return baseline.error();
  auto outcome = judge(*baseline, *candidate, options, *policy, catalogs.metrics());
  if (!outcome) return outcome.error();
  for (const std::string& metric : outcome->quality.metrics) log_warning(metric);
  std::vector<GateCheck> checks = gate_checks(*outcome);
  return conclude({baseline->name, candidate->name, *std::move(outcome), std::move(checks), false},
                  options, global.json);
}

void add_policy_options(CLI::App& command, GateOptions& options) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* doc,
                       const char* type) {
    repeatable(command.add_option(name, values, doc))->delimiter(',')->type_name(type);
  };
  command
      .add_option(
          "--policy", options.policy,
          "What is asked for: margins, bands, limits (experiments/schema/gate.schema.json); "
          "without margins, each score of the sweeps' tables may drop by less than 1 point")
      ->type_name("FILE");
  add_margin_options(command, options.margins);
  add("--fail-under", options.fail_under,
      "What each cell of the candidate must reach by itself, e.g. rougeL.f=20pt", "VALUE=BOUND");
  add("--fail-over", options.fail_over, "What none may exceed, e.g. peak_memory=600MiB",
      "VALUE=BOUND");
  add("--pair-by", options.pair_by,
      "Pair cells with equal values of these, whatever else differs (default: by cell id)",
      "NAME,…");
  command
      .add_option(
          "--repeats", options.repeats,
          "Take so many runs (seeds) of each cell together on both sides: the mean of their "
          "scores, all repetitions of their times")
      ->type_name("K")
      ->check(CLI::Range(1, 1000));
  command
      .add_option("--minimum-examples", options.minimum_examples, "Fewer examples decide nothing")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--missing", options.missing,
                  "Examples that the candidate lacks: error (exit 3), or skip")
      ->check(CLI::IsMember({"error", "skip"}))
      ->capture_default_str();
  command
      .add_option("--made-since", options.made_since,
                  "Answers of a live server must be newer (default: newer than the baseline's)")
      ->type_name("UTC");
}

void add_output_options(CLI::App& command, GateOptions& options) {
  command.add_option("--junit", options.junit, "Write JUnit XML, a test case a check")
      ->type_name("FILE");
  command.add_option("--markdown", options.markdown, "Write a summary of the differences")
      ->type_name("FILE");
  command.add_option("--annotations", options.annotations, "Print annotations: github")
      ->check(CLI::IsMember({"github"}));
  command.add_flag("--warn-only", options.warn_only,
                   "End with 0 whatever the verdict; errors keep their codes");
}

}  // namespace

void add_gate_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "gate", "Did a metric, the speed or the memory get worse? For CI",
      "qfs-bench gate --baseline main.sqlite --candidate pr.sqlite --policy gate.json\n"
      "  qfs-bench gate --baseline main.sqlite --candidate pr.sqlite --non-inferior rougeL.f=1pt\n"
      "  qfs-bench gate --baseline main --candidate pr.sqlite --if-no-baseline create\n"
      "  qfs-bench gate --baseline main --candidate pr.sqlite --junit gate.xml --annotations "
      "github\n"
      "  qfs-bench gate calibrate --store runs.sqlite --drop rougeL.f=2pt\n\n"
      "Exit codes: 0 not worse, 1 worse, 2 usage, 3 not compared or not decided, 4 store, 5 "
      "environment.");
  auto options = std::make_shared<GateOptions>();
  command
      .add_option("--baseline", options->baseline,
                  "A store, STORE#CONDITIONS, a file of `baseline set` (.jsonl), or its name")
      ->type_name("BASELINE");
  command.add_option("--candidate", options->candidate, "A store, or STORE#CONDITIONS")
      ->type_name("STORE");
  add_baselines_option(command, options->baselines);
  command
      .add_option(
          "--if-no-baseline", options->if_no_baseline,
          "create: a candidate that breaks no limit becomes the baseline, exit 0; fail: exit "
          "2")
      ->check(CLI::IsMember({"create", "fail"}))
      ->capture_default_str();
  add_policy_options(command, *options);
  add_filter_option(command, options->filters);
  add_run_option(command, options->run);
  command.add_option("--run-baseline", options->run_baseline, "Which run of the baseline's store")
      ->type_name("RUN");
  add_output_options(command, *options);
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  command.callback([options, &command, &global = line.global, &chosen = line.chosen] {
    if (!command.get_subcommands().empty()) return;
    chosen = [options, &global] { return run_gate_command(*options, global); };
  });
  add_calibrate_command(command, line);
}

}  // namespace qfs::cli
