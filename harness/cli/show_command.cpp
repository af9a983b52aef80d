#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "harness/cli/chosen_places.h"
#include "harness/cli/commands.h"
#include "harness/cli/output.h"
#include "harness/cli/shown_example.h"
#include "harness/cli/store_path.h"
#include "harness/core/files.h"
#include "harness/core/suggest.h"
#include "harness/core/whole_number.h"
#include "reports/writers/gate_map.h"

namespace qfs::cli {
namespace {

struct ShowOptions {
  std::string cell;
  std::vector<std::string> filters;
  std::string example;
  std::string run;
  bool document = false;
  std::string gate_map;  ///< file to write
};

/// The one cell that prefix and filter leave.
Result<const reports::PlaceFacts*> chosen_place(const ShowOptions& options,
                                                const reports::SweepFacts& facts) {
  auto found = matching_places(facts, options.cell, joined_filter(options.filters));
  if (!found) return found.error();
  if (found->size() > 1) return several_places(*found);
  return found->front();
}

/// An ordinal of the cell, or a key of its data set; the first example by default.
Result<int64_t> chosen_ordinal(const ShowOptions& options, const reports::PlaceFacts& place,
                               store::Reader& reader) {
  const std::vector<int64_t>& ordinals = place.cell.ordinals;
  if (options.example.empty()) return ordinals.front();
  Result<std::vector<store::ExampleRow>> rows = reader.examples(place.cell.dataset);
  if (!rows) return rows.error();
  std::vector<std::string> keys;
  for (const store::ExampleRow& row : *rows) {
    if (!std::ranges::binary_search(ordinals, row.ordinal)) continue;
    if (row.key == options.example) return row.ordinal;
    keys.push_back(row.key);
  }
  if (const auto number = whole_number<int64_t>(options.example)) {
    if (std::ranges::binary_search(ordinals, *number)) return *number;
    return not_found(fmt::format("the cell has no example {} (it has {} between {} and {})",
                                 *number, ordinals.size(), ordinals.front(), ordinals.back()));
  }
  return not_found("the cell has no example '" + options.example + "'" +
                   suggestion(options.example, keys));
}

/// The gate of the example's output as an image, and its numbers as text.
Result<ExitCode> write_gate_map(const ShowOptions& options, const ShownExample& shown) {
  if (!shown.output) return not_found("example '" + shown.row.key + "' has no output yet");
  const auto map = reports::read_gate_map(shown.output->prediction.extra.text);
  if (!map) return map.error();
  const std::string title = shown.place->dimensions.at("method") + ", " + shown.row.key;
  if (Status kept = keep_stores(options.gate_map); !kept) return kept.error();
  const Status written = write_file(options.gate_map, reports::write_gate_svg(*map, title));
  if (!written) return written.error();
  if (Status printed = print_result(reports::gate_text(*map) + "\n"); !printed) {
    return printed.error();
  }
  return ExitCode::ok;
}

Result<ExitCode> run_show(const ShowOptions& options, const GlobalOptions& global) {
  Result<store::Reader> reader = open_existing_store(global);
  if (!reader) return reader.error();
  Result<reports::SweepFacts> facts = reports::load_sweep_facts(*reader, options.run);
  if (!facts) return facts.error();
  Result<const reports::PlaceFacts*> place = chosen_place(options, *facts);
  if (!place) return place.error();
  Result<int64_t> ordinal = chosen_ordinal(options, **place, *reader);
  if (!ordinal) return ordinal.error();
  Result<ShownExample> shown = load_example(*reader, **place, *ordinal);
  if (!shown) return shown.error();
  if (!options.gate_map.empty()) return write_gate_map(options, *shown);
  const std::string text =
      global.json ? example_json(*shown) : example_text(*shown, options.document);
  if (Status printed = print_result(text); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace

void add_show_command(const CommandLine& line) {
  CLI::App& command = add_subcommand(
      line.app, "show", "Shows an example of a cell: query, prediction, references, scores",
      "qfs-bench show --filter method=lead,local_context=512 --example 3");
  auto options = std::make_shared<ShowOptions>();
  command.add_option("CELL", options->cell, "Beginning of a cell's id");
  add_filter_option(command, options->filters);
  command.add_option("--example", options->example, "Ordinal or key (default: the first)")
      ->type_name("EXAMPLE");
  add_run_option(command, options->run);
  command.add_flag("--document", options->document,
                   "The document, too, with what was cut, and the prompt");
  command
      .add_option("--gate-map", options->gate_map,
                  "Writes how the gate of a dyle output weighed its snippets, as SVG")
      ->type_name("FILE");
  add_json_option(command, line.global);
  add_foreign_option(command, line.global);
  command.callback([options, &global = line.global, &chosen = line.chosen] {
    chosen = [options, &global] { return run_show(*options, global); };
  });
}

}  // namespace qfs::cli
