#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>

#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/compare_files.h"
#include "harness/cli/compared_sides.h"
#include "harness/cli/comparison_text.h"
#include "harness/cli/field_option.h"
#include "harness/cli/margin_options.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "reports/figures/differences.h"
#include "reports/writers/svg.h"

namespace qfs::cli {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> columns;
  MarginOptions margins;
  std::vector<std::string> pair_by;
  std::string run;    ///< of both stores
  std::string run_b;  ///< of B's instead
  int64_t examples = 3;
  std::vector<std::string> fields;
  std::string missing = "error";
  std::string svg;          ///< file of the picture
  ScoreFilesOptions files;  ///< of prediction files: metrics, references, how they are read
};

Result<compare::Outcome> compare_stored(const CompareOptions& options,
                                        const compare::Request& request,
                                        const GlobalOptions& global) {
  Result<ComparedSide> a = open_side(options.a, options.run, global);
  if (!a) return a.error();
  Result<ComparedSide> b =
      open_side(options.b, options.run_b.empty() ? options.run : options.run_b, global);
  if (!b) return b.error();
  const auto cells_a = cells_of(*a);
  if (!cells_a) return cells_a.error();
  const auto cells_b = cells_of(*b);
  if (!cells_b) return cells_b.error();
  compare::Request own = request;
  for (const ComparedSide* side : {&*a, &*b}) {
    if (Status named = use_own_names(own.pair_by, side->facts); !named) return named.error();
  }
  Catalogs catalogs;
  std::vector<std::string> declared = declared_metrics(*a, catalogs.metrics());
  std::ranges::move(declared_metrics(*b, catalogs.metrics()), std::back_inserter(declared));
  return compare::compare_stores(*cells_a, *cells_b, own, catalogs.metrics(), declared);
}

/// Two files of predictions; std::nullopt where the arguments name stores.
Result<std::optional<compare::Outcome>> compare_if_files(const CompareOptions& options,
                                                         const compare::Request& request,
                                                         const GlobalOptions& global) {
  ScoreFilesOptions files = options.files;
  auto fields = parse_field_map(options.fields);
  if (!fields) return fields.error();
  files.fields = *std::move(fields);
  files.missing = options.missing == "zero"   ? score::MissingPolicy::zero
                  : options.missing == "skip" ? score::MissingPolicy::skip
                                              : score::MissingPolicy::error;
  const bool file_a = is_prediction_file(options.a);
  const bool file_b = is_prediction_file(options.b);
  if (file_a != file_b) {
    return invalid_argument(fmt::format(
        "'{}' is a file of predictions and '{}' is not; compare two files, or two stored results",
        file_a ? options.a : options.b, file_a ? options.b : options.a));
  }
  if (!file_a) {
    const bool given = files.any_input() || !files.metrics.empty() || !files.postprocess.empty() ||
                       options.missing == "zero";
    if (given) {
      return invalid_argument(
          "--metric, --refs, --refs-dataset, --from, --fields, --postprocess and --missing zero "
          "are "
          "for files of predictions; stored results have their scores, 'qfs-bench score --store' "
          "makes "
          "others");
    }
    return std::optional<compare::Outcome>();
  }
  if (!options.pair_by.empty()) {
    return invalid_argument("--pair-by is about stored cells; records of files are paired by id");
  }
  if (!options.run.empty() || !options.run_b.empty()) {
    return invalid_argument(
        "--run and --run-b choose a run of a store, and files of predictions are given");
  }
  if (!global.store.empty()) {
    return invalid_argument("--store is about stored results, and files of predictions are given");
  }
  auto compared = compare_files(options.a, options.b, files, request);
  if (!compared) return compared.error();
  return std::optional(*std::move(compared));
}

Result<compare::Request> request_of(const CompareOptions& options) {
  compare::Request request;
  request.columns = options.columns;
  request.pair_by = options.pair_by;
  request.skip_missing = options.missing == "skip";
  request.examples = static_cast<size_t>(options.examples);
  if (Status added = add_margins(options.margins, request); !added) return added.error();
  return request;
}

/// --svg: nothing is printed before the picture is there.
Status draw(const compare::Outcome& outcome, const CompareOptions& options) {
  if (options.svg.empty()) return {};
  const Result<reports::Differences> differences = reports::differences_of(outcome);
  if (!differences) return differences.error();
  return write_result(reports::write_svg(*differences), options.svg);
}

Result<ExitCode> run_compare(const CompareOptions& options, const GlobalOptions& global) {
  const auto request = request_of(options);
  if (!request) return request.error();
  std::vector<std::string> inputs = options.files.references;
  inputs.push_back(options.a);
  inputs.push_back(options.b);
  if (Status kept = keep_inputs("--svg", options.svg, inputs); !kept) return kept.error();
  auto of_files = compare_if_files(options, *request, global);
  if (!of_files) return of_files.error();
  const auto outcome = *of_files ? Result<compare::Outcome>(**std::move(of_files))
                                 : compare_stored(options, *request, global);
  if (!outcome) return outcome.error();
  for (const std::string& metric : outcome->metrics) log_warning(metric);
  if (!outcome->missing.empty()) {
    log_warning(counted(outcome->missing.size(), "cell of A was", "cells of A were") +
                " not compared; the reasons are behind the tables");
  }
  if (Status drawn = draw(*outcome, options); !drawn) return drawn.error();
  const std::string text = global.json ? comparison_json(*outcome) : comparison_text(*outcome);
  if (options.svg != "-") {
    if (Status printed = print_result(text); !printed) return printed.error();
  }
  if (outcome->any(compare::Verdict::worse)) return ExitCode::regression;
  const bool decided = !outcome->any(compare::Verdict::cannot_decide);
  return outcome->complete() && decided ? ExitCode::ok : ExitCode::incomplete;
}

void add_file_options(CLI::App& command, CompareOptions& options) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* doc,
                       const char* type) {
    repeatable(command.add_option(name, values, doc))->type_name(type);
  };
  add("--metric,--profile", options.files.metrics,
      "Files: metric with options (default: rouge); repeatable", "NAME");
  add("--refs", options.files.references,
      "Files: references of both, one a line for line files, repeatable; else JSON lines", "FILE");
  command
      .add_option("--refs-dataset", options.files.references_dataset,
                  "Files: references of a data set, by id (lines: by order)")
      ->type_name("NAME[:split[:view]]");
  command.add_option("--from", options.files.from, "Files: the tool that wrote both, see `score`")
      ->type_name("TOOL");
  add("--fields", options.fields,
      "Files: names of the fields, prediction=output,references=answers", "MAP");
  add("--postprocess", options.files.postprocess,
      "Files: a step that makes scored texts of predictions, see `list postprocess`; repeatable, "
      "in "
      "order",
      "STEP");
  command
      .add_option("--missing", options.missing,
                  "Items without prediction, or on one side only: error (stores: exit 3), skip; "
                  "zero scores a prediction that is null, or that --refs or --refs-dataset has an "
                  "item for and a file lacks, as an empty text")
      ->check(CLI::IsMember({"error", "skip", "zero"}))
      ->capture_default_str();
}

}  // namespace

void add_compare_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "compare",
      "Compares two results on the same examples: difference, interval, test, wins",
      "qfs-bench compare method=lead,local_context=512 method=bm25,local_context=512\n"
      "  qfs-bench compare before.sqlite after.sqlite --max-drop rougeL.f=1pt\n"
      "  qfs-bench compare old.sqlite new.sqlite --pair-by method,local_context\n"
      "  qfs-bench compare small.sqlite small.sqlite --run 1 --run-b 2\n"
      "  qfs-bench compare old.jsonl new.jsonl --metric rouge --metric bleu\n"
      "  qfs-bench compare old.txt new.txt --refs refs.txt --non-inferior rougeL.f=1pt");
  auto options = std::make_shared<CompareOptions>();
  command
      .add_option("A", options->a,
                  "The baseline: a store, STORE#CONDITIONS, conditions on --store, or a file of "
                  "predictions (JSON records; others are line files)")
      ->required();
  command.add_option("B", options->b, "What is compared with it, likewise")->required();
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* doc,
                       const char* type) {
    repeatable(command.add_option(name, values, doc))->delimiter(',')->type_name(type);
  };
  add("--values", options->columns, "Columns, e.g. rouge1.f (default: F values)", "COLUMN,…");
  add_margin_options(command, options->margins);
  add_run_option(command, options->run)
      ->description(
          "Stores: which run of both: a number of `list runs`, latest, a sweep's name or "
          "the beginning of its id (default: the latest)");
  command.add_option("--run-b", options->run_b, "Stores: which run of B's instead")
      ->type_name("RUN");
  add("--pair-by", options->pair_by,
      "Stores: pair cells with equal values of these, e.g. method,local_context, whatever else "
      "differs (default: by cell id)",
      "NAME,…");
  command.add_option("--examples", options->examples, "How many of the most different (default 3)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
  command
      .add_option("--svg", options->svg,
                  "Draw the differences and their intervals, as SVG ('-': instead of the table)")
      ->type_name("FILE");
  add_file_options(command, *options);
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_compare(*options, global); };
  });
}

}  // namespace qfs::cli
