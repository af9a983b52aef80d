#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "harness/claims/spot_check.h"
#include "harness/claims/verify_table.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/cli/imported_predictions.h"
#include "harness/cli/output.h"
#include "harness/cli/progress_printer.h"
#include "harness/cli/sweep_input.h"
#include "harness/core/build_info.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/run/signals.h"
#include "reports/writers/claim_text.h"

namespace qfs::cli {
namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;

struct VerifyOptions {
  std::string table;
  std::string predictions = ".";
  std::string format = "markdown";
  std::string output;
  std::string missing = "error";
  int64_t spot_check = 0;
  uint64_t seed = 0;
  SweepOptions sweep;
};

/// CLI11 takes -1 and what is too large for numbers of 64 bits.
std::string is_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc{} && stop == text.data() + text.size()) return {};
  return "expected a whole number from 0 to 18446744073709551615, found '" + text + "'";
}

/// The predictions of what `score` reads.
Result<plan::ImportedFile> predictions_of(const score::FilesRequest& request) {
  const bool lines = request.records.empty();
  Params params;
  params.set("from", std::string(lines ? "lines" : "jsonl"));
  PredictionFiles reader;
  return reader.read(lines ? request.predictions : request.records, params);
}

/// Of one file of predictions and its references, whose cell the table names.
Result<claims::SpotCheck> spot_check(const VerifyOptions& options, const std::string& cell,
                                     const claims::FilesQuery& files, Catalogs& catalogs,
                                     bool quiet) {
  SweepOptions sweep = options.sweep;
  sweep.filter = {cell};
  Result<plan::Plan> plan = load_plan(sweep, catalogs);
  if (!plan) return plan.error();
  const Result<run::RunOptions> run = run_options(sweep);
  if (!run) return run.error();
  score::FilesRequest request = claims::files_request(files, options.predictions);
  Result<plan::ImportedFile> outputs = predictions_of(request);
  if (!outputs) return outputs.error();
  request.missing = score::missing_policy(options.missing);
  Result<score::KeptItems> items = score::keep_items(request, catalogs.datasets(), {});
  if (!items) return items.error();
  ProgressPrinter progress(*plan, standard_progress_sink(quiet));
  return claims::spot_check(*std::move(plan), {*std::move(outputs), *std::move(items)},
                            options.spot_check, options.seed, *run, progress);
}

struct SpotChecks {
  bool whole = true;       ///< every file could be checked
  int interrupted_by = 0;  ///< the signal that ended them
};

/// Adds a statement for each such file beside each cell, once.
Result<SpotChecks> add_spot_checks(const VerifyOptions& options, const claims::VerifyTable& table,
                                   Catalogs& catalogs, bool quiet,
                                   std::vector<std::string>& statements) {
  SpotChecks checks;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (size_t i = 0; i < table.lines.size(); ++i) {
    const claims::FilesQuery& files = *table.paper.tables.front().claims[i].files;
    const std::string& cell = table.lines[i].cell;
    if (cell.empty() || !seen.emplace(files.predictions, files.references, cell).second) continue;
    const auto check = spot_check(options, cell, files, catalogs, quiet);
    if (check && check->interrupted_by != 0) return SpotChecks{false, check->interrupted_by};
    checks.whole = checks.whole && check.ok();
    statements.push_back(
        fmt::format("{} as {}{}: {}", files.predictions, cell,
                    files.references.empty() ? "" : " beside " + files.references,
                    check ? claims::bound_text(*check, options.seed)
                          : fmt::format("not checked by examples: {}", check.error().to_string())));
  }
  if (seen.empty()) {
    return invalid_argument(
        "--spot-check: no line of the table has a 'cell', such as method=lead,local_context=512");
  }
  return checks;
}

/// What is read, and must not be replaced.
std::vector<std::string> inputs_of(const VerifyOptions& options, const claims::VerifyTable& table) {
  std::vector<std::string> inputs = {options.table, options.sweep.file};
  for (const claims::Claim& claim : table.paper.tables.front().claims) {
    inputs.push_back(options.predictions + "/" + claim.files->predictions);
    inputs.push_back(options.predictions + "/" + claim.files->references);
  }
  return inputs;
}

Result<ExitCode> run_verify(const VerifyOptions& options, const GlobalOptions& global) {
  if ((options.spot_check > 0) == options.sweep.file.empty()) {
    return invalid_argument("--spot-check N and --sweep FILE belong together");
  }
  const std::string format = global.json ? "json" : options.format;
  if (options.spot_check > 0 && format == "csv") {
    return invalid_argument("--format csv has rows alone, and no place for what --spot-check says");
  }
  const Result<std::string> text = read_file(options.table, kMostBytes);
  if (!text) return text.error();
  const Result<claims::VerifyTable> table = claims::read_verify_table(*text, options.table);
  if (!table) return table.error();
  if (Status kept = keep_inputs("--output", options.output, inputs_of(options, *table)); !kept) {
    return kept.error();
  }
  Catalogs catalogs;
  claims::Lookups lookups({catalogs.methods(),
                           catalogs.datasets(),
                           catalogs.metrics(),
                           {{claims::kPredictions, options.predictions}}});
  const score::MissingPolicy missing = score::missing_policy(options.missing);
  claims::Evaluator evaluator(lookups, nullptr, missing);
  reports::JudgedTable judged{
      table->shown(), {}, "qfs-bench v" + std::string(build_info().version), ""};
  for (const claims::Claim* claim : judged.shown.claims()) {
    Result<claims::Finding> finding = evaluator.evaluate(*claim);
    if (!finding) return finding.error();
    judged.findings.push_back(*std::move(finding));
  }
  judged.statements.push_back(claims::review_text(*table, judged.findings, missing));
  bool checked = true;
  if (options.spot_check > 0) {
    const auto checks = add_spot_checks(options, *table, catalogs, global.quiet, judged.statements);
    if (!checks) return checks.error();
    if (checks->interrupted_by != 0) {
      log_warning("stopped by " + std::string(run::signal_name(checks->interrupted_by)) +
                  "; nothing is said of the table");
      return exit_code_of_signal(checks->interrupted_by);
    }
    checked = checks->whole;
  }
  const Result<std::string> shown = reports::judged_text(judged, format);
  if (!shown) return shown.error();
  if (Status written = write_result(*shown, options.output); !written) return written.error();
  const bool measured = std::ranges::all_of(
      judged.findings, [](const claims::Finding& finding) { return finding.measured.has_value(); });
  return measured && checked ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

void add_verify_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "verify", "Recomputes anybody's table from the files that it was computed from",
      "qfs-bench verify table.csv --preds outputs\n\n"
      "Exit codes: 0 every number was recomputed, whatever the verdicts; 3 some were not.");
  auto options = std::make_shared<VerifyOptions>();
  command
      .add_option("TABLE", options->table,
                  "CSV with the columns row, column, printed, predictions, references, metric and "
                  "value, perhaps tolerance and cell")
      ->required();
  command.add_option("--preds", options->predictions, "The folder of predictions and references")
      ->type_name("DIR");
  command
      .add_option("--missing", options->missing,
                  "Examples of the references without a prediction: error, skip, or zero (scored "
                  "as an empty text)")
      ->check(CLI::IsMember({"error", "skip", "zero"}))
      ->capture_default_str();
  CLI::Option* const spot_check =
      command
          .add_option("--spot-check", options->spot_check,
                      "Generate N examples again, by the method of the line's cell")
          ->check(CLI::Range(1, 1000000))
          ->type_name("N");
  command.add_option("--seed", options->seed, "Which examples (default: 0); choose your own")
      ->check(is_seed)
      ->needs(spot_check)
      ->type_name("SEED");
  command.add_option("--sweep", options->sweep.file, "The sweep file whose cells the lines name")
      ->type_name("FILE");
  command.add_flag("--allow-external", options->sweep.allow_external,
                   "Start programs that the sweep file names");
  command
      .add_option("--format", options->format, "markdown, latex, json or csv (default: markdown)")
      ->check(CLI::IsMember({"markdown", "latex", "json", "csv"}))
      ->type_name("FORMAT");
  command.add_option("--output,-o", options->output, "Write to a file, whole or not at all")
      ->type_name("FILE");
  add_json_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_verify(*options, global); };
  });
}

}  // namespace qfs::cli
