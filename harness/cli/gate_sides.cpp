#include "harness/cli/gate_sides.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "harness/cli/chosen_places.h"
#include "harness/cli/output.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "methods/families.h"

namespace qfs::cli {
namespace {

/// Of these cells those that match.
Status narrow(compare::Cells& cells, const GateSideOptions& options, const std::string& filter) {
  const auto matching = compare::matching_cells(cells, filter, methods::foreign_names());
  compare::Cells kept;
  if (matching) {
    for (const size_t i : *matching) kept.push_back(cells[i]);
  } else if (!options.may_match_nothing || matching.error().kind != ErrorKind::not_found) {
    return matching.error();
  }
  cells = std::move(kept);
  return {};
}

Result<GateSide> open_file(const GateSideOptions& options) {
  auto file = gate::Baseline::load(options.argument);
  if (!file) return file.error();
  GateSide side;
  side.name = options.argument;
  side.file = std::make_unique<gate::Baseline>(*std::move(file));
  side.declared = side.file->info().metrics;
  side.report_values = side.file->info().shown;
  side.cells = {side.name, side.file.get(), side.file->cells(), false};
  return side;
}

Result<GateSide> open_store(const GateSideOptions& options, const MetricCatalog& catalog,
                            const GlobalOptions& global) {
  auto store = open_side(options.argument, options.run, global);
  if (!store) return store.error();
  GateSide side;
  side.name = store->name;
  side.store = *std::move(store);
  side.declared = declared_metrics(*side.store, catalog);
  side.report_values = side.store->facts.settings.values;
  const std::string own = std::exchange(side.store->filter, "");
  auto cells = cells_of(*side.store);
  if (!cells) return cells.error();
  side.cells = *std::move(cells);
  if (Status narrowed = narrow(side.cells.cells, options, own); !narrowed) {
    return narrowed.error();
  }
  side.cells.named = !own.empty();
  return side;
}

}  // namespace

Result<GateSide> open_gate_side(const GateSideOptions& options, const MetricCatalog& catalog,
                                const GlobalOptions& global) {
  const bool file = gate::is_baseline_file(options.argument);
  Result<GateSide> side = file ? open_file(options) : open_store(options, catalog, global);
  if (!side) return side;
  if (Status narrowed = narrow(side->cells.cells, options, options.filter); !narrowed) {
    return narrowed.error();
  }
  return side;
}

void add_baselines_option(CLI::App& command, std::string& folder) {
  command.add_option("--baselines", folder, "Folder of named baselines")
      ->type_name("FOLDER")
      ->capture_default_str();
}

bool is_baseline_name(const std::string& argument) {
  return argument.find_first_of("/#=") == std::string::npos && !gate::is_baseline_file(argument) &&
         !argument.ends_with(".sqlite");
}

std::string baseline_path(const std::string& argument, const std::string& folder) {
  std::error_code ignored;
  if (!is_baseline_name(argument) || std::filesystem::is_regular_file(argument, ignored)) {
    return argument;
  }
  return folder + "/" + argument + ".jsonl";
}

Result<std::optional<ExitCode>> save_baseline(const GateSide& side, const std::string& path,
                                              bool measured, ExistingFile existing) {
  const std::filesystem::path file(path);
  const gate::BaselineInfo info{file.stem().string(),
                                side.store ? side.store->facts.sweep.name : "", side.declared,
                                side.report_values};
  const auto contents = gate::write_baseline(side.cells, info, measured);
  if (!contents) return contents.error();
  if (!contents->left_out.empty() || contents->cells == 0) {
    for (const compare::NotCompared& cell : contents->left_out) {
      log_warning(fmt::format("{}: {}", cell.name, cell.reason));
    }
    log_warning(fmt::format(
        "no baseline is made: {} no whole scores; --filter leaves cells out",
        counted(contents->left_out.size(), "cell of the sweep has", "cells of the sweep have")));
    return std::optional(ExitCode::incomplete);
  }
  if (file.has_parent_path()) {
    if (Status made = make_directories(file.parent_path().string()); !made) return made.error();
  }
  if (existing == ExistingFile::keep) {
    const Result<bool> created = create_file(path, contents->text);
    if (!created) return created.error();
    if (!*created) return std::optional<ExitCode>();
  } else {
    std::error_code absent;
    if (std::filesystem::is_regular_file(path, absent) && !gate::holds_baseline(path)) {
      return invalid_argument(fmt::format(
          "'{}' is not a baseline, and would be lost: remove it, or write to another file", path));
    }
    if (Status written = write_result(contents->text, path); !written) return written.error();
  }
  log_info(fmt::format("{}: {} of sweep '{}'", path, counted(contents->cells, "cell"), info.sweep));
  return std::optional(ExitCode::ok);
}

}  // namespace qfs::cli
