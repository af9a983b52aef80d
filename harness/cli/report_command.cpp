#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/catalogs.h"
#include "harness/cli/chosen_places.h"
#include "harness/cli/claims_session.h"
#include "harness/cli/commands.h"
#include "harness/cli/judged_output.h"
#include "harness/cli/output.h"
#include "harness/cli/report_metrics.h"
#include "harness/cli/report_output.h"
#include "harness/cli/scoring.h"
#include "harness/cli/store_path.h"
#include "harness/core/counted.h"
#include "harness/core/log.h"
#include "harness/score/imported_metric.h"
#include "reports/example_lines.h"
#include "reports/sweep_facts.h"
#include "reports/writers/sections.h"

namespace qfs::cli {
namespace {

struct ReportOptions {
  std::string table;
  std::vector<std::string> with;
  std::string run;
  std::vector<std::string> filters;
  std::string format = "markdown";
  std::string figure;
  std::string only;
  std::string output;
  std::string per_example;
  std::optional<std::vector<std::string>> rows;
  std::optional<std::vector<std::string>> columns;
  std::optional<std::vector<std::string>> values;
  bool coverage = false;
  std::string against;
  std::string minus;
  bool methods_text = false;
  bool page = false;
};

/// Metrics that values name themselves, "rouge:stem=off/rouge1.f", beside those of the sweep.
Status add_named_metrics(const std::vector<std::string>& values, const MetricCatalog& catalog,
                         const reports::SweepFacts& facts, const Json& postprocess,
                         std::vector<reports::MetricChoice>& choices) {
  for (const std::string& value : values) {
    const size_t slash = value.rfind('/');
    if (slash == std::string::npos) continue;
    const std::string name = value.substr(0, slash);
    Result<std::shared_ptr<const Metric>> metric = catalog.make(name);
    if (!metric) {
      Result<reports::MetricChoice> stored = stored_metric(name, facts);
      if (!stored && name.starts_with(score::kImportPrefix)) return stored.error();
      if (!stored) return metric.error();
      choices.push_back(*std::move(stored));
      continue;
    }
    choices.push_back(
        {name, score::scored_signature(**metric, postprocess), (*metric)->columns(), *metric});
  }
  return {};
}

/// --per-example: a line an example of each cell that is shown.
Status write_examples(store::Reader& reader, const ReportOptions& options,
                      const reports::SweepFacts& facts) {
  const auto places = matching_places(facts, "", joined_filter(options.filters));
  if (!places) return places.error();
  const Result<reports::ExampleLines> lines = reports::example_lines(reader, facts, *places);
  if (!lines) return lines.error();
  if (lines->unscored > 0) {
    log_warning(fmt::format("{} of {} no scores and no lines in {}", lines->unscored,
                            counted(places->size(), "cell has", "cells have"),
                            options.per_example));
  }
  return write_result(lines->text, options.per_example);
}

/// Two outputs need two places.
Status check_outputs(const ReportOptions& options) {
  if (options.per_example.empty() || options.output.empty()) return {};
  if (options.per_example == "-") {
    return invalid_argument(
        "--per-example - prints examples instead of the table; --output has nothing to write");
  }
  const OutputOption outputs[] = {{"--per-example", options.per_example},
                                  {"--output", options.output}};
  return keep_apart(outputs);
}

/// --table: what a paper prints beside what is stored.
Result<ExitCode> run_published(const ReportOptions& options, const GlobalOptions& global) {
  auto session = ClaimsSession::open(options.with);
  if (!session) return session.error();
  const Result<claims::ShownTable> table = (*session)->collection().table(options.table);
  if (!table) return table.error();
  if (Status used = (*session)->use_store(global); !used) return used.error();
  const std::string format = global.json ? "json" : options.format;
  if (const auto printed = print_judged(**session, *table, format, options.output); !printed) {
    return printed.error();
  }
  return ExitCode::ok;
}

/// What a command says of all tables that it makes.
struct TableSource {
  store::Reader& reader;
  const std::string& path;
  const reports::SweepFacts& facts;
  const MetricCatalog& metrics;
  const Postprocess& postprocess;
};

/// Cells and metrics of a table; `filter` may be empty. With `partial` it may name values that the
/// run has no cells of, as a run of part of a file has.
Result<reports::ReportRequest> request_of(const TableSource& source, const std::string& filter,
                                          const std::vector<std::string>& values, bool partial) {
  reports::ReportRequest request;
  request.selection = filter;
  if (!filter.empty()) {
    std::vector<plan::FilterCondition> absent;
    Result<std::vector<size_t>> positions =
        matching_positions(source.facts, filter, partial ? &absent : nullptr);
    if (!positions) return positions.error();
    request.positions = *std::move(positions);
    for (const plan::FilterCondition& condition : absent) {
      request.selection += fmt::format("; this run has no {}={}", condition.key,
                                       plan::filter_value(condition.value));
    }
  }
  Result<std::vector<reports::MetricChoice>> metrics =
      metrics_of_sweep(source.facts, source.metrics);
  if (!metrics) return metrics.error();
  request.metrics = *std::move(metrics);
  if (Status added = add_named_metrics(values, source.metrics, source.facts,
                                       source.postprocess.chain(), request.metrics);
      !added) {
    return added.error();
  }
  return request;
}

/// `asked`: the places that `filter`, of the command, leaves; all of them where it is empty.
Result<reports::Table> table_of(const TableSource& source, const PageSection& section,
                                std::vector<size_t> asked, const std::string& filter) {
  Result<reports::ReportRequest> request = request_of(source, section.filter, section.values, true);
  if (!request) return request.error();
  if (!filter.empty()) {
    if (request->positions) {
      std::erase_if(asked, [&](size_t i) { return !std::ranges::count(*request->positions, i); });
    }
    if (asked.empty()) return not_found("none of its cells meets --filter");
    request->positions = std::move(asked);
    request->selection = section.filter.empty() ? filter : filter + " and " + request->selection;
  }
  request->against = section.against;
  request->differences = section.minus;
  reports::SweepFacts facts = source.facts;
  static_cast<TableSettings&>(facts.settings) = section;
  return report_table(source.reader, source.path, std::move(facts), *std::move(request));
}

/// --page: a section of which the store has nothing says so, and the command ends with 3.
Result<ExitCode> write_page(const TableSource& source, const ReportOptions& options, bool json) {
  const std::string& name = source.facts.sweep.name;
  if (source.facts.settings.page.empty()) {
    return not_found("the file of the sweep '" + name + R"(' has no "page" in its "report")");
  }
  const std::string filter = joined_filter(options.filters);
  const Result<std::vector<size_t>> asked = matching_positions(source.facts, filter);
  if (!asked) return asked.error();
  std::vector<reports::ShownSection> sections;
  ExitCode code = ExitCode::ok;
  for (const PageSection& section : source.facts.settings.page) {
    Result<reports::Table> table = table_of(source, section, *asked, filter);
    reports::ShownSection shown = {section.title, section.text, std::nullopt, ""};
    if (table) {
      shown.table = *std::move(table);
    } else if (table.error().kind == ErrorKind::not_found) {
      shown.absence = table.error().message;
      code = ExitCode::incomplete;
    } else {
      return table.error();
    }
    sections.push_back(std::move(shown));
  }
  const std::string& description = source.facts.description;
  const std::string text = json ? reports::write_sections_json(name, description, sections)
                                : reports::write_sections_markdown(name, description, sections);
  Status written = write_result(text, options.output);
  if (!written) return written.error();
  return code;
}

Result<ExitCode> run_report(const ReportOptions& options, const GlobalOptions& global) {
  if (!options.table.empty()) return run_published(options, global);
  if (Status checked = check_outputs(options); !checked) return checked.error();
  const bool prose = options.format != "csv" && options.format != "html" && options.format != "svg";
  if (options.methods_text && !prose) {
    return invalid_argument("--methods-text is prose: --format markdown, latex or json");
  }
  if (!options.figure.empty() && options.format != "svg") {
    return invalid_argument("--figure is for --format svg");
  }
  Result<std::string> path = existing_store_path(global.store);
  if (!path) return path.error();
  Result<store::Reader> reader = store::Reader::open(*path, {.foreign = global.foreign});
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, options.run);
  if (!facts) return facts.error();
  Catalogs catalogs;
  const Result<Postprocess> postprocess = postprocess_of_sweep(facts->sweep);
  if (!postprocess) return postprocess.error();

  const std::string format = global.json ? "json" : options.format;
  const TableSource source = {*reader, *path, *facts, catalogs.metrics(), *postprocess};
  if (options.page) {
    if (format == "markdown" || format == "json") {
      return write_page(source, options, format == "json");
    }
    return invalid_argument("--page is --format markdown or json");
  }
  const std::vector<std::string> no_values;
  Result<reports::ReportRequest> made = request_of(
      source, joined_filter(options.filters), options.values ? *options.values : no_values, false);
  if (!made) return made.error();
  reports::ReportRequest request = *std::move(made);
  if (!options.per_example.empty()) {
    Status written = write_examples(*reader, options, *facts);
    if (!written) return written.error();
    if (options.per_example == "-") return ExitCode::ok;
  }
  request.rows = options.rows;
  request.columns = options.columns;
  for (auto* axes : {&request.rows, &request.columns}) {
    if (!*axes) continue;
    if (Status named = use_own_names(**axes, *facts); !named) return named.error();
  }
  request.values = options.values;
  if (options.coverage) request.coverage = true;
  request.against = options.minus.empty() ? options.against : options.minus;
  request.differences = !options.minus.empty();
  request.only_quality = options.only == "quality";
  Result<std::string> text =
      report_text(*reader, *path, *std::move(facts), std::move(request),
                  {format, options.figure.empty() ? "curves" : options.figure, options.methods_text,
                   global.foreign});
  if (!text) return text.error();
  if (Status written = write_result(*text, options.output); !written) return written.error();
  return ExitCode::ok;
}

/// "a,b" and repetitions; an empty text is the empty list.
void add_list_option(CLI::App& command, const std::string& name,
                     std::optional<std::vector<std::string>>& list, const std::string& doc) {
  may_be_empty(command.add_option_function<std::string>(
                   name,
                   [&list](const std::string& text) {
                     if (!list) list.emplace();
                     for (const std::string& item : CLI::detail::split(text, ',')) {
                       if (!item.empty()) list->push_back(item);
                     }
                   },
                   doc))
      ->type_name("NAME,…");
}

}  // namespace

void add_report_command(const CommandLine& line) {
  CLI::App& command =
      add_subcommand(line.app, "report", "Prints the table of a stored sweep",
                     "qfs-bench report --store lc_sweep.sqlite --values rouge2.f,peak_memory");
  auto options = std::make_shared<ReportOptions>();
  CLI::Option* const sweep = command.add_option("SWEEP", options->run, "The same as --run");
  CLI::Option* const run = add_run_option(command, options->run)->excludes(sweep);
  CLI::Option* const table =
      command
          .add_option("--table", options->table,
                      "A published table instead of a sweep's, e.g. ideal.table2; --store: "
                      "claims.sqlite when there is one")
          ->excludes(sweep)
          ->excludes(run)
          ->type_name("TABLE");
  add_places_option(command, options->with);
  add_filter_option(command, options->filters);
  command
      .add_option("--format", options->format,
                  "markdown, latex, json, csv, html (one page with all examples) or svg (a "
                  "figure); default: markdown")
      ->check(CLI::IsMember({"markdown", "latex", "json", "csv", "html", "svg"}))
      ->type_name("FORMAT");
  command
      .add_option(
          "--figure", options->figure,
          "Of --format svg: curves over an axis of numbers (default), or front: scores over "
          "speed, memory and cost")
      ->check(CLI::IsMember({"curves", "front"}))
      ->type_name("FIGURE");
  command.add_option("--only", options->only, "quality: leave out speed and memory")
      ->check(CLI::IsMember({"quality"}))
      ->type_name("GROUP");
  add_list_option(command, "--rows", options->rows, "Row axes: method, dataset, seed, parameters");
  add_list_option(
      command, "--columns", options->columns,
      "Column axes; 'values' puts the values side by side: values or local_context,values");
  add_list_option(command, "--values", options->values, "Values, e.g. rouge1.f,peak_memory");
  CLI::Option* const against =
      command
          .add_option("--against", options->against,
                      "Marks scores that differ significantly from the row of this method")
          ->type_name("METHOD");
  command
      .add_option("--minus", options->minus,
                  "In place of other rows' scores those of this method minus theirs, with "
                  "intervals by document")
      ->excludes(against)
      ->type_name("METHOD");
  command.add_flag("--methods-text", options->methods_text,
                   "Instead of the table what a paper's evaluation section and its reproducibility "
                   "checklist say of it");
  command.add_flag("--coverage", options->coverage, "Add what truncation left of the documents");
  command
      .add_option("--per-example", options->per_example,
                  "Scores of every example, in full digits, as JSON lines ('-': instead of the "
                  "table)")
      ->type_name("FILE");
  CLI::Option* const page = command.add_flag(
      "--page", options->page, R"(All tables of the sweep file's "page", with their words)");
  for (const char* other : {"--figure", "--rows", "--columns", "--values", "--against", "--minus",
                            "--methods-text", "--only", "--per-example", "--coverage"}) {
    page->excludes(command.get_option(other));
    table->excludes(command.get_option(other));
  }
  table->excludes(page)->excludes(command.get_option("--filter"));
  command.add_option("--output,-o", options->output, "Write to a file, whole or not at all")
      ->type_name("FILE");
  add_json_option(command, line.global);
  command.get_option("--format")->excludes(command.get_option("--json"));
  add_foreign_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_report(*options, global); };
  });
}

}  // namespace qfs::cli
