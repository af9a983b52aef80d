#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>

#include "datasets/predictions/importers/importers.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/cli/field_option.h"
#include "harness/cli/score_analyses.h"
#include "harness/cli/score_files.h"
#include "harness/cli/score_import.h"
#include "harness/cli/scoring.h"
#include "harness/cli/shown_example.h"
#include "harness/cli/store_metrics.h"
#include "harness/cli/store_path.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/store/store.h"
#include "reports/sweep_facts.h"

namespace qfs::cli {
namespace {

struct ScoreOptions {
  std::string target;  ///< a sweep of a store, or a file of predictions
  std::vector<std::string> metrics;
  bool partial = false;
  bool allow_external = false;
  std::string external_folder;
  std::string missing = "error";
  std::vector<std::string> fields;
  std::string punkt;
  std::string match;                      ///< published digits
  std::vector<std::string> explain_diff;  ///< two signatures
  ScoreFilesOptions files;
  ScoreImportOptions import;
};

/// The folder that programs of the sweep are relative to.
std::string external_folder(const ScoreOptions& options, const std::string& store) {
  if (!options.external_folder.empty()) return options.external_folder;
  const std::string folder = std::filesystem::path(store).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Says what was not measured; the exit code of that.
ExitCode tell_passed_over(const std::vector<PassedOver>& passed_over) {
  ExitCode code = ExitCode::ok;
  for (const PassedOver& metric : passed_over) {
    const std::string state =
        metric.unscored == 0
            ? "its stored scores stay as they are"
            : counted(metric.unscored, "prediction has", "predictions have") + " no score by it";
    log_warning(
        fmt::format("metric '{}' was passed over, {}: {}", metric.name, state, metric.reason));
    if (metric.unscored > 0) code = ExitCode::incomplete;
  }
  return code;
}

Result<ExitCode> run_score_store(const ScoreOptions& options, const GlobalOptions& global) {
  Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  log_info(fmt::format("scoring the stored predictions of {}", *path));
  Result<store::Store> store = store::Store::open(*path, {.create = false});
  if (!store) return store.error();
  Result<store::Reader> reader = store::Reader::open(*path);
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, options.target);
  if (!facts) return facts.error();
  Catalogs catalogs;
  auto chosen = store_metrics({.names = options.metrics,
                               .allow_external = options.allow_external,
                               .folder = external_folder(options, *path),
                               .store = *path},
                              *facts, catalogs.metrics());
  if (!chosen) return chosen.error();

  std::vector<store::ResultId> results;
  std::vector<NamedResult> named;
  for (const reports::PlaceFacts& place : facts->places) {
    if (!place.predict || place.another_seed) continue;
    results.push_back(place.predict->id);
    named.push_back({place.predict->id, cell_title(place)});
  }
  score::Scorer scorer(*store, *reader);
  for (const auto& [id, row] : facts->datasets) {
    const auto dataset = unstored_dataset(row, catalogs.datasets());
    if (!dataset) return dataset.error();
    if (*dataset == nullptr) continue;
    if (Status used = scorer.use_dataset(*dataset); !used) return used.error();
  }
  Result<Postprocess> postprocess = options.files.postprocess.empty()
                                        ? postprocess_of_sweep(facts->sweep)
                                        : Postprocess::parse(options.files.postprocess);
  if (!postprocess) return postprocess.error();
  Result<ScoringSummary> summary =
      score_results(scorer, *postprocess, results, chosen->metrics, options.partial);
  if (!summary) return summary.error();
  log_info(fmt::format("{} computed, {} were there, {} wait for predictions",
                       counted(summary->scored, "score"), summary->kept, summary->incomplete));
  if (Status warned = warn_of_empty_outputs(*reader, named); !warned) return warned.error();
  const ExitCode passed_over = tell_passed_over(chosen->passed_over);
  if (!summary->failures.empty()) return summary->failures.front();
  return summary->incomplete + summary->refused == 0 ? passed_over : ExitCode::incomplete;
}

/// Whether an argument is meant as a file of predictions, be it there or not.
bool names_a_file(const std::string& target) {
  std::error_code error;
  const auto status = std::filesystem::status(target, error);
  if (target == "-" || (exists(status) && !is_directory(status))) return true;
  for (const char* ending : {".jsonl", ".json", ".ndjson", ".txt", ".gz", ".zst"}) {
    if (target.ends_with(ending)) return true;
  }
  return false;
}

/// An option that was given and means nothing for a store; empty: there is none.
std::string file_only_option(const ScoreOptions& options, const GlobalOptions& global) {
  const ScoreFilesOptions defaults;
  if (global.json) return "--json";
  if (!options.files.per_example.empty()) return "--per-example";
  if (options.missing != ScoreOptions().missing) return "--missing";
  if (options.files.signature != defaults.signature) return "--signature";
  if (options.files.resamples != defaults.resamples) return "--resamples";
  return options.files.threads != defaults.threads ? "--threads" : "";
}

/// Scores that another program measured: nothing is measured here.
Result<ExitCode> run_import(const ScoreOptions& options, const GlobalOptions& global) {
  const std::string given = !options.metrics.empty()             ? "--metric"
                            : options.files.any_input()          ? "an option about predictions"
                            : options.missing != "error"         ? "--missing"
                            : !options.files.per_example.empty() ? "--per-example"
                                                                 : "";
  if (!given.empty()) {
    return invalid_argument(given + " means nothing for --import, whose values are given");
  }
  const bool stores = !global.store.empty();
  if (stores && (global.json || options.files.resamples)) {
    return invalid_argument(
        "--json and --resamples show imported scores; with --store they are put into the store");
  }
  if (!stores && (options.partial || !options.target.empty())) {
    return invalid_argument(options.partial ? "--partial is about a store; give it with --store"
                                            : "'" + options.target +
                                                  "' would name a sweep; give the store with "
                                                  "--store");
  }
  ScoreImportOptions import = options.import;
  import.sweep = options.target;
  import.partial = options.partial;
  if (options.files.resamples == 0) {
    return invalid_argument("imported scores are shown with intervals; --resamples 0 has none");
  }
  import.resamples = options.files.resamples.value_or(0);
  return run_score_import(import, global);
}

/// --match or --explain-diff, on files or, the latter, on nothing.
Result<ExitCode> run_analysis(ScoreOptions options, const GlobalOptions& global) {
  const std::string option = options.match.empty() ? "--explain-diff" : "--match";
  if (!options.match.empty() && !options.explain_diff.empty()) {
    return invalid_argument("give either --match or --explain-diff");
  }
  if (!options.metrics.empty()) {
    return invalid_argument(option + " chooses the metrics itself; leave --metric out");
  }
  if (!global.store.empty() || options.partial || !options.files.per_example.empty()) {
    return invalid_argument(option + " works on files of predictions and prints one report");
  }
  options.files.records = options.target;
  options.files.missing = score::missing_policy(options.missing);
  if (options.match.empty()) return run_explain_diff(options.files, options.explain_diff, global);
  return run_match(options.files, options.match, global);
}

Result<ExitCode> run_score(ScoreOptions options, const GlobalOptions& global) {
  // Before any thread starts; a metric's own option punkt=PATH goes first.
  if (!options.punkt.empty()) ::setenv("QFS_PUNKT", options.punkt.c_str(), 1);
  Result<std::map<std::string, std::string>> fields = parse_field_map(options.fields);
  if (!fields) return fields.error();
  options.files.fields = *std::move(fields);
  const bool of_texts = !options.import.files.files.empty() || !options.match.empty() ||
                        !options.explain_diff.empty();
  if (of_texts && (options.allow_external || !options.external_folder.empty())) {
    return invalid_argument(
        "--allow-external and --external-folder are about the metrics of a stored sweep");
  }
  if (!options.import.files.files.empty()) return run_import(options, global);
  if (!options.import.files.tool.empty() || !options.import.files.system.empty()) {
    return invalid_argument("--tool and --system are about --import");
  }
  if (!options.match.empty() || !options.explain_diff.empty()) {
    return run_analysis(std::move(options), global);
  }
  const bool file_options = options.files.any_input();
  const bool file_target = names_a_file(options.target);
  if (!file_options && (!file_target || options.target.ends_with(".sqlite"))) {
    if (options.target.ends_with(".sqlite")) {
      return invalid_argument("'" + options.target + "' is a store: give it with --store");
    }
    if (const std::string given = file_only_option(options, global); !given.empty()) {
      return invalid_argument(
          given + " is for files of predictions; `report` shows the scores of a store" +
          (given == "--per-example" ? ", with --per-example those of every example" : ""));
    }
    return run_score_store(options, global);
  }
  const char* const about_store = options.partial                   ? "--partial"
                                  : options.allow_external          ? "--allow-external"
                                  : options.external_folder.empty() ? "--store"
                                                                    : "--external-folder";
  if (!global.store.empty() || std::string_view(about_store) != "--store") {
    return invalid_argument(std::string(about_store) +
                            " is about stored predictions, and files of predictions are given "
                            "too; score one or the other");
  }
  options.files.records = options.target;
  options.files.metrics = options.metrics;
  options.files.missing = score::missing_policy(options.missing);
  return run_score_files(options.files, global);
}

std::string import_names() {
  std::string names;
  for (const datasets::Importer& importer : datasets::importers()) {
    names += std::string(importer.name) + ", ";
  }
  return names + std::string(datasets::kLineFileImporter);
}

}  // namespace

void add_score_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "score", "Scores files of predictions, or the stored predictions of a sweep",
      "qfs-bench score --profile rouge_score --refs refs.txt --preds out.txt\n"
      "  qfs-bench score --profile rouge_score out.jsonl --json\n"
      "  qfs-bench score --store lc_sweep.sqlite --metric rouge:stem=off\n\n"
      "A record of out.jsonl has id, prediction, references (a list or one text) and may have\n"
      "document, query, group, cluster, language. '-' is standard input; .gz and .zst are read.");
  auto options = std::make_shared<ScoreOptions>();
  ScoreFilesOptions& files = options->files;
  command.add_option("TARGET", options->target,
                     "File of predictions; or, for a store, the name or beginning of the id of a "
                     "sweep (default: the latest)");
  repeatable(command.add_option(
                 "--metric,--profile", options->metrics,
                 "Metric with options, see `list metrics` (default: rouge; for a store, those of "
                 "the sweep); repeatable"))
      ->type_name("NAME");
  command.add_option("--preds", files.predictions, "Predictions, one per line")->type_name("FILE");
  repeatable(command.add_option(
                 "--refs", files.references,
                 "References: with --preds one per line, repeatable; with a file of records JSON "
                 "lines with id and references, which replace those in the records"))
      ->type_name("FILE");
  command
      .add_option("--refs-dataset", files.references_dataset,
                  "References of a data set, matched by id (line files: by order), which replace "
                  "those in the records")
      ->type_name("NAME[:split[:view]]");
  command.add_option("--from", files.from, "The tool that wrote the file: " + import_names())
      ->type_name("TOOL");
  repeatable(
      command.add_option(
          "--import", options->import.files.files,
          "Scores of another program: JSON lines with id, metric, value (or values) and, where "
          "known, system, group, cluster; with --store they are stored; repeatable"))
      ->type_name("FILE");
  command
      .add_option("--tool", options->import.files.tool, "The program that measured imported scores")
      ->type_name("NAME@VERSION");
  command
      .add_option("--system", options->import.files.system,
                  "The system of imported scores that name none; with --store a cell, e.g. "
                  "method=lead,local_context=512")
      ->type_name("NAME");
  repeatable(command.add_option("--fields", options->fields,
                                "Names of the fields, e.g. prediction=output,references=answers"))
      ->type_name("MAP");
  command
      .add_option("--missing", options->missing,
                  "Items whose prediction is null, and those that only --refs or --refs-dataset "
                  "has: error, skip, or zero (scored as an empty text)")
      ->check(CLI::IsMember({"error", "skip", "zero"}))
      ->capture_default_str();
  command.add_option("--signature", files.signature, "Length of the printed signature")
      ->check(CLI::IsMember({"short", "long"}))
      ->capture_default_str();
  command
      .add_option("--match", options->match,
                  "Published digits, rouge1=33.52,rougeL=29.60,bleu=12.3 (also chrf, bertscore; "
                  "rouge2.r for recall alone): which metrics and options give them on these "
                  "texts; exit code 1 when none does")
      ->type_name("COLUMN=VALUE,...");
  command
      .add_option("--explain-diff", options->explain_diff,
                  "Two signatures (ours or sacreBLEU's, or metrics with options): what differs "
                  "and, given texts, how many points each difference is worth")
      ->type_name("A B")
      ->expected(2)
      ->allow_extra_args(false);
  repeatable(
      command.add_option("--postprocess", files.postprocess,
                         "A step that predictions go through before they are scored, see `list "
                         "postprocess`; repeatable, in order (for a store, replaces the sweep's)"))
      ->type_name("STEP");
  command
      .add_option("--punkt", options->punkt,
                  "Punkt's English data, for metrics that split sentences with it: a punkt_tab "
                  "folder or Python module (default: QFS_PUNKT, the cache, NLTK's folders, those "
                  "of python3)")
      ->type_name("PATH");
  command
      .add_option(
          "--per-example", files.per_example,
          "Values of each item as JSON lines ('-': on standard output, instead of the table)")
      ->type_name("FILE");
  command
      .add_option("--resamples", files.resamples,
                  "Bootstrap resamples of the intervals (default: 10000; 1000 for more than 5000 "
                  "clusters; 0: no intervals)")
      ->check(CLI::Range(int64_t{0}, int64_t{1000000}))
      ->type_name("N");
  command.add_option("--threads", files.threads, "Threads (default: one per core)")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("N");
  add_json_option(command, line.global);
  command.add_flag("--partial", options->partial,
                   "Store: score incomplete cells too; tables mark them");
  command.add_flag("--allow-external", options->allow_external,
                   "Store: start programs that the sweep declares as external metrics");
  command
      .add_option("--external-folder", options->external_folder,
                  "Store: the folder of the sweep file and these programs (default: the store's)")
      ->type_name("FOLDER");
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_score(*options, global); };
  });
}

}  // namespace qfs::cli
