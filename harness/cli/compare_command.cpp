#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>

#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/compare_files.h"
#include "harness/cli/comparison.h"
#include "harness/cli/field_option.h"
#include "harness/cli/output.h"
#include "harness/cli/scoring.h"
#include "harness/cli/shown_example.h"
#include "harness/cli/store_path.h"
#include "harness/cli/uncompared.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> columns;
  std::vector<std::string> max_drops;
  int64_t examples = 3;
  std::vector<std::string> fields;
  std::string missing = "error";
  ScoreFilesOptions files;  ///< of prediction files: metrics, references, how they are read
};

/// One side as it is open: its store, its sweep, its cells.
struct Side {
  std::string store;
  store::Reader reader;
  reports::SweepFacts facts;
  std::string filter;
};

/// "STORE", "STORE#CONDITIONS" or "CONDITIONS" (on --store).
Result<Side> open_side(const std::string& text, const GlobalOptions& global) {
  const size_t hash = text.find('#');
  const std::string path = text.substr(0, hash);
  std::error_code ignored;
  const bool names_store = hash != std::string::npos || path.find('=') == std::string::npos;
  if (names_store && !std::filesystem::exists(path, ignored)) {
    return not_found(fmt::format(
        "'{}' is neither a store nor conditions such as method=lead,local_context=256", path));
  }
  Result<std::string> store =
      names_store ? Result<std::string>(path) : existing_store_path(global.store);
  if (!store) return store.error();
  Result<store::Reader> reader = store::Reader::open(*store, {.foreign = global.foreign});
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, "");
  if (!facts) return facts.error();
  std::string filter = !names_store ? text : hash == std::string::npos ? "" : text.substr(hash + 1);
  return Side{*store, *std::move(reader), *std::move(facts), std::move(filter)};
}

using Places = std::vector<const reports::PlaceFacts*>;
using Pair = std::pair<const reports::PlaceFacts*, const reports::PlaceFacts*>;

/// One cell on each side, or in two stores the cells that both have.
Result<std::vector<Pair>> pairs_of(const Places& a, const Places& b, bool two_stores) {
  if (a.size() == 1 && b.size() == 1) return std::vector{Pair{a.front(), b.front()}};
  if (!two_stores) return several_places(a.size() > 1 ? a : b);
  std::vector<Pair> pairs;
  for (const reports::PlaceFacts* first : a) {
    for (const reports::PlaceFacts* second : b) {
      if (first->cell.id == second->cell.id) pairs.emplace_back(first, second);
    }
  }
  if (!pairs.empty()) return pairs;
  return several_places(a.size() > 1 ? a : b);
}

Result<std::map<std::string, double>> drops_of(const std::vector<std::string>& texts) {
  std::map<std::string, double> drops;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    double margin = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), margin);
    if (equals == 0 || error != std::errc() || end != value.data() + value.size() ||
        !(margin >= 0)) {
      return invalid_argument(
          fmt::format("--max-drop expects COLUMN=MARGIN with a margin of at least 0, for instance "
                      "rougeL.f=0.01; found '{}'",
                      text));
    }
    drops[text.substr(0, equals)] = margin;
  }
  return drops;
}

/// The names that scores by the sweep's metrics have.
std::vector<std::string> declared_metrics(const Side& side, const MetricCatalog& catalog) {
  auto names = metric_names_of_sweep(side.facts.sweep);
  if (!names) return {};
  for (std::string& name : *names) {
    if (const auto metric = catalog.make(name)) name = (*metric)->name();
  }
  return *std::move(names);
}

Result<std::vector<Comparison>> compare_stores(const CompareOptions& options,
                                               const ComparisonRequest& request,
                                               const GlobalOptions& global) {
  Result<Side> a = open_side(options.a, global);
  if (!a) return a.error();
  Result<Side> b = open_side(options.b, global);
  if (!b) return b.error();
  auto places_a = matching_places(a->facts, "", a->filter);
  if (!places_a) return places_a.error();
  auto places_b = matching_places(b->facts, "", b->filter);
  if (!places_b) return places_b.error();
  auto pairs = pairs_of(*places_a, *places_b, a->store != b->store);
  if (!pairs) return pairs.error();

  Catalogs catalogs;
  std::vector<std::string> declared = declared_metrics(*a, catalogs.metrics());
  std::ranges::move(declared_metrics(*b, catalogs.metrics()), std::back_inserter(declared));
  std::set<std::string> told;
  std::vector<Comparison> comparisons;
  for (const auto& [first, second] : *pairs) {
    if (!first->predict || !second->predict) {
      return not_found(cell_title(first->predict ? *second : *first) + " has no predictions");
    }
    for (const std::string& reason : uncompared_metrics(first->scores, second->scores, declared)) {
      if (told.insert(reason).second) log_warning(reason);
    }
    auto compared = compare_results({&a->reader, first->predict->id},
                                    {&b->reader, second->predict->id}, request, catalogs.metrics());
    if (!compared) return compared.error();
    for (Comparison& comparison : *compared) {
      comparison.a = fmt::format("{} ({})", cell_title(*first), a->store);
      comparison.b = fmt::format("{} ({})", cell_title(*second), b->store);
      comparisons.push_back(std::move(comparison));
    }
  }
  return comparisons;
}

/// Two files of predictions; std::nullopt where the arguments name stores.
Result<std::optional<std::vector<Comparison>>> compare_if_files(const CompareOptions& options,
                                                                const ComparisonRequest& request,
                                                                const GlobalOptions& global) {
  ScoreFilesOptions files = options.files;
  auto fields = parse_field_map(options.fields);
  if (!fields) return fields.error();
  files.fields = *std::move(fields);
  files.missing = options.missing == "zero"   ? MissingPolicy::zero
                  : options.missing == "skip" ? MissingPolicy::skip
                                              : MissingPolicy::error;
  const bool file_a = is_prediction_file(options.a);
  const bool file_b = is_prediction_file(options.b);
  if (file_a != file_b) {
    return invalid_argument(fmt::format(
        "'{}' is a file of predictions and '{}' is not; compare two files, or two stored results",
        file_a ? options.a : options.b, file_a ? options.b : options.a));
  }
  if (!file_a) {
    const bool given = files.any_input() || !files.metrics.empty() || !files.postprocess.empty() ||
                       options.missing != "error";
    if (given) {
      return invalid_argument(
          "--metric, --refs, --refs-dataset, --from, --fields, --postprocess and --missing are for "
          "files of predictions; stored results have their scores, 'qfs-bench score --store' makes "
          "others");
    }
    return std::optional<std::vector<Comparison>>();
  }
  if (!global.store.empty()) {
    return invalid_argument("--store is about stored results, and files of predictions are given");
  }
  auto compared = compare_files(options.a, options.b, files, request);
  if (!compared) return compared.error();
  return std::optional(*std::move(compared));
}

Result<ExitCode> run_compare(const CompareOptions& options, const GlobalOptions& global) {
  ComparisonRequest request;
  request.columns = options.columns;
  request.examples = static_cast<size_t>(options.examples);
  auto drops = drops_of(options.max_drops);
  if (!drops) return drops.error();
  request.max_drops = *std::move(drops);

  auto of_files = compare_if_files(options, request, global);
  if (!of_files) return of_files.error();
  auto compared = *of_files ? Result<std::vector<Comparison>>(**std::move(of_files))
                            : compare_stores(options, request, global);
  if (!compared) return compared.error();
  std::vector<Comparison> comparisons = *std::move(compared);
  adjust_for_several(comparisons);
  bool worse = false;
  for (const Comparison& comparison : comparisons) {
    worse = worse || std::ranges::any_of(comparison.columns, [](const ComparedColumn& column) {
              return column.drop && column.drop->worse;
            });
  }
  const std::string text =
      global.json ? comparison_json(comparisons) : comparison_text(comparisons);
  if (Status printed = print_result(text); !printed) return printed.error();
  return worse ? ExitCode::regression : ExitCode::ok;
}

void add_file_options(CLI::App& command, CompareOptions& options) {
  const auto add = [&](const char* name, std::vector<std::string>& values, const char* doc,
                       const char* type) {
    command.add_option(name, values, doc)
        ->type_name(type)
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
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
                  "Files: items without prediction, or in one of them only: error, skip; zero "
                  "scores a prediction that is missing as an empty text")
      ->check(CLI::IsMember({"error", "skip", "zero"}))
      ->capture_default_str();
}

}  // namespace

void add_compare_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "compare",
      "Compares two results on the same examples: difference, interval, test, wins",
      "qfs-bench compare method=lead,local_context=256 method=bm25,local_context=256\n"
      "  qfs-bench compare before.sqlite after.sqlite --max-drop rougeL.f=0.01\n"
      "  qfs-bench compare old.jsonl new.jsonl --metric rouge --metric bleu\n"
      "  qfs-bench compare old.txt new.txt --refs refs.txt --max-drop rougeL.f=0.01");
  auto options = std::make_shared<CompareOptions>();
  command
      .add_option("A", options->a,
                  "The baseline: a store, STORE#CONDITIONS, conditions on --store, or a file of "
                  "predictions (JSON records; others are line files)")
      ->required();
  command.add_option("B", options->b, "What is compared with it, likewise")->required();
  command.add_option("--values", options->columns, "Columns, e.g. rouge1.f (default: F values)")
      ->delimiter(',')
      ->type_name("COLUMN,…");
  command
      .add_option("--max-drop", options->max_drops,
                  "Exit 1 when B is shown to be worse by more than this, e.g. rougeL.f=0.01; "
                  "repeatable")
      ->delimiter(',')
      ->type_name("COLUMN=MARGIN");
  command.add_option("--examples", options->examples, "How many of the most different (default 3)")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
  add_file_options(command, *options);
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_compare(*options, global); };
  });
}

}  // namespace qfs::cli
