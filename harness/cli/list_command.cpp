#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/cli/commands.h"
#include "harness/cli/listings.h"

namespace qfs::cli {
namespace {

using Listing = Result<ExitCode> (*)(const GlobalOptions&);

CLI::App& add_listing(CLI::App& list, const CommandLine& line, const std::string& what,
                      const std::string& summary, Listing listing) {
  CLI::App& command = add_subcommand(list, what, summary, "qfs-bench list " + what);
  add_json_option(command, line.global);
  command.callback([listing, &global = line.global, &chosen = line.chosen] {
    chosen = [listing, &global] { return listing(global); };
  });
  return command;
}

}  // namespace

void add_list_command(const CommandLine& line) {
  CLI::App& list = add_subcommand(line.app, "list", "Lists methods, data sets, metrics or cells",
                                  "qfs-bench list methods");
  list.require_subcommand(1);
  add_listing(list, line, "methods", "Methods with their parameters, and backbones", list_methods);
  add_listing(list, line, "datasets", "Data sets with splits, views and text forms", list_datasets);
  add_listing(list, line, "metrics", "Metrics with columns and signature, and values of tables",
              list_metrics);
  add_listing(list, line, "postprocess", "Steps that make scored texts of predictions",
              list_postprocess);
  CLI::App& cells =
      add_listing(list, line, "cells", "Cells of the latest sweep in a store", list_cells);
  add_foreign_option(cells, line.global);
}

}  // namespace qfs::cli
