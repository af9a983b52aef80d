#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "datasets/fetch/fetch.h"
#include "datasets/readers/catalog.h"
#include "datasets/readers/file_set.h"
#include "datasets/registry.h"
#include "harness/cli/catalogs.h"
#include "harness/cli/commands.h"
#include "harness/cli/dataset_text.h"
#include "harness/cli/listings.h"
#include "harness/cli/output.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

struct DataOptions {
  std::string what;  ///< registered name or path of a file
  std::string split;
  std::string view;
  std::string text_form;
  std::vector<std::string> fields;  ///< "ours=theirs"
  int64_t example = 0;
};

struct FetchCommandOptions {
  std::vector<std::string> names;
  std::string from;
  std::string base_url;
};

/// A registered name wins; everything else is a file.
Result<DatasetRequest> request_of(const DataOptions& options, const DatasetCatalog& catalog) {
  DatasetRequest request;
  request.split = options.split;
  request.view = options.view;
  request.text_form = options.text_form;
  const bool looks_like_file = options.what.find('/') != std::string::npos ||
                               options.what.find('.') != std::string::npos ||
                               !options.fields.empty();
  for (const DatasetInfo& info : catalog.list()) {
    if (info.name == options.what) request.name = options.what;
  }
  if (request.name.empty()) (looks_like_file ? request.path : request.name) = options.what;
  for (const std::string& field : options.fields) {
    const size_t equals = field.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid_argument(fmt::format(
          "--field expects OURS=THEIRS, for instance --field document=context, or --field query= "
          "when the data have none; found '{}'",
          field));
    }
    if (!request.fields.emplace(field.substr(0, equals), field.substr(equals + 1)).second) {
      return invalid_argument(fmt::format("--field names '{}' twice", field.substr(0, equals)));
    }
  }
  return request;
}

Result<std::shared_ptr<const Dataset>> load(const DataOptions& options) {
  Catalogs catalogs;
  Result<DatasetRequest> request = request_of(options, catalogs.datasets());
  if (!request) return request.error();
  return catalogs.datasets().load(*request);
}

Result<ExitCode> run_show(const DataOptions& options, const GlobalOptions& global) {
  Result<std::shared_ptr<const Dataset>> dataset = load(options);
  if (!dataset) return dataset.error();
  const auto count = static_cast<int64_t>((*dataset)->examples.size());
  if (options.example < 0 || options.example >= count) {
    return not_found(fmt::format("the data set has {} examples; there is no example {}", count,
                                 options.example));
  }
  const std::string text = global.json ? dataset_json(**dataset, options.example)
                                       : dataset_text(**dataset, options.example);
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

Result<ExitCode> run_check(const DataOptions& options, const GlobalOptions& global) {
  Result<std::shared_ptr<const Dataset>> dataset = load(options);
  if (!dataset) return dataset.error();
  const datasets::CheckReport report = datasets::check(**dataset);
  const std::string text =
      global.json ? check_json(**dataset, report) : check_text(**dataset, report);
  if (Status printed = print_result(text); !printed) return printed.error();
  return report.ok() ? ExitCode::ok : ExitCode::environment;
}

/// Statistics of one split, or of all that the set has.
Result<ExitCode> run_stats(const DataOptions& options, const GlobalOptions& global) {
  Catalogs catalogs;
  Result<DatasetRequest> request = request_of(options, catalogs.datasets());
  if (!request) return request.error();
  std::vector<std::string> names = {request->split};
  for (const DatasetInfo& info : catalogs.datasets().list()) {
    if (request->split.empty() && info.name == request->name) names = info.splits;
  }
  std::vector<std::shared_ptr<const Dataset>> splits;
  for (const std::string& name : names) {
    request->split = name;
    Result<std::shared_ptr<const Dataset>> split = catalogs.datasets().load(*request);
    if (!split) return split.error();
    splits.push_back(*std::move(split));
  }
  Result<std::string> text = global.json ? statistics_json(splits) : statistics_text(splits);
  if (!text) return text.error();
  if (Status printed = print_result(*text); !printed) return printed.error();
  return ExitCode::ok;
}

Result<ExitCode> run_fetch(const FetchCommandOptions& options) {
  const datasets::CatalogOptions places = datasets::default_catalog_options();
  for (const std::string& name : options.names) {
    Result<datasets::RegistryEntry> entry =
        datasets::registry_entry(datasets::registry_file(places), name);
    if (datasets::is_brought(name)) {
      return unavailable(fmt::format(
          "data set '{0}' cannot be fetched; `qfs-bench data stats {0}` says what to put where",
          name));
    }
    if (!entry) return entry.error();
    datasets::FetchOptions fetch;
    fetch.from_folder = options.from;
    fetch.base_url = options.base_url;
    fetch.progress = [&name](const datasets::FetchProgress& progress) {
      log_detail(fmt::format("{}: {} ({}/{} files, {}/{} bytes)", name, progress.file,
                             progress.files_done, progress.files_total, progress.bytes_done,
                             progress.bytes_total));
    };
    log_info(fmt::format("{}: {} files, licence {}, from {}", name, entry->files.size(),
                         entry->licence, options.from.empty() ? entry->source : options.from));
    Result<datasets::FetchReport> report = datasets::fetch(*entry, places.roots.front(), fetch);
    if (!report) return report.error();
    log_info(fmt::format("{}: {} files fetched ({} bytes), {} were there already, in {}", name,
                         report->files_fetched, report->bytes_fetched, report->files_kept,
                         report->folder));
  }
  return ExitCode::ok;
}

void add_request_options(CLI::App& command, DataOptions& options,
                         const std::string& splits = "Split (default: the first)") {
  command.add_option("DATA", options.what, "Name of a data set, or a file")->required();
  command.add_option("--split", options.split, splits);
  command.add_option("--view", options.view,
                     "View, e.g. whole, golden, per_reference (default: the first)");
  command.add_option("--text-form", options.text_form,
                     "Text form, e.g. raw, ideal (default: the first)");
  repeatable(
      command.add_option(
          "--field", options.fields,
          "Name of a field in the file, e.g. document=context, or query= when the data have none; "
          "repeatable"))
      ->type_name("OURS=THEIRS");
}

}  // namespace

void add_data_command(const CommandLine& line) {
  CLI::App& data =
      add_subcommand(line.app, "data", "Lists, shows, checks, measures and fetches data sets",
                     "qfs-bench data fetch qmsum");
  data.require_subcommand(1);

  CLI::App& list = add_subcommand(data, "list", "Lists the data sets", "qfs-bench data list");
  add_json_option(list, line.global);
  list.callback([&global = line.global, &chosen = line.chosen] {
    chosen = [&global] { return list_datasets(global); };
  });

  auto shown = std::make_shared<DataOptions>();
  CLI::App& show = add_subcommand(data, "show", "Shows a data set's manifest and one example",
                                  "qfs-bench data show mini-meetings --example 3");
  add_request_options(show, *shown);
  show.add_option("--example", shown->example, "Number of the example, from 0 (default: 0)")
      ->type_name("N");
  add_json_option(show, line.global);
  show.callback([shown, &global = line.global, &chosen = line.chosen] {
    chosen = [shown, &global] { return run_show(*shown, global); };
  });

  auto checked = std::make_shared<DataOptions>();
  CLI::App& check = add_subcommand(
      data, "check", "Reads a data set, counts its parts and lists what is wrong with it",
      "qfs-bench data check test.jsonl.gz --field document=context --field query=input");
  add_request_options(check, *checked);
  add_json_option(check, line.global);
  check.callback([checked, &global = line.global, &chosen = line.chosen] {
    chosen = [checked, &global] { return run_check(*checked, global); };
  });

  auto measured = std::make_shared<DataOptions>();
  CLI::App& stats = add_subcommand(data, "stats", "Counts and means as papers' tables print them",
                                   "qfs-bench data stats qmsum --view golden");
  add_request_options(stats, *measured, "Split (default: all)");
  add_json_option(stats, line.global);
  stats.callback([measured, &global = line.global, &chosen = line.chosen] {
    chosen = [measured, &global] { return run_stats(*measured, global); };
  });

  auto fetched = std::make_shared<FetchCommandOptions>();
  CLI::App& fetch =
      add_subcommand(data, "fetch", "Downloads public data sets and checks their SHA-256",
                     "qfs-bench data fetch qmsum squality");
  fetch.add_option("NAME", fetched->names, "Data sets")->required();
  fetch.add_option("--from", fetched->from, "Copy from a folder instead of the network")
      ->type_name("DIR");
  fetch.add_option("--base-url", fetched->base_url, "A mirror instead of the official address")
      ->type_name("URL");
  fetch.callback(
      [fetched, &chosen = line.chosen] { chosen = [fetched] { return run_fetch(*fetched); }; });
}

}  // namespace qfs::cli
