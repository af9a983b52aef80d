#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/listings.h"
#include "harness/cli/watch.h"

namespace qfs::cli {
namespace {

using Listing = std::function<Result<ExitCode>(const GlobalOptions&)>;

CLI::App& add_listing(CLI::App& list, const CommandLine& line, const std::string& what,
                      const std::string& summary, Listing listing) {
  CLI::App& command = add_subcommand(list, what, summary, "qfs-bench list " + what);
  add_json_option(command, line.global);
  command.callback([listing = std::move(listing), &global = line.global, &chosen = line.chosen] {
    chosen = [listing, &global] { return listing(global); };
  });
  return command;
}

void add_methods(CLI::App& list, const CommandLine& line) {
  auto name = std::make_shared<std::string>();
  CLI::App& command =
      add_listing(list, line, "methods", "Methods with their parameters, and backbones",
                  [name](const GlobalOptions& global) { return list_methods(global, *name); });
  command.add_option("NAME", *name, "Only this method, with its texts in full");
}

void add_metrics(CLI::App& list, const CommandLine& line) {
  auto name = std::make_shared<std::string>();
  CLI::App& command =
      add_listing(list, line, "metrics", "Metrics with columns and signature, and values of tables",
                  [name](const GlobalOptions& global) { return list_metrics(global, *name); });
  command.add_option("NAME", *name, "Only this metric");
}

void add_cells(CLI::App& list, const CommandLine& line) {
  auto run = std::make_shared<std::string>();
  auto filters = std::make_shared<std::vector<std::string>>();
  auto watched = std::make_shared<bool>(false);
  CLI::App& command = add_listing(list, line, "cells", "Cells of a run in a store",
                                  [run, filters, watched](const GlobalOptions& global) {
                                    return *watched
                                               ? watch_cells(global, *run)
                                               : list_cells(global, *run, joined_filter(*filters));
                                  });
  add_run_option(command, *run);
  command.add_flag("--watch", *watched, "Tell how far a run of another terminal is, until it ends")
      ->excludes("--json");
  add_filter_option(command, *filters);
  command.get_option("--watch")->excludes("--filter");
  add_foreign_option(command, line.global);
}

}  // namespace

void add_list_command(const CommandLine& line) {
  CLI::App& list = add_subcommand(line.app, "list",
                                  "Lists methods, data sets, metrics, or the runs and cells "
                                  "of a store",
                                  "qfs-bench list methods");
  list.require_subcommand(1);
  add_methods(list, line);
  add_listing(list, line, "datasets", "Data sets with splits, views and text forms", list_datasets);
  add_metrics(list, line);
  add_listing(list, line, "postprocess", "Steps that make scored texts of predictions",
              list_postprocess);
  CLI::App& runs =
      add_listing(list, line, "runs", "Runs (sweeps) in a store, as --run takes them", list_runs);
  add_foreign_option(runs, line.global);
  add_cells(list, line);
}

}  // namespace qfs::cli
